//! A transfer over quiche, which writes qlog to $QLOGDIR: `transfer serve FOLDER ADDRESS` answers
//! each stream with as many bytes as its request asks for, with the certificate in FOLDER;
//! `transfer get FOLDER ADDRESS BYTES` requests them.

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind, LineWriter};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use quiche::{Config, Connection, ConnectionId, Header, RecvInfo, SendInfo};

type Outcome = Result<(), Box<dyn Error>>;

const STREAM: u64 = 0;
/// The sizes that quiche's own programs have.
const PACKET: usize = 1350;
const CONNECTION_WINDOW: u64 = 10_000_000;
const STREAM_WINDOW: u64 = 1_000_000;
/// The length of the connection ID that quiche's client chooses for its server.
const ID: usize = 16;
/// A packet whose time is this near leaves at once, as with the timers of an event loop.
const SOON: Duration = Duration::from_millis(1);

fn main() -> Outcome {
    let words: Vec<String> = env::args().collect();
    let address: SocketAddr = words[3].parse()?;
    match &*words[1] {
        "serve" => serve(&words[2], address),
        _ => get(address, &words[4]),
    }
}

/// A connection, the packet that waits for its time, and what is still to be sent.
struct Peer {
    connection: Connection,
    packet: Option<(Vec<u8>, SendInfo)>,
    request: Vec<u8>,
    left: Option<usize>,
}

impl Peer {
    fn new(mut connection: Connection, name: &str) -> Result<Self, Box<dyn Error>> {
        if let Ok(folder) = env::var("QLOGDIR") {
            let log = File::create(format!("{folder}/{name}.sqlog"))?;
            // quiche writes its log in small pieces.
            connection.set_qlog(Box::new(LineWriter::new(log)), name.to_string(), String::new());
        }
        Ok(Self { connection, packet: None, request: Vec::new(), left: None })
    }

    /// Sends all packets whose time has come.
    fn send(&mut self, socket: &UdpSocket) -> Outcome {
        loop {
            if self.packet.is_none() {
                let mut bytes = vec![0; PACKET];
                let Ok((length, info)) = self.connection.send(&mut bytes) else { break };
                bytes.truncate(length);
                self.packet = Some((bytes, info));
            }
            let due = |(_, info): &mut (Vec<u8>, SendInfo)| info.at <= Instant::now() + SOON;
            let Some((bytes, info)) = self.packet.take_if(due) else { break };
            socket.send_to(&bytes, info.to)?;
        }
        Ok(())
    }

    /// The time until a packet or a timer is due.
    fn wait(&self) -> Option<Duration> {
        let packet = self.packet.as_ref();
        let packet = packet.map(|(_, info)| info.at.saturating_duration_since(Instant::now()));
        packet.into_iter().chain(self.connection.timeout()).min()
    }

    /// Reads the request, and writes as much of the answer as there is room for.
    fn answer(&mut self) -> Outcome {
        let mut buffer = [0; 1 << 16];
        while self.left.is_none() && self.connection.stream_readable(STREAM) {
            let (length, ended) = self.connection.stream_recv(STREAM, &mut buffer)?;
            self.request.extend(&buffer[..length]);
            if ended {
                self.left = Some(std::str::from_utf8(&self.request)?.trim().parse()?);
            }
        }
        while let Some(left @ 1..) = self.left {
            let some = left.min(buffer.len());
            let sent = match self.connection.stream_send(STREAM, &buffer[..some], some == left) {
                Ok(sent) => sent,
                Err(quiche::Error::Done) => 0,
                Err(error) => return Err(error.into()),
            };
            self.left = Some(left - sent);
            if sent < some {
                break;
            }
        }
        Ok(())
    }
}

