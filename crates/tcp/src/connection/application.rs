//! What an application may do with its connection, and how it closes it.

use super::reset::Reset;
use super::states::FastPath;
use super::{Connection, Failure, State};
use crate::config::AfterClose;

impl Connection {
    /// The application has no more to send: a FIN follows the data. Whether it still reads says
    /// [`AfterClose`].
    pub fn close(&mut self) {
        self.fast_path = FastPath::None;
        match self.config.connection.after_close {
            AfterClose::Reads => self.finish_sending(),
            AfterClose::Resets => self.hang_up(),
        }
    }

    /// The application neither writes nor reads any more: a FIN follows the data, but what was not
    /// read, or still arrives, is answered by a reset (RFC 9293 section 3.6.1).
    pub fn hang_up(&mut self) {
        self.fast_path = FastPath::None;
        if self.readable() > 0 {
            self.abort();
            return;
        }
        self.rcv_shutdown = true;
        self.finish_sending();
    }

    fn finish_sending(&mut self) {
        self.sender.close();
        self.state = match self.state {
            State::SynReceived | State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Gives the connection up: a reset leaves, where the peer may think that there is one (RFC
    /// 9293 section 3.10.5).
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

    /// How many bytes there are to read.
    pub fn readable(&self) -> u64 {
        self.receiver.available()
    }

    /// May the application still write? There is no send buffer to be full here: see
    /// [`Connection::unacknowledged`].
    pub const fn is_writable(&self) -> bool {
        self.state.takes_data() && !self.sender.is_closed()
    }

    /// How many of the bytes that were written are not acknowledged, sent or not: what a send
    /// buffer would hold.
    pub fn unacknowledged(&self) -> u64 {
        self.sender.unacknowledged()
    }

    /// Has the peer closed, and was everything read: the end of the file?
    pub fn is_exhausted(&self) -> bool {
        self.receiver.finished() && self.readable() == 0
    }

    /// Why the connection is over, if both ends did not close it.
    pub const fn failure(&self) -> Option<Failure> {
        self.cold.failure
    }
}
