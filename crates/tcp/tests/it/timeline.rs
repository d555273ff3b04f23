//! A window of eight segments is held until 5.0 s; the timer expires at 2.5 s. These tests list
//! the events of each sender from then on, computed by hand.
//!
//! Once it is open, the link transmits a segment in 0.1 s, and the delay is 0.5 s each way. Every
//! segment is acknowledged at once and nothing is lost. There are 40 segments and no limited
//! transmit.

use std::collections::VecDeque;
use std::sync::Arc;

use rtolab_tcp::config::{Halving, InitialWindow, RecoverOnUndo, RtoFloor, Threshold};
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, Seq, specification};
use rtolab_time::{Duration, Instant};

const SEGMENT: u32 = 1000;
const TENTH_NS: u64 = 100_000_000;

/// The round trip of the SYN equals that of a segment once the link is open. Times are counted from
/// the SYN-ACK.
const ROUND_TRIP: u64 = 11 * TENTH_NS;

/// An event: its time in tenths of a second, what arrived, and the segments that it released.
#[derive(Debug, PartialEq)]
struct Step {
    tenths: u64,
    arrived: Arrived,
    sent: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Arrived {
    Timeout,
    Ack(u32),
}

/// One sender over the link, and its events.
struct Run {
    steps: Vec<Step>,
    windows: Vec<(u64, f64, f64)>,
    fast_retransmits: Vec<(u64, u32)>,
    retransmissions: usize,
    end: u64,
}

struct Simulation {
    sender: Connection,
    receiver: Connection,
    link_free: Instant,
    data: VecDeque<(Instant, Segment)>,
    acks: VecDeque<(Instant, Segment)>,
    sent_up_to: Seq,
}

fn number(seq: Seq) -> u32 {
    (seq.since(Seq::FIRST + 1) / u64::from(SEGMENT)) as u32 + 1
}

fn config(sender: &str) -> Arc<Config> {
    let mut base = Config { mss: SEGMENT as u16, ..Config::default() };
    base.timestamp.in_mss = false;
    base.rto.initial = Duration::from_millis(2500);
    base.rto.floor = RtoFloor::Total(Duration::from_millis(2500));
    base.rto.sample_handshake = false;
    base.window.initial = InitialWindow::Segments(8);
    base.window.initial_ssthresh = Some(8);
    base.window.halving = Halving::Segments;
    base.recovery.limited_transmit = false;
    base.receiver.ack_every = 1;
    base.receiver.buffer = 20 * SEGMENT;
    Arc::new(specification::sender(sender, &base).unwrap())
}

/// Both ends with the handshake done.
fn connect(sending: Arc<Config>) -> Simulation {
    let mut sender = Connection::open(sending);
    let syn = sender.poll_transmit(Instant::START).unwrap();
    let at = Instant::from_nanos(ROUND_TRIP);
    let passive = Config { timestamps: true, ..(*config("sack")).clone() };
    let mut receiver = Connection::accept(Arc::new(passive), &syn);
    sender.on_segment(&receiver.poll_transmit(at).unwrap(), at);
    receiver.on_segment(&sender.poll_transmit(at).unwrap(), at);
    sender.write(u64::from(40 * SEGMENT));
    let (data, acks) = (VecDeque::new(), VecDeque::new());
    let link_free = at + Duration::from_secs(5);
    Simulation { sender, receiver, link_free, data, acks, sent_up_to: Seq::FIRST + 1 }
}

impl Simulation {
    fn transmit(&mut self, at: Instant) -> Vec<u32> {
        let mut sent = Vec::new();
        while let Some(segment) = self.sender.poll_transmit(at) {
            self.link_free = self.link_free.max(at) + Duration::from_nanos(TENTH_NS);
            self.data.push_back((self.link_free + Duration::from_millis(500), segment));
            self.sent_up_to = self.sent_up_to.max(segment.end());
            sent.push(number(segment.seq));
        }
        sent
    }

