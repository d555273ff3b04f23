//! A proxied connection without a kernel. The channel to the client loses, duplicates and delays
//! packets. The server reads and writes any number of bytes at a time.

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

use super::tcp_side::{MAX_OUT_OF_ORDER, TcpSide};
use rtolab_packet::Path;

use super::socket::Pipe;
use super::socket_side::{Disposition, SocketSide};
use crate::linux::segment::ReceivedSegment;
use crate::linux::sockets::IoResult;

/// The fate of a packet, with delays in milliseconds.
#[derive(Clone, Copy, Debug)]
enum PacketFate {
    Delivered(u64),
    Lost,
    /// Duplicated with other bytes.
    DuplicatedForged(u64, u64),
}

/// The maximum number of bytes that a server reads or writes at each call; 0 for none now.
#[derive(Clone, Debug)]
struct ByteLimits(Vec<usize>, usize);

impl ByteLimits {
    fn next(&mut self) -> usize {
        self.1 += 1;
        self.0.get(self.1 - 1).copied().unwrap_or(usize::MAX)
    }
}

/// A server, with the bytes that it sends and those that it has received.
struct Server {
    to_send: Vec<u8>,
    sent_count: usize,
    received: Vec<u8>,
    closed: bool,
    /// It closes only after the client.
    closes_last: bool,
    write_limits: ByteLimits,
    read_limits: ByteLimits,
}

impl Pipe for Server {
    fn read(&mut self, into: &mut [u8]) -> IoResult {
        let left = &self.to_send[self.sent_count..];
        let count = self.read_limits.next().min(into.len()).min(left.len());
        match (left.len(), count) {
            (0, _) if self.closes_last && !self.closed => IoResult::WouldBlock,
            (0, _) => IoResult::End,
            (_, 0) => IoResult::WouldBlock,
            _ => {
                into[..count].copy_from_slice(&left[..count]);
                self.sent_count += count;
                IoResult::Bytes(count as u64)
            }
        }
    }

    fn write(&mut self, from: &[u8]) -> IoResult {
        assert!(!self.closed, "no bytes follow the close");
        match self.write_limits.next().min(from.len()) {
            0 => IoResult::WouldBlock,
            count => {
                self.received.extend(&from[..count]);
                IoResult::Bytes(count as u64)
            }
        }
    }

