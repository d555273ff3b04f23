//! Where a capture was made: at the sender, at the receiver or in between.
//!
//! An end that answers at once is near; an end that takes a round trip is far.

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::{Duration, Instant};
use serde::Serialize;

/// Where a capture was made, as seen by the sending end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Vantage {
    Sender,
    Receiver,
    Between,
    Unknown,
}

impl Vantage {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "between",
            Self::Unknown => "unknown",
        }
    }
}

/// An end is near if its answers take less than this percentage of the round trip.
const NEAR: u64 = 15;
/// Below this round-trip time both ends are in one place.
const TOGETHER: Duration = Duration::from_micros(500);

/// How fast each end answers packets that pass the capture point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turnarounds {
    ends: [Answers; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    least: Option<Duration>,
    /// The other end's TSval that waits for its echo, and when it passed.
    stamp: Option<(u32, Instant)>,
    newest_stamp: Option<u32>,
    /// When a SYN or SYN-ACK that waits for its answer passed; `None` if it was retransmitted.
    opening: Option<Instant>,
    opened: bool,
}

impl Turnarounds {
    /// A segment passes.
    pub fn pass(&mut self, from: End, segment: &Segment, at: Instant) {
        let [own, other] = match from {
            End::Client => [0, 1],
            End::Server => [1, 0],
        };
        self.handshake((own, other), segment, at);
        let Some(stamps) = segment.timestamps() else { return };
        let answers = &mut self.ends[own];
        if let Some((value, passed)) = answers.stamp {
            if segment.flags.has(Flags::ACK) && stamps.echo == value {
                answers.take(at.since(passed));
                answers.stamp = None;
            } else if (stamps.echo.wrapping_sub(value) as i32) > 0 {
                answers.stamp = None;
            }
        }
        let waits = &mut self.ends[other];
        if waits.newest_stamp != Some(stamps.value) {
            waits.newest_stamp = Some(stamps.value);
            waits.stamp = waits.stamp.or(Some((stamps.value, at)));
        }
    }

    fn handshake(&mut self, (own, other): (usize, usize), segment: &Segment, at: Instant) {
        let is_syn = segment.flags.has(Flags::SYN);
        if let Some(passed) = self.ends[own].opening.take() {
            if segment.flags.has(Flags::ACK) {
                self.ends[own].take(at.since(passed));
            }
        }
        if is_syn {
            let waits = &mut self.ends[other];
            waits.opening = (!waits.opened).then_some(at);
            waits.opened = true;
        }
    }

    /// An ACK by `end` came `after` its data had passed.
    pub fn acked(&mut self, end: End, after: Duration) {
        self.ends[end as usize].take(after);
    }

    /// How long the way to the end and back takes, as far as is known.
    pub fn of(&self, end: End) -> Option<Duration> {
        self.ends[end as usize].least
    }

    /// Where the capture stands for what `sender` sends.
    pub fn vantage(&self, sender: End) -> Vantage {
        let receiver = match sender {
            End::Client => End::Server,
            End::Server => End::Client,
        };
        let (Some(near), Some(far)) = (self.of(sender), self.of(receiver)) else {
            return Vantage::Unknown;
        };
        let whole = near + far;
        if whole < TOGETHER || near * 100 < whole * NEAR {
            Vantage::Sender
        } else if far * 100 < whole * NEAR {
            Vantage::Receiver
        } else {
            Vantage::Between
        }
    }
}

impl Answers {
    fn take(&mut self, after: Duration) {
        self.least = Some(self.least.map_or(after, |least| least.min(after)));
    }
}