    fn receive(&mut self) {
        let (at, segment) = self.data.pop_front().unwrap();
        self.receiver.on_segment(&segment, at);
        self.receiver.read(u64::MAX);
        let ack = self.receiver.poll_transmit(at).unwrap();
        assert!(ack.flags == Flags::ACK && self.receiver.poll_transmit(at).is_none());
        self.acks.push_back((at + Duration::from_millis(500), ack));
    }
}

fn run(sender: &str) -> Run {
    run_by(config(sender))
}

/// The same with `recover` after a spurious timeout as `recover` says.
fn run_with(sender: &str, recover: RecoverOnUndo) -> Run {
    run_by(Arc::new(Config { recover_on_undo: recover, ..(*config(sender)).clone() }))
}

fn run_by(config: Arc<Config>) -> Run {
    let mut simulation = connect(config);
    assert_eq!(simulation.transmit(Instant::from_nanos(ROUND_TRIP)), (1..=8).collect::<Vec<_>>());
    let mut run = Run {
        steps: Vec::new(),
        windows: Vec::new(),
        fast_retransmits: Vec::new(),
        retransmissions: 0,
        end: 0,
    };
    let all = Seq::FIRST + 1 + 40 * SEGMENT;
    while simulation.sender.sender().flight().una() < all {
        let data = simulation.data.front().map_or(Instant::NEVER, |(at, _)| *at);
        let ack = simulation.acks.front().map_or(Instant::NEVER, |(at, _)| *at);
        let timer = simulation.sender.next_timer().unwrap();
        if data <= ack && data <= timer {
            simulation.receive();
            continue;
        }
        let (at, arrived) = if ack <= timer {
            let (at, segment) = simulation.acks.pop_front().unwrap();
            simulation.sender.on_segment(&segment, at);
            (at, Arrived::Ack(number(segment.ack) - 1))
        } else {
            simulation.sender.on_timer(timer);
            (timer, Arrived::Timeout)
        };
        let before = number(simulation.sent_up_to);
        let sent = simulation.transmit(at);
        run.retransmissions += sent.iter().filter(|segment| **segment < before).count();
        let tenths = (at.nanos() - ROUND_TRIP) / TENTH_NS;
        while let Some(event) = simulation.sender.poll_event() {
            if let Event::FastRetransmit(retransmission) = event {
                run.fast_retransmits.push((tenths, number(retransmission.seq)));
            }
        }
        let window = simulation.sender.sender().window();
        let segments = |bytes: u64| bytes as f64 / f64::from(SEGMENT);
        run.windows.push((tenths, segments(window.cwnd()), segments(window.ssthresh())));
        run.steps.push(Step { tenths, arrived, sent });
        run.end = tenths;
    }
    run
}

impl Run {
    /// Compares the events from 2.5 s on with the table.
    fn expect(&self, expected: &[(u64, Arrived, &[u32])]) {
        for (step, (tenths, arrived, sent)) in self.steps.iter().zip(expected) {
            let sent = sent.to_vec();
            assert_eq!(*step, Step { tenths: *tenths, arrived: *arrived, sent });
        }
        assert!(self.steps.len() >= expected.len());
    }

