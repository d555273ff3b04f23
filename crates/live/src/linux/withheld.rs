//! A retransmission that the links withhold, to find the ground truth about it.
//!
//! A simulation forks the run and continues it without the retransmission. A kernel cannot be
//! forked, but a run on a virtual clock can be repeated to the bit. In the repeated run the links
//! drop the retransmission and all later ones of that end, until an ACK covers its segment.

use std::collections::BTreeSet;

use rtolab_link::CopyId;
use rtolab_packet::Ip;
use rtolab_record::{Fate, HEAD, Place, Truth};
use rtolab_tcp::Flags;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

use super::log::{Log, Sent};
use super::observed_packet::ObservedPacket;
use super::packet::{Packet, ipv4, sequence};

/// The time after the last packet within which a receiver sends a delayed ACK: Linux's
/// `TCP_DELACK_MAX` is 200 ms.
const QUIET: Duration = Duration::from_millis(250);

/// The retransmission that is withheld, and what happens to its flow.
#[derive(Clone, Debug)]
pub(crate) struct Withheld {
    /// The number of its copy, its flow and the end that sent it.
    copy: u64,
    flow: (usize, Place),
    /// The first bytes and the time of the copy in the original run.
    expected: ([u8; HEAD], Instant),
    /// Its sequence number.
    seq: u32,
    /// The sequence number after the highest that this end sent.
    sent_max: Option<u32>,
    state: State,
    /// The copies of the flow in the network.
    underway: BTreeSet<u64>,
    /// The time of the last packet of the flow.
    last: Instant,
}

/// The state of a repeated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The copy has not been sent.
    Before,
    /// The copy was withheld, and no ACK covers its segment.
    Open,
    /// An ACK covers its segment.
    Covered,
    /// The copy is not that of the original run.
    Differs,
}

impl Withheld {
    /// The copy of this number in the log of the original run; `None` if it belongs to no flow.
    pub(crate) fn new(copy: u64, log: &Log) -> Option<Self> {
        let sent: &Sent = log.sent.get(copy as usize)?;
        Some(Self {
            copy,
            flow: sent.flow?,
            expected: (sent.padded_head(), sent.at),
            seq: sequence(&sent.ip()?).0,
            sent_max: None,
            state: State::Before,
            underway: BTreeSet::new(),
            last: Instant::START,
        })
    }

    /// Is this packet, which its host just sent, withheld?
    pub(crate) fn withholds(&mut self, packet: &Packet, sent: &Sent) -> bool {
        let Some((flow, place)) = packet.flow.filter(|(flow, _)| *flow == self.flow.0) else {
            return false;
        };
        self.last = sent.at;
        let withheld = (flow, place) == self.flow && self.is_withheld(packet.copy, sent);
        if !withheld {
            self.underway.insert(packet.copy.0);
        }
        withheld
    }

    fn is_withheld(&mut self, CopyId(copy): CopyId, sent: &Sent) -> bool {
        let (seq, length) = sent.ip().as_ref().map_or((0, 0), sequence);
        if copy == self.copy {
            let same = self.expected == (sent.padded_head(), sent.at);
            self.state = if same { State::Open } else { State::Differs };
            return same;
        }
        if length == 0 {
            return false;
        }
        let is_new = self.sent_max.is_none_or(|max| (seq.wrapping_sub(max) as i32) >= 0);
        if is_new {
            self.sent_max = Some(seq.wrapping_add(length));
        }
        !is_new && self.state == State::Open
    }

    /// Processes a packet that a link dropped.
    pub(crate) fn on_loss(&mut self, copy: CopyId, at: Instant) {
        if self.underway.remove(&copy.0) {
            self.last = at;
        }
    }

    /// Processes a packet that reached its host.
    pub(crate) fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        self.on_loss(packet.copy, at);
        let (flow, place) = self.flow;
        if self.state != State::Open || packet.flow != Some((flow, place.other())) || packet.damaged
        {
            return;
        }
        let ip = ipv4(&packet.bytes, packet.bytes.len()).filter(Ip::is_tcp);
        let segment = ip.and_then(|ip| WireSegment::parse(ip.payload, ip.length).ok());
        let covers = |segment: WireSegment| {
            segment.flags.has(Flags::ACK) && (segment.ack.wrapping_sub(self.seq) as i32) > 0
        };
        if segment.is_some_and(covers) {
            self.state = State::Covered;
        }
    }

    /// Is the truth known at this time?
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        match self.state {
            State::Before => false,
            State::Open => self.underway.is_empty() && now >= self.last + QUIET,
            State::Covered | State::Differs => true,
        }
    }

    /// The truth at the end of the repeated run, from the packets of its flow; `None` if the run
    /// differs from the original one.
    pub(crate) fn truth(&self, seen: &[ObservedPacket]) -> Option<Truth> {
        let index = seen.binary_search_by_key(&self.copy, |one| one.copy).ok();
        match (self.state, index) {
            (State::Covered, _) => Some(Truth::Spurious),
            (State::Open, Some(index)) => {
                let (place, start) = (self.flow.1, seen[index].range().start);
                let holds = |one: &ObservedPacket| {
                    let is_copy = one.from == place && one.range().contains(&start);
                    is_copy && one.fate == Fate::Delivered && one.delivered().is_some()
                };
                Some(if seen.iter().any(holds) { Truth::AckLost } else { Truth::Genuine })
            }
            _ => None,
        }
    }

    /// The flow of the retransmission.
    pub(crate) const fn flow(&self) -> usize {
        self.flow.0
    }
}

