//! The fast path (header prediction) has the same result as the slow path.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::script::pair::{End, at, connected};
use crate::script::{any, base};
use proptest::prelude::*;
use rtolab_tcp::{Codepoint, Config, Connection, Flags, Reply, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

/// The fate of a frame: its delay in milliseconds, or `None` if it is lost.
type Fate = Option<u64>;

/// How a frame is passed to the receiving end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrives {
    AsItWas,
    /// With PSH, which neither end sends here, so that every segment takes the slow path.
    Pushed,
    /// Unchanged, and the answer replaces it in place if possible.
    ToBeAnswered,
}

/// Two hosts that write and never close.
struct Transfer {
    receiver: Arc<Config>,
    arrives: Arrives,
    ends: [Option<Connection>; 2],
    at: Instant,
    wire: BTreeMap<(Instant, usize), (usize, Segment)>,
    fates: Vec<Fate>,
    sent: Vec<(Instant, Segment)>,
    /// Segments that became their own answer in place, by end.
    answered: [u32; 2],
    /// Bytes that the accepting end writes.
    answer: u64,
}

impl Transfer {
    fn new([sender, receiver]: [Config; 2], writes: [u64; 2], fates: Vec<Fate>) -> Self {
        let mut opener = Connection::open(Arc::new(sender));
        opener.write(writes[0]);
        Self {
            receiver: Arc::new(receiver),
            arrives: Arrives::AsItWas,
            ends: [Some(opener), None],
            at: Instant::START,
            wire: BTreeMap::new(),
            fates,
            sent: Vec::new(),
            answered: [0; 2],
            answer: writes[1],
        }
    }

    /// All segments that both ends send.
    fn transcript(mut self, arrives: Arrives) -> Vec<(Instant, Segment)> {
        self.run(arrives);
        self.sent
    }

    fn run(&mut self, arrives: Arrives) {
        self.arrives = arrives;
        self.drain(0);
        for _ in 0..3000 {
            if !self.step() {
                break;
            }
        }
    }

    /// One event, a frame or a timer, if there is any.
    fn step(&mut self) -> bool {
        let frame = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        let timer = |end: &Option<Connection>| {
            end.as_ref().and_then(Connection::next_timer).unwrap_or(Instant::NEVER)
        };
        let timers = [timer(&self.ends[0]), timer(&self.ends[1])];
        let first = timers[0].min(timers[1]);
        if frame <= first {
            let Some(((at, _), (to, segment))) = self.wire.pop_first() else { return false };
            self.at = at;
            self.take(to, segment);
        } else {
            let who = usize::from(timers[1] < timers[0]);
            self.at = first;
            self.ends[who].as_mut().unwrap().on_timer(first);
            self.drain(who);
        }
        true
    }

    fn take(&mut self, to: usize, mut segment: Segment) {
        if self.arrives == Arrives::Pushed {
            segment.flags |= Flags::PSH;
        }
        if self.arrives == Arrives::ToBeAnswered && self.answer(to, &mut segment) {
            return;
        }
        if let Some(end) = &mut self.ends[to] {
            end.on_segment(&segment, self.at);
            end.read(u64::MAX);
            return self.drain(to);
        }
        let mut end = Connection::accept(self.receiver.clone(), &segment);
        end.write(self.answer);
        self.ends[to] = Some(end);
        self.drain(to);
    }

    /// Was the segment answered in place? Drains the end only if more may be left to do.
    fn answer(&mut self, to: usize, segment: &mut Segment) -> bool {
        let Some(end) = &mut self.ends[to] else { return false };
        match end.answer(segment, self.at) {
            Reply::NotHandled => return false,
            Reply::Handled => self.drain(to),
            Reply::NothingToTransmit => {
                assert_eq!(end.clone().poll_transmit(self.at), None);
                assert_eq!(end.next_timer_on_fast_path(), end.next_timer());
            }
            Reply::Segment => {
                self.answered[to] += 1;
                assert_eq!(end.next_timer_on_fast_path(), end.next_timer());
                let silent = end.has_nothing_to_transmit_on_fast_path();
                assert!(!silent || end.clone().poll_transmit(self.at).is_none());
                self.send(to, *segment);
                if !silent {
                    self.drain(to);
                }
            }
        }
        if let Some(end) = &mut self.ends[to] {
            assert_eq!(end.clone().poll_event(), None);
        }
        true
    }

    fn drain(&mut self, from: usize) {
        let Some(end) = &mut self.ends[from] else { return };
        while end.poll_event().is_some() {}
        while let Some(segment) = self.ends[from].as_mut().and_then(|it| it.poll_transmit(self.at))
        {
            self.send(from, segment);
        }
        if let Some(end) = &mut self.ends[from] {
            end.enter_fast_path();
        }
    }

