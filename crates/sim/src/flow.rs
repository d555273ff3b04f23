//! A flow, or one leg of a split flow: its two ends, its routes and its counters.

use std::sync::Arc;

use rtolab_net::{Notification, Packet};
use rtolab_record::{
    ConnectionRow, Delays, Losses, Measured, Place, TimeoutRow, TransferOutcome, Truth,
};
use rtolab_tcp::{Config, Connection, Seq};
use rtolab_time::Instant;

use crate::endpoint::{Consumer, Endpoint};
use crate::rare::RareQuantity;

/// The part of a flow that all runs share.
#[derive(Debug)]
pub struct Plan {
    pub name: Arc<str>,
    pub sender: Arc<str>,
    pub set: Option<Arc<str>>,
    pub protocol: Protocol,
    /// The configurations of the sender and of the receiver.
    pub configs: [Arc<Config>; 2],
    /// The routes from the sender, and from the receiver.
    pub routes: [FlowRoute; 2],
    /// The previous leg, if this one begins at a gateway.
    pub previous_leg: Option<u32>,
    /// The next leg, if this one ends at a gateway.
    pub next_leg: Option<u32>,
    /// The application that uses the flow, if it reacts to progress.
    pub application: Option<u32>,
}

impl Plan {
    /// Does the transfer never end?
    pub fn is_endless(&self) -> bool {
        self.protocol == Protocol::Tcp(InitialData::Endless)
    }
}

/// The transport protocol of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp(InitialData),
    /// Datagrams only.
    Udp,
}

/// The data that are written when a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialData {
    /// All data; the sender then closes.
    Bytes(u64),
    /// Unlimited data.
    Endless,
    /// None: an application or a gateway writes later.
    Silent,
}

/// The routes of packets from one end. A route is given by the index of its first step.
#[derive(Clone, Debug)]
pub enum FlowRoute {
    /// One route.
    Fixed(u32),
    /// Several routes in order. The first one begins at time 0.
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

/// A route with its first instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange {
    pub at: Instant,
    /// The index of its first step.
    pub first: u32,
}

/// The current routes from both ends, and the times at which they end.
#[derive(Clone, Copy, Debug)]
struct CurrentRoutes {
    first: [u32; 2],
    until: [Instant; 2],
}

/// A flow during a run. The fields that every packet needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SimFlow {
    /// The number of packets in the network, in both directions.
    pub in_network: u32,
    /// Does an application or another leg react to this flow's progress?
    pub has_listeners: bool,
    routes: CurrentRoutes,
    pub tally: Tally,
    pub plan: Arc<Plan>,
    /// When it began.
    pub begin: Option<Instant>,
    /// The sender and the receiver.
    pub ends: [Endpoint; 2],
}

/// Counters of both ends together, as in [`ConnectionRow`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Tally {
    pub delay: Delays,
    pub lost: Losses,
    pub absorbed: u64,
    pub local: u64,
}

impl SimFlow {
    /// A flow that begins at `at`; if that is `None`, it begins when it is opened.
    pub fn new(plan: Arc<Plan>, at: Option<Instant>) -> Self {
        let consumer = |neighbour: Option<u32>| match neighbour {
            Some(_) => Consumer::Gateway,
            None => Consumer::Application,
        };
        let connection = match plan.protocol {
            Protocol::Tcp(_) => Some(Connection::open(plan.configs[0].clone())),
            Protocol::Udp => None,
        };
        let mut sender = Endpoint::new(connection, consumer(plan.previous_leg));
        match plan.protocol {
            Protocol::Tcp(InitialData::Bytes(bytes)) => {
                sender.write(bytes);
                sender.close();
            }
            Protocol::Tcp(InitialData::Endless) => sender.write(u64::MAX / 2),
            Protocol::Tcp(InitialData::Silent) | Protocol::Udp => {}
        }
        let neighbours = [plan.previous_leg, plan.next_leg, plan.application];
        Self {
            ends: [sender, Endpoint::new(None, consumer(plan.next_leg))],
            routes: CurrentRoutes { first: [0; 2], until: [Instant::START; 2] },
            in_network: 0,
            has_listeners: neighbours.iter().any(Option::is_some),
            begin: at,
            tally: Tally::default(),
            plan,
        }
    }

    /// The end at `place`.
    pub fn end(&self, place: Place) -> &Endpoint {
        &self.ends[place.index()]
    }

    /// The end at `place`.
    pub fn end_mut(&mut self, place: Place) -> &mut Endpoint {
        &mut self.ends[place.index()]
    }

    /// The route of a packet that leaves `place` at `at`.
    #[inline]
    pub fn route(&mut self, place: Place, at: Instant) -> u32 {
        if at >= self.routes.until[place.index()] {
            self.look_up_route(place, at);
        }
        self.routes.first[place.index()]
    }

    /// The last route that [`SimFlow::route`] returned for `place`.
    #[inline]
    pub fn last_route(&self, place: Place) -> u32 {
        self.routes.first[place.index()]
    }

