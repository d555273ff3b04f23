//! LISTEN: the answer to the first segment of a connection (RFC 9293 section 3.10.7.2).

use alloc::sync::Arc;

use super::{Connection, refuse};
use crate::config::Config;
use crate::segment::{Flags, Segment};

/// A host that waits for connections. It keeps none: an accepted connection belongs to the caller,
/// who hands over only segments that belong to no connection, or to one that
/// [yields](Connection::yields_to).
#[derive(Clone, Debug)]
pub struct Listener {
    config: Arc<Config>,
}

/// What a segment to a [`Listener`] leads to.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is matched where it is made, never kept")]
pub enum Answer {
    /// Nothing is sent.
    Nothing,
    /// This RST is sent.
    Reset(Segment),
    /// A connection in SYN-RECEIVED, whose SYN-ACK waits to be polled.
    Accepted(Connection),
}

impl Listener {
    /// Accepted connections behave as `config` says.
    pub const fn new(config: Arc<Config>) -> Self {
        Self { config }
    }

    /// Handles a segment that belongs to no connection. Data in a SYN is not accepted; the peer
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
