//! Misbehaving receivers, which falsify acknowledgments to receive more than their share.
//!
//! They do so when an acknowledgment is sent; their own state stays true. The exception is the
//! optimistic receiver, which gives up the data that it acknowledges without having it.

use core::ops::Range;

use rtolab_time::{Duration, Instant};

use crate::config::FalseReport;
use crate::segment::{Flags, Segment, Timestamps};
use crate::seq::Seq;

/// ACK division: the number of acknowledgments for one segment.
const PIECES: u32 = 8;
/// Duplicate spoofing: the number of extra duplicates for each real one.
const REPEATED: u32 = 3;
/// Optimistic acknowledging: the number of segments ahead, and the largest part of everything
/// received. A sender ignores acknowledgments of data that it has not sent.
const AHEAD: u32 = 8;
const PART: u64 = 4;
/// A segment that arrives after this much silence is assumed to be sent by a timeout: the smallest
/// RTO of RFC 6298.
const SILENCE: Duration = Duration::from_secs(1);

/// What a receiver has when it acknowledges.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverState {
    /// RCV.NXT.
    pub nxt: Seq,
    /// The sequence number of the peer's FIN, once seen.
    pub fin: Option<Seq>,
    /// Are there data above RCV.NXT?
    pub gap: bool,
    /// The most that the peer sends in a segment, in bytes.
    pub smss: u32,
    pub at: Instant,
}

/// What a lie consists of, beside the acknowledgment itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Falsified {
    /// The range to report as received twice.
    pub duplicate: Option<Range<Seq>>,
    /// The number of acknowledgments to send besides.
    pub released: u32,
}

/// What a misbehaving receiver remembers of its last acknowledgment.
#[derive(Clone, Debug)]
pub(super) struct Misbehaviour {
    lie: FalseReport,
    /// RCV.NXT when the last acknowledgment was sent, and when that was.
    rcv_nxt: Seq,
    left: Instant,
    /// Was there a gap then?
    gap: bool,
    /// The acknowledgment number that it carried.
    acked: Seq,
    /// The timestamp that it should have echoed.
    echo: Option<u32>,
    /// The number of acknowledgments still to follow for the same segment.
    following: u32,
}

impl Misbehaviour {
    pub(super) const fn new(lie: FalseReport) -> Self {
        Self {
            lie,
            rcv_nxt: Seq::FIRST,
            left: Instant::START,
            gap: false,
            acked: Seq::FIRST,
            echo: None,
            following: 0,
        }
    }

    /// Does the receiver acknowledge beyond its gaps?
    pub(super) fn fills_gaps(&self, segment: &Segment) -> bool {
        self.lie == FalseReport::Optimistic && !is_truthful(segment)
    }

    /// Falsifies the acknowledgment in `segment`.
    pub(super) fn falsify(&mut self, segment: &mut Segment, state: &ReceiverState) -> Falsified {
        let mut falsified = Falsified::default();
        match self.lie {
            FalseReport::OldEcho => self.echo_previous(segment),
            _ if is_truthful(segment) => {}
            FalseReport::FalseDsack => falsified.duplicate = self.false_dsack(state),
            FalseReport::AckDivision => falsified.released = self.divide(segment, state),
            FalseReport::SpoofedDuplicates => falsified.released = self.spoof_duplicates(state),
            FalseReport::Optimistic => self.acknowledge_ahead(segment, state),
        }
        (self.rcv_nxt, self.left) = (state.nxt, state.at);
        (self.gap, self.acked) = (state.gap, segment.ack);
        falsified
    }

    /// Echoes the timestamp of the previous acknowledgment.
    fn echo_previous(&mut self, segment: &mut Segment) {
        let Some(Timestamps { value, echo }) = segment.timestamps() else { return };
        let previous = self.echo.replace(echo);
        segment.set_timestamps(Timestamps { value, echo: previous.unwrap_or(echo) });
    }

    fn false_dsack(&self, state: &ReceiverState) -> Option<Range<Seq>> {
        let retransmitted = self.gap || state.at - self.left >= SILENCE;
        let advanced = retransmitted && state.nxt > self.rcv_nxt;
        advanced.then(|| self.rcv_nxt..state.nxt.min(self.rcv_nxt + state.smss))
    }

    fn divide(&mut self, segment: &mut Segment, state: &ReceiverState) -> u32 {
        let acked = self.acked.max(Seq::FIRST + 1);
        let rest = state.nxt.since(acked);
        // After the FIN no further segment would trigger the rest.
        if state.fin.is_some_and(|fin| state.nxt > fin) {
            segment.ack = state.nxt;
            return 0;
        }
        let divides = state.nxt > self.rcv_nxt && rest > 1;
        if divides {
            self.following = PIECES.min(rest as u32) - 1;
        } else {
            self.following = self.following.saturating_sub(1);
        }
        segment.ack = acked + (rest / u64::from(self.following + 1)) as u32;
        if divides { self.following } else { 0 }
    }

    fn spoof_duplicates(&mut self, state: &ReceiverState) -> u32 {
        if self.following > 0 {
            self.following -= 1;
        } else if state.gap && state.nxt == self.rcv_nxt {
            self.following = REPEATED;
            return REPEATED;
        }
        0
    }

    fn acknowledge_ahead(&self, segment: &mut Segment, state: &ReceiverState) {
        let all = state.nxt.since(Seq::FIRST);
        let ahead = u64::from(AHEAD * state.smss).min(all / PART) as u32;
        segment.ack = match state.nxt > self.rcv_nxt && state.fin.is_none() {
            true => state.nxt + ahead,
            false => state.nxt,
        };
    }
}

/// The handshake and resets stay truthful.
fn is_truthful(segment: &Segment) -> bool {
    segment.flags.any(Flags::SYN | Flags::RST)
}