#[cfg(test)]
mod tests {
    use rtolab_link::DropCause;

    use super::super::reading;
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// A segment of the only flow: its end, sequence number, acknowledgment number and payload.
    fn packet(copy: u64, from: Place, (seq, ack, payload): (u32, u32, u16)) -> Packet {
        let length = 40 + payload;
        let (source, destination) = if from == Place::Sender { (1, 2) } else { (2, 1) };
        let mut bytes = vec![0x45, 0];
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 83, 0, source, 10, 83, 0, destination]);
        let ports = [30_000_u16, 10_000];
        let (near, far) = (ports[from.index()], ports[from.other().index()]);
        bytes.extend([near.to_be_bytes(), far.to_be_bytes()].concat());
        bytes.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.resize(length.into(), 0);
        let (hops, flow) = (std::sync::Arc::from([]), Some((0, from)));
        Packet { bytes, copy: CopyId(copy), hops, step: 0, flow, damaged: false }
    }

    /// A run whose copies are numbered in the order of `send`.
    struct Repeated {
        log: Log,
        withheld: Withheld,
    }

    impl Repeated {
        /// Sends 100 bytes from 1 on at 0 s, and withholds their retransmission at 1 s.
        fn new() -> (Self, Packet) {
            let mut log = Log::new(100);
            for (copy, time) in [(0, 0), (1, 1000)] {
                log.on_sent(&packet(copy, Place::Sender, (1, 1, 100)), at(time));
            }
            let withheld = Withheld::new(1, &log).unwrap();
            let mut run = Self { log: Log::new(100), withheld };
            let (is_withheld, original) = run.send(Place::Sender, (1, 1, 100), 0);
            assert!(!is_withheld && !run.withheld.is_over(at(900)));
            assert!(run.send(Place::Sender, (1, 1, 100), 1000).0);
            (run, original)
        }

        fn send(&mut self, from: Place, numbers: (u32, u32, u16), time: u64) -> (bool, Packet) {
            let copy = self.log.sent.len();
            let sent = packet(copy as u64, from, numbers);
            self.log.on_sent(&sent, at(time));
            let is_withheld = self.withheld.withholds(&sent, &self.log.sent[copy]);
            if is_withheld {
                self.log.on_loss(&sent, DropCause::Script, at(time));
            }
            (is_withheld, sent)
        }

        fn arrive(&mut self, packet: &Packet, time: u64) {
            self.log.on_arrival(packet, at(time));
            self.withheld.on_arrival(packet, at(time));
        }

        fn truth(&self) -> Option<Truth> {
            self.withheld.truth(&reading::read_flows(&self.log, 1)[0])
        }
    }

    #[test]
    fn a_retransmission_is_spurious_if_an_ack_arrives_without_it() {
        let (mut run, original) = Repeated::new();
        assert!(run.send(Place::Sender, (1, 1, 100), 2000).0, "the next timeout");
        assert!(!run.send(Place::Sender, (101, 1, 100), 2100).0, "new data");
        run.arrive(&original, 3000);
        let (_, early) = run.send(Place::Receiver, (1, 1, 0), 3000);
        run.arrive(&early, 3050);
        assert!(!run.withheld.is_over(at(3050)), "it acknowledges nothing");
        let (_, ack) = run.send(Place::Receiver, (1, 101, 0), 3000);
        run.arrive(&ack, 3100);
        assert!(run.withheld.is_over(at(3100)));
        assert_eq!(run.truth(), Some(Truth::Spurious));
    }

    #[test]
    fn a_run_without_an_ack_ends_when_nothing_can_arrive() {
        let (mut run, original) = Repeated::new();
        assert!(!run.withheld.is_over(at(5000)), "the original is in the network");
        run.log.on_loss(&original, DropCause::Error, at(6000));
        run.withheld.on_loss(original.copy, at(6000));
        assert!(!run.withheld.is_over(at(6249)), "an ACK may be delayed");
        assert!(run.withheld.is_over(at(6250)));
        assert_eq!(run.truth(), Some(Truth::Genuine));
    }

    #[test]
    fn data_that_arrived_has_lost_its_ack() {
        let (mut run, original) = Repeated::new();
        run.arrive(&original, 1500);
        let (_, ack) = run.send(Place::Receiver, (1, 101, 0), 1500);
        run.log.on_loss(&ack, DropCause::Outage, at(1600));
        run.withheld.on_loss(ack.copy, at(1600));
        assert!(run.withheld.is_over(at(1850)));
        assert_eq!(run.truth(), Some(Truth::AckLost));
    }

    #[test]
    fn another_packet_ends_the_run_without_a_truth() {
        let (mut run, _) = Repeated::new();
        run.withheld.state = State::Before;
        run.withheld.copy = 2;
        assert!(!run.send(Place::Sender, (1, 1, 100), 1001).0, "1 ms late");
        assert!(run.withheld.is_over(at(1001)));
        assert_eq!(run.truth(), None);
    }
}
