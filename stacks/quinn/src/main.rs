//! A transfer over quinn, which writes qlog to $QLOGDIR: `transfer serve ADDRESS` answers each
//! stream with as many bytes as its request asks for; `transfer get ADDRESS BYTES` requests them.

use std::error::Error;
use std::fs::File;
use std::io::LineWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, QlogConfig, ServerConfig, TransportConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

const PROTOCOL: &[u8] = b"transfer";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let address: SocketAddr = arguments[2].parse()?;
    match &*arguments[1] {
        "serve" => serve(address).await,
        _ => get(address, &arguments[3]).await,
    }
}

/// Settings whose log is the file NAME.qlog, for one connection.
fn transport(name: &str) -> Result<TransportConfig, Box<dyn Error>> {
    let mut transport = TransportConfig::default();
    if let Ok(folder) = std::env::var("QLOGDIR") {
        let mut log = QlogConfig::default();
        let file = File::create(format!("{folder}/{name}.qlog"))?;
        // A log is written in small pieces.
        log.writer(Box::new(LineWriter::new(file)));
        transport.qlog_stream(log.into_stream());
    }
    Ok(transport)
}

async fn serve(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(["server".to_string()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let settings = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let endpoint = Endpoint::server(settings.clone(), address)?;
    let mut number = 0;
    while let Some(incoming) = endpoint.accept().await {
        number += 1;
        let mut settings = settings.clone();
        settings.transport_config(Arc::new(transport(&format!("server-{number}"))?));
        tokio::spawn(async move {
            let connection = incoming.accept_with(Arc::new(settings)).ok()?.await.ok()?;
            let (mut send, mut receive) = connection.accept_bi().await.ok()?;
            let request = receive.read_to_end(100).await.ok()?;
            let count = std::str::from_utf8(&request).ok()?.trim().parse().ok()?;
            send.write_all(&vec![0; count]).await.ok()?;
            send.finish().ok()?;
            connection.closed().await;
            Some(())
        });
    }
    Ok(())
}

async fn get(address: SocketAddr, count: &str) -> Result<(), Box<dyn Error>> {
    let mut tls = rustls::ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustAll))
        .with_no_client_auth();
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let mut settings = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    settings.transport_config(Arc::new(transport(&format!("client-{}", std::process::id()))?));
    let endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    let connection = endpoint.connect_with(settings, address, "server")?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(count.as_bytes()).await?;
    send.finish()?;
    let got = receive.read_to_end(usize::MAX).await?.len();
    if got.to_string() != count {
        return Err(format!("{got} bytes came").into());
    }
    connection.close(0u32.into(), b"");
    // Long enough for the last packet; a close takes three timeouts.
    tokio::time::timeout(Duration::from_millis(20), endpoint.wait_idle()).await.ok();
    Ok(())
}

/// The certificate of a test is its own.
#[derive(Debug)]
struct TrustAll;

impl ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