    fn send(&mut self, from: usize, segment: Segment) {
        let fate = self.fates.get(self.sent.len()).copied().unwrap_or(Some(50));
        self.sent.push((self.at, segment));
        if let Some(delay) = fate {
            let key = (self.at + Duration::from_millis(delay), self.sent.len());
            self.wire.insert(key, (1 - from, segment));
        }
    }
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        60 => Just(Some(50_u64)),
        2 => (0..500_u64).prop_map(Some),
        1 => (0..9000_u64).prop_map(Some),
        2 => Just(None),
    ];
    prop::collection::vec(fate, 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_path_equals_the_slow_path(
        configs in (any::sender(), any::receiver()),
        writes in (1..400_000_u64, prop_oneof![3 => Just(0), 1 => 1..50_000_u64]),
        fates in fates(),
    ) {
        let mut configs: [Config; 2] = configs.into();
        for config in &mut configs {
            config.receiver.ack_pushed_at_once = false;
        }
        let transfer = || Transfer::new(configs.clone(), writes.into(), fates.clone());
        let predicted = transfer().transcript(Arrives::AsItWas);
        prop_assert!(predicted == transfer().transcript(Arrives::Pushed));
        prop_assert!(predicted == transfer().transcript(Arrives::ToBeAnswered));
    }
}

#[test]
fn in_order_segments_take_the_fast_path() {
    let mut receiver = Config::default();
    receiver.receiver.ack_every = 1;
    let mut transfer = Transfer::new([Config::default(), receiver], [2_000_000, 0], Vec::new());
    transfer.run(Arrives::ToBeAnswered);
    let [acknowledgments, data] = transfer.answered;
    assert!(
        acknowledgments > 1000 && data > 1000,
        "{:?} of {}",
        transfer.answered,
        transfer.sent.len()
    );
}

#[test]
fn data_after_a_gap_takes_the_fast_path_too() {
    let mut receiver = Config::default();
    receiver.receiver.ack_every = 1;
    let fates = (0..600).map(|frame| (!(500..504).contains(&frame)).then_some(50)).collect();
    let mut transfer = Transfer::new([Config::default(), receiver], [2_000_000, 0], fates);
    transfer.run(Arrives::ToBeAnswered);
    let behind = transfer.sent.iter().filter(|(_, segment)| segment.sack_count() > 0).count();
    let data = transfer.sent.iter().filter(|(_, segment)| segment.len > 0).count();
    assert!(behind > 10, "{behind} of {}", transfer.sent.len());
    // Data after a gap is acknowledged with SACK blocks; nearly all of it takes the fast path.
    let (lost, answered) = (4, transfer.answered[1] as usize);
    assert!(5 * (data - lost - answered) < behind, "{answered} of {data}, {behind} after gaps");
}

/// The next data segment, and the end that receives it on the fast path; `after_gap`: one that
/// arrives while another is missing.
fn predicted(timestamps: bool, after_gap: bool) -> (End, Segment) {
    let mut config = Config { timestamps, ..base() };
    config.receiver.ack_every = 1;
    let (mut active, mut passive) = connected(&config, &config, 0);
    active.connection.write(1_000_000);
    let sent = active.sends(10);
    let (arrived, next) = if after_gap { (&[0, 2][..], 3) } else { (&[0][..], 1) };
    for number in arrived {
        passive.answers(&sent[*number], 20);
        passive.connection.read(u64::MAX);
    }
    passive.connection.enter_fast_path();
    (passive, sent[next])
}

/// RFC 1323, section 4: header prediction is for segments without unusual flags or options, that
/// acknowledge nothing. Here they are the next one, and those after a gap.
#[test]
fn a_segment_that_is_not_plain_takes_the_slow_path() {
    type Change = fn(&mut Segment);
    let changes: &[(bool, Change)] = &[
        (true, |segment| segment.flags |= Flags::PSH),
        (true, |segment| segment.flags |= Flags::FIN),
        (true, |segment| segment.flags |= Flags::ECE),
        (true, |segment| segment.set_codepoint(Codepoint::Ce)),
        (false, |segment| segment.set_codepoint(Codepoint::Ce)),
        (false, |segment| segment.push_sack(Seq::FIRST + 1..Seq::FIRST + 2)),
        // Without timestamps although they were negotiated, with some although they were not, and
        // with an old one.
        (true, |segment| {
            let mut stripped = Segment::new(segment.seq, segment.len, segment.flags);
            (stripped.ack, stripped.window) = (segment.ack, segment.window);
            *segment = stripped;
        }),
        (false, |segment| segment.set_timestamps(Timestamps { value: 9, echo: 0 })),
        (true, |segment| {
            let stamps = segment.timestamps().unwrap();
            let value = stamps.value.wrapping_sub(1_000);
            segment.set_timestamps(Timestamps { value, ..stamps });
        }),
        // Without data, with an acknowledgment of data that was never sent, and out of the window.
        (false, |segment| segment.len = 0),
        (false, |segment| segment.ack += 1_000),
        (false, |segment| segment.seq += 10_000_000),
    ];
    for (index, (timestamps, change)) in changes.iter().enumerate() {
        for after_gap in [false, true] {
            let (receiver, mut segment) = predicted(*timestamps, after_gap);
            let mut plain = receiver.connection.clone();
            assert_ne!(plain.answer(&mut segment.clone(), at(30)), Reply::NotHandled);
            change(&mut segment);
            let mut other = receiver.connection.clone();
            let reply = other.answer(&mut segment, at(30));
            assert_eq!(reply, Reply::NotHandled, "change {index}, after a gap: {after_gap}");
        }
    }
}
