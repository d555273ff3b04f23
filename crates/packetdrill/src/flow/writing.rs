//! Writing to a connection, as `tcp_sendmsg_locked` does.

use rtolab_socket::offset;

use super::{BlockingMode, LinuxConnection};
use crate::cork::Release;
use crate::push::WritePart;
use crate::settings::PushRule;

/// A call that writes.
#[derive(Clone, Copy, Debug)]
pub struct WriteCall {
    /// Does it wait for room in the send buffer?
    pub mode: BlockingMode,
    /// Does more data follow, so that a partial segment is held back (`MSG_MORE`)?
    pub has_more: bool,
    /// The number of bytes written so far.
    pub written: usize,
    /// Does it wait for room in the send buffer now?
    pub waits: bool,
}

impl WriteCall {
    /// A call that has written nothing yet.
    pub const fn new(mode: BlockingMode, has_more: bool) -> Self {
        Self { mode, has_more, written: 0, waits: false }
    }
}

impl LinuxConnection {
    /// The number of bytes written.
    fn written(&self) -> u64 {
        self.socket.written() + self.cork.held()
    }

    /// The number of bytes written and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.written() - self.socket.acknowledged()
    }

    /// The offset of the first byte that is not sent.
    fn sent(&self) -> u64 {
        offset(self.socket.connection.sender().flight().max())
    }

    /// May a call write more: is the last buffer not full, or may it begin another one?
    pub fn has_room(&self) -> bool {
        let smss = self.socket.connection.sender().window().smss();
        let appends = self.push_rule != PushRule::Writes
            && self.send_queue.appends((self.sent(), self.written()), smss);
        appends || self.send_buffer.has_room(self.unacknowledged())
    }

    /// Passes held bytes to the engine.
    fn release(&mut self, release: Release) {
        if self.cork.held() == 0 {
            return;
        }
        let unsent = self.socket.written().saturating_sub(self.sent());
        let smss = self.socket.connection.sender().window().smss();
        let bytes = self.cork.take(release, unsent, smss);
        // A connection that has ended takes none.
        let _ = self.socket.write(&bytes, usize::MAX);
    }

    /// Sets `TCP_CORK`. Call [`drain`](Self::drain) then.
    pub fn set_cork(&mut self, is_corked: bool) {
        self.cork.is_corked = is_corked;
        if !is_corked {
            self.release(Release::All);
        }
    }

    /// Releases the data written so far, without PSH, because of `TCP_NODELAY` or a FIN. Call
    /// [`drain`](Self::drain) then.
    pub fn release_all(&mut self) {
        self.release(Release::All);
    }

    /// Pushes all data written so far: they are sent with PSH. Call [`drain`](Self::drain) then.
    pub fn push_all(&mut self) {
        let end = self.written();
        self.push.mark(end);
        self.send_queue.on_push(end);
        self.release(Release::All);
    }

    /// A non-blocking call has written only a part, because the send buffer is full.
    pub fn end_partial_write(&mut self) {
        self.timestamps.on_write(self.written());
    }

    /// Writes the first of `bytes`, up to the end of a buffer of the send queue. Returns their
    /// number. Call [`drain`](Self::drain) before writing the rest, which continues the `call`.
    pub fn write(&mut self, bytes: &[u8], call: &WriteCall) -> usize {
        let smss = self.socket.connection.sender().window().smss();
        let (sent, end) = (self.sent(), self.written());
        let all = bytes.len() as u64;
        let part = match self.push_rule {
            PushRule::Linux | PushRule::LinuxWithoutTso => {
                self.send_queue.part((all, call.has_more), (sent, end), smss)
            }
            PushRule::Writes => WritePart { bytes: all, appended: false, forced: false },
        };
        let mark_moves = part.appended && self.push.unmark(end) && call.written > 0;
        let (count, ends) = (part.bytes as usize, part.bytes == all);
        let end = end + part.bytes;
        self.send_buffer.add(end, part.appended);
        if mark_moves || part.forced || (ends && !call.has_more) {
            self.push.mark(end);
        }
        if ends {
            self.timestamps.on_write(end);
        }
        self.cork.hold(&bytes[..count]);
        self.release(match ends {
            true if call.has_more || self.cork.is_corked => Release::FullSegments,
            true => Release::All,
            false if part.forced => Release::All,
            false if self.send_queue.is_at_head(sent) => Release::Packet(self.limits().segments()),
            false => Release::Packet(0),
        });
        count
    }
}
