//! A connection as one end's log shows it.

use std::collections::{BTreeMap, HashMap};

use crate::event::{Ack, Event, EventKind, Level, Metrics, Packet, Space};
use crate::loss_class::{Classification, LossClass};
use crate::order::EventId;
use crate::probes::{Acked, Probes, Timeout};
use crate::recovery::Recovery;
use crate::rtt::Rtt;
use crate::streams::{Cause, Streams};

/// The maximum number of packets in flight per space. Beyond it, the oldest are forgotten.
const MAX_IN_FLIGHT: usize = 1 << 16;

/// The most packets without a key of which a log is kept. Keys are missing for a short time only.
const MAX_UNDECRYPTABLE: usize = 1 << 10;

/// A packet in flight.
#[derive(Clone, Debug)]
struct SentPacket {
    at: f64,
    event: EventId,
    size: u64,
    streams: Vec<crate::event::StreamPart>,
}

/// A packet that was declared lost.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    pub event: EventId,
    pub at: f64,
    /// When it was sent; `None` if the log lacks that.
    pub sent_at: Option<f64>,
    /// The smoothed round-trip time then, in seconds.
    pub smoothed_rtt: Option<f64>,
    pub space: Space,
    pub number: u64,
    pub size: u64,
    pub trigger: Option<String>,
    /// The event in which its acknowledgment arrived, and the time.
    pub acked: Option<(EventId, f64)>,
    /// The event in which the sender itself found that the loss was spurious.
    pub noticed: Option<EventId>,
    /// The stream bytes that were retransmitted because of it.
    pub retransmitted: u64,
}

/// A packet that arrived and that the receiver dropped because it had no key for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undecryptable {
    pub event: EventId,
    /// `None` if the log does not show it.
    pub space: Option<Space>,
    /// In bytes; 0 if the log lacks it.
    pub size: u64,
}

/// The packets that were sent in a packet number space.
#[derive(Debug, Default)]
struct SentPackets {
    in_flight: BTreeMap<u64, SentPacket>,
    /// The losses by packet number, until they are acknowledged.
    lost: BTreeMap<u64, usize>,
    /// The largest packet number sent.
    largest: u64,
    /// The event of the last acknowledgment, and its time in seconds.
    last_ack: Option<(EventId, f64)>,
}

/// The receiver's side of a connection: the packets that arrived, and the ACK frames that were
/// sent. It shows which of the other end's packets were lost.
#[derive(Debug, Default)]
pub(crate) struct ReceiverSide {
    /// The event of the first arrival of each packet.
    pub arrivals: HashMap<Space, BTreeMap<u64, EventId>>,
    /// The packets with an ACK frame that were sent: the event, the space that the frame
    /// acknowledges, and the packet's own space and number.
    pub acks: Vec<(EventId, Space, Space, u64)>,
    /// The first packets for which there was no key.
    pub undecryptable: Vec<Undecryptable>,
}

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    pub number: u64,
    pub group: Option<String>,
    /// `client` or `server`, if the log says so.
    pub vantage: Option<&'static str>,
    pub implementation: Option<String>,
    /// The times of the first and the last event, in seconds.
    pub span: Option<(f64, f64)>,
    pub events: u64,
    pub sent: u64,
    pub received: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Stream bytes that arrived, those that arrived before included.
    pub stream_bytes_received: u64,
    pub ack_eliciting: u64,
    /// Do its packets list frames?
    pub has_frames: bool,
    pub has_acks: bool,
    pub losses: Vec<Loss>,
    /// How often the sender found persistent congestion.
    pub persistent_congestion: u64,
    pub rtt: Rtt,
    pub probes: Probes,
    pub recovery: Recovery,
    pub streams: Streams,
    /// `None` unless there are two logs of the connection.
    pub receiver_side: Option<ReceiverSide>,
    /// Are the upper ends of its ACK ranges exclusive (noq 1.4)?
    has_exclusive_ranges: bool,
    sent_packets: BTreeMap<Space, SentPackets>,
    last_eliciting: Option<f64>,
}

