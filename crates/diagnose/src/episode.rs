//! Episodes. An episode begins with a timeout and ends with the ACK of all data that was
//! outstanding at that time.

use rtolab_tcp::{AckFacts, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::history::{Frame, Retransmission};
use crate::trigger::Trigger;

/// The maximum number of episodes reported per direction.
const MAX_EPISODES: usize = 1 << 14;

/// A timeout, its recovery and its consequences.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub start: Instant,
    /// When all data sent before `start` was acknowledged.
    pub end: Option<Instant>,
    /// The frames of the first timeout and of the last ACK.
    pub frames: (u64, u64),
    /// When the stall began: the latest progress, or the transmission of the oldest outstanding
    /// segment if that was later.
    pub stalled_from: Instant,
    /// When the first ACK of new data ended the stall.
    pub stalled_to: Option<Instant>,
    /// The sequence number whose ACK ends the episode.
    pub end_seq: Seq,
    /// The end of the data that was outstanding at the last retransmission of the episode. Only
    /// retransmissions of this data are consequences of the episode.
    consequences_end: Seq,
    /// The frame of the last retransmission of the episode.
    pub last_retransmission: u64,
    /// The end of the data that was outstanding when the episode was over. Duplicate ACKs that
    /// unneeded retransmissions cause may lead to fast retransmits of this data.
    aftermath_end: Seq,
    /// The frame of the last retransmission of this data.
    pub aftermath: u64,
    pub timeouts: u32,
    /// FlightSize at `start` and at `end`, in bytes.
    pub flight: (u64, u64),
    /// When the segment before `end_seq` was first sent.
    pub last_sent: Instant,
    /// The smoothed round-trip time before the episode, if known.
    pub srtt_before: Option<Duration>,
    /// The number of packets from the other end during the stall.
    pub received: u32,
    /// The longest time during the stall without any packet from the other end.
    pub silence: Duration,
    /// The number of packets from the other end between `silence` and the end of the stall.
    received_after_silence: u32,
    pub is_syn: bool,
}

/// The minimum number of duplicate ACKs after a silence that show that the path held the data and
/// did not lose it.
const MIN_LATE_DUPACKS: u32 = 3;

impl Episode {
    /// The duration of the stall, without any ACK of new data.
    pub fn stall(&self) -> Option<Duration> {
        Some(self.stalled_to?.since(self.stalled_from))
    }

    /// How long the path held packets; `None` if it did not. The other end is silent, then sends
    /// duplicate ACKs. Only originals that arrive late cause these: an outage loses the originals.
    pub fn hold(&self) -> Option<Duration> {
        (self.received_after_silence >= MIN_LATE_DUPACKS).then_some(self.silence)
    }

    /// The time lost compared with an undisturbed path, on which all data is acknowledged one round
    /// trip after the last transmission. `None` if the episode has no end or no round-trip time is
    /// known. `min_rtt` is the smallest one of the connection.
    pub fn time_lost(&self, min_rtt: Option<Duration>) -> Option<Duration> {
        let srtt_before = self.srtt_before.or(min_rtt)?;
        let due = (self.last_sent + srtt_before).max(self.stalled_from);
        Some(self.end?.since(due))
    }
}

/// The episodes of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    /// When the latest ACK of new data arrived.
    progress: Option<Instant>,
    /// The number of packets from the other end since the last ACK of new data, or since the oldest
    /// outstanding data was sent.
    received: u32,
    /// When the latest packet from the other end arrived.
    latest: Option<Instant>,
    open: Option<Episode>,
    pub closed: Vec<Episode>,
}

impl Episodes {
    /// Processes a retransmission; `srtt_before` is the smoothed round-trip time before it.
    pub fn on_retransmission(
        &mut self,
        segment: &Segment,
        (retransmission, srtt_before): (&Retransmission, Option<Duration>),
        flight: &Flight,
        at: Instant,
    ) {
        let timeout = matches!(retransmission.trigger, Trigger::Timeout(_) | Trigger::Syn(_));
        if self.open.is_none() && timeout {
            let oldest_sent = flight.head().map_or(at, |head| head.first_sent);
            let newest = flight.segment_at(flight.max() - 1).map_or(at, |sent| sent.first_sent);
            self.open = Some(Episode {
                start: at,
                end: None,
                frames: (retransmission.frame, retransmission.frame),
                stalled_from: self
                    .progress
                    .map_or(oldest_sent, |progress| progress.max(oldest_sent)),
                stalled_to: None,
                end_seq: flight.max(),
                consequences_end: flight.max(),
                last_retransmission: retransmission.frame,
                aftermath_end: Seq::FIRST,
                aftermath: retransmission.frame,
                timeouts: 0,
                flight: (flight.size(), 0),
                last_sent: newest,
                srtt_before,
                received: 0,
                silence: Duration::ZERO,
                received_after_silence: 0,
                is_syn: segment.flags.has(rtolab_tcp::Flags::SYN),
            });
        }
        let Some(episode) = &mut self.open else {
            let last = self.closed.last_mut().filter(|last| segment.seq < last.aftermath_end);
            if let Some(last) = last {
                last.aftermath = last.aftermath.max(retransmission.frame);
            }
            return;
        };
        if segment.seq < episode.consequences_end {
            episode.timeouts += u32::from(timeout);
            episode.consequences_end = flight.max();
            episode.last_retransmission = episode.last_retransmission.max(retransmission.frame);
        }
    }

    /// Is an episode open?
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Processes data that is sent while nothing is outstanding.
    #[inline]
    pub const fn on_first_sent(&mut self) {
        self.received = 0;
    }

    /// Processes a packet from the other end.
    pub fn on_packet_received(&mut self, at: Instant) {
        self.received = self.received.saturating_add(1);
        let latest = self.latest.replace(at);
        let Some(episode) = self.open.as_mut().filter(|open| open.stalled_to.is_none()) else {
            return;
        };
        let since = latest.map_or(episode.stalled_from, |at| at.max(episode.stalled_from));
        if at.since(since) > episode.silence {
            (episode.silence, episode.received_after_silence) = (at.since(since), 0);
        } else {
            episode.received_after_silence += 1;
        }
    }

    /// Processes the acknowledgment of new data. Returns the number of packets from the other end
    /// since the last one.
    pub const fn on_progress(&mut self, at: Instant) -> u32 {
        self.progress = Some(at);
        // The packet that carries this ACK does not count.
        std::mem::replace(&mut self.received, 0).saturating_sub(1)
    }

    /// The window of the other end opens again: until now it was the reason to wait.
    pub const fn on_window_opened(&mut self, at: Instant) {
        self.progress = Some(at);
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, facts: &AckFacts, flight: &Flight, frame: &Frame) {
        if !facts.is_new() {
            return;
        }
        let received = self.on_progress(frame.at);
        let Some(episode) = &mut self.open else { return };
        if episode.stalled_to.is_none() {
            (episode.stalled_to, episode.received) = (Some(frame.at), received);
        }
        if facts.ack >= episode.end_seq && episode.end.is_none() {
            episode.end = Some(frame.at);
            episode.frames.1 = frame.number;
            episode.flight.1 = flight.size();
        }
        if facts.ack >= episode.consequences_end {
            episode.aftermath_end = flight.max();
            let over = self.open.take().filter(|_| self.closed.len() < MAX_EPISODES);
            self.closed.extend(over);
        }
    }

    pub fn finish(&mut self) {
        if let Some(mut episode) = self.open.take() {
            if episode.stalled_to.is_none() {
                episode.received = self.received;
            }
            self.closed.push(episode);
        }
    }
}
