//! LISTEN: the answer to the first segment of a connection (RFC 9293 section 3.10.7.2).

use alloc::sync::Arc;

use super::{Connection, refuse};
use crate::config::Config;
use crate::segment::{Flags, Segment};

/// A host in LISTEN. It keeps no connections: the caller owns an accepted connection, and passes
/// only segments that belong to no connection, or to one in TIME-WAIT that
/// [can be reopened](Connection::can_be_reopened_by).
#[derive(Clone, Debug)]
pub struct Listener {
    config: Arc<Config>,
}

/// The answer to a segment that arrives in LISTEN.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is matched where it is made, never kept")]
pub enum Answer {
    /// None: nothing is sent.
    Nothing,
    /// A RST to send.
    Reset(Segment),
    /// A connection in SYN-RECEIVED. Poll it for its SYN-ACK.
    Accepted(Connection),
}

impl Listener {
    /// A listener whose accepted connections have this `config`.
    pub const fn new(config: Arc<Config>) -> Self {
        Self { config }
    }

    /// Processes a segment that belongs to no connection. Data in a SYN is ignored, and the peer
    /// retransmits it.
    pub fn on_segment(&self, segment: &Segment) -> Answer {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return Answer::Nothing;
        }
        if flags.has(Flags::ACK) {
            return refuse(segment).map_or(Answer::Nothing, Answer::Reset);
        }
        match flags.has(Flags::SYN) {
            true => Answer::Accepted(Connection::accept(self.config.clone(), segment)),
            false => Answer::Nothing,
        }
    }
}
