//! A proxied connection without a kernel: the client is behind a channel that loses, duplicates and
//! delays packets, and the server reads and writes as it likes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use rtolab_socket::Socket;
use rtolab_tcp::config::AfterClose;
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Config, Connection, Failure, Flags, State, SynOptions, specification};
use rtolab_time::{Duration, Instant};

use super::tcp_side::{MOST_PIECES, TcpSide};
use rtolab_packet::Path;

use super::packet::Arrived;
use super::socket::Pipe;
use super::socket_side::{Fate, SocketSide};
use crate::linux::sockets::Moved;

/// The fate of a packet; delays in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Luck {
    Arrives(u64),
    Lost,
    /// Duplicated with other bytes.
    ComesBackForged(u64, u64),
}

/// What a server reads or writes at each call; 0: nothing now.
#[derive(Clone, Debug)]
struct Whims(Vec<usize>, usize);

impl Whims {
    fn next(&mut self) -> usize {
        self.1 += 1;
        self.0.get(self.1 - 1).copied().unwrap_or(usize::MAX)
    }
}

/// A server: what it sends, and what it has received.
struct Server {
    sends: Vec<u8>,
    given: usize,
    got: Vec<u8>,
    closed: bool,
    /// It closes only after the client.
    waits: bool,
    takes: Whims,
    gives: Whims,
}

impl Pipe for Server {
    fn read(&mut self, into: &mut [u8]) -> Moved {
        let left = &self.sends[self.given..];
        let count = self.gives.next().min(into.len()).min(left.len());
        match (left.len(), count) {
            (0, _) if self.waits && !self.closed => Moved::Later,
            (0, _) => Moved::End,
            (_, 0) => Moved::Later,
            _ => {
                into[..count].copy_from_slice(&left[..count]);
                self.given += count;
                Moved::Bytes(count as u64)
            }
        }
    }

    fn write(&mut self, from: &[u8]) -> Moved {
        assert!(!self.closed, "nothing comes behind the end");
        match self.takes.next().min(from.len()) {
            0 => Moved::Later,
            count => {
                self.got.extend(&from[..count]);
                Moved::Bytes(count as u64)
            }
        }
    }

    fn finish(&mut self) {
        assert!(!self.closed, "it closes only once");
        self.closed = true;
    }
}

#[derive(Clone, Debug)]
struct Plan {
    senders: [&'static str; 2],
    /// The bytes that the client and the server send.
    lengths: [usize; 2],
    isns: [u32; 2],
    buffer: u32,
    room: usize,
    lucks: Vec<Luck>,
    takes: Vec<usize>,
    gives: Vec<usize>,
    /// Who closes only after the other: the client, the server, or neither.
    waits: Option<usize>,
}

const PATH: Path = Path {
    addresses: Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, 2) },
    ports: Ports { from: 49_152, to: 80 },
};

/// The largest packet of both ends.
const MTU: usize = 740;

fn config(sender: &str, buffer: u32) -> Arc<Config> {
    let base = Config { mss: 700, msl: Duration::from_secs(36_000), ..Config::default() };
    let mut config = specification::sender(sender, &base).unwrap();
    config.receiver.buffer = buffer;
    config.window_scale = Some(2);
    // After closing an end still reads, as after `shutdown`.
    config.connection.after_close = AfterClose::Reads;
    Arc::new(config)
}

