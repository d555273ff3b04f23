//! What joins the two halves of a connection: bytes go on as fast as the other half takes them, an end
//! becomes an end, and a break a break.

use super::leg::Leg;
use super::socket::Pipe;
use crate::linux::sockets::Moved;

/// What is known of the wired half without asking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wired {
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

impl Wired {
    /// Of a connection that was just made.
    pub(crate) const OPEN: Self =
        Self { readable: true, writable: true, ended: false, finished: false, broken: false };

    /// Carries over what can be, both ways: what the server sends up to `room` bytes kept for the
    /// client, through `buffer`.
    pub(crate) fn carry(
        &mut self,
        leg: &mut Leg,
        pipe: &mut impl Pipe,
        (room, buffer): (usize, &mut [u8]),
    ) -> Fate {
        if leg.socket.connection.failure().is_some() {
            return Fate::Reset;
        }
        // What was acknowledged makes room.
        leg.forget();
        // Reading what it sent before would have told so, if that were not over.
        let broken = self.broken && self.ended && !self.finished;
        if broken
            || self.send_up(leg, pipe).is_err()
            || self.send_down(leg, pipe, (room, buffer)).is_err()
        {
            leg.socket.connection.abort();
            return Fate::Broken;
        }
        match self.ended && self.finished {
            true => Fate::Over,
            false => Fate::Goes,
        }
    }

    fn send_up(&mut self, leg: &mut Leg, pipe: &mut impl Pipe) -> Result<(), Broken> {
        while self.writable && !leg.socket.readable().is_empty() {
            match pipe.write(leg.socket.readable()) {
                Moved::Bytes(bytes) => leg.consume(bytes as usize),
                Moved::Later => self.writable = false,
                Moved::End | Moved::Broken => return Err(Broken),
            }
        }
        if leg.socket.connection.is_exhausted() && !self.finished {
            self.finished = true;
            pipe.finish();
        }
        Ok(())
    }

    fn send_down(
        &mut self,
        leg: &mut Leg,
        pipe: &mut impl Pipe,
        (room, buffer): (usize, &mut [u8]),
    ) -> Result<(), Broken> {
        while self.readable && !self.ended {
            let free = room.saturating_sub(leg.socket.kept()[0]).min(buffer.len());
            if free == 0 {
                break;
            }
            match pipe.read(&mut buffer[..free]) {
                Moved::Bytes(bytes) => leg.socket.write(&buffer[..bytes as usize], room),
                Moved::Later => self.readable = false,
                Moved::Broken => return Err(Broken),
                Moved::End => {
                    self.ended = true;
                    leg.socket.connection.close();
                }
            }
        }
        Ok(())
    }
}

/// The wired half broke.
struct Broken;
