//! The server side of a proxied connection: a socket of the kernel.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, connect, ipproto, recv,
    send, shutdown, socket_with, sockopt,
};

use crate::linux::sockets::IoResult;

/// A byte stream to and from a server.
pub(crate) trait Pipe {
    /// Reads the available bytes.
    fn read(&mut self, into: &mut [u8]) -> IoResult;
    /// Writes as much as the socket accepts.
    fn write(&mut self, from: &[u8]) -> IoResult;
    /// Closes the sending side.
    fn finish(&mut self);
}

/// A connection to a server.
pub(crate) struct Socket(OwnedFd);

impl Socket {
    /// Begins to connect.
    pub(crate) fn connect(to: SocketAddr) -> io::Result<Self> {
        let family = match to {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        // Without Nagle's algorithm, because the client has already delayed small segments.
        sockopt::set_tcp_nodelay(&socket, true)?;
        match connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(Self(socket)),
            Err(refused) => Err(refused.into()),
        }
    }

    /// The result of connecting, once it is known.
    pub(crate) fn connected(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.0).unwrap_or_else(Err)
    }

    /// Resets the connection to the server.
    pub(crate) fn reset(self) {
        // With this option, closing the socket sends a RST instead of a FIN.
        let _ = sockopt::set_socket_linger(&self.0, Some(Duration::ZERO));
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Pipe for Socket {
    fn read(&mut self, into: &mut [u8]) -> IoResult {
        match recv(&self.0, into, RecvFlags::empty()) {
            Ok((_, 0)) => IoResult::End,
            Ok((_, read)) => IoResult::Bytes(read as u64),
            Err(Errno::AGAIN | Errno::INTR) => IoResult::WouldBlock,
            Err(_) => IoResult::Broken,
        }
    }

    fn write(&mut self, from: &[u8]) -> IoResult {
        match send(&self.0, from, SendFlags::NOSIGNAL) {
            Ok(sent) => IoResult::Bytes(sent as u64),
            Err(Errno::AGAIN | Errno::INTR) => IoResult::WouldBlock,
            Err(_) => IoResult::Broken,
        }
    }

    fn finish(&mut self) {
        // The error of a broken connection does not matter.
        let _ = shutdown(&self.0, Shutdown::Write);
    }
}
