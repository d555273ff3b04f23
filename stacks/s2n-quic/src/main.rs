//! A transfer over s2n-quic: `transfer certificate FOLDER` writes `cert.pem` and `key.pem` for both
//! ends, `transfer serve FOLDER ADDRESS` answers each stream with as many bytes as its request asks
//! for, and `transfer get FOLDER ADDRESS BYTES` requests them.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};
use tokio::io::AsyncReadExt;

const CERTIFICATE: &str = "cert.pem";
const KEY: &str = "key.pem";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = Path::new(&arguments[2]);
    match &*arguments[1] {
        "certificate" => certificate(folder),
        "serve" => serve(folder, &arguments[3]).await,
        _ => get(folder, arguments[3].parse()?, &arguments[4]).await,
    }
}

fn certificate(folder: &Path) -> Result<(), Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(["server".to_string()])?;
    std::fs::write(folder.join(CERTIFICATE), made.cert.pem())?;
    std::fs::write(folder.join(KEY), made.signing_key.serialize_pem())?;
    Ok(())
}

async fn serve(folder: &Path, address: &str) -> Result<(), Box<dyn Error>> {
    let files = (folder.join(CERTIFICATE), folder.join(KEY));
    let files = (files.0.as_path(), files.1.as_path());
    let mut server = Server::builder().with_tls(files)?.with_io(address)?.start()?;
    while let Some(mut connection) = server.accept().await {
        tokio::spawn(async move {
            let mut stream = connection.accept_bidirectional_stream().await.ok()??;
            let mut request = String::new();
            stream.read_to_string(&mut request).await.ok()?;
            let count = request.trim().parse().ok()?;
            stream.send(vec![0; count].into()).await.ok()?;
            stream.close().await.ok()
        });
    }
    Ok(())
}

async fn get(folder: &Path, address: SocketAddr, count: &str) -> Result<(), Box<dyn Error>> {
    let certificate = folder.join(CERTIFICATE);
    let builder = Client::builder().with_tls(certificate.as_path())?;
    let client = builder.with_io("0.0.0.0:0")?.start()?;
    let server = Connect::new(address).with_server_name("server");
    let mut connection = client.connect(server).await?;
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(count.to_string().into()).await?;
    stream.finish()?;
    let mut got = 0;
    while let Some(part) = stream.receive().await? {
        got += part.len();
    }
    if got.to_string() != count {
        return Err(format!("{got} bytes came").into());
    }
    Ok(())
}
