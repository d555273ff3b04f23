//! The interface to the application: close, abort, and queries.

use super::outgoing_reset::Reset;
use super::states::FastPath;
use super::{Connection, Failure, State};
use crate::config::AfterClose;

impl Connection {
    /// Closes the sending direction: a FIN follows the data. [`AfterClose`] decides whether the
    /// application can still read.
    pub fn close(&mut self) {
        match self.config.connection.after_close {
            AfterClose::Reads => self.shutdown(),
            AfterClose::Resets => self.close_both(),
        }
    }

    /// Closes both directions: a FIN follows the data. Unread data, and data that still arrives,
    /// resets the connection (RFC 9293 section 3.6.1).
    pub fn close_both(&mut self) {
        self.fast_path = FastPath::None;
        if self.readable() > 0 {
            self.abort();
            return;
        }
        self.rcv_shutdown = true;
        self.finish_sending();
    }

    /// Closes the sending direction alone, as `shutdown(SHUT_WR)` does, whatever [`AfterClose`] is.
    pub fn shutdown(&mut self) {
        self.fast_path = FastPath::None;
        self.finish_sending();
    }

    fn finish_sending(&mut self) {
        self.acknowledge_first();
        self.sender.close();
        self.state = match self.state {
            State::SynReceived | State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Aborts the connection. A reset is sent if the peer may know the connection (RFC 9293 section
    /// 3.10.5).
    pub fn abort(&mut self) {
        self.fast_path = FastPath::None;
        self.reset = match self.state {
            State::SynReceived
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait => Some(Reset::Abort),
            State::SynSent | State::Closing | State::LastAck | State::TimeWait | State::Closed => {
                None
            }
        };
        self.fail(Failure::Aborted);
    }

    /// The number of bytes that the application can read.
    pub fn readable(&self) -> u64 {
        self.receiver.available()
    }

    /// May the application still write? The connection has no send buffer of limited size: see
    /// [`Connection::unacknowledged`].
    pub const fn is_writable(&self) -> bool {
        self.state.can_write() && !self.sender.is_closed()
    }

    /// The number of written bytes that are not acknowledged, sent or not: the content of a send
    /// buffer.
    pub fn unacknowledged(&self) -> u64 {
        self.sender.unacknowledged()
    }

    /// Has the peer closed, and did the application read everything (end of file)?
    pub fn is_exhausted(&self) -> bool {
        self.receiver.has_received_fin() && self.readable() == 0
    }

    /// Why the connection ended, unless both ends closed it.
    pub const fn failure(&self) -> Option<Failure> {
        self.cold.failure
    }
}
