//! A sender, an agent half-way, a receiver, and what the paths between them do.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::{Agent, Condition, Onward, Packet};
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, State};
use rtolab_time::{Duration, Instant};

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Sender,
    Agent,
    Receiver,
}

/// How long a packet that leaves then takes to a place, or `None` if it is lost.
pub type Path<'a> = Box<dyn FnMut(&Packet, Place, Instant) -> Option<Duration> + 'a>;

pub struct World<'a> {
    config: Arc<Config>,
    sender: Connection,
    receiver: Option<Connection>,
    agent: Option<Agent>,
    path: Path<'a>,
    at: Instant,
    wire: BTreeMap<(Instant, u64), (Place, Packet)>,
    sent: u64,
    /// Payload that the receiving application got.
    pub read: u64,
    /// What the sender told of itself.
    pub events: Vec<Event>,
    /// The receiver is closed.
    receiver_closed: bool,
    /// Data packets that arrived at the receiver.
    pub data_arrived: u32,
}

impl<'a> World<'a> {
    pub fn new(config: &Config, bytes: u64, agent: Option<Agent>, path: Path<'a>) -> Self {
        // Longer than any packet is under way, and than any end waits for the other.
        let msl = Duration::from_secs(36_000);
        let config = Arc::new(Config { msl, ..config.clone() });
        let mut sender = Connection::open(config.clone());
        sender.write(bytes);
        sender.close();
        let mut world = Self {
            config,
            sender,
            receiver: None,
            agent,
            path,
            at: Instant::START,
            wire: BTreeMap::new(),
            sent: 0,
            read: 0,
            events: Vec::new(),
            receiver_closed: false,
            data_arrived: 0,
        };
        world.drain_sender();
        world
    }

    /// Runs until both ends are closed, or for so many events: are they closed?
    pub fn ends_within(&mut self, steps: u32) -> bool {
        for _ in 0..steps {
            if self.receiver_closed && self.sender.state() == State::Closed {
                return true;
            }
            self.step();
        }
        false
    }

    fn leave(&mut self, packet: Packet, to: Place) {
        self.sent += 1;
        if let Some(delay) = (self.path)(&packet, to, self.at) {
            self.wire.insert((self.at + delay, self.sent), (to, packet));
        }
    }

    fn leave_host(&mut self, segment: Segment, to_receiver: bool) {
        let packet = Packet {
            segment,
            copy: CopyId(self.sent),
            flow: 0,
            bytes: Packet::size_of(&segment),
            order: 0,
            step: 0,
            sent: self.at,
            condition: Condition::Sound,
            to_receiver,
        };
        self.leave(packet, Place::Agent);
    }

    fn drain_sender(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            assert_ne!(event, Event::Reset);
            self.events.push(event);
        }
        while let Some(segment) = self.sender.poll_transmit(self.at) {
            self.leave_host(segment, true);
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
            self.leave_host(segment, false);
        }
    }

    fn drain_agent(&mut self, onward: &[Onward]) {
        for Onward { packet, .. } in onward.iter().copied() {
            assert_eq!(packet.bytes, Packet::size_of(&packet.segment));
            self.leave(packet, if packet.to_receiver { Place::Receiver } else { Place::Sender });
        }
    }

    fn arrives(&mut self, place: Place, packet: Packet) {
        match place {
            Place::Agent => {
                let mut onward = Vec::new();
                match &mut self.agent {
                    Some(agent) => agent.on_packet(packet, self.at, &mut onward),
                    None => onward.push(Onward { packet, made_here: false }),
                }
                self.drain_agent(&onward);
            }
            Place::Sender => {
                self.sender.on_segment(&packet.segment, self.at);
                self.drain_sender();
            }
            Place::Receiver => self.arrives_at_receiver(&packet.segment),
        }
    }

    fn arrives_at_receiver(&mut self, segment: &Segment) {
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

    /// The timer that expires next, and whose it is.
    fn next_timer(&self) -> (Instant, Place) {
        let timers = [
            (self.sender.next_timer(), Place::Sender),
            (self.agent.as_ref().and_then(Agent::next_timer), Place::Agent),
            (self.receiver.as_ref().and_then(Connection::next_timer), Place::Receiver),
        ];
        let timers = timers.map(|(at, place)| (at.unwrap_or(Instant::NEVER), place));
        timers.into_iter().min().unwrap()
    }

    /// One event: a packet or a timer.
    fn step(&mut self) {
        let (timer, whose) = self.next_timer();
        let packet = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        assert!(packet.min(timer) < Instant::NEVER, "nothing will ever happen again");
        if packet <= timer {
            let ((at, _), (place, packet)) = self.wire.pop_first().unwrap();
            self.at = at;
            return self.arrives(place, packet);
        }
        self.at = timer;
        match whose {
            Place::Sender => {
                self.sender.on_timer(timer);
                self.drain_sender();
            }
            Place::Receiver => {
                self.receiver.as_mut().unwrap().on_timer(timer);
                self.drain_receiver();
            }
            Place::Agent => {
                let mut onward = Vec::new();
                let agent = self.agent.as_mut().unwrap();
                agent.on_timer(timer, &mut onward);
                assert!(agent.next_timer().is_none_or(|next| next > timer), "it moves on");
                self.drain_agent(&onward);
            }
        }
    }
}
