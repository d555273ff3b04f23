//! LISTEN: who answers the first segment of a connection (RFC 9293 section 3.10.7.2).

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::{Connection, refuse};
use crate::config::Config;
use crate::segment::{Flags, Segment};

/// A host that waits for connections. It keeps none itself: what it accepts belongs to its caller,
/// who tells it only of segments that belong to no connection, or to one that
/// [yields](Connection::yields_to).
#[derive(Clone, Debug)]
pub struct Listener {
    config: Arc<Config>,
}

/// What a segment to a [`Listener`] leads to.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// This reset is to leave.
    Reset(Segment),
    /// A connection, in SYN-RECEIVED: its SYN-ACK waits to be polled.
    Accepted(Box<Connection>),
}

impl Listener {
    /// Who is accepted behaves as `config` says.
    pub const fn new(config: Arc<Config>) -> Self {
        Self { config }
    }

    /// A segment arrived that belongs to no connection. Data that come with a SYN are not taken;
    /// the peer sends them again.
    pub fn on_segment(&self, segment: &Segment) -> Answer {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return Answer::Nothing;
        }
        if flags.has(Flags::ACK) {
            return refuse(segment).map_or(Answer::Nothing, Answer::Reset);
        }
        match flags.has(Flags::SYN) {
            true => Answer::Accepted(Box::new(Connection::accept(self.config.clone(), segment))),
            false => Answer::Nothing,
        }
    }
}
