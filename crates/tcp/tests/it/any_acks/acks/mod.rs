//! A sender that receives arbitrary acknowledgments, and its invariants.

mod undos;

use std::sync::Arc;

use proptest::prelude::*;
use rtolab_tcp::config::{Algorithm, RackRules, Validation, WindowLimited};
use rtolab_tcp::congestion::Window;
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, Seq, SynOptions, Timestamps};
use rtolab_time::{Duration, Instant};

use undos::{Before, Undos};

#[derive(Clone, Debug)]
pub enum Op {
    Ack(Ack),
    /// The next timer expires.
    Timer,
    /// Milliseconds pass, at most until the next timer.
    Wait(u64),
    Write(u32),
    Close,
}

/// An acknowledgment; its number and blocks in bytes from SND.UNA.
#[derive(Clone, Debug)]
pub struct Ack {
    number: i32,
    window: u32,
    blocks: Vec<(i32, i32)>,
    /// How old the timestamp is that it echoes.
    age: u32,
    /// How many bytes of the peer's it carries.
    len: u32,
    /// Does it have ECE?
    echo: bool,
}

fn whole(segments: std::ops::Range<i32>) -> impl Strategy<Value = i32> {
    segments.prop_map(|count| count * 1000)
}

fn ack() -> impl Strategy<Value = Ack> {
    let number = prop_oneof![
        6 => Just(0),
        6 => whole(1..8),
        2 => -5_000..20_000_i32,
        1 => any::<i32>(),
    ];
    let window = prop_oneof![8 => Just(30_000_u32), 2 => 0..40_000_u32, 1 => 0..1_000_000_u32];
    let block = prop_oneof![
        6 => (whole(0..20), whole(1..6)).prop_map(|(start, len)| (start, start + len)),
        1 => (-5_000..30_000_i32, -5_000..30_000_i32),
        1 => any::<(i32, i32)>(),
    ];
    let len = prop_oneof![8 => Just(0_u32), 1 => 1..100_u32];
    let blocks = prop::collection::vec(block, 0..4);
    let echo = prop_oneof![9 => Just(false), 1 => Just(true)];
    (number, window, blocks, 0..4000_u32, len, echo).prop_map(
        |(number, window, blocks, age, len, echo)| Ack { number, window, blocks, age, len, echo },
    )
}

pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => ack().prop_map(Op::Ack),
        3 => Just(Op::Timer),
        4 => (0..2000_u64).prop_map(Op::Wait),
        3 => (0..10_000_u32).prop_map(Op::Write),
        1 => Just(Op::Close),
    ]
}

/// A sender, and the bounds that follow from the acknowledgments it has received.
pub struct TestedSender {
    config: Arc<Config>,
    connection: Connection,
    at: Instant,
    /// The right edge of the largest advertised window.
    wnd_right_edge: Seq,
    una: Seq,
    max: Seq,
    pub undos: Undos,
    /// The number of segments that may leave as probes since a timer expired.
    probes: u32,
}

fn is_time_based(config: &Config) -> bool {
    matches!(config.recovery.algorithm, Algorithm::Rack | Algorithm::Rfc9002)
}

fn shifted(seq: Seq, by: i32) -> Seq {
    Seq::new(seq.value().wrapping_add_signed(by.into()))
}

impl TestedSender {
    /// Applies all operations to a sender, and checks its invariants after each.
    pub fn run(config: Config, ops: &[Op]) -> Result<Self, TestCaseError> {
        let mut tested = Self::connected(config);
        tested.connection.write(60_000);
        tested.drain()?;
        tested.check()?;
        for op in ops {
            tested.apply(op)?;
            tested.drain()?;
            tested.check()?;
        }
        Ok(tested)
    }

    fn connected(config: Config) -> Self {
        let config = Arc::new(config);
        let mut connection = Connection::open(config.clone());
        let at = Instant::START + Duration::from_secs(10);
        connection.poll_transmit(at).unwrap();
        let mut syn_ack = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
        (syn_ack.ack, syn_ack.window) = (Seq::FIRST + 1, 30_000);
        if config.ecn {
            syn_ack.flags |= Flags::ECE;
        }
        let mss = Some(1000);
        syn_ack.set_syn_options(SynOptions {
            mss,
            sack_permitted: true,
            window_scale: None,
            ..SynOptions::default()
        });
        if config.timestamps {
            let echo = connection.sender().timestamp(at);
            syn_ack.set_timestamps(Timestamps { value: 1, echo });
        }
        connection.on_segment(&syn_ack, at);
        let (una, wnd_right_edge) = (Seq::FIRST + 1, Seq::FIRST + 30_001);
        let undos = Undos::of(&config);
        Self { config, connection, at, wnd_right_edge, una, max: una, undos, probes: 0 }
    }

    fn apply(&mut self, op: &Op) -> Result<(), TestCaseError> {
        self.probes = 0;
        match op {
            Op::Ack(ack) => return self.acknowledge(ack),
            Op::Timer => {
                if let Some(timer) = self.connection.next_timer() {
                    self.at = self.at.max(timer);
                    self.connection.on_timer(self.at);
                    // The probe timeout of RFC 9002 sends two.
                    let two = self.config.recovery.algorithm == Algorithm::Rfc9002;
                    self.probes = 1 + u32::from(two);
                }
            }
            Op::Wait(millis) => {
                let until = self.at + Duration::from_millis(*millis);
                self.at = until.min(self.connection.next_timer().unwrap_or(until)).max(self.at);
            }
            Op::Write(bytes) => self.connection.write(u64::from(*bytes)),
            Op::Close => self.connection.close(),
        }
        Ok(())
    }

