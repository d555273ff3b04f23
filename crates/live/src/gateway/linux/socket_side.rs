//! Relays bytes between both halves with back-pressure, and propagates half-closes and resets.

use super::socket::Pipe;
use super::tcp_side::TcpSide;
use crate::linux::sockets::Moved;

/// The known state of the server's half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketSide {
    /// There may be something to read.
    pub readable: bool,
    /// It may accept bytes.
    pub writable: bool,
    /// The server has closed.
    ended: bool,
    /// The client's close was passed on.
    finished: bool,
    /// The kernel has reported that it is closed.
    pub broken: bool,
}

/// What to do with the server's half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Continue.
    Goes,
    /// Close: both ends have closed.
    Over,
    /// Reset it, because the client is gone.
    Reset,
    /// It broke; the client has been reset.
    Broken,
}

impl SocketSide {
    /// The state of a new connection.
    pub(crate) const OPEN: Self =
        Self { readable: true, writable: true, ended: false, finished: false, broken: false };

    /// Relays bytes in both directions; at most `room` bytes from the server are buffered for the
    /// client. `buffer` is scratch memory.
    pub(crate) fn carry(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
        (room, buffer): (usize, &mut [u8]),
    ) -> Fate {
        if tcp_side.socket.connection.failure().is_some() {
            return Fate::Reset;
        }
        // Acknowledged bytes free memory.
        tcp_side.forget();
        // Unless that is over, a read would have reported it.
        let broken = self.broken && self.ended && !self.finished;
        if broken
            || self.send_up(tcp_side, pipe).is_err()
            || self.send_down(tcp_side, pipe, (room, buffer)).is_err()
        {
            tcp_side.socket.connection.abort();
            return Fate::Broken;
        }
        match self.ended && self.finished {
            true => Fate::Over,
            false => Fate::Goes,
        }
    }

    fn send_up(&mut self, tcp_side: &mut TcpSide, pipe: &mut impl Pipe) -> Result<(), Broken> {
        while self.writable && !tcp_side.socket.readable().is_empty() {
            match pipe.write(tcp_side.socket.readable()) {
                Moved::Bytes(bytes) => tcp_side.consume(bytes as usize),
                Moved::Later => self.writable = false,
                Moved::End | Moved::Broken => return Err(Broken),
            }
        }
        if tcp_side.socket.connection.is_exhausted() && !self.finished {
            self.finished = true;
            pipe.finish();
        }
        Ok(())
    }

    fn send_down(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
        (room, buffer): (usize, &mut [u8]),
    ) -> Result<(), Broken> {
        while self.readable && !self.ended {
            let free = room.saturating_sub(tcp_side.socket.kept()[0]).min(buffer.len());
            if free == 0 {
                break;
            }
            match pipe.read(&mut buffer[..free]) {
                Moved::Bytes(bytes) => tcp_side.socket.write(&buffer[..bytes as usize], room),
                Moved::Later => self.readable = false,
                Moved::Broken => return Err(Broken),
                Moved::End => {
                    self.ended = true;
                    tcp_side.socket.connection.close();
                }
            }
        }
        Ok(())
    }
}

/// The server's half broke.
struct Broken;
