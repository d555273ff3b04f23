//! Relaying of bytes between client and server with back-pressure, half-closes and resets.

use super::socket::Pipe;
use super::tcp_side::TcpSide;
use crate::linux::sockets::IoResult;

/// The known state of the server side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketSide {
    /// The socket may be readable.
    pub readable: bool,
    /// The socket may be writable.
    pub writable: bool,
    /// The server has closed.
    ended: bool,
    /// The client's close was propagated.
    finished: bool,
    /// The kernel has reported an error or a hang-up.
    pub broken: bool,
}

/// The further treatment of the server side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    /// Continue.
    Continue,
    /// Close it, because both ends have closed.
    Close,
    /// Reset it, because the client is gone.
    Reset,
    /// Discard it, because it failed; the client has been reset.
    Broken,
}

impl SocketSide {
    /// The state of a new connection.
    pub(crate) const OPEN: Self =
        Self { readable: true, writable: true, ended: false, finished: false, broken: false };

    /// Relays bytes in both directions. Buffers at most `limit` bytes from the server for the
    /// client. The contents of `buffer` do not matter.
    pub(crate) fn relay(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
        (limit, buffer): (usize, &mut [u8]),
    ) -> Disposition {
        if tcp_side.socket.connection.failure().is_some() {
            return Disposition::Reset;
        }
        // Acknowledged bytes free memory.
        tcp_side.release();
        // While the server's direction is open, a read reports the error after the last byte.
        let broken = self.broken && self.ended && !self.finished;
        if broken
            || self.relay_to_server(tcp_side, pipe).is_err()
            || self.relay_to_client(tcp_side, pipe, (limit, buffer)).is_err()
        {
            tcp_side.socket.connection.abort();
            return Disposition::Broken;
        }
        match self.ended && self.finished {
            true => Disposition::Close,
            false => Disposition::Continue,
        }
    }

    fn relay_to_server(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
    ) -> Result<(), Broken> {
        while self.writable && !tcp_side.socket.readable().is_empty() {
            match pipe.write(tcp_side.socket.readable()) {
                IoResult::Bytes(bytes) => tcp_side.consume(bytes as usize),
                IoResult::WouldBlock => self.writable = false,
                IoResult::End | IoResult::Broken => return Err(Broken),
            }
        }
        if tcp_side.socket.connection.is_exhausted() && !self.finished {
            self.finished = true;
            pipe.finish();
        }
        Ok(())
    }

    fn relay_to_client(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
        (limit, buffer): (usize, &mut [u8]),
    ) -> Result<(), Broken> {
        while self.readable && !self.ended {
            let free = limit.saturating_sub(tcp_side.socket.buffered()[0]).min(buffer.len());
            if free == 0 {
                break;
            }
            match pipe.read(&mut buffer[..free]) {
                IoResult::Bytes(bytes) => {
                    // There is room for all. A connection that has ended takes none.
                    let _ = tcp_side.socket.write(&buffer[..bytes as usize], limit);
                }
                IoResult::WouldBlock => self.readable = false,
                IoResult::Broken => return Err(Broken),
                IoResult::End => {
                    self.ended = true;
                    tcp_side.socket.connection.close();
                }
            }
        }
        Ok(())
    }
}

/// The error of a failed server side.
struct Broken;