    fn finish(&mut self) {
        assert!(!self.closed, "the relay closes once");
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
    packet_fates: Vec<PacketFate>,
    write_limits: Vec<usize>,
    read_limits: Vec<usize>,
    /// The end that closes only after the other: 0 for the client, 1 for the server.
    closes_last: Option<usize>,
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
    // An end still reads after it has closed, as after `shutdown`.
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

/// A client, the network, the proxied connection and a server, on a virtual clock.
struct Simulation {
    plan: Plan,
    client: TcpSide,
    /// The gateway's side, after the SYN has arrived.
    tcp_side: Option<TcpSide>,
    socket_side: SocketSide,
    disposition: Disposition,
    server: Server,
    client_to_send: Vec<u8>,
    client_received: Vec<u8>,
    client_closed: bool,
    wire: BTreeMap<(Instant, usize), (usize, Vec<u8>)>,
    sent: usize,
    at: Instant,
    /// The maximum number of bytes that the gateway buffered in each direction.
    max_buffered: [usize; 2],
}

impl Simulation {
    fn new(plan: Plan) -> Self {
        let configs = plan.senders.map(|sender| config(sender, plan.buffer));
        let client = TcpSide::new(&configs[0], Socket::open(&configs[0], plan.isns[0]), PATH);
        let server = Server {
            to_send: stream(2, plan.lengths[1]),
            sent_count: 0,
            received: Vec::new(),
            closed: false,
            closes_last: plan.closes_last == Some(1),
            write_limits: ByteLimits(plan.write_limits.clone(), 0),
            read_limits: ByteLimits(plan.read_limits.clone(), 0),
        };
        let mut simulation = Self {
            client,
            tcp_side: None,
            socket_side: SocketSide::OPEN,
            disposition: Disposition::Continue,
            server,
            client_to_send: stream(1, plan.lengths[0]),
            client_received: Vec::new(),
            client_closed: false,
            wire: BTreeMap::new(),
            sent: 0,
            at: Instant::START,
            max_buffered: [0, 0],
            plan,
        };
        simulation.drain();
        simulation
    }

    fn is_over(&self) -> bool {
        let closed =
            |connection: &Connection| matches!(connection.state(), State::Closed | State::TimeWait);
        let tcp_side =
            self.tcp_side.as_ref().is_some_and(|tcp_side| closed(&tcp_side.socket.connection));
        tcp_side && closed(&self.client.socket.connection) && self.disposition == Disposition::Close
    }

    fn states(&self) -> impl std::fmt::Debug + use<> {
        let tcp_side = self.tcp_side.as_ref().map(|tcp_side| tcp_side.socket.connection.state());
        (self.client.socket.connection.state(), tcp_side, self.disposition, self.socket_side)
    }

    /// Processes the next event: a packet, a timer, or a server that can continue.
    fn step(&mut self) {
        let packet = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        let timer =
            |tcp_side: &TcpSide| tcp_side.socket.connection.next_timer().unwrap_or(Instant::NEVER);
        let timers = [timer(&self.client), self.tcp_side.as_ref().map_or(Instant::NEVER, timer)];
        // A server that read or wrote nothing continues later.
        let is_blocked = self.disposition == Disposition::Continue
            && !(self.socket_side.readable && self.socket_side.writable);
        let server_wakeup = match is_blocked {
            true => self.at + Duration::from_millis(20),
            false => Instant::NEVER,
        };
        let next = packet.min(timers[0]).min(timers[1]).min(server_wakeup);
        assert!(next < Instant::NEVER, "no event is left: {:?}", self.states());
        self.at = self.at.max(next);
        if next == packet {
            let (_, (to, bytes)) = self.wire.pop_first().unwrap();
            self.deliver(to, &bytes);
        } else if next == timers[0] {
            self.client.socket.connection.on_timer(self.at);
        } else if next == timers[1] {
            self.tcp_side.as_mut().unwrap().socket.connection.on_timer(self.at);
        } else {
            (self.socket_side.readable, self.socket_side.writable) = (true, true);
        }
        self.drain();
    }

    fn deliver(&mut self, to: usize, bytes: &[u8]) {
        let arrived = ReceivedSegment::read(bytes).expect("as it was sent");
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
            if self.disposition == Disposition::Continue {
                let mut buffer = [0; 3000];
                let budget = (self.plan.room, &mut buffer[..]);
                self.disposition = self.socket_side.relay(tcp_side, &mut self.server, budget);
            }
            let [outgoing, incoming] = tcp_side.socket.buffered();
            let buffered = [incoming, outgoing];
            self.max_buffered = [0, 1]
                .map(|direction: usize| self.max_buffered[direction].max(buffered[direction]));
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
                    tcp_side.release();
                    break;
                }
                self.send(1 - from, packet.clone());
            }
        }
    }

    /// The client writes everything at once, reads at once, and closes in time.
    fn use_client(&mut self) {
        if !self.client_to_send.is_empty() {
            let bytes = std::mem::take(&mut self.client_to_send);
            let _ = self.client.socket.write(&bytes, usize::MAX);
        }
        self.client_received.extend(self.client.socket.read(usize::MAX));
        let can_close =
            self.plan.closes_last != Some(0) || self.client.socket.connection.is_exhausted();
        if can_close && !self.client_closed {
            self.client_closed = true;
            self.client.socket.connection.close();
        }
    }

    fn send(&mut self, to: usize, bytes: Vec<u8>) {
        // A full segment with SACK blocks must fit, too.
        assert!(bytes.len() <= MTU, "a packet of {} bytes", bytes.len());
        let packet_fate =
            self.plan.packet_fates.get(self.sent).copied().unwrap_or(PacketFate::Delivered(10));
        let after = |delay| self.at + Duration::from_millis(delay);
        self.sent += 2;
        match packet_fate {
            PacketFate::Lost => {}
            PacketFate::Delivered(delay) => {
                drop(self.wire.insert((after(delay), self.sent), (to, bytes)));
            }
            PacketFate::DuplicatedForged(first, again) => {
                let forged = forge(&bytes);
                self.wire.insert((after(first), self.sent), (to, bytes));
                self.wire.insert((after(first + again), self.sent + 1), (to, forged));
            }
        }
    }
}

/// The same packet with other bytes and correct checksums.
fn forge(packet: &[u8]) -> Vec<u8> {
    let arrived = ReceivedSegment::read(packet).unwrap();
    let mut forged = packet.to_vec();
    let payload = packet.len() - arrived.payload.len();
    forged[payload..].iter_mut().for_each(|byte| *byte = !*byte);
    crate::linux::segment::complete(
        &mut forged,
        &arrived.path,
        (&arrived.segment, arrived.codepoint),
    );
    forged
}