/// Waits for a packet, but no longer than `wait`.
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    wait: Option<Duration>,
) -> std::io::Result<Option<(usize, RecvInfo)>> {
    socket.set_read_timeout(wait.map(|time| time.max(SOON)))?;
    match socket.recv_from(buffer) {
        Ok((length, from)) => Ok(Some((length, RecvInfo { from, to: socket.local_addr()? }))),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn serve(folder: &str, address: SocketAddr) -> Outcome {
    let mut settings = settings()?;
    settings.load_cert_chain_from_pem_file(&format!("{folder}/cert.pem"))?;
    settings.load_priv_key_from_pem_file(&format!("{folder}/key.pem"))?;
    let socket = UdpSocket::bind(address)?;
    let mut peers: HashMap<Vec<u8>, Peer> = HashMap::new();
    let mut buffer = [0; 1 << 16];
    loop {
        let wait = peers.values().filter_map(Peer::wait).min();
        if let Some((length, info)) = receive(&socket, &mut buffer, wait)? {
            let header = Header::from_slice(&mut buffer[..length], ID)?;
            let id = header.dcid.to_vec();
            if !peers.contains_key(&id) && header.ty == quiche::Type::Initial {
                // The client chose these bytes at random, so they can be the server's, too.
                let own = ConnectionId::from_ref(&id);
                let made = quiche::accept(&own, None, info.to, info.from, &mut settings)?;
                let name = format!("server-{}", peers.len() + 1);
                peers.insert(id.clone(), Peer::new(made, &name)?);
            }
            if let Some(peer) = peers.get_mut(&id) {
                peer.connection.recv(&mut buffer[..length], info).ok();
            }
        }
        for peer in peers.values_mut() {
            if peer.connection.timeout() == Some(Duration::ZERO) {
                peer.connection.on_timeout();
            }
            peer.answer()?;
            peer.send(&socket)?;
        }
        peers.retain(|_, peer| !peer.connection.is_closed());
    }
}

fn get(address: SocketAddr, count: &str) -> Outcome {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(address)?;
    let own = std::process::id().to_be_bytes();
    let id = ConnectionId::from_ref(&own);
    let here = socket.local_addr()?;
    let made = quiche::connect(None, &id, here, address, &mut settings()?)?;
    let mut peer = Peer::new(made, &format!("client-{}", std::process::id()))?;
    let (mut got, mut asked, mut ended, mut buffer) = (0, false, false, [0; 1 << 16]);
    while !ended {
        peer.send(&socket)?;
        if let Some((length, info)) = receive(&socket, &mut buffer, peer.wait())? {
            peer.connection.recv(&mut buffer[..length], info).ok();
        }
        if peer.connection.timeout() == Some(Duration::ZERO) {
            peer.connection.on_timeout();
        }
        if peer.connection.is_closed() {
            return Err("the connection was closed".into());
        }
        if !asked && peer.connection.is_established() {
            peer.connection.stream_send(STREAM, count.as_bytes(), true)?;
            asked = true;
        }
        while !ended && peer.connection.stream_readable(STREAM) {
            let (length, last) = peer.connection.stream_recv(STREAM, &mut buffer)?;
            (got, ended) = (got + length, last);
        }
    }
    peer.connection.close(true, 0, b"").ok();
    peer.send(&socket)?;
    if got.to_string() == count {
        Ok(())
    } else {
        Err(format!("{got} bytes came").into())
    }
}

fn settings() -> Result<Config, Box<dyn Error>> {
    let mut settings = Config::new(quiche::PROTOCOL_VERSION)?;
    settings.set_application_protos(&[b"transfer"])?;
    settings.verify_peer(false);
    settings.set_max_idle_timeout(30_000);
    settings.set_max_recv_udp_payload_size(PACKET);
    settings.set_max_send_udp_payload_size(PACKET);
    settings.set_initial_max_data(CONNECTION_WINDOW);
    settings.set_initial_max_stream_data_bidi_local(STREAM_WINDOW);
    settings.set_initial_max_stream_data_bidi_remote(STREAM_WINDOW);
    settings.set_initial_max_streams_bidi(1);
    settings.set_disable_active_migration(true);
    Ok(settings)
}
