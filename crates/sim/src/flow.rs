//! A flow, or one leg of a flow that is split: its two ends, its routes through the network, and what
//! is counted of it.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{ConnectionRow, Delays, Losses, Measured, Place, Rest, TimeoutRow};
use rtolab_tcp::{Config, Connection, Seq};
use rtolab_time::Instant;

use crate::end::{End, Reader};

/// What stays the same in every run of a flow.
#[derive(Debug)]
pub struct Plan {
    pub name: Arc<str>,
    pub sender: Arc<str>,
    pub set: Option<Arc<str>>,
    pub protocol: Protocol,
    /// How the sender behaves, and the receiver.
    pub configs: [Arc<Config>; 2],
    /// The routes from the sender, and from the receiver.
    pub routes: [FlowRoute; 2],
    /// The leg before this one, if it begins at a gateway.
    pub before: Option<u32>,
    /// The leg behind this one, if it ends at a gateway.
    pub behind: Option<u32>,
    /// The application at the ends of the whole, if there is one that is told of its progress.
    pub application: Option<u32>,
}

impl Plan {
    /// Are there data without end?
    pub fn is_endless(&self) -> bool {
        self.protocol == Protocol::Tcp(Opening::Endless)
    }
}

/// What a flow speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP. So many bytes are written at the beginning, and then the sender closes; where it is
    /// [`Opening::Silent`] nothing is.
    Tcp(Opening),
    /// Datagrams only.
    Udp,
}

/// What is written as a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// All that there is, and the sender closes.
    Bytes(u64),
    /// Data without end.
    Endless,
    /// Nothing: somebody else writes.
    Silent,
}

/// The route of packets from one end.
#[derive(Clone, Debug)]
pub enum FlowRoute {
    /// Always the same: the number of its first step.
    Fixed(u32),
    /// Several, each from the instant when it takes effect; the first from the beginning on.
    Changing(Box<[RouteChange]>),
}

impl From<Vec<RouteChange>> for FlowRoute {
    fn from(changes: Vec<RouteChange>) -> Self {
        match changes[..] {
            [RouteChange { first, .. }] => Self::Fixed(first),
            _ => Self::Changing(changes.into()),
        }
    }
}

/// A route from some instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange {
    pub at: Instant,
    /// The number of its first step.
    pub first: u32,
}

/// The routes that packets of either end take now.
#[derive(Clone, Copy, Debug)]
struct Headings {
    /// The numbers of their first steps.
    first: [u32; 2],
    until: [Instant; 2],
}

/// A flow during a run; what every packet asks for comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Flow {
    /// Packets of both directions that are on their way.
    pub under_way: u32,
    /// Does anybody else wait for what happens here: an application, or another leg?
    pub attended: bool,
    /// Where packets from each end go.
    headings: Headings,
    pub tally: Tally,
    pub plan: Arc<Plan>,
    /// When it began.
    pub begin: Option<Instant>,
    /// The sender's end, and the receiver's.
    pub ends: [End; 2],
}

/// What is counted of both ends of a flow together, as in [`ConnectionRow`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Tally {
    pub delay: Delays,
    pub lost: Losses,
    pub absorbed: u64,
    pub local: u64,
}

impl Flow {
    /// A flow that begins `at`, or when somebody opens it.
    pub fn new(plan: Arc<Plan>, at: Option<Instant>) -> Self {
        let reader = |neighbour: Option<u32>| match neighbour {
            Some(_) => Reader::Gateway,
            None => Reader::Application,
        };
        let connection = match plan.protocol {
            Protocol::Tcp(_) => Some(Connection::open(plan.configs[0].clone())),
            Protocol::Udp => None,
        };
        let mut sender = End::new(connection, reader(plan.before));
        match plan.protocol {
            Protocol::Tcp(Opening::Bytes(bytes)) => {
                sender.write(bytes);
                sender.close();
            }
            Protocol::Tcp(Opening::Endless) => sender.write(u64::MAX / 2),
            Protocol::Tcp(Opening::Silent) | Protocol::Udp => {}
        }
        let neighbours = [plan.before, plan.behind, plan.application];
        Self {
            ends: [sender, End::new(None, reader(plan.behind))],
            headings: Headings { first: [0; 2], until: [Instant::START; 2] },
            under_way: 0,
            attended: neighbours.iter().any(Option::is_some),
            begin: at,
            tally: Tally::default(),
            plan,
        }
    }

    /// The end at `place`.
    pub fn end(&self, place: Place) -> &End {
        &self.ends[place.index()]
    }

    /// The end at `place`.
    pub fn end_mut(&mut self, place: Place) -> &mut End {
        &mut self.ends[place.index()]
    }

    /// The number of the first step for a packet that leaves `place` at `at`.
    #[inline]
    pub fn way(&mut self, place: Place, at: Instant) -> u32 {
        if at >= self.headings.until[place.index()] {
            self.turn(place, at);
        }
        self.headings.first[place.index()]
    }

    /// The number of the first step for a packet that leaves `place`, as it was when last asked for.
    #[inline]
    pub fn last_way(&self, place: Place) -> u32 {
        self.headings.first[place.index()]
    }

