//! The vantage of a capture: at the sender, at the receiver or in between.
//!
//! An end that answers at once is near the capture point. An end that answers after a round trip is
//! far from it. On a fast path both answer at once; there the hop limits decide, because they show
//! whether a router is between an end and the capture point.

#[cfg(test)]
mod tests;

use rtolab_capture::{CapturedPacket, End};
use rtolab_tcp::{Flags, Segment};
use rtolab_time::{Duration, Instant};
use serde::Serialize;

/// The capture point on the path of a sender's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
/// Below this round-trip time the hop limits decide first, because the time that a host takes to
/// answer may be longer than that of the path.
const FAST: Duration = Duration::from_micros(500);
/// The initial hop limits of common systems.
const INITIAL_HOPS: [u8; 3] = [64, 128, 255];

/// The times that each end takes to answer packets that pass the capture point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turnarounds {
    ends: [Answers; 2],
    /// The hop limit of each end's first packet; 0 if it is unknown.
    hops: [u8; 2],
    /// Are both ends on the host of the capture?
    is_local: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    min: Option<Duration>,
    /// The other end's TSval whose echo is awaited, and when it passed.
    stamp: Option<(u32, Instant)>,
    newest_stamp: Option<u32>,
    /// When the SYN or SYN-ACK whose answer is awaited passed; `None` if it was retransmitted.
    opening: Option<Instant>,
    opened: bool,
}

impl Turnarounds {
    /// Processes a segment.
    #[inline]
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

    /// Adds an ACK by `end` that passed `after` the data that it acknowledges.
    pub fn on_ack(&mut self, end: End, after: Duration) {
        self.ends[end as usize].take(after);
    }

    /// The round-trip time between the capture point and `end`, if known.
    pub fn of(&self, end: End) -> Option<Duration> {
        self.ends[end as usize].min
    }

    /// The latest TSval of an end.
    pub fn newest_stamp(&self, end: End) -> Option<u32> {
        self.ends[end.other() as usize].newest_stamp
    }

    /// Notes the hop limit of a packet.
    #[inline]
    pub fn note_hops(&mut self, from: End, hops: u8, packet: &CapturedPacket) {
        if self.hops[from as usize] == 0 {
            self.hops[from as usize] = hops;
            let [one, other] = [packet.addresses.from(), packet.addresses.to()];
            self.is_local = one == other || one.is_loopback();
        }
    }

    /// The hop limit of the first packet of `end`; 0 if it is unknown.
    pub const fn hops(&self, end: End) -> u8 {
        self.hops[end as usize]
    }

    /// Is no router between `end` and the capture point? `None` if the hop limit is unknown.
    fn is_on_link(&self, end: End) -> Option<bool> {
        let hops = self.hops[end as usize];
        (hops > 0).then(|| INITIAL_HOPS.contains(&hops))
    }

    /// The vantage of the capture on the data of `sender`.
    pub fn vantage(&self, sender: End) -> Vantage {
        let receiver = match sender {
            End::Client => End::Server,
            End::Server => End::Client,
        };
        let (Some(near), Some(far)) = (self.of(sender), self.of(receiver)) else {
            return Vantage::Unknown;
        };
        let whole = near + far;
        if whole < FAST {
            match (self.is_on_link(sender), self.is_on_link(receiver)) {
                (Some(true), Some(false)) => return Vantage::Sender,
                (Some(false), Some(true)) => return Vantage::Receiver,
                _ if self.is_local => return Vantage::Sender,
                _ => {}
            }
        }
        if near * 100 < whole * NEAR {
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
        self.min = Some(self.min.map_or(after, |min| min.min(after)));
    }
}
