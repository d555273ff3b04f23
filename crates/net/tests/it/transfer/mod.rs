//! A sender, a middlebox, a receiver, and the paths between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::{Condition, Middlebox, OutgoingPacket, Packet};
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, State};
use rtolab_time::{Duration, Instant};

/// The place at which a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Sender,
    Middlebox,
    Receiver,
}

/// The delay of a packet that leaves at an instant, or `None` if it is lost.
pub type Path<'a> = Box<dyn FnMut(&Packet, Place, Instant) -> Option<Duration> + 'a>;

pub struct Transfer<'a> {
    config: Arc<Config>,
    sender: Connection,
    receiver: Option<Connection>,
    middlebox: Option<Middlebox>,
    path: Path<'a>,
    at: Instant,
    wire: BTreeMap<(Instant, u64), (Place, Packet)>,
    sent: u64,
    /// Payload that the receiving application read.
    pub read: u64,
    /// The events of the sender.
    pub events: Vec<Event>,
    /// Is the receiver closed?
    receiver_closed: bool,
    /// Data packets that arrived at the receiver.
    pub data_arrived: u32,
}

impl<'a> Transfer<'a> {
    pub fn new(config: &Config, bytes: u64, middlebox: Option<Middlebox>, path: Path<'a>) -> Self {
        // The MSL is longer than the lifetime of any packet and than the test.
        let msl = Duration::from_secs(36_000);
        let config = Arc::new(Config { msl, ..config.clone() });
        let mut sender = Connection::open(config.clone());
        sender.write(bytes);
        sender.close();
        let mut transfer = Self {
            config,
            sender,
            receiver: None,
            middlebox,
            path,
            at: Instant::START,
            wire: BTreeMap::new(),
            sent: 0,
            read: 0,
            events: Vec::new(),
            receiver_closed: false,
            data_arrived: 0,
        };
        transfer.drain_sender();
        transfer
    }

    /// Runs until both ends are closed. Returns false if that takes more than `steps` events.
    pub fn ends_within(&mut self, steps: u32) -> bool {
        for _ in 0..steps {
            if self.receiver_closed && self.sender.state() == State::Closed {
                return true;
            }
            self.step();
        }
        false
    }

    fn send(&mut self, packet: Packet, to: Place) {
        self.sent += 1;
        if let Some(delay) = (self.path)(&packet, to, self.at) {
            self.wire.insert((self.at + delay, self.sent), (to, packet));
        }
    }

    fn send_from_host(&mut self, segment: Segment, to_receiver: bool) {
        let packet = Packet {
            segment,
            copy: CopyId(self.sent),
            flow: 0,
            bytes: Packet::size_of(&segment),
            order: 0,
            step: 0,
            sent: self.at,
            condition: Condition::Intact,
            to_receiver,
        };
        self.send(packet, Place::Middlebox);
    }

    fn drain_sender(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            assert_ne!(event, Event::Reset);
            self.events.push(event);
        }
        while let Some(segment) = self.sender.poll_transmit(self.at) {
            self.send_from_host(segment, true);
        }
    }

    fn drain_receiver(&mut self) {
        while let Some(receiver) = &mut self.receiver {
            while let Some(event) = receiver.poll_event() {
                match event {
                    Event::PeerClosed => receiver.close(),
                    Event::Closed => self.receiver_closed = true,
                    event => assert_ne!(event, Event::Reset),
                }
            }
            let Some(segment) = receiver.poll_transmit(self.at) else { break };
            self.send_from_host(segment, false);
        }
    }

    fn drain_middlebox(&mut self, outgoing: &[OutgoingPacket]) {
        for OutgoingPacket { packet, .. } in outgoing.iter().copied() {
            assert_eq!(packet.bytes, Packet::size_of(&packet.segment));
            self.send(packet, if packet.to_receiver { Place::Receiver } else { Place::Sender });
        }
    }

    fn on_arrival(&mut self, place: Place, packet: Packet) {
        match place {
            Place::Middlebox => {
                let mut outgoing = Vec::new();
                match &mut self.middlebox {
                    Some(middlebox) => middlebox.on_packet(packet, self.at, &mut outgoing),
                    None => outgoing.push(OutgoingPacket { packet, is_generated: false }),
                }
                self.drain_middlebox(&outgoing);
            }
            Place::Sender => {
                self.sender.on_segment(&packet.segment, self.at);
                self.drain_sender();
            }
            Place::Receiver => self.on_receiver_arrival(&packet.segment),
        }
    }

    fn on_receiver_arrival(&mut self, segment: &Segment) {
        self.data_arrived += u32::from(segment.len > 0);
        if let Some(receiver) = &mut self.receiver {
            receiver.on_segment(segment, self.at);
            self.read += receiver.receiver().available();
            receiver.read(u64::MAX);
        } else {
            assert!(segment.flags.has(Flags::SYN), "the first packet is a SYN");
            self.receiver = Some(Connection::accept(self.config.clone(), segment));
        }
        self.drain_receiver();
    }

    /// The next timer, and its owner.
    fn next_timer(&self) -> (Instant, Place) {
        let timers = [
            (self.sender.next_timer(), Place::Sender),
            (self.middlebox.as_ref().and_then(Middlebox::next_timer), Place::Middlebox),
            (self.receiver.as_ref().and_then(Connection::next_timer), Place::Receiver),
        ];
        let timers = timers.map(|(at, place)| (at.unwrap_or(Instant::NEVER), place));
        timers.into_iter().min().unwrap()
    }

    /// Processes one event, a packet or a timer.
    fn step(&mut self) {
        let (timer, owner) = self.next_timer();
        let packet = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        assert!(packet.min(timer) < Instant::NEVER, "no event is left");
        if packet <= timer {
            let ((at, _), (place, packet)) = self.wire.pop_first().unwrap();
            self.at = at;
            return self.on_arrival(place, packet);
        }
        self.at = timer;
        match owner {
            Place::Sender => {
                self.sender.on_timer(timer);
                self.drain_sender();
            }
            Place::Receiver => {
                self.receiver.as_mut().unwrap().on_timer(timer);
                self.drain_receiver();
            }
            Place::Middlebox => {
                let mut outgoing = Vec::new();
                let middlebox = self.middlebox.as_mut().unwrap();
                middlebox.on_timer(timer, &mut outgoing);
                assert!(
                    middlebox.next_timer().is_none_or(|next| next > timer),
                    "the timer advances"
                );
                self.drain_middlebox(&outgoing);
            }
        }
    }
}