    /// Looks up which way packets from `place` take at `at`, and until when.
    #[cold]
    fn turn(&mut self, place: Place, at: Instant) {
        let (first, until) = match &self.plan.routes[place.index()] {
            FlowRoute::Fixed(first) => (*first, Instant::NEVER),
            FlowRoute::Changing(changes) => {
                let behind = changes.partition_point(|change| change.at <= at);
                let until = changes.get(behind).map_or(Instant::NEVER, |change| change.at);
                (changes[behind.saturating_sub(1)].first, until)
            }
        };
        self.headings.first[place.index()] = first;
        self.headings.until[place.index()] = until;
    }

    /// The next segment to leave `place`.
    #[inline(always)]
    pub fn next_segment(&mut self, place: Place, at: Instant) -> Option<rtolab_tcp::Segment> {
        self.end_mut(place).connection.as_mut()?.poll_transmit(at)
    }

    /// Is it plain that nothing more leaves `place` now?
    #[inline(always)]
    pub fn is_silent(&self, place: Place) -> bool {
        self.end(place).connection.as_ref().is_none_or(Connection::is_silent)
    }

    /// The segment leaves `place`: how often its first sequence number was sent before.
    #[inline]
    pub fn note_sent(&mut self, place: Place, segment: &rtolab_tcp::Segment) -> u16 {
        let (here, there) = pair(&mut self.ends, place);
        here.note_sent(segment, there)
    }

    /// A packet arrived, undamaged, where it was for.
    #[inline(always)]
    pub fn take(&mut self, packet: &Packet, at: Instant) {
        let (place, segment) = (packet.destination(), &packet.segment);
        if packet.to_receiver && segment.len > 0 {
            self.tally.delay.count(at.since(packet.sent));
        }
        if packet.is_datagram() {
            self.end_mut(place).count.read += u64::from(segment.len);
            return;
        }
        let (here, there) = pair(&mut self.ends, place);
        here.take(packet, &self.plan.configs[place.index()], at);
        let again = segment.sequence_length() > 0 && there.copies.may_hold(segment.seq);
        if again && here.holds(segment) {
            there.copies.taken(segment.seq, packet.order);
        }
    }

    /// What the connection at `place` tells of itself.
    #[inline]
    pub fn note_events(&mut self, place: Place, at: Instant) {
        self.end_mut(place).note_events(at);
    }

    /// Is nothing under way, nor an acknowledgment being delayed?
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && !self.ends.iter().any(End::owes_ack)
    }

    /// What was counted so far of what is measured in parts.
    pub fn measured(&self) -> Measured {
        let [sender, receiver] = &self.ends;
        let totals = sender.flight().map(rtolab_tcp::Flight::totals).unwrap_or_default();
        Measured {
            bytes: receiver.count.read,
            acked_segments: totals.acked_segments,
            segments: sender.count.segments,
            retransmissions: sender.copies.retransmissions(),
            timeouts: sender.count.timeouts,
            fast_retransmits: sender.count.fast_retransmits,
            delay: self.tally.delay,
            ..Measured::default()
        }
    }

    /// The flow's row, now that every copy's fate is known; `None` if it never began.
    pub fn row(&self) -> Option<ConnectionRow> {
        let [sender, receiver] = &self.ends;
        let total = self.measured();
        let Tally { delay, lost, absorbed, local } = self.tally;
        Some(ConnectionRow {
            flow: self.plan.name.clone(),
            flow_sender: self.plan.sender.clone(),
            set: self.plan.set.clone(),
            start: self.begin?,
            end: sender.close_acknowledged,
            bytes: total.bytes,
            segments: total.segments,
            header_bytes: sender.count.header_bytes,
            acked_segments: total.acked_segments,
            retransmissions: total.retransmissions,
            unneeded: sender.copies.unneeded(),
            timeouts: total.timeouts,
            fast_retransmits: total.fast_retransmits,
            found_spurious: sender.count.found_spurious,
            acks: receiver.count.acks,
            dupacks: sender.flight().map_or(0, |flight| flight.totals().duplicates),
            lost,
            absorbed,
            local,
            delay,
            ..ConnectionRow::default()
        })
    }

    /// The timeouts and fast retransmits of one end.
    pub fn timeouts(&self, place: Place) -> impl Iterator<Item = TimeoutRow> + '_ {
        let (end, rest) = (self.end(place), self.rest(place));
        end.timeouts.rows((&self.plan.name, place), &end.copies, rest)
    }

    /// The next timeout or fast retransmit of one end about which the truth is not known: its number,
    /// its row and its segment.
    pub fn unjudged(&mut self, place: Place) -> Option<(usize, TimeoutRow, Seq)> {
        self.ends[place.index()].timeouts.unjudged((&self.plan.name, place))
    }

    /// How the transfer of the data of this end went, or goes so far.
    pub fn rest(&self, place: Place) -> Rest {
        let end = self.end(place);
        Rest {
            end: end.close_acknowledged,
            segments: end.count.segments,
            bytes: self.end(place.other()).count.read,
        }
    }

    /// Has the end at `place` an acknowledgment that covers `seq`?
    pub fn acknowledged(&self, place: Place, seq: Seq) -> bool {
        self.end(place).una() > seq
    }
}

/// The end at `place`, and the other one.
#[inline]
pub fn pair(ends: &mut [End; 2], place: Place) -> (&mut End, &mut End) {
    let [sender, receiver] = ends;
    match place {
        Place::Sender => (sender, receiver),
        Place::Receiver => (receiver, sender),
    }
}
