//! The kernel's own sockets at both ends of a flow.

use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
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
use crate::error::Error;

/// The bytes of one read or write.
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

/// The sockets of a flow before it begins.
pub(crate) struct Pair {
    pub protocol: Protocol,
    /// At the sending host.
    pub sender: Arc<OwnedFd>,
    /// At the receiving host; for TCP the listening socket.
    pub receiver: OwnedFd,
    to: SocketAddrV4,
}

impl Pair {
    /// The sockets of the flow of this number, from 0.
    pub(crate) fn new(hosts: &[Host], number: usize, flow: &Flow) -> Result<Self, Error> {
        let protocol = Protocol::of(&flow.workload);
        let at = |node: usize, place| SocketAddrV4::new(hosts[node].address, port(number, place));
        let (from, to) = (at(flow.from, Place::Sender), at(flow.to, Place::Receiver));
        let sender = hosts[flow.from].within(|| open(protocol, from))?;
        let receiver = hosts[flow.to].within(|| open(protocol, to))?;
        if protocol == Protocol::Tcp {
            listen(&receiver, 1).map_err(Error::system("listen"))?;
        }
        Ok(Self { protocol, sender: Arc::new(sender), receiver, to })
    }

    /// Opens the connection.
    pub(crate) fn connect(&self) -> Result<(), Error> {
        match connect(&self.sender, &SocketAddr::V4(self.to)) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
            Err(refused) => Err(Error::system("open a connection")(refused)),
        }
    }

    /// The connection at the receiving host, once it is established.
    pub(crate) fn accept(&self) -> Option<OwnedFd> {
        accept_with(&self.receiver, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC).ok()
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
pub(crate) enum Moved {
    /// The number of bytes.
    Bytes(u64),
    /// The other end has closed.
    End,
    /// It would block.
    Later,
    /// The connection is broken.
    Broken,
}

/// Writes up to `most` zero bytes.
pub(crate) fn write(socket: &OwnedFd, most: u64) -> Moved {
    static ZEROS: [u8; CHUNK] = [0; CHUNK];
    let part = &ZEROS[..most.min(CHUNK as u64) as usize];
    match send(socket, part, SendFlags::NOSIGNAL) {
        Ok(sent) => Moved::Bytes(sent as u64),
        Err(Errno::AGAIN | Errno::INTR) => Moved::Later,
        Err(_) => Moved::Broken,
    }
}

/// Reads the available bytes.
pub(crate) fn read(socket: &OwnedFd, buffer: &mut [u8]) -> Moved {
    match recv(socket, buffer, RecvFlags::empty()) {
        Ok((_, 0)) => Moved::End,
        Ok((_, read)) => Moved::Bytes(read as u64),
        Err(Errno::AGAIN | Errno::INTR) => Moved::Later,
        Err(_) => Moved::Broken,
    }
}

/// A buffer for reads.
pub(crate) fn buffer() -> Vec<u8> {
    vec![0; CHUNK]
}

/// Closes the sending side. The error of a broken connection does not matter.
pub(crate) fn finish(socket: &OwnedFd) {
    let _ = shutdown(socket, Shutdown::Write);
}

/// The name of the socket's congestion control.
pub(crate) fn congestion(socket: &OwnedFd) -> Result<String, Error> {
    sockopt::tcp_congestion(socket).map_err(Error::system("ask for the congestion control"))
}