/// A byte stream without repeated sections.
fn stream(seed: u64, length: usize) -> Vec<u8> {
    let mixed = |index: u64| (seed << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let byte =
        |index| (mixed(index) ^ mixed(index) >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56;
    (0..length as u64).map(|index| byte(index) as u8).collect()
}

struct World {
    plan: Plan,
    client: TcpSide,
    /// The gateway's half, once the SYN has arrived.
    tcp_side: Option<TcpSide>,
    socket_side: SocketSide,
    fate: Fate,
    server: Server,
    client_sends: Vec<u8>,
    client_got: Vec<u8>,
    client_closed: bool,
    wire: BTreeMap<(Instant, usize), (usize, Vec<u8>)>,
    sent: usize,
    at: Instant,
    /// The most bytes that the gateway buffered in each direction.
    most: [usize; 2],
}

impl World {
    fn new(plan: Plan) -> Self {
        let configs = plan.senders.map(|sender| config(sender, plan.buffer));
        let client = TcpSide::new(&configs[0], Socket::open(&configs[0], plan.isns[0]), PATH);
        let server = Server {
            sends: stream(2, plan.lengths[1]),
            given: 0,
            got: Vec::new(),
            closed: false,
            waits: plan.waits == Some(1),
            takes: Whims(plan.takes.clone(), 0),
            gives: Whims(plan.gives.clone(), 0),
        };
        let mut world = Self {
            client,
            tcp_side: None,
            socket_side: SocketSide::OPEN,
            fate: Fate::Goes,
            server,
            client_sends: stream(1, plan.lengths[0]),
            client_got: Vec::new(),
            client_closed: false,
            wire: BTreeMap::new(),
            sent: 0,
            at: Instant::START,
            most: [0, 0],
            plan,
        };
        world.drain();
        world
    }

    fn is_over(&self) -> bool {
        let closed =
            |connection: &Connection| matches!(connection.state(), State::Closed | State::TimeWait);
        let tcp_side =
            self.tcp_side.as_ref().is_some_and(|tcp_side| closed(&tcp_side.socket.connection));
        tcp_side && closed(&self.client.socket.connection) && self.fate == Fate::Over
    }

    fn states(&self) -> impl std::fmt::Debug + use<> {
        let tcp_side = self.tcp_side.as_ref().map(|tcp_side| tcp_side.socket.connection.state());
        (self.client.socket.connection.state(), tcp_side, self.fate, self.socket_side)
    }

    /// Processes the next event: a packet, a timer, or a server that can continue.
    fn step(&mut self) {
        let packet = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        let timer =
            |tcp_side: &TcpSide| tcp_side.socket.connection.next_timer().unwrap_or(Instant::NEVER);
        let timers = [timer(&self.client), self.tcp_side.as_ref().map_or(Instant::NEVER, timer)];
        // A server that wanted nothing continues later.
        let asleep =
            self.fate == Fate::Goes && !(self.socket_side.readable && self.socket_side.writable);
        let mind = match asleep {
            true => self.at + Duration::from_millis(20),
            false => Instant::NEVER,
        };
        let next = packet.min(timers[0]).min(timers[1]).min(mind);
        assert!(next < Instant::NEVER, "nothing will ever happen: {:?}", self.states());
        self.at = self.at.max(next);
        if next == packet {
            let (_, (to, bytes)) = self.wire.pop_first().unwrap();
            self.arrives(to, &bytes);
        } else if next == timers[0] {
            self.client.socket.connection.on_timer(self.at);
        } else if next == timers[1] {
            self.tcp_side.as_mut().unwrap().socket.connection.on_timer(self.at);
        } else {
            (self.socket_side.readable, self.socket_side.writable) = (true, true);
        }
        self.drain();
    }

    fn arrives(&mut self, to: usize, bytes: &[u8]) {
        let arrived = Arrived::read(bytes).expect("as it was sent");
        match (to, &mut self.tcp_side) {
            (0, _) => assert!(self.client.on_segment(&arrived, self.at)),
            (_, Some(tcp_side)) => assert!(tcp_side.on_segment(&arrived, self.at)),
            (_, None) => {
                assert_eq!(arrived.path, PATH);
                let config = config(self.plan.senders[1], self.plan.buffer);
                let isn = self.plan.isns[1];
                self.tcp_side =
                    Some(TcpSide::accept(&config, &arrived.segment, PATH.reversed(), isn));
            }
        }
    }

    fn drain(&mut self) {
        self.use_client();
        let mut packet = Vec::new();
        if let Some(tcp_side) = &mut self.tcp_side {
            if self.fate == Fate::Goes {
                let mut buffer = [0; 3000];
                let aside = (self.plan.room, &mut buffer[..]);
                self.fate = self.socket_side.carry(tcp_side, &mut self.server, aside);
            }
            let [outgoing, incoming] = tcp_side.socket.kept();
            let kept = [incoming, outgoing];
            self.most = [0, 1].map(|way: usize| self.most[way].max(kept[way]));
        }
        for from in [0, 1] {
            loop {
                let tcp_side = match from {
                    0 => Some(&mut self.client),
                    _ => self.tcp_side.as_mut(),
                };
                let Some(tcp_side) = tcp_side else { break };
                if !tcp_side.poll(self.at, &mut packet) {
                    while tcp_side.socket.connection.poll_event().is_some() {}
                    tcp_side.forget();
                    break;
                }
                self.carries(1 - from, packet.clone());
            }
        }
    }

    /// The client writes everything at once, reads at once, and closes in time.
    fn use_client(&mut self) {
        if !self.client_sends.is_empty() {
            let bytes = std::mem::take(&mut self.client_sends);
            self.client.socket.write(&bytes, usize::MAX);
        }
        self.client_got.extend(self.client.socket.read(usize::MAX));
        let may = self.plan.waits != Some(0) || self.client.socket.connection.is_exhausted();
        if may && !self.client_closed {
            self.client_closed = true;
            self.client.socket.connection.close();
        }
    }

    fn carries(&mut self, to: usize, bytes: Vec<u8>) {
        // Even with SACK blocks beside the data of a full segment.
        assert!(bytes.len() <= MTU, "a packet of {} bytes", bytes.len());
        let luck = self.plan.lucks.get(self.sent).copied().unwrap_or(Luck::Arrives(10));
        let after = |delay| self.at + Duration::from_millis(delay);
        self.sent += 2;
        match luck {
            Luck::Lost => {}
            Luck::Arrives(delay) => drop(self.wire.insert((after(delay), self.sent), (to, bytes))),
            Luck::ComesBackForged(first, again) => {
                let forged = forge(&bytes);
                self.wire.insert((after(first), self.sent), (to, bytes));
                self.wire.insert((after(first + again), self.sent + 1), (to, forged));
            }
        }
    }
}

/// The same packet with other bytes and correct checksums.
fn forge(packet: &[u8]) -> Vec<u8> {
    let arrived = Arrived::read(packet).unwrap();
    let mut forged = packet.to_vec();
    let payload = packet.len() - arrived.payload.len();
    forged[payload..].iter_mut().for_each(|byte| *byte = !*byte);
    super::packet::complete(&mut forged, &arrived.path, (&arrived.segment, arrived.codepoint));
    forged
}

fn plan() -> impl Strategy<Value = Plan> {
    let sender = || {
        prop::sample::select(vec!["newreno", "sack+frto", "reno", "linux", "rack+frto", "tahoe"])
    };
    let length = || prop_oneof![Just(0_usize), 1..3000_usize, 1..40_000_usize];
    let luck = prop_oneof![
        12 => (5..60_u64).prop_map(Luck::Arrives),
        2 => Just(Luck::Lost),
        2 => (5..60_u64, 1..3000_u64).prop_map(|(at, again)| Luck::ComesBackForged(at, again)),
    ];
    let whims = || vec(prop_oneof![2 => Just(0_usize), 3 => 1..4000_usize], 0..80);
    let waits = prop_oneof![Just(None), Just(Some(0)), Just(Some(1))];
    let sizes = (1400..20_000_u32, 1400..20_000_usize);
    ([sender(), sender()], [length(), length()], any::<[u32; 2]>(), sizes, vec(luck, 0..300))
        .prop_flat_map(move |(senders, lengths, isns, (buffer, room), lucks)| {
            (whims(), whims(), waits.clone()).prop_map(move |(takes, gives, waits)| Plan {
                senders,
                lengths,
                isns,
                buffer,
                room,
                lucks: lucks.clone(),
                takes,
                gives,
                waits,
            })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For all fates of packets, and all servers.
    #[test]
    fn the_bytes_that_come_out_are_those_that_went_in(plan in plan()) {
        let (lengths, buffer, room) = (plan.lengths, plan.buffer as usize, plan.room);
        let mut world = World::new(plan);
        let mut steps = 0;
        while !world.is_over() {
            world.step();
            steps += 1;
            prop_assert!(steps < 100_000, "no end: {:?}", world.states());
        }
        prop_assert!(world.server.got == stream(1, lengths[0]), "up");
        let (got, sent) = (&world.client_got, stream(2, lengths[1]));
        let at = got.iter().zip(&sent).position(|(got, sent)| got != sent);
        prop_assert!(*got == sent, "down: {} bytes of {}, at {at:?}", got.len(), sent.len());
        prop_assert!(world.server.closed);
        // The buffered bytes are limited by the window and by the budget.
        prop_assert!(world.most[0] <= buffer && world.most[1] <= room, "{:?}", world.most);
    }
}

/// Both halves after the handshake.
fn connected() -> (TcpSide, TcpSide) {
    let config = config("sack+frto", 60_000);
    let mut client = TcpSide::new(&config, Socket::open(&config, 7), PATH);
    let mut packet = Vec::new();
    assert!(client.poll(Instant::START, &mut packet));
    let syn = Arrived::read(&packet).unwrap().segment;
    let mut tcp_side = TcpSide::accept(&config, &syn, PATH.reversed(), 8);
    for way in [true, false] {
        let (from, to) =
            if way { (&mut tcp_side, &mut client) } else { (&mut client, &mut tcp_side) };
        assert!(from.poll(Instant::START, &mut packet));
        assert!(to.on_segment(&Arrived::read(&packet).unwrap(), Instant::START));
    }
    assert_eq!(tcp_side.socket.connection.state(), State::Established);
    (client, tcp_side)
}

#[test]
fn of_every_other_byte_no_more_pieces_are_kept_than_cost_little() {
    let (_, mut tcp_side) = connected();
    let piece = |offset: u32, byte: u8| {
        let wire = WireSegment {
            ports: PATH.ports,
            seq: 8_u32.wrapping_add(offset),
            ack: 9,
            len: 1,
            window: 1000,
            flags: Flags::ACK,
            syn: SynOptions::default(),
            timestamps: None,
            sack: <_>::default(),
        };
        let mut packet = vec![0; 40];
        packet.push(byte);
        super::packet::complete(&mut packet, &PATH, (&wire, Codepoint::NotEct));
        packet
    };
    let mut take = |offset, byte| {
        let packet = piece(offset, byte);
        tcp_side.on_segment(&Arrived::read(&packet).unwrap(), Instant::START)
    };
    for number in 0..MOST_PIECES as u32 {
        assert!(take(2 * number + 1, 1));
    }
    assert!(!take(2 * MOST_PIECES as u32 + 1, 1));
    // The next bytes in order are accepted nevertheless, and join the pieces.
    assert!(take(0, 2));
    assert_eq!(tcp_side.socket.readable(), [2, 1]);
    assert_eq!(tcp_side.socket.connection.receiver().pieces(), MOST_PIECES - 1);
}

/// A server that is gone.
struct Gone;

impl Pipe for Gone {
    fn read(&mut self, _: &mut [u8]) -> Moved {
        Moved::Broken
    }

    fn write(&mut self, _: &[u8]) -> Moved {
        Moved::Broken
    }

    fn finish(&mut self) {}
}

#[test]
fn a_broken_server_resets_the_client_and_a_client_that_resets_the_server() {
    let (mut client, mut tcp_side) = connected();
    let (mut socket_side, mut packet, at) = (SocketSide::OPEN, Vec::new(), Instant::START);
    assert_eq!(socket_side.carry(&mut tcp_side, &mut Gone, (1000, &mut [0; 10])), Fate::Broken);
    assert!(tcp_side.poll(at, &mut packet));
    client.on_segment(&Arrived::read(&packet).unwrap(), at);
    assert_eq!(client.socket.connection.failure(), Some(Failure::Reset));

    let (mut client, mut tcp_side) = connected();
    client.socket.connection.abort();
    assert!(client.poll(at, &mut packet));
    tcp_side.on_segment(&Arrived::read(&packet).unwrap(), at);
    assert_eq!(socket_side.carry(&mut tcp_side, &mut Gone, (1000, &mut [0; 10])), Fate::Reset);
}
