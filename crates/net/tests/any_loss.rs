//! Whatever is lost or late on either side of an agent, a transfer through it ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rtolab_link::CopyId;
use rtolab_net::{Agent, Onward, Packet};
use rtolab_scenario::AgentKind;
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, State, sum};
use rtolab_time::{Duration, Instant};

/// What becomes of a packet on one side of the agent: its delay in milliseconds, or `None` if it
/// is lost.
type Fate = Option<u64>;

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = |lost: u32, late: u32| {
        prop_oneof![
            20 => Just(Some(30_u64)),
            late => (0..500_u64).prop_map(Some),
            late / 4 + 1 => (0..30_000_u64).prop_map(Some),
            lost => Just(None),
        ]
    };
    // Bursts, too: a channel as it was does for a while as it did.
    let runs = (fate(8, 8), 1..12_usize).prop_map(|(fate, times)| vec![fate; times]);
    prop_oneof![
        prop::collection::vec(fate(6, 2), 0..300),
        prop::collection::vec(fate(20, 20), 0..300),
        prop::collection::vec(runs, 0..60).prop_map(|runs| runs.concat()),
    ]
}

/// Where a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Sender,
    Agent,
    Receiver,
}

/// A sender, an agent half-way, a receiver.
struct World {
    config: Arc<Config>,
    sender: Connection,
    receiver: Option<Connection>,
    agent: Agent,
    read: u64,
    at: Instant,
    wire: BTreeMap<(Instant, usize), (Place, Packet)>,
    fates: Vec<Fate>,
    sent: usize,
    closed: u32,
}

impl World {
    fn new(config: &Config, bytes: u64, agent: AgentKind, fates: Vec<Fate>) -> Self {
        // Longer than any packet is under way, and than any end waits for the other.
        let config = Arc::new(Config { msl: Duration::from_secs(36_000), ..config.clone() });
        let mut sender = Connection::open(config.clone());
        sender.write(bytes);
        sender.close();
        let mut world = Self {
            config,
            sender,
            receiver: None,
            agent: Agent::new(agent),
            read: 0,
            at: Instant::START,
            wire: BTreeMap::new(),
            fates,
            sent: 0,
            closed: 0,
        };
        world.drain_sender();
        world
    }

    /// The packet leaves for `to`, if it is to arrive.
    fn leave(&mut self, packet: Packet, to: Place) {
        let fate = self.fates.get(self.sent).copied().unwrap_or(Some(30));
        self.sent += 1;
        if let Some(delay) = fate {
            let key = (self.at + Duration::from_millis(delay), self.sent);
            self.wire.insert(key, (to, packet));
        }
    }

    fn leave_host(&mut self, segment: Segment, to_receiver: bool) {
        let packet = Packet {
            segment,
            copy: CopyId(self.sent as u64),
            held: Duration::ZERO,
            flow: 0,
            bytes: Packet::size_of(&segment),
            order: 0,
            step: 0,
            sent: self.at,
            corrupt: false,
            to_receiver,
        };
        self.leave(packet, Place::Agent);
    }

    fn drain_sender(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            assert_ne!(event, Event::Reset);
            self.closed += u32::from(event == Event::Closed);
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
                    Event::Closed => self.closed += 1,
                    event => assert_ne!(event, Event::Reset),
                }
            }
            let Some(segment) = receiver.poll_transmit(self.at) else { break };
            self.leave_host(segment, false);
        }
    }

    fn drain_agent(&mut self, onward: &[Onward]) {
        for Onward { packet, .. } in onward.iter().copied() {
            assert_eq!((packet.step, packet.bytes), (1, Packet::size_of(&packet.segment)));
            self.leave(packet, if packet.to_receiver { Place::Receiver } else { Place::Sender });
        }
    }

    fn arrives(&mut self, place: Place, mut packet: Packet) {
        packet.step += 1;
        match place {
            Place::Agent => {
                let mut onward = Vec::new();
                self.agent.on_packet(packet, self.at, &mut onward);
                self.drain_agent(&onward);
            }
            Place::Sender => {
                self.sender.on_segment(&packet.segment, self.at);
                self.drain_sender();
            }
            Place::Receiver => {
                if let Some(receiver) = &mut self.receiver {
                    receiver.on_segment(&packet.segment, self.at);
                    self.read += receiver.receiver().available();
                    receiver.read(u64::MAX);
                } else {
                    assert!(packet.segment.flags.has(Flags::SYN), "the first packet is a SYN");
                    let receiver = Connection::accept(self.config.clone(), &packet.segment);
                    self.receiver = Some(receiver);
                }
                self.drain_receiver();
            }
        }
    }

    /// The timer that expires next, and whose it is.
    fn next_timer(&self) -> (Instant, Place) {
        let timers = [
            (self.sender.next_timer(), Place::Sender),
            (self.agent.next_timer(), Place::Agent),
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
                self.agent.on_timer(timer, &mut onward);
                assert!(self.agent.next_timer().is_none_or(|next| next > timer), "it moves on");
                self.drain_agent(&onward);
            }
        }
    }

    fn is_over(&self) -> bool {
        let closed = |end: &Connection| end.state() == State::Closed;
        closed(&self.sender) && self.receiver.as_ref().is_some_and(closed)
    }
}

fn agent() -> impl Strategy<Value = AgentKind> {
    let snoop = |(dupthresh, cache)| AgentKind::Snoop { link: 0, dupthresh, cache };
    prop_oneof![Just(AgentKind::Filter), (1..4_u32, 1..40_u32).prop_map(snoop)]
}

fn sender() -> impl Strategy<Value = Config> {
    let sums = vec!["newreno", "newreno+eifel", "newreno+frto", "sack", "sack+frto", "sack+eifel"];
    prop::sample::select(sums).prop_map(|name| sum::sender(name, &Config::default()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_transfer_through_an_agent_ends(
        config in sender(),
        bytes in 0..80_000_u64,
        agent in agent(),
        fates in fates(),
    ) {
        let mut world = World::new(&config, bytes, agent, fates);
        let mut steps = 0;
        while !world.is_over() {
            world.step();
            steps += 1;
            prop_assert!(steps < 20_000, "no end after {}", world.at);
        }
        prop_assert_eq!(world.read, bytes, "bytes delivered");
        prop_assert_eq!(world.closed, 2);
    }
}
