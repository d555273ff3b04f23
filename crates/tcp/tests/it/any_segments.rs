//! Invariants of a connection in any state that receives arbitrary segments, of its peer or of an
//! attacker.

use std::sync::Arc;

use crate::script::any;
use proptest::prelude::*;
use proptest::sample::select;
use rtolab_tcp::config::{
    AfterClose, ConnectionConfig, GiveUp, KeepAlive, Limits, Nagle, TimeWaitReset, WindowLimited,
};
use rtolab_tcp::wire::{Ports, SackBlock, SeqReference, Side, WireMapping, WireSegment};
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, Seq, State, SynOptions, Timestamps};
use rtolab_time::{Duration, Instant};

/// Where the connection begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    Opens,
    Accepts,
    Connected,
}

#[derive(Clone, Debug)]
enum Op {
    Arrives(Arrival),
    Timer,
    /// Milliseconds pass, also beyond the next timer.
    Wait(u64),
    /// The clock is set back by this many milliseconds.
    SetBack(u64),
    Write(u32),
    Read(u32),
    Close,
    CloseBoth,
    Abort,
    /// ICMP `destination unreachable` that quotes a segment at this distance from SND.UNA.
    Unreachable(i32),
    /// ICMP `packet too big` that quotes a segment at this distance, with this MSS.
    TooBig(i32, u16),
    PathChange,
}

/// A segment. Its numbers are distances from the expected ones.
#[derive(Clone, Debug)]
struct Arrival {
    seq: i32,
    ack: i32,
    len: u32,
    window: u16,
    flags: u16,
    stamps: Option<(i32, i32)>,
    blocks: Vec<(i32, i32)>,
    syn: (Option<u16>, Option<u8>, bool),
}

fn near() -> impl Strategy<Value = i32> {
    prop_oneof![
        8 => Just(0),
        2 => -3..4_i32,
        3 => -5_000..70_000_i32,
        1 => any::<i32>(),
    ]
}

fn flags() -> impl Strategy<Value = u16> {
    let of = |flags: Flags| Just(flags.bits());
    prop_oneof![
        12 => of(Flags::ACK),
        3 => of(Flags::ACK | Flags::FIN),
        2 => of(Flags::SYN),
        2 => of(Flags::SYN | Flags::ACK),
        1 => of(Flags::RST),
        1 => of(Flags::RST | Flags::ACK),
        3 => any::<u16>(),
    ]
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let len = prop_oneof![4 => Just(0_u32), 4 => 1..1_500_u32, 1 => 0..65_536_u32];
    let stamps = prop::option::of((near(), near()));
    let blocks = prop::collection::vec((near(), near()), 0..5);
    let syn = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>());
    (near(), near(), len, any::<u16>(), flags(), stamps, blocks, syn).prop_map(
        |(seq, ack, len, window, flags, stamps, blocks, syn)| Arrival {
            seq,
            ack,
            len,
            window,
            flags,
            stamps,
            blocks,
            syn,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => arrival().prop_map(Op::Arrives),
        5 => Just(Op::Timer),
        4 => prop_oneof![0..3_000_u64, 0..3_000_000_000_u64].prop_map(Op::Wait),
        1 => prop_oneof![0..3_000_u64, 0..100_000_000_u64].prop_map(Op::SetBack),
        4 => (0..10_000_u32).prop_map(Op::Write),
        4 => any::<u32>().prop_map(Op::Read),
        2 => Just(Op::Close),
        1 => Just(Op::CloseBoth),
        1 => Just(Op::Abort),
        1 => near().prop_map(Op::Unreachable),
        1 => (near(), any::<u16>()).prop_map(|(distance, mss)| Op::TooBig(distance, mss)),
        1 => Just(Op::PathChange),
    ]
}