    #[cold]
    fn look_up_route(&mut self, place: Place, at: Instant) {
        let (first, until) = match &self.plan.routes[place.index()] {
            FlowRoute::Fixed(first) => (*first, Instant::NEVER),
            FlowRoute::Changing(changes) => {
                let next = changes.partition_point(|change| change.at <= at);
                let until = changes.get(next).map_or(Instant::NEVER, |change| change.at);
                (changes[next.saturating_sub(1)].first, until)
            }
        };
        self.routes.first[place.index()] = first;
        self.routes.until[place.index()] = until;
    }

    /// The next segment to leave `place`.
    #[inline(always)]
    pub fn next_segment(&mut self, place: Place, at: Instant) -> Option<rtolab_tcp::Segment> {
        self.end_mut(place).connection.as_mut()?.poll_transmit(at)
    }

    /// Is it certain that no further segment leaves `place` now?
    #[inline(always)]
    pub fn has_nothing_to_transmit(&self, place: Place) -> bool {
        self.end(place).connection.as_ref().is_none_or(Connection::has_nothing_to_transmit)
    }

    /// Counts a segment that leaves `place`. Returns the number of earlier transmissions of its
    /// first byte.
    #[inline]
    pub fn note_sent(&mut self, place: Place, segment: &rtolab_tcp::Segment) -> u16 {
        let (here, there) = pair(&mut self.ends, place);
        here.note_sent(segment, there)
    }

    /// Processes an intact packet at its destination.
    #[inline(always)]
    pub fn on_packet(&mut self, packet: &Packet, at: Instant) {
        let (place, segment) = (packet.destination(), &packet.segment);
        if packet.to_receiver && segment.len > 0 {
            self.tally.delay.count(at.since(packet.sent));
        }
        if let Some(notification) = packet.notification() {
            let end = self.end_mut(place);
            match (&mut end.connection, notification) {
                (None, _) => end.count.read += u64::from(segment.len),
                (Some(connection), Notification::BadState) => connection.on_ebsn(at),
                (Some(connection), Notification::PathChange) => connection.on_path_change(at),
                (Some(connection), Notification::Unreachable(seq)) => {
                    connection.on_unreachable(seq, at);
                }
            }
            return;
        }
        let (here, there) = pair(&mut self.ends, place);
        here.on_packet(packet, &self.plan.configs[place.index()], at);
        let retransmitted = segment.sequence_length() > 0 && there.copies.may_contain(segment.seq);
        if retransmitted && here.holds(segment) {
            there.copies.delivered(segment.seq, packet.order);
        }
    }

    /// Processes the events of the connection at `place`.
    #[inline]
    pub fn note_events(&mut self, place: Place, at: Instant) {
        self.end_mut(place).note_events(at);
    }

    /// Are no packets in the network and no ACKs delayed?
    pub fn is_idle(&self) -> bool {
        self.in_network == 0 && !self.ends.iter().any(Endpoint::owes_ack)
    }

    /// The totals of the counters that are also measured in an interval.
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

    /// The flow's row; `None` if it never began. Call it after the run.
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
        let (end, outcome) = (self.end(place), self.outcome(place));
        end.timeouts.rows((&self.plan.name, place), &end.copies, outcome)
    }

    /// The quantity at the sender so far; `None` before its first value.
    pub fn rare(&self, quantity: RareQuantity) -> Option<u32> {
        let timeouts = self.end(Place::Sender).timeouts.timeouts();
        let count = |count: usize| Some(count as u32).filter(|count| *count > 0);
        match quantity {
            RareQuantity::Backoff => timeouts.map(|(backoff, _)| backoff).max(),
            RareQuantity::Timeouts => count(timeouts.count()),
            RareQuantity::SpuriousTimeouts => {
                count(timeouts.filter(|(_, truth)| *truth == Some(Truth::Spurious)).count())
            }
        }
    }

    /// The next timeout or fast retransmit of one end that is not scored: its number, its row and
    /// its segment.
    pub fn next_unscored(&mut self, place: Place) -> Option<(usize, TimeoutRow, Seq)> {
        self.ends[place.index()].timeouts.next_unscored((&self.plan.name, place))
    }

    /// The end of the transfer of this end's data, or its progress so far.
    pub fn outcome(&self, place: Place) -> TransferOutcome {
        let end = self.end(place);
        TransferOutcome {
            end: end.close_acknowledged,
            segments: end.count.segments,
            bytes: self.end(place.other()).count.read,
        }
    }

    /// Has an ACK for `seq` arrived at `place`?
    pub fn acknowledged(&self, place: Place, seq: Seq) -> bool {
        self.end(place).una() > seq
    }
}

/// The end at `place`, and its peer.
#[inline]
pub fn pair(ends: &mut [Endpoint; 2], place: Place) -> (&mut Endpoint, &mut Endpoint) {
    let [sender, receiver] = ends;
    match place {
        Place::Sender => (sender, receiver),
        Place::Receiver => (receiver, sender),
    }
}
