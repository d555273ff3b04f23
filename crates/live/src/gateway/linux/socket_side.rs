//! What joins the two halves of a connection: bytes go on as fast as the other half takes them, an end
//! becomes an end, and a break a break.

use super::socket::Pipe;
use super::tcp_side::TcpSide;
use crate::linux::sockets::Moved;

/// What is known of the wired half without asking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketSide {
    /// There may be something to read.
    pub readable: bool,
    /// It may take something.
    pub writable: bool,
    /// The server has said that it has nothing more.
    ended: bool,
    /// It was told that the client has nothing more.
    finished: bool,
    /// The kernel has said that it is no more.
    pub broken: bool,
}

/// What becomes of the wired half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Goes,
    /// Both have said all.
    Over,
    /// It is to be broken off, for the client is gone.
    Reset,
    /// It broke; the client has been reset.
    Broken,
}

impl SocketSide {
    /// Of a connection that was just made.
    pub(crate) const OPEN: Self =
        Self { readable: true, writable: true, ended: false, finished: false, broken: false };

    /// Carries over what can be, both ways: what the server sends up to `room` bytes kept for the
    /// client, through `buffer`.
    pub(crate) fn carry(
        &mut self,
        tcp_side: &mut TcpSide,
        pipe: &mut impl Pipe,
        (room, buffer): (usize, &mut [u8]),
    ) -> Fate {
        if tcp_side.socket.connection.failure().is_some() {
            return Fate::Reset;
        }
        // What was acknowledged makes room.
        tcp_side.forget();
        // Reading what it sent before would have told so, if that were not over.
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

/// The wired half broke.
struct Broken;