impl Connection {
    /// An empty connection with this number in its log.
    pub fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Did this end send less than a tenth of what it received?
    pub fn is_receiver(&self) -> bool {
        let streams = [self.streams.bytes, self.stream_bytes_received];
        let [sent, received] = match streams {
            [0, 0] => [self.bytes_sent, self.bytes_received],
            streams => streams,
        };
        sent < received / 10
    }

    /// The last acknowledgment in this space: its event and its time.
    pub fn last_ack(&self, space: Space) -> Option<(EventId, f64)> {
        self.sent_packets.get(&space)?.last_ack
    }

    /// Was a packet declared lost with a larger number than any packet sent? A smaller one may
    /// have been sent before the log began.
    pub fn lacks_packet(&self, kind: &EventKind) -> bool {
        let EventKind::Lost { space, number, .. } = kind else { return false };
        let of_level = self.sent_packets.iter().filter(|(one, _)| one.level == space.level);
        self.sent > 0 && of_level.map(|(_, sent)| sent.largest).max().unwrap_or(0) < *number
    }

    /// Processes an event at this time in seconds.
    pub fn on_event(&mut self, event: Event, id: EventId, at: f64) {
        self.events += 1;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first, last.max(at)));
        match event.kind {
            EventKind::Sent(packet) => self.on_sent(packet, id, at),
            EventKind::Received(packet) => self.on_received(&packet, id, at),
            EventKind::Lost { space, number: lost, trigger } => {
                self.on_lost((space, lost), trigger, id, at);
            }
            EventKind::SpuriousLoss { space, number: lost } => {
                let index = self
                    .sent_packets
                    .get(&space)
                    .and_then(|sent_packets| sent_packets.lost.get(&lost));
                if let Some(loss) = index.and_then(|index| self.losses.get_mut(*index)) {
                    loss.noticed = Some(id);
                }
            }
            EventKind::Undecryptable { space, size } => {
                let receiver_side = self.receiver_side.as_mut();
                let dropped = receiver_side.map(|side| &mut side.undecryptable);
                if let Some(dropped) = dropped.filter(|all| all.len() < MAX_UNDECRYPTABLE) {
                    dropped.push(Undecryptable { event: id, space, size });
                }
            }
            EventKind::Metrics(metrics) => self.on_metrics(&metrics, id, at),
            EventKind::ProbeTimeout(space) => self.on_probe_timeout(space, id, at, true),
            EventKind::PersistentCongestion => self.persistent_congestion += 1,
            EventKind::Malformed(_) | EventKind::Other => {}
        }
    }

    fn on_sent(&mut self, packet: Packet, event: EventId, at: f64) {
        if self.vantage.is_none() && packet.space.level == Level::Initial && packet.number == 0 {
            self.vantage = Some(if self.received == 0 { "client" } else { "server" });
        }
        self.sent += 1;
        self.bytes_sent += packet.size;
        self.has_frames |= packet.has_frames;
        if let Some(receiver_side) = &mut self.receiver_side {
            let (space, number) = (packet.space, packet.number);
            receiver_side
                .acks
                .extend(packet.acks.iter().map(|ack| (event, ack.space, space, number)));
        }
        let sent_packets = self.sent_packets.entry(packet.space).or_default();
        sent_packets.largest = sent_packets.largest.max(packet.number);
        if !packet.is_ack_eliciting {
            return;
        }
        self.ack_eliciting += 1;
        if packet.is_probe && !self.probes.has_timers {
            self.on_probe_timeout(Some(packet.space), event, at, false);
        } else {
            self.infer_probe_timeout(packet.space, event, at);
        }
        self.probes.on_sent(packet.space, packet.number, at);
        self.last_eliciting = Some(at);
        for part in &packet.streams {
            for (cause, bytes) in self.streams.on_sent(*part) {
                match cause {
                    Cause::Loss(index) => self.losses[index].retransmitted += bytes,
                    Cause::Timeout(index) => self.probes.rows[index].retransmitted += bytes,
                }
            }
        }
        let Some(sent_packets) = self.sent_packets.get_mut(&packet.space) else { return };
        let sent = SentPacket { at, event, size: packet.size, streams: packet.streams };
        sent_packets.in_flight.insert(packet.number, sent);
        if sent_packets.in_flight.len() > MAX_IN_FLIGHT {
            sent_packets.in_flight.pop_first();
        }
    }

    fn on_received(&mut self, packet: &Packet, event: EventId, at: f64) {
        if self.vantage.is_none() && self.sent == 0 && packet.space.level == Level::Initial {
            self.vantage = Some("server");
        }
        self.received += 1;
        self.bytes_received += packet.size;
        self.stream_bytes_received += packet.streams.iter().map(|part| part.length).sum::<u64>();
        self.has_frames |= packet.has_frames;
        if let Some(receiver_side) = &mut self.receiver_side {
            receiver_side
                .arrivals
                .entry(packet.space)
                .or_default()
                .entry(packet.number)
                .or_insert(event);
        }
        for ack in &packet.acks {
            self.on_ack(ack, event, at);
        }
    }

    fn on_ack(&mut self, ack: &Ack, event: EventId, at: f64) {
        self.has_acks = true;
        let Some(sent_packets) = self.sent_packets.get_mut(&ack.space) else { return };
        sent_packets.last_ack = Some((event, at));
        let mut newly = Acked::default();
        let mut largest: Option<(u64, f64)> = None;
        // A peer never acknowledges a packet that was not sent. If a range seems to do so, its
        // upper end is exclusive.
        self.has_exclusive_ranges |=
            ack.ranges.iter().any(|(_, last)| *last == sent_packets.largest + 1);
        for &(first, last) in &ack.ranges {
            let last = last - u64::from(self.has_exclusive_ranges && last > 0);
            if first > last {
                continue;
            }
            while let Some((&number, _)) = sent_packets.in_flight.range(first..=last).next_back() {
                let Some(sent) = sent_packets.in_flight.remove(&number) else { break };
                newly.add(sent.event);
                if largest.is_none_or(|(known, _)| number > known) {
                    largest = Some((number, sent.at));
                }
            }
            while let Some((&number, &index)) = sent_packets.lost.range(first..=last).next() {
                sent_packets.lost.remove(&number);
                let loss = &mut self.losses[index];
                loss.acked = Some((event, at));
                newly.add(self.recovery.sent_event(index));
            }
        }
        if newly.is_empty() {
            return;
        }
        // When it was due follows from the round trips before it: its own may include the delay.
        let smoothed_before = self.rtt.smoothed;
        if let Some((_, sent_at)) = largest {
            self.rtt.on_sample(at - sent_at);
        }
        if let Some(sent_event) = newly.last() {
            self.recovery.on_acked(sent_event, at);
        }
        let smoothed_rtt = smoothed_before.or(self.rtt.smoothed).unwrap_or(0.0);
        let min_rtt = self.rtt.min.unwrap_or(0.0);
        self.probes.on_ack(ack.space, &newly, (event, at), (smoothed_rtt, min_rtt));
    }

    fn on_lost(
        &mut self,
        (space, number): (Space, u64),
        trigger: Option<String>,
        event: EventId,
        at: f64,
    ) {
        let sent_packets = self.sent_packets.entry(space).or_default();
        let sent = sent_packets.in_flight.remove(&number);
        let index = self.losses.len();
        if sent_packets.lost.contains_key(&number) {
            // It was declared lost before.
            return;
        }
        sent_packets.lost.insert(number, index);
        if let Some(sent) = &sent {
            for part in &sent.streams {
                self.streams.expect(*part, Cause::Loss(index));
            }
        }
        let sent_event = sent.as_ref().map_or(EventId::default(), |sent| sent.event);
        self.recovery.on_lost(event, at, sent_event);
        self.losses.push(Loss {
            event,
            at,
            sent_at: sent.as_ref().map(|sent| sent.at),
            smoothed_rtt: self.rtt.smoothed,
            space,
            number,
            size: sent.as_ref().map_or(0, |sent| sent.size),
            trigger,
            acked: None,
            noticed: None,
            retransmitted: 0,
        });
    }

    fn on_metrics(&mut self, metrics: &Metrics, event: EventId, at: f64) {
        if let Some(cwnd) = metrics.cwnd {
            self.recovery.on_cwnd(cwnd, at);
        }
        if let Some(count) = metrics.pto_count {
            self.probes.has_timers = true;
            if count > self.probes.count {
                self.on_probe_timeout(None, event, at, true);
            }
            self.probes.count = count;
        }
    }

    /// Infers a probe timeout if the log has no timers, and the sender sent this packet after its
    /// probe timer must have expired.
    fn infer_probe_timeout(&mut self, space: Space, event: EventId, at: f64) {
        if self.probes.has_timers || !self.has_frames {
            return;
        }
        let Some(sent_packets) = self.sent_packets.get(&space) else { return };
        let Some(since) = self.last_eliciting else { return };
        let since = sent_packets.last_ack.map_or(since, |(_, acked)| since.max(acked));
        let is_waiting = !sent_packets.in_flight.is_empty()
            || sent_packets
                .lost
                .values()
                .next_back()
                .is_some_and(|index| self.losses[*index].at >= since);
        let timeout = self.rtt.probe_timeout() * f64::from(1 << self.probes.backoff().min(16));
        if is_waiting && at - since >= timeout {
            self.on_probe_timeout(Some(space), event, at, false);
        }
    }

    fn on_probe_timeout(&mut self, space: Option<Space>, event: EventId, at: f64, is_logged: bool) {
        self.probes.has_timers |= is_logged;
        let since = self.last_eliciting.unwrap_or(at);
        let mut outstanding = Vec::new();
        if self.receiver_side.is_some() {
            let spaces =
                self.sent_packets.iter().filter(|(one, _)| space.is_none_or(|it| it == **one));
            outstanding.extend(spaces.flat_map(|(space, sent_packets)| {
                let numbers = sent_packets.in_flight.keys().chain(sent_packets.lost.keys());
                numbers.map(|number| (*space, *number))
            }));
        }
        let timeout = Timeout { event, at, space, since, outstanding, ..Timeout::default() };
        let Some(index) = self.probes.on_timeout(timeout) else { return };
        // Probes may carry copies of the data in flight.
        for (_, sent_packets) in
            self.sent_packets.iter().filter(|(one, _)| space.is_none_or(|it| it == **one))
        {
            for sent in sent_packets.in_flight.values() {
                for part in &sent.streams {
                    self.streams.expect(*part, Cause::Timeout(index));
                }
            }
        }
    }

    /// Classifies a declared loss by this log alone.
    pub fn classify(&self, loss: &Loss) -> Classification<LossClass> {
        if let Some((event, _)) = loss.acked {
            return (LossClass::Spurious, 0.99, Some(("acknowledged-later", event)));
        }
        if let Some(event) = loss.noticed {
            return (LossClass::Spurious, 0.95, Some(("sender-noticed", event)));
        }
        // A faster path may pass the packet by: its round trip is that of the slower one.
        let smoothed_rtt = loss.smoothed_rtt.or(self.rtt.smoothed).unwrap_or(0.0);
        match self.last_ack(loss.space) {
            Some((event, at)) if at >= loss.at + 3.0 * smoothed_rtt => {
                (LossClass::Genuine, 0.99, Some(("never-acknowledged", event)))
            }
            Some((event, at)) if at >= loss.at + smoothed_rtt => {
                (LossClass::Genuine, 0.9, Some(("never-acknowledged", event)))
            }
            _ => (LossClass::Unknown, 0.0, None),
        }
    }
}
