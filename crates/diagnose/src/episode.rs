//! Episodes: from the first timeout until the ACK of all data that was outstanding then.

use rtolab_tcp::{AckFacts, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::history::{Frame, Retransmission};
use crate::trigger::Trigger;

/// At most this many episodes of a direction are reported.
const MOST_EPISODES: usize = 1 << 14;

/// A timeout and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    /// When the first timeout came.
    pub start: Instant,
    /// When all of before it was acknowledged.
    pub end: Option<Instant>,
    /// The frames of the first timeout and of the last ACK.
    pub frames: (u64, u64),
    /// Since when data waited for its ACK, and none came.
    pub stalled_from: Instant,
    /// When new data was acknowledged again.
    pub stalled_to: Option<Instant>,
    /// The episode ends with the ACK of this.
    pub high: Seq,
    /// Until this is acknowledged, retransmissions count as a consequence.
    wake: Seq,
    pub timeouts: u32,
    /// FlightSize before and after, in bytes.
    pub flight: (u64, u64),
    /// When the last data before `high` was sent first.
    pub sent: Instant,
    /// How long that usually took, if it had been measured.
    pub usual: Option<Duration>,
    /// Packets of the other end during the stall; only some captures show both directions.
    pub heard: u32,
    pub is_syn: bool,
}

impl Episode {
    /// How long nothing was acknowledged.
    pub fn stall(&self) -> Option<Duration> {
        Some(self.stalled_to?.since(self.stalled_from))
    }

    /// Against a path that had gone on as before: all would have been acknowledged a round trip
    /// after the last of it was sent. `least` is the shortest round trip of the connection.
    pub fn time_lost(&self, least: Option<Duration>) -> Option<Duration> {
        let usual = self.usual.or(least)?;
        let due = (self.sent + usual).max(self.stalled_from);
        Some(self.end?.since(due))
    }
}

/// The episodes of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    progress: Option<Instant>,
    /// Packets of the other end since then.
    heard: u32,
    open: Option<Episode>,
    pub closed: Vec<Episode>,
}

impl Episodes {
    /// A retransmission is sent; `usual` is how long ACKs took before.
    pub fn retransmitted(
        &mut self,
        segment: &Segment,
        (retransmission, usual): (&Retransmission, Option<Duration>),
        flight: &Flight,
        at: Instant,
    ) {
        let timeout = matches!(retransmission.trigger, Trigger::Timeout(_) | Trigger::Syn(_));
        if self.open.is_none() && timeout {
            let waits = flight.head().map_or(at, |head| head.first_sent);
            let newest = flight.segment_at(flight.max() - 1).map_or(at, |sent| sent.first_sent);
            self.open = Some(Episode {
                start: at,
                end: None,
                frames: (retransmission.frame, retransmission.frame),
                stalled_from: self.progress.map_or(waits, |progress| progress.max(waits)),
                stalled_to: None,
                high: flight.max(),
                wake: flight.max(),
                timeouts: 0,
                flight: (flight.size(), 0),
                sent: newest,
                usual,
                heard: 0,
                is_syn: segment.flags.has(rtolab_tcp::Flags::SYN),
            });
        }
        let Some(episode) = &mut self.open else { return };
        episode.timeouts += u32::from(timeout);
        episode.wake = flight.max();
    }

    /// The other end sends something.
    pub const fn heard(&mut self) {
        self.heard = self.heard.saturating_add(1);
    }

    /// Something is acknowledged.
    pub fn acked(&mut self, facts: &AckFacts, flight: &Flight, frame: &Frame) {
        if !facts.is_new() {
            return;
        }
        self.progress = Some(frame.at);
        // The one that acknowledges is not of those that did not.
        let heard = std::mem::take(&mut self.heard).saturating_sub(1);
        let Some(episode) = &mut self.open else { return };
        if episode.stalled_to.is_none() {
            (episode.stalled_to, episode.heard) = (Some(frame.at), heard);
        }
        if facts.ack >= episode.high && episode.end.is_none() {
            episode.end = Some(frame.at);
            episode.frames.1 = frame.number;
            episode.flight.1 = flight.size();
        }
        if facts.ack >= episode.wake {
            let over = self.open.take().filter(|_| self.closed.len() < MOST_EPISODES);
            self.closed.extend(over);
        }
    }

    /// The capture ends.
    pub fn finish(&mut self) {
        if let Some(mut episode) = self.open.take() {
            if episode.stalled_to.is_none() {
                episode.heard = self.heard;
            }
            self.closed.push(episode);
        }
    }
}
