//! The wired half of a splice: a socket of the kernel's.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, connect, ipproto, recv,
    send, shutdown, socket_with, sockopt,
};

use crate::linux::sockets::Moved;

/// What a splice carries bytes to and from.
pub(crate) trait Pipe {
    /// Reads what is there.
    fn read(&mut self, into: &mut [u8]) -> Moved;
    /// Writes as much as is taken.
    fn write(&mut self, from: &[u8]) -> Moved;
    /// Nothing more will be written.
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
        // What came in one piece goes on in one piece; the client has had its say in what is small.
        sockopt::set_tcp_nodelay(&socket, true)?;
        match connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(Self(socket)),
            Err(refused) => Err(refused.into()),
        }
    }

    /// What became of connecting, once that is over.
    pub(crate) fn connected(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.0).unwrap_or_else(Err)
    }

    /// Gives the connection up: the server gets a reset.
    pub(crate) fn reset(self) {
        // Else it is closed as any other.
        let _ = sockopt::set_socket_linger(&self.0, Some(Duration::ZERO));
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Pipe for Socket {
    fn read(&mut self, into: &mut [u8]) -> Moved {
        match recv(&self.0, into, RecvFlags::empty()) {
            Ok((_, 0)) => Moved::End,
            Ok((_, read)) => Moved::Bytes(read as u64),
            Err(Errno::AGAIN | Errno::INTR) => Moved::Later,
            Err(_) => Moved::Broken,
        }
    }

    fn write(&mut self, from: &[u8]) -> Moved {
        match send(&self.0, from, SendFlags::NOSIGNAL) {
            Ok(sent) => Moved::Bytes(sent as u64),
            Err(Errno::AGAIN | Errno::INTR) => Moved::Later,
            Err(_) => Moved::Broken,
        }
    }

    fn finish(&mut self) {
        // A connection that is broken does not mind.
        let _ = shutdown(&self.0, Shutdown::Write);
    }
}
