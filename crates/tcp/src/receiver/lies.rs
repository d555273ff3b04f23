//! Misbehaving receivers, which falsify acknowledgments to receive more than their share.
//!
//! They do so when an acknowledgment is sent; their own state stays true. The exception is the
//! optimistic receiver, which gives up the data that it acknowledges without having it.

use rtolab_time::{Duration, Instant};

use super::Receiver;
use crate::config::Lie;
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

/// What a misbehaving receiver remembers of its last acknowledgment.
#[derive(Clone, Debug)]
pub(super) struct Liar {
    lie: Lie,
    /// RCV.NXT when the last acknowledgment was sent, and when that was.
    nxt: Seq,
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

impl Liar {
    pub(super) const fn new(lie: Lie) -> Self {
        Self {
            lie,
            nxt: Seq::FIRST,
            left: Instant::START,
            gap: false,
            acked: Seq::FIRST,
            echo: None,
            following: 0,
        }
    }

    /// Echoes the timestamp of the previous acknowledgment.
    fn echo_previous(&mut self, segment: &mut Segment) {
        let Some(Timestamps { value, echo }) = segment.timestamps() else { return };
        let previous = self.echo.replace(echo);
        segment.set_timestamps(Timestamps { value, echo: previous.unwrap_or(echo) });
    }
}

impl Receiver {
    /// Does it acknowledge truthfully?
    #[inline(always)]
    pub(crate) fn is_honest(&self) -> bool {
        self.liar.is_none()
    }

    /// Falsifies the acknowledgment in `segment` before SACK blocks are [added](Self::acknowledge).
    /// The peer sends at most `smss` bytes per segment.
    #[cold]
    pub(crate) fn lie(&mut self, segment: &mut Segment, smss: u32, at: Instant) {
        let Some(mut liar) = self.liar.take() else { return };
        match liar.lie {
            Lie::OldEcho => liar.echo_previous(segment),
            // The handshake stays truthful.
            _ if segment.flags.any(Flags::SYN | Flags::RST) => {}
            Lie::FalseDsack => self.report_false_dsack(&liar, smss, at),
            Lie::AckDivision => self.divide(&mut liar, segment),
            Lie::SpoofedDuplicates => self.spoof_duplicates(&mut liar),
            Lie::Optimistic => self.acknowledge_ahead(&liar, segment, smss),
        }
        (liar.nxt, liar.left) = (self.nxt, at);
        (liar.gap, liar.acked) = (!self.queued.is_empty(), segment.ack);
        self.liar = Some(liar);
    }

    fn report_false_dsack(&mut self, liar: &Liar, smss: u32, at: Instant) {
        let retransmitted = liar.gap || at - liar.left >= SILENCE;
        if retransmitted && self.nxt > liar.nxt {
            self.duplicate = Some(liar.nxt..self.nxt.min(liar.nxt + smss));
        }
    }

    fn divide(&mut self, liar: &mut Liar, segment: &mut Segment) {
        let acked = liar.acked.max(Seq::FIRST + 1);
        let rest = self.nxt.since(acked);
        // After the FIN no further segment would trigger the rest.
        if self.finished() {
            segment.ack = self.nxt;
            return;
        }
        if self.nxt > liar.nxt && rest > 1 {
            liar.following = PIECES.min(rest as u32) - 1;
            self.released += liar.following;
        } else if liar.following > 0 {
            liar.following -= 1;
        }
        segment.ack = acked + (rest / u64::from(liar.following + 1)) as u32;
    }

    fn spoof_duplicates(&mut self, liar: &mut Liar) {
        if liar.following > 0 {
            liar.following -= 1;
        } else if !self.queued.is_empty() && self.nxt == liar.nxt {
            liar.following = REPEATED;
            self.released += REPEATED;
        }
    }

    fn acknowledge_ahead(&mut self, liar: &Liar, segment: &mut Segment, smss: u32) {
        if let Some(end) = self.queued.iter().map(|range| range.end).max() {
            self.nxt = self.nxt.max(end);
            self.queued.clear();
        }
        let all = self.nxt.since(Seq::FIRST);
        let ahead = u64::from(AHEAD * smss).min(all / PART) as u32;
        segment.ack = match self.nxt > liar.nxt && self.fin.is_none() {
            true => self.nxt + ahead,
            false => self.nxt,
        };
    }
}