/// The settings that change how a connection ends and when it sends.
fn connection_settings() -> impl Strategy<Value = (ConnectionConfig, Nagle)> {
    let limit = || {
        prop_oneof![
            Just(GiveUp::Never),
            (0..200_u64).prop_map(|s| GiveUp::After(Duration::from_secs(s))),
            (0..20_u32).prop_map(GiveUp::Retransmissions),
        ]
    };
    let keep_alive = prop::option::of((0..100_u64, 0..100_u64, 0..5_u32)).prop_map(|settings| {
        settings.map(|(idle, interval, probes)| KeepAlive {
            idle: Duration::from_secs(idle),
            interval: Duration::from_secs(interval),
            probes,
        })
    });
    let resets = select(vec![TimeWaitReset::Ends, TimeWaitReset::Ignored]);
    let close = select(vec![AfterClose::Reads, AfterClose::Resets]);
    let close = (close, prop::option::of((0..100_u64).prop_map(Duration::from_secs)));
    let nagle = select(vec![Nagle::Off, Nagle::Rfc896, Nagle::Minshall]);
    let user_timeout = prop::option::of((1..100_u64).prop_map(Duration::from_secs));
    let limits = (prop::option::of(0..5_u32), limit(), limit(), user_timeout)
        .prop_map(|(r1, r2, r2_syn, user_timeout)| Limits { r1, r2, r2_syn, user_timeout });
    (keep_alive, limits, resets, close, nagle).prop_map(
        |(keep_alive, limits, time_wait_reset, (after_close, fin_timeout), nagle)| {
            let settings = ConnectionConfig {
                keep_alive,
                limits,
                time_wait_reset,
                after_close,
                fin_timeout,
                ..ConnectionConfig::default()
            };
            (settings, nagle)
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    let both = (any::sender(), any::receiver(), connection_settings());
    both.prop_map(|(sender, receiver, (connection, nagle))| Config {
        receiver: receiver.receiver,
        connection,
        nagle,
        ..sender
    })
}

/// A connection, and the bounds that its earlier segments set.
struct TestedConnection {
    config: Config,
    connection: Connection,
    at: Instant,
    una: Seq,
    rcv_nxt: Seq,
    /// The right edges of the largest windows that its peer and it have advertised.
    snd_wnd_edge: Seq,
    rcv_wnd_edge: Seq,
    is_closed: bool,
    ends: usize,
}

impl TestedConnection {
    fn new(config: Config, start: Start) -> Result<Self, TestCaseError> {
        let shared = Arc::new(config.clone());
        let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
        syn.window = 20_000;
        syn.set_syn_options(SynOptions {
            mss: Some(1000),
            window_scale: Some(3),
            sack_permitted: true,
            ..SynOptions::default()
        });
        let connection = match start {
            Start::Accepts => Connection::accept(shared, &syn),
            Start::Opens | Start::Connected => Connection::open(shared),
        };
        let mut tested = Self {
            config,
            connection,
            at: Instant::START + Duration::from_secs(10),
            una: Seq::FIRST,
            rcv_nxt: Seq::new(0),
            snd_wnd_edge: Seq::FIRST + 1,
            rcv_wnd_edge: Seq::new(0),
            is_closed: false,
            ends: 0,
        };
        tested.drain()?;
        if matches!(start, Start::Connected) {
            (syn.flags, syn.ack) = (Flags::SYN | Flags::ACK, Seq::FIRST + 1);
            tested.receives(&syn);
            tested.drain()?;
        }
        Ok(tested)
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Arrives(arrival) => {
                let segment = self.segment(arrival);
                self.receives(&segment);
            }
            Op::Timer => {
                if let Some(timer) = self.connection.next_timer() {
                    self.at = self.at.max(timer);
                    self.connection.on_timer(self.at);
                }
            }
            Op::Wait(millis) => {
                self.at += Duration::from_millis(*millis);
                self.connection.on_timer(self.at);
            }
            // Debug assertions would report it as the caller's error.
            Op::SetBack(_) if cfg!(debug_assertions) => {}
            Op::SetBack(millis) => {
                let back = Duration::from_millis(*millis).nanos();
                self.at = Instant::from_nanos(self.at.nanos().saturating_sub(back));
                self.connection.on_timer(self.at);
            }
            Op::Write(bytes) => self.connection.write(u64::from(*bytes)),
            Op::Read(bytes) => self.connection.read(u64::from(*bytes)),
            Op::Close => self.connection.close(),
            Op::CloseBoth => self.connection.close_both(),
            Op::Abort => self.connection.abort(),
            Op::Unreachable(distance) => {
                let una = self.connection.sender().flight().una().value();
                let quoted = una.saturating_add_signed(i64::from(*distance));
                self.connection.on_unreachable(Seq::new(quoted), self.at);
            }
            Op::TooBig(distance, mss) => {
                let una = self.connection.sender().flight().una().value();
                let quoted = una.saturating_add_signed(i64::from(*distance));
                self.connection.on_packet_too_big(Seq::new(quoted), *mss, self.at);
            }
            Op::PathChange => self.connection.on_path_change(self.at),
        }
    }

    /// The segment, as a host reads it from 32-bit numbers and scaled windows.
    fn segment(&self, arrival: &Arrival) -> Segment {
        let connection = &self.connection;
        let flight = connection.sender().flight();
        let near = SeqReference { seq: connection.receiver().rcv_nxt(), ack: flight.max() };
        let side = |isn| Side { isn, shift: 3 };
        let mapping = WireMapping { from: side(0xffff_f000), to: side(0x7fff_f000) };
        let far = |number: Seq, isn, by: i32| number.narrow(isn).wrapping_add(by as u32);
        let ack = far(near.ack, mapping.to.isn, arrival.ack);
        let block = |(start, end): &(i32, i32)| SackBlock {
            start: ack.wrapping_add(*start as u32),
            end: ack.wrapping_add(*end as u32),
        };
        let (mss, window_scale, sack_permitted) = arrival.syn;
        let clock = connection.sender().timestamp(self.at);
        let stamp = |by: i32| clock.wrapping_add(by as u32);
        let wire = WireSegment {
            ports: Ports { from: 1, to: 2 },
            seq: far(near.seq, mapping.from.isn, arrival.seq),
            ack,
            len: arrival.len,
            window: arrival.window,
            flags: Flags::from_bits(arrival.flags),
            syn: SynOptions { mss, window_scale, sack_permitted, ..SynOptions::default() },
            timestamps: arrival
                .stamps
                .map(|(value, echo)| Timestamps { value: stamp(value), echo: stamp(echo) }),
            sack: arrival.blocks.iter().take(4).map(block).collect(),
        };
        wire.to_segment(&mapping, near)
    }

    fn receives(&mut self, segment: &Segment) {
        let flight = self.connection.sender().flight();
        if segment.flags.has(Flags::ACK) && segment.ack <= flight.max() {
            self.snd_wnd_edge = self.snd_wnd_edge.max(segment.ack + segment.window);
        }
        self.connection.on_segment(segment, self.at);
    }

    /// Checks all segments sent and all events.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..2_000 {
            // If it says that there is nothing to send, there is nothing.
            let is_silent = self.connection.has_nothing_to_transmit();
            let segment = self.connection.poll_transmit(self.at);
            prop_assert!(!is_silent || segment.is_none(), "{:?} after all", segment);
            let Some(segment) = segment else {
                prop_assert!(!self.connection.has_events() || self.note_events() > 0);
                return self.check();
            };
            self.check_segment(&segment)?;
        }
        Err(TestCaseError::fail("it does not stop sending"))
    }

    fn note_events(&mut self) -> usize {
        let events: Vec<_> = std::iter::from_fn(|| self.connection.poll_event()).collect();
        let ends = |event: &&Event| matches!(event, Event::Closed | Event::Reset | Event::TimedOut);
        self.ends += events.iter().filter(ends).count();
        events.len()
    }

    fn check_segment(&mut self, segment: &Segment) -> Result<(), TestCaseError> {
        if segment.flags.has(Flags::RST) {
            prop_assert_eq!(segment.len, 0);
            return Ok(());
        }
        prop_assert!(!self.is_closed, "{:?} after the connection has ended", segment);
        let one = u32::from(self.config.frto_window_limited == WindowLimited::OneByte);
        let snd_wnd_edge = self.snd_wnd_edge + one;
        prop_assert!(
            segment.sequence_length() == 0 || segment.end() <= snd_wnd_edge,
            "{:?}",
            segment
        );
        if segment.flags.has(Flags::ACK) {
            prop_assert_eq!(segment.ack, self.connection.receiver().rcv_nxt());
            // The advertised window may shrink by the amount that the window scale rounds off, and
            // not by more.
            let rcv_wnd_edge = segment.ack + segment.window;
            let rounded = (1 << self.connection.window_shift()) - 1;
            if !segment.flags.has(Flags::SYN) {
                prop_assert!(
                    rcv_wnd_edge + rounded >= self.rcv_wnd_edge,
                    "{:?} {}",
                    segment,
                    self.rcv_wnd_edge
                );
                self.rcv_wnd_edge = self.rcv_wnd_edge.max(rcv_wnd_edge);
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let connection = &self.connection;
        let flight = connection.sender().flight();
        let (una, rcv_nxt) = (flight.una(), connection.receiver().rcv_nxt());
        prop_assert!(una >= self.una && una <= flight.max(), "SND.UNA");
        prop_assert!(rcv_nxt >= self.rcv_nxt, "RCV.NXT goes back");
        prop_assert!(connection.readable() <= u64::from(self.config.receiver.buffer));
        prop_assert!(connection.sender().window().cwnd() >= connection.sender().window().smss());
        self.una = una;
        if connection.state() != State::SynSent {
            self.rcv_nxt = rcv_nxt;
        }
        let closed = connection.state() == State::Closed;
        prop_assert!(!self.is_closed || closed, "a closed connection comes back");
        self.is_closed = closed;
        prop_assert_eq!(self.ends, usize::from(closed), "an end is reported once");
        prop_assert!(!closed || connection.next_timer().is_none());
        prop_assert!(closed || connection.failure().is_none());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_connection_stays_within_its_bounds_with_any_segments(
        config in config(),
        start in select(vec![Start::Opens, Start::Accepts, Start::Connected]),
        ops in prop::collection::vec(op(), 1..80),
    ) {
        let mut tested = TestedConnection::new(config, start)?;
        for op in &ops {
            tested.apply(op);
            tested.drain()?;
        }
    }
}
