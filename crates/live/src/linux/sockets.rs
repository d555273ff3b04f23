//! The kernel's own sockets at both ends of a flow.

use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rtolab_record::Place;
use rtolab_scenario::{Flow, Workload};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind,
    connect, ipproto, listen, recv, send, shutdown, socket_with, sockopt,
};

use super::host::Host;
use super::packet::port;
use super::sys::{TcpInfo, tcp_info};
use crate::error::Error;

/// The maximum number of bytes per read or write.
const CHUNK: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
}

impl Protocol {
    pub(crate) const fn of(workload: &Workload) -> Self {
        match workload {
            Workload::Datagrams { .. } => Self::Udp,
            _ => Self::Tcp,
        }
    }
}

/// The sockets at both ends of a flow.
pub(crate) trait Sockets {
    fn protocol(&self) -> Protocol;
    /// Opens the connection.
    fn connect(&mut self) -> Result<(), Error>;
    /// Accepts the connection at the receiving host. Returns whether it is established.
    fn accept(&mut self) -> bool;
    /// Reads the available bytes.
    fn read(&mut self, place: Place, buffer: &mut [u8]) -> IoResult;
    /// Writes up to `most` bytes. `closing`: the end closes after them, so a last segment that is
    /// not full waits for the FIN, as it leaves with it in the simulator.
    fn write(&mut self, place: Place, most: u64, closing: bool) -> IoResult;
    /// Sends a datagram with this payload.
    fn datagram(&mut self, payload: u64);
    /// Closes the sending side.
    fn finish(&mut self, place: Place);
    /// The state of the sending socket.
    fn info(&self) -> Option<TcpInfo>;
}

/// The sockets of a flow before it begins.
pub(crate) struct Pair {
    pub protocol: Protocol,
    /// The socket at the sending host.
    pub sender: Arc<OwnedFd>,
    /// The socket at the receiving host; for TCP it is listening.
    pub receiver: OwnedFd,
    /// The connection at the receiving host, after it is established.
    pub accepted: Option<OwnedFd>,
    to: SocketAddrV4,
}

impl Pair {
    /// The sockets of the flow with this number, from 0.
    pub(crate) fn new(hosts: &[Host], number: usize, flow: &Flow) -> Result<Self, Error> {
        let protocol = Protocol::of(&flow.workload);
        let at = |node: usize, place| SocketAddrV4::new(hosts[node].address, port(number, place));
        let (from, to) = (at(flow.from, Place::Sender), at(flow.to, Place::Receiver));
        let sender = hosts[flow.from].within(|| open(protocol, from))?;
        let receiver = hosts[flow.to].within(|| open(protocol, to))?;
        if protocol == Protocol::Tcp {
            listen(&receiver, 1).map_err(Error::system("listen"))?;
        }
        Ok(Self { protocol, sender: Arc::new(sender), receiver, accepted: None, to })
    }

    fn socket(&self, place: Place) -> Option<&OwnedFd> {
        match (place, self.protocol) {
            (Place::Sender, _) => Some(&*self.sender),
            (Place::Receiver, Protocol::Udp) => Some(&self.receiver),
            (Place::Receiver, Protocol::Tcp) => self.accepted.as_ref(),
        }
    }
}

impl Sockets for Pair {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn connect(&mut self) -> Result<(), Error> {
        match connect(&self.sender, &SocketAddr::V4(self.to)) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
            Err(refused) => Err(Error::system("open a connection")(refused)),
        }
    }

    fn accept(&mut self) -> bool {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        self.accepted = accept_with(&self.receiver, flags).ok();
        self.accepted.is_some()
    }

    fn read(&mut self, place: Place, buffer: &mut [u8]) -> IoResult {
        self.socket(place).map_or(IoResult::WouldBlock, |socket| read(socket, buffer))
    }

    fn write(&mut self, place: Place, most: u64, closing: bool) -> IoResult {
        self.socket(place).map_or(IoResult::WouldBlock, |socket| write(socket, most, closing))
    }

    /// Sends a datagram. A full queue of the host drops it.
    fn datagram(&mut self, payload: u64) {
        write(&self.sender, payload, false);
    }

    /// Closes the sending side. The error of a broken connection does not matter.
    fn finish(&mut self, place: Place) {
        if let Some(socket) = self.socket(place) {
            let _ = shutdown(socket, Shutdown::Write);
        }
    }

    fn info(&self) -> Option<TcpInfo> {
        tcp_info(self.sender.as_fd()).ok()
    }
}

fn open(protocol: Protocol, at: SocketAddrV4) -> Result<OwnedFd, Error> {
    let (kind, number) = match protocol {
        Protocol::Tcp => (SocketType::STREAM, ipproto::TCP),
        Protocol::Udp => (SocketType::DGRAM, ipproto::UDP),
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, kind, flags, Some(number));
    let socket = socket.map_err(Error::system("make a socket"))?;
    bind(&socket, &SocketAddr::V4(at)).map_err(Error::system("bind a socket"))?;
    Ok(socket)
}

/// The result of a read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoResult {
    /// The number of bytes.
    Bytes(u64),
    /// The other end has closed.
    End,
    /// The call would block.
    WouldBlock,
    /// The connection is broken.
    Broken,
}

/// Writes up to `most` zero bytes. `closing`: nothing follows them.
fn write(socket: &OwnedFd, most: u64, closing: bool) -> IoResult {
    static ZEROS: [u8; CHUNK] = [0; CHUNK];
    let part = &ZEROS[..most.min(CHUNK as u64) as usize];
    let waits = closing && part.len() as u64 == most;
    let flags = if waits { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL };
    match send(socket, part, flags) {
        Ok(sent) => IoResult::Bytes(sent as u64),
        Err(Errno::AGAIN | Errno::INTR) => IoResult::WouldBlock,
        Err(_) => IoResult::Broken,
    }
}

/// Reads the available bytes.
fn read(socket: &OwnedFd, buffer: &mut [u8]) -> IoResult {
    match recv(socket, buffer, RecvFlags::empty()) {
        Ok((_, 0)) => IoResult::End,
        Ok((_, read)) => IoResult::Bytes(read as u64),
        Err(Errno::AGAIN | Errno::INTR) => IoResult::WouldBlock,
        Err(_) => IoResult::Broken,
    }
}

/// A buffer for reads.
pub(crate) fn buffer() -> Vec<u8> {
    vec![0; CHUNK]
}

/// The name of the socket's congestion control.
pub(crate) fn congestion(socket: &OwnedFd) -> Result<String, Error> {
    sockopt::tcp_congestion(socket).map_err(Error::system("read the congestion control"))
}