    fn acknowledge(&mut self, ack: &Ack) -> Result<(), TestCaseError> {
        let mut segment = Segment::new(self.connection.receiver().rcv_nxt(), ack.len, Flags::ACK);
        (segment.ack, segment.window) = (shifted(self.una, ack.number), ack.window);
        if self.config.timestamps {
            let clock = self.connection.sender().timestamp(self.at);
            let echo = clock.wrapping_sub(ack.age);
            segment.set_timestamps(Timestamps { value: clock, echo });
        }
        for (start, end) in &ack.blocks {
            segment.push_sack(shifted(self.una, *start)..shifted(self.una, *end));
        }
        let counts = self.una <= segment.ack && segment.ack <= self.max;
        if counts {
            self.wnd_right_edge = self.wnd_right_edge.max(segment.ack + segment.window);
        }
        if ack.echo {
            segment.flags |= Flags::ECE;
        }
        let before = Before::of(&self.connection);
        self.connection.on_segment(&segment, self.at);
        self.connection.read(u64::MAX);
        let events = self.events();
        self.undos.acknowledged(&self.connection, (before, counts && ack.echo), &events)
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// Checks every segment that leaves now.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..2000 {
            let before = *self.connection.sender().window();
            let Some(segment) = self.connection.poll_transmit(self.at) else {
                let events = self.events();
                self.undos.on_events(&self.connection, &events);
                return Ok(());
            };
            if segment.sequence_length() > 0 {
                self.check_segment(&segment, before)?;
            }
        }
        Err(TestCaseError::fail("it does not stop sending"))
    }

    fn check_segment(&mut self, segment: &Segment, before: Window) -> Result<(), TestCaseError> {
        let sender = self.connection.sender();
        let beyond = self.config.frto_window_limited == WindowLimited::OneByte;
        let wnd_right_edge = self.wnd_right_edge + u32::from(beyond);
        prop_assert!(segment.end() <= wnd_right_edge, "{segment:?} beyond {}", self.wnd_right_edge);
        prop_assert!(segment.seq >= sender.flight().una() && segment.seq <= self.max);
        prop_assert!(u64::from(segment.len) <= sender.window().smss());
        let new = segment.end() > self.max;
        prop_assert!(!new || segment.seq == self.max, "{segment:?} straddles {}", self.max);
        self.max = self.max.max(segment.end());
        // A tail loss probe leaves whatever the window and the outstanding data are.
        let by_time = is_time_based(&self.config);
        let probe = new && by_time && self.probes > 0;
        self.probes -= u32::from(probe);
        if new && !probe && self.config.frto.is_none() {
            // F-RTO's two segments leave whatever the window is; a FIN takes no room in it.
            let window = match self.config.window.validation {
                Validation::Off => *sender.window(),
                // Sending this segment may have reduced the window for the next one.
                Validation::Rfc2861 | Validation::Rfc7661 | Validation::Linux => before,
            };
            let beyond = if self.config.recovery.limited_transmit { 2 * window.smss() } else { 0 };
            // A probe that was a short segment may have counted as a whole one.
            let beyond = beyond + if by_time { window.smss() } else { 0 };
            let room = window.cwnd().max(window.smss()) + beyond + 1;
            let rounded = if self.config.sack { window.smss() - 1 } else { 0 };
            let outstanding = sender.outstanding();
            prop_assert!(outstanding <= room + rounded, "{segment:?}: {outstanding} {window:?}");
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let sender = self.connection.sender();
        let flight = sender.flight();
        prop_assert!(flight.una() >= self.una, "SND.UNA goes back");
        prop_assert_eq!(flight.max(), self.max, "SND.MAX is not the highest number sent");
        self.una = flight.una();
        let window = sender.window();
        let least = self.config.window.initial_ssthresh.map_or(2, |segments| segments.min(2));
        prop_assert!(window.cwnd() >= window.smss());
        prop_assert!(window.ssthresh() >= u64::from(least) * window.smss());
        // A paced segment waits for its departure even if nothing is outstanding.
        let waits = sender.pacing_rate().is_some() && flight.size() == 0;
        prop_assert!(waits || sender.deadline().is_some() == (flight.size() > 0), "timer");
        prop_assert!(sender.rto() <= self.config.rto.max);

        let by_time = is_time_based(&self.config);
        let linux = self.config.recovery.rack.rules == RackRules::Linux;
        let (mut next, mut sacked, mut lost, mut retrans_out) = (self.una, 0, 0, 0);
        while let Some(segment) = flight.segment_at(next) {
            prop_assert_eq!(segment.seq, next);
            let bytes = |counts: bool| if counts { u64::from(segment.len) } else { 0 };
            sacked += bytes(segment.is_sacked());
            lost += bytes(segment.is_lost());
            retrans_out += bytes(segment.is_retrans_out());
            prop_assert!(!segment.is_sacked() || !segment.is_lost());
            // In Linux an undo leaves retransmissions in flight.
            if !linux {
                prop_assert!(!segment.is_sacked() || !segment.is_retrans_out());
                // With RACK a retransmission counts until it is marked lost in turn.
                prop_assert!(!by_time || !segment.is_retrans_out() || segment.is_lost());
            }
            next = segment.end();
        }
        prop_assert_eq!(next, self.max);
        prop_assert_eq!(
            (sacked, lost, retrans_out),
            (flight.sacked(), flight.lost(), flight.retrans_out())
        );
        Ok(())
    }
}
