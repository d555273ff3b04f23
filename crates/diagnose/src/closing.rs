//! The end of a connection: its FINs, its first reset, and the silence before them.

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::Instant;
use serde::Serialize;

/// The closing state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseState {
    Open,
    /// This end has sent its FIN.
    HalfClosed(End),
    /// Both ends have sent a FIN, or one has sent a RST.
    Closed,
}

/// A reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub from: End,
    /// The ACK field, if it is valid.
    pub ack: Option<Seq>,
    /// The closing state before it.
    pub close_state: CloseState,
    /// Was the last data before it of the same end?
    pub is_after_data: bool,
    /// Its hop limit and that of the end's first packet, if they differ.
    pub foreign_hops: Option<[u8; 2]>,
}

/// A silence that a FIN or a RST ended while no data was outstanding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleClose {
    /// The end that closed the connection.
    pub from: End,
    pub start: Instant,
    pub at: Instant,
    /// Has the other end sent a packet since? A RST needs no answer.
    pub is_answered: bool,
}

/// A silence before the end of a connection, while no data was outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClosingSilence {
    /// `client` or `server`: the end that then closed the connection.
    pub from: &'static str,
    /// When it began, in seconds since the capture's first packet.
    pub start: f64,
    /// How long it lasted, in seconds.
    pub length: f64,
    /// Did it end with the FIN of the end that received, which nothing answered, in a capture that
    /// was not made at the sender? Then the sender, its application or the path stopped.
    pub is_unanswered: bool,
}

impl IdleClose {
    /// The silence from `start` until this segment, if it closes the connection.
    pub fn by(
        (from, segment): (End, &Segment),
        (start, at): (Instant, Instant),
        before: CloseState,
    ) -> Option<Self> {
        let closes = segment.flags.any(Flags::FIN | Flags::RST) && segment.len == 0;
        let is_answered = segment.flags.has(Flags::RST);
        (closes && before == CloseState::Open).then_some(Self { from, start, at, is_answered })
    }
}
