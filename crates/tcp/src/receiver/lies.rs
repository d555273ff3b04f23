//! What a receiver says that is not so, to be sent more than its share.
//!
//! It lies where an acknowledgment leaves: what it keeps of the connection stays true, but for an
//! optimistic one, which gives up what it does not have.

use rtolab_time::{Duration, Instant};

use super::Receiver;
use crate::config::Lie;
use crate::segment::{Flags, Segment, Timestamps};
use crate::seq::Seq;

/// Into how many pieces a receiver divides what it acknowledges.
const PIECES: u32 = 8;
/// How often it repeats a duplicate acknowledgment.
const REPEATED: u32 = 3;
/// How many segments ahead it acknowledges, and at most which part of all that it has: a sender does
/// not believe in what it has not sent.
const AHEAD: u32 = 8;
const PART: u64 = 4;
/// What comes after so long a silence is taken for what a timeout sent: the smallest one of RFC 6298.
const SILENCE: Duration = Duration::from_secs(1);

/// What a receiver that lies remembers of what it said.
#[derive(Clone, Debug)]
pub(super) struct Liar {
    lie: Lie,
    /// RCV.NXT when an acknowledgment left last, and when that was.
    nxt: Seq,
    left: Instant,
    /// Was something missing then?
    gap: bool,
    /// The acknowledgment number that it carried.
    told: Seq,
    /// The timestamp that it should have echoed.
    echo: Option<u32>,
    /// So many acknowledgments follow that say the same, or another piece of it.
    following: u32,
}

impl Liar {
    pub(super) const fn new(lie: Lie) -> Self {
        Self {
            lie,
            nxt: Seq::FIRST,
            left: Instant::START,
            gap: false,
            told: Seq::FIRST,
            echo: None,
            following: 0,
        }
    }

    /// The echo is that of the acknowledgment before.
    fn echoes_before(&mut self, segment: &mut Segment) {
        let Some(Timestamps { value, echo }) = segment.timestamps() else { return };
        let before = self.echo.replace(echo);
        segment.set_timestamps(Timestamps { value, echo: before.unwrap_or(echo) });
    }
}

impl Receiver {
    /// Does it say what is so?
    #[inline(always)]
    pub(crate) fn is_honest(&self) -> bool {
        self.liar.is_none()
    }

    /// Changes what the acknowledgment in `segment` is about to say, to a peer that sends at most
    /// `smss` bytes a segment; before SACK blocks are [added](Self::acknowledge).
    #[cold]
    pub(crate) fn lie(&mut self, segment: &mut Segment, smss: u32, at: Instant) {
        let Some(mut liar) = self.liar.take() else { return };
        match liar.lie {
            Lie::OldEcho => liar.echoes_before(segment),
            // A handshake goes by the rules.
            _ if segment.flags.any(Flags::SYN | Flags::RST) => {}
            Lie::FalseDsack => self.reports_repair(&liar, smss, at),
            Lie::AckDivision => self.divides(&mut liar, segment),
            Lie::SpoofedDuplicates => self.repeats(&mut liar),
            Lie::Optimistic => self.hopes(&liar, segment, smss),
        }
        (liar.nxt, liar.left) = (self.nxt, at);
        (liar.gap, liar.told) = (!self.queued.is_empty(), segment.ack);
        self.liar = Some(liar);
    }
}

impl Receiver {
    /// Each lie in turn; `liar` is what was said before.
    fn reports_repair(&mut self, liar: &Liar, smss: u32, at: Instant) {
        let again = liar.gap || at - liar.left >= SILENCE;
        if again && self.nxt > liar.nxt {
            self.duplicate = Some(liar.nxt..self.nxt.min(liar.nxt + smss));
        }
    }

    fn divides(&mut self, liar: &mut Liar, segment: &mut Segment) {
        let told = liar.told.max(Seq::FIRST + 1);
        let rest = self.nxt.since(told);
        // Who closes before all is said leaves its peer without an answer.
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
        segment.ack = told + (rest / u64::from(liar.following + 1)) as u32;
    }

    fn repeats(&mut self, liar: &mut Liar) {
        if liar.following > 0 {
            liar.following -= 1;
        } else if !self.queued.is_empty() && self.nxt == liar.nxt {
            liar.following = REPEATED;
            self.released += REPEATED;
        }
    }

    fn hopes(&mut self, liar: &Liar, segment: &mut Segment, smss: u32) {
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