    fn expect_windows(&self, expected: &[(u64, f64, f64)]) {
        for (tenths, cwnd, ssthresh) in expected {
            let (_, c, s) = self.windows.iter().find(|(at, ..)| at == tenths).unwrap();
            assert!(
                (c - cwnd).abs() < 0.01 && (s - ssthresh).abs() < 1e-9,
                "at {tenths}: cwnd {c}, ssthresh {s}"
            );
        }
    }
}

use Arrived::{Ack, Timeout};

/// Up to the eighth acknowledgment both perform the same go-back-N.
const GO_BACK_N: [(u64, Arrived, &[u32]); 11] = [
    (25, Timeout, &[1]),
    (61, Ack(1), &[2, 3]),
    (62, Ack(2), &[4, 5]),
    (63, Ack(3), &[6, 7]),
    (64, Ack(4), &[8]),
    (65, Ack(5), &[9]),
    (66, Ack(6), &[10]),
    (67, Ack(7), &[11]),
    (68, Ack(8), &[12, 13]),
    (69, Ack(8), &[]),
    (72, Ack(8), &[]),
];

#[test]
fn go_back_n_careful() {
    let run = run("newreno:careful");
    run.expect(&GO_BACK_N);
    run.expect_windows(&[
        (25, 1.0, 4.0),
        (61, 2.0, 4.0),
        (62, 3.0, 4.0),
        (63, 4.0, 4.0),
        (64, 4.25, 4.0),
        (68, 5.12, 4.0),
        (79, 5.32, 4.0),
    ]);
    let a9 = run.steps.iter().find(|step| step.arrived == Ack(9)).unwrap();
    assert_eq!((a9.tenths, &a9.sent[..]), (79, &[14][..]));
    assert_eq!((run.retransmissions, run.fast_retransmits.len(), run.end), (8, 0, 130));
}

#[test]
fn go_back_n_less_careful_or_without_bugfix() {
    for sender in ["newreno:less-careful", "newreno:no-bugfix"] {
        let run = run(sender);
        run.expect(&GO_BACK_N);
        let after: Vec<_> = run.steps[GO_BACK_N.len()..].iter().take(6).collect();
        assert_eq!(after[0], &Step { tenths: 73, arrived: Ack(8), sent: vec![9] });
        let new: Vec<u32> = after[1..].iter().flat_map(|step| step.sent.clone()).collect();
        assert_eq!(new, (14..=18).collect::<Vec<_>>(), "one for each further duplicate");
        run.expect_windows(&[(73, 5.0, 2.0), (78, 10.0, 2.0), (83, 2.0, 2.0)]);
        let partial = |ack| {
            let step = run.steps.iter().find(|step| step.arrived == Ack(ack)).unwrap();
            (step.tenths, step.sent.clone())
        };
        assert_eq!(partial(9), (79, vec![10, 19]));
        assert_eq!(partial(10), (80, vec![11, 20]));
        assert_eq!(partial(11), (81, vec![12, 21]));
        assert_eq!(partial(12), (82, vec![13, 22]));
        assert_eq!(run.fast_retransmits, [(73, 9)]);
        assert_eq!((run.retransmissions, run.end), (13, 138));
    }
}

#[test]
fn t_fr_1_f_rto() {
    let run = run("newreno+frto");
    run.expect(&[
        (25, Timeout, &[1]),
        (61, Ack(1), &[9, 10]),
        (62, Ack(2), &[]),
        (63, Ack(3), &[]),
        (64, Ack(4), &[]),
        (65, Ack(5), &[]),
        (66, Ack(6), &[11]),
        (67, Ack(7), &[12]),
        (68, Ack(8), &[13]),
        (69, Ack(8), &[]),
        (72, Ack(9), &[14]),
    ]);
    run.expect_windows(&[
        (25, 8.0, 4.0),
        (61, 4.0, 4.0),
        (62, 4.25, 4.0),
        (63, 4.49, 4.0),
        (64, 4.71, 4.0),
        (65, 4.92, 4.0),
        (66, 5.12, 4.0),
    ]);
    assert_eq!((run.retransmissions, run.fast_retransmits.len(), run.end), (1, 0, 124));
}

#[test]
fn eifel() {
    let run = run("newreno+eifel");
    run.expect(&[
        (25, Timeout, &[1]),
        (61, Ack(1), &[9]),
        (62, Ack(2), &[10]),
        (63, Ack(3), &[11]),
        (64, Ack(4), &[12]),
        (65, Ack(5), &[13]),
        (66, Ack(6), &[14]),
        (67, Ack(7), &[15]),
        (68, Ack(8), &[16]),
        (69, Ack(8), &[]),
        (72, Ack(9), &[17]),
    ]);
    run.expect_windows(&[(25, 1.0, 4.0), (61, 8.0, 8.0), (62, 8.12, 8.0), (68, 8.84, 8.0)]);
    assert_eq!((run.retransmissions, run.fast_retransmits.len(), run.end), (1, 0, 109));
}

#[test]
fn rfc_4015_equals_the_full_response_here() {
    let full = run("newreno+eifel");
    let rfcs = run("newreno+eifel:rfc3522:rfc4015");
    assert_eq!(rfcs.steps, full.steps);
    // The saved ssthresh is the larger of FlightSize and ssthresh, which both were eight.
    rfcs.expect_windows(&[(61, 8.0, 8.0), (62, 8.12, 8.0), (68, 8.84, 8.0)]);
    assert_eq!((rfcs.retransmissions, rfcs.fast_retransmits.len(), rfcs.end), (1, 0, 109));
}

/// Up to the eighth acknowledgment, and one duplicate.
const DUALRTT: [(u64, Arrived, &[u32]); 10] = [
    (25, Timeout, &[1]),
    (61, Ack(1), &[2, 3]),
    (62, Ack(2), &[9, 10]),
    (63, Ack(3), &[11]),
    (64, Ack(4), &[12]),
    (65, Ack(5), &[13]),
    (66, Ack(6), &[14]),
    (67, Ack(7), &[15]),
    (68, Ack(8), &[16]),
    (69, Ack(8), &[]),
];

#[test]
fn dualrtt_is_undone_by_its_own_duplicates() {
    let run = run("newreno+dualrtt");
    run.expect(&DUALRTT);
    run.expect_windows(&[(25, 1.0, 4.0), (61, 2.0, 4.0), (62, 8.0, 8.0)]);
    let after: Vec<_> = run.steps[DUALRTT.len()..].iter().take(2).collect();
    assert_eq!(after[0], &Step { tenths: 72, arrived: Ack(8), sent: vec![] });
    assert_eq!(after[1], &Step { tenths: 73, arrived: Ack(8), sent: vec![9] });
    run.expect_windows(&[(73, 7.0, 4.0)]);
    assert_eq!(run.fast_retransmits, [(73, 9)]);
    assert_eq!((run.retransmissions, run.end), (11, 132));
}

#[test]
fn dualrtt_that_keeps_recover_or_discounts_its_duplicates() {
    for recover in [RecoverOnUndo::Keep, RecoverOnUndo::Discount] {
        let run = run_with("newreno+dualrtt", recover);
        run.expect(&DUALRTT);
        assert_eq!((run.retransmissions, run.fast_retransmits.len(), run.end), (3, 0, 111));
    }
}

#[test]
fn dualrtt_with_half_the_threshold_goes_back_n() {
    let mut halved = (*config("newreno+dualrtt")).clone();
    halved.dualrtt.threshold = Threshold::Fixed(50);
    let run = run_by(Arc::new(halved));
    run.expect(&GO_BACK_N);
    assert_eq!((run.retransmissions, run.fast_retransmits.len(), run.end), (8, 0, 130));
}

/// Retransmissions and fast retransmits where the timer expires at 0.7, 2.1 and 4.9 s.
fn after_three_timeouts(sender: &str, recover: RecoverOnUndo) -> (usize, usize) {
    let mut config = (*config(sender)).clone();
    config.recover_on_undo = recover;
    config.rto.initial = Duration::from_millis(700);
    config.rto.floor = RtoFloor::Total(Duration::from_millis(700));
    let run = run_by(Arc::new(config));
    let timeouts = run.steps.iter().filter(|step| step.arrived == Timeout);
    assert_eq!(timeouts.map(|step| step.tenths).collect::<Vec<_>>()[..3], [7, 21, 49]);
    (run.retransmissions, run.fast_retransmits.len())
}

#[test]
fn t_fr_17_three_timeouts_make_three_duplicates() {
    use RecoverOnUndo::{Discount, Keep, Reset};
    assert_eq!(after_three_timeouts("newreno+eifel", Reset), (11, 1));
    assert_eq!(after_three_timeouts("newreno+frto", Reset), (8, 1));
    assert_eq!(after_three_timeouts("newreno+dualrtt", Reset), (13, 1));
    assert_eq!(after_three_timeouts("newreno+dualrtt", Keep), (5, 0));
    assert_eq!(after_three_timeouts("newreno+eifel", Discount), (3, 0));
    assert_eq!(after_three_timeouts("newreno+frto", Discount), (3, 0));
    assert_eq!(after_three_timeouts("newreno+dualrtt", Discount), (5, 0));
}
