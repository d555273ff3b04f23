//! The ranges of one direction that were sent more than once, each copy of them, and what
//! acknowledgments said of them.

use rtolab_tcp::Seq;
use rtolab_tcp::flight::Sent;
use rtolab_time::{Duration, Instant};

use crate::answers::Answers;
use crate::arrivals::Arrival;
use crate::evidence::{Bound, Evidence, Sign};
use crate::order::Order;
use crate::trigger::Trigger;

/// So many ranges are followed at once; beyond it the oldest is settled with what is known of it.
const MOST_RANGES: usize = 4096;

/// So many copies of a range are followed; the next is taken for the first of another range.
const MOST_COPIES: usize = 256;

/// One sending of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub at: Instant,
    /// TSval.
    pub timestamp: Option<u32>,
    /// What is known of it as a retransmission; nothing of the original.
    pub again: Option<Again>,
}

/// A retransmission as the capture has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub frame: u64,
    pub identification: u16,
    /// The sequence number on the wire.
    pub raw: u32,
    /// Payload in bytes.
    pub len: u32,
    pub trigger: Trigger,
    /// Which episode of the judges a timeout belongs to.
    pub judged: Option<u32>,
    /// How long after the last event that restarts a retransmission timer.
    pub idle: Duration,
    /// Had the capture seen these bytes before?
    pub arrival: Arrival,
}

/// The first acknowledgment of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    pub at: Instant,
    pub frame: u64,
    /// Does it report the range as received twice?
    pub duplicate: bool,
    /// Is all acknowledged that was sent before the first retransmission?
    pub all: bool,
    /// Does it acknowledge far more than the range, of which nothing had been reported?
    pub jumps: bool,
    /// What came of its later copies.
    pub echo: Echo,
}

impl Cover {
    /// May a duplicate of it still come?
    pub fn is_awaited(&self) -> bool {
        self.echo == Echo::Awaited
    }
}

/// Copies that come behind the first to arrive are acknowledged by duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// None has come yet.
    Awaited,
    /// One came, or more.
    Came,
    /// What was sent later has arrived, and none had come.
    Missing,
}

/// A range that was sent more than once.
#[derive(Clone, Debug)]
pub(crate) struct Resent {
    pub start: Seq,
    pub end: Seq,
    pub is_syn: bool,
    /// In the order of sending, the original first; it may not have been seen.
    pub copies: Vec<Copy>,
    pub signs: Vec<Sign>,
    pub cover: Option<Cover>,
    /// How often the receiver reported it as received twice.
    pub duplicates: usize,
    /// What the first acknowledgment expected next: whether its original arrives says which copy of
    /// this range did.
    pub next: Option<Seq>,
    /// Is that still to be acknowledged?
    pub watched: bool,
    /// When it may be settled.
    pub due: Instant,
}

impl Resent {
    /// What follows from the evidence that more can be built on: `(most, least)` bounds of the first
    /// copy that arrived.
    pub fn bounds(&self) -> (Option<usize>, usize) {
        let (mut most, mut least) = (None, 0);
        for sign in self.signs.iter().filter(|sign| sign.evidence.carries()) {
            match sign.bound {
                Bound::AtMost(first) => most = Some(most.map_or(first, |most| first.min(most))),
                Bound::AtLeast(first) => least = first.max(least),
            }
        }
        (most, least)
    }

    /// Did the original arrive, as far as is known?
    pub fn original(&self) -> Original {
        match self.bounds() {
            (Some(0), 1..) => Original::Unknown,
            (Some(0), 0) => Original::Arrived,
            (_, 1..) => Original::Lost,
            _ => Original::Unknown,
        }
    }

    /// Was an older timestamp echoed than that of any copy but the first?
    pub fn has_older_timestamp(&self) -> bool {
        let first = Bound::AtMost(0);
        self.signs
            .iter()
            .any(|sign| sign.evidence == Evidence::OlderTimestamp && sign.bound == first)
    }

    /// Did the acknowledgment of this time cover it?
    pub fn covered_at(&self, at: Instant) -> bool {
        self.cover.is_some_and(|cover| cover.at == at)
    }

    pub fn spans(&self, seq: Seq) -> bool {
        self.start <= seq && seq < self.end
    }

    /// Notes evidence; the same twice is noted once.
    pub fn note(&mut self, evidence: Evidence, bound: Bound, frame: u64) {
        let known = |sign: &Sign| sign.evidence == evidence && sign.bound == bound;
        if !self.signs.iter().any(known) {
            self.signs.push(Sign { evidence, bound, frame });
        }
    }

    pub fn retransmissions(&self) -> impl DoubleEndedIterator<Item = (usize, &Copy, &Again)> {
        let copies = self.copies.iter().enumerate();
        copies.filter_map(|(index, copy)| Some((index, copy, copy.again.as_ref()?)))
    }
}