fn plan() -> impl Strategy<Value = Plan> {
    let sender = || {
        prop::sample::select(vec!["newreno", "sack+frto", "reno", "linux", "rack+frto", "tahoe"])
    };
    let length = || prop_oneof![Just(0_usize), 1..3000_usize, 1..40_000_usize];
    let packet_fate = prop_oneof![
        12 => (5..60_u64).prop_map(PacketFate::Delivered),
        2 => Just(PacketFate::Lost),
        2 => (5..60_u64, 1..3000_u64).prop_map(|(at, again)| PacketFate::DuplicatedForged(at, again)),
    ];
    let byte_limits = || vec(prop_oneof![2 => Just(0_usize), 3 => 1..4000_usize], 0..80);
    let closes_last = prop_oneof![Just(None), Just(Some(0)), Just(Some(1))];
    let sizes = (1400..20_000_u32, 1400..20_000_usize);
    ([sender(), sender()], [length(), length()], any::<[u32; 2]>(), sizes, vec(packet_fate, 0..300))
        .prop_flat_map(move |(senders, lengths, isns, (buffer, room), packet_fates)| {
            (byte_limits(), byte_limits(), closes_last.clone()).prop_map(
                move |(write_limits, read_limits, closes_last)| Plan {
                    senders,
                    lengths,
                    isns,
                    buffer,
                    room,
                    packet_fates: packet_fates.clone(),
                    write_limits,
                    read_limits,
                    closes_last,
                },
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn both_ends_receive_the_bytes_that_the_other_sent(plan in plan()) {
        let (lengths, buffer, room) = (plan.lengths, plan.buffer as usize, plan.room);
        let mut simulation = Simulation::new(plan);
        let mut steps = 0;
        while !simulation.is_over() {
            simulation.step();
            steps += 1;
            prop_assert!(steps < 100_000, "no end: {:?}", simulation.states());
        }
        prop_assert!(simulation.server.received == stream(1, lengths[0]), "up");
        let (got, sent) = (&simulation.client_received, stream(2, lengths[1]));
        let at = got.iter().zip(&sent).position(|(got, sent)| got != sent);
        prop_assert!(*got == sent, "down: {} bytes of {}, at {at:?}", got.len(), sent.len());
        prop_assert!(simulation.server.closed);
        // The buffered bytes are limited by the window and by the budget.
        let [up, down] = simulation.max_buffered;
        prop_assert!(up <= buffer && down <= room, "{up} and {down} bytes");
    }
}

/// Both ends after the handshake.
fn connected() -> (TcpSide, TcpSide) {
    let config = config("sack+frto", 60_000);
    let mut client = TcpSide::new(&config, Socket::open(&config, 7), PATH);
    let mut packet = Vec::new();
    assert!(client.poll(Instant::START, &mut packet));
    let syn = ReceivedSegment::read(&packet).unwrap().segment;
    let mut tcp_side = TcpSide::accept(&config, &syn, PATH.reversed(), 8);
    for way in [true, false] {
        let (from, to) =
            if way { (&mut tcp_side, &mut client) } else { (&mut client, &mut tcp_side) };
        assert!(from.poll(Instant::START, &mut packet));
        assert!(to.on_segment(&ReceivedSegment::read(&packet).unwrap(), Instant::START));
    }
    assert_eq!(tcp_side.socket.connection.state(), State::Established);
    (client, tcp_side)
}

#[test]
fn out_of_order_ranges_are_limited() {
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
        crate::linux::segment::complete(&mut packet, &PATH, (&wire, Codepoint::NotEct));
        packet
    };
    let mut take = |offset, byte| {
        let packet = piece(offset, byte);
        tcp_side.on_segment(&ReceivedSegment::read(&packet).unwrap(), Instant::START)
    };
    for number in 0..MAX_OUT_OF_ORDER as u32 {
        assert!(take(2 * number + 1, 1));
    }
    assert!(!take(2 * MAX_OUT_OF_ORDER as u32 + 1, 1));
    // The next bytes in order are still accepted, and join the ranges.
    assert!(take(0, 2));
    assert_eq!(tcp_side.socket.readable(), [2, 1]);
    assert_eq!(tcp_side.socket.connection.receiver().out_of_order_ranges(), MAX_OUT_OF_ORDER - 1);
}

/// A server whose connection failed.
struct Failed;

impl Pipe for Failed {
    fn read(&mut self, _: &mut [u8]) -> IoResult {
        IoResult::Broken
    }

    fn write(&mut self, _: &[u8]) -> IoResult {
        IoResult::Broken
    }

    fn finish(&mut self) {}
}

#[test]
fn a_failed_server_resets_the_client_and_a_reset_by_the_client_resets_the_server() {
    let (mut client, mut tcp_side) = connected();
    let (mut socket_side, mut packet, at) = (SocketSide::OPEN, Vec::new(), Instant::START);
    assert_eq!(
        socket_side.relay(&mut tcp_side, &mut Failed, (1000, &mut [0; 10])),
        Disposition::Broken
    );
    assert!(tcp_side.poll(at, &mut packet));
    client.on_segment(&ReceivedSegment::read(&packet).unwrap(), at);
    assert_eq!(client.socket.connection.failure(), Some(Failure::Reset));

    let (mut client, mut tcp_side) = connected();
    client.socket.connection.abort();
    assert!(client.poll(at, &mut packet));
    tcp_side.on_segment(&ReceivedSegment::read(&packet).unwrap(), at);
    assert_eq!(
        socket_side.relay(&mut tcp_side, &mut Failed, (1000, &mut [0; 10])),
        Disposition::Reset
    );
}