/// What became of an original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Original {
    Arrived,
    Lost,
    Unknown,
}

/// All ranges of a direction that are not yet settled, by where they begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    ranges: Vec<Resent>,
    /// The earliest time at which something may be settled.
    due: Option<Instant>,
    /// Is anything expected of the next acknowledgment?
    waits: bool,
    /// When an acknowledgment last told of something that came twice, or out of order.
    duplicate: Option<Instant>,
    /// Of what was sent again, what was answered by duplicates.
    pub answers: Answers,
    /// In which order things were sent.
    pub order: Order,
    /// When the newest left of what is known to have arrived, and the frame that shows it.
    newest: Option<(Instant, u64)>,
}

impl Ledger {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Is anything expected of the next acknowledgment?
    pub const fn waits(&self) -> bool {
        self.waits
    }

    /// Finds out what is still expected, and when the next range may be settled.
    pub fn look_over(&mut self) {
        let waits =
            |resent: &Resent| resent.watched || resent.cover.is_none_or(|cover| cover.is_awaited());
        self.waits = self.ranges.iter().any(waits);
        let due = self.ranges.iter().map(|resent| resent.due).filter(|&due| due != Instant::NEVER);
        self.due = due.min();
    }

    /// An acknowledgment tells of something that came twice, or out of order.
    pub const fn duplicate_seen(&mut self, at: Instant) {
        self.duplicate = Some(at);
    }

    /// Something arrived that was sent at this time.
    pub fn arrived(&mut self, sent: Instant, frame: u64) {
        if self.newest.is_none_or(|(newest, _)| sent > newest) {
            self.newest = Some((sent, frame));
        }
    }

    /// When the newest left of what is known to have arrived, and the frame that shows it.
    pub const fn newest(&self) -> Option<(Instant, u64)> {
        self.newest
    }

    /// When one did last.
    pub const fn last_duplicate(&self) -> Option<Instant> {
        self.duplicate
    }

    pub fn iter(&self) -> impl Iterator<Item = &Resent> {
        self.ranges.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Resent> {
        self.ranges.iter_mut()
    }

    /// The copies of exactly this range, the new one last. `original` is what the flight knows of
    /// the first one.
    pub fn resent(
        &mut self,
        (start, end): (Seq, Seq),
        copy: Copy,
        original: Option<&Sent>,
    ) -> &mut Resent {
        let same = |r: &Resent| r.start == start && r.end == end && r.copies.len() < MOST_COPIES;
        let known = self.ranges.iter().position(same);
        let index = known.unwrap_or_else(|| {
            let whole = |resent: &&Resent| resent.start <= start && end <= resent.end;
            let mut copies = match self.ranges.iter().find(whole) {
                Some(resent) => resent.copies.iter().take(MOST_COPIES / 2).copied().collect(),
                None => vec![first_copy(original)],
            };
            // They are retransmissions of the other range, and told there.
            for copy in &mut copies {
                copy.again = None;
            }
            let is_syn = original.is_some_and(|sent| sent.flags.has(rtolab_tcp::Flags::SYN));
            self.ranges.push(Resent {
                start,
                end,
                is_syn,
                copies,
                signs: Vec::new(),
                cover: None,
                duplicates: 0,
                next: None,
                watched: false,
                due: Instant::NEVER,
            });
            self.ranges.len() - 1
        });
        self.waits = true;
        let resent = &mut self.ranges[index];
        resent.copies.push(copy);
        resent
    }

    /// When a covered range is to be settled.
    pub fn settle_at(&mut self, due: Instant) {
        self.due = Some(self.due.map_or(due, |earliest| earliest.min(due)));
    }

    /// Those about which nothing more will be heard.
    pub fn settled(&mut self, at: Instant) -> Vec<Resent> {
        let over = self.ranges.len() > MOST_RANGES;
        if !over && self.due.is_none_or(|due| at < due) {
            return Vec::new();
        }
        let mut settled = Vec::new();
        if over {
            settled.push(self.ranges.remove(0));
        }
        let ranges = std::mem::take(&mut self.ranges);
        let (done, open): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|r| r.due <= at);
        self.ranges = open;
        settled.extend(done);
        for cover in settled.iter_mut().filter_map(|resent| resent.cover.as_mut()) {
            if cover.is_awaited() {
                cover.echo = Echo::Missing;
            }
        }
        self.look_over();
        settled
    }

    /// All that is left, at the end.
    pub fn take_all(&mut self) -> Vec<Resent> {
        self.due = None;
        std::mem::take(&mut self.ranges)
    }
}

/// The original; of one that was not seen only that it was before all else.
fn first_copy(original: Option<&Sent>) -> Copy {
    Copy {
        at: original.map_or(Instant::START, |sent| sent.first_sent),
        timestamp: original.map(|sent| sent.first_timestamp).filter(|&value| value > 0),
        again: None,
    }
}
