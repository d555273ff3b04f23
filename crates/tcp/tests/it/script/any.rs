//! Any configuration of an endpoint, for properties.

use proptest::prelude::*;
use proptest::sample::select;
use rtolab_tcp::Config;
use rtolab_tcp::config::{
    AckCounts, AckDelay, Arithmetic, Avoidance, EchoRule, EcnFallback, FullAck, GapFill, Halves,
    Halving, History, IdleRestart, KnownPath, LossWindow, Outstanding, PartialAck, PrrBound,
    RackRules, RackThreshold, RecoverOnUndo, Reduction, ReorderingWindow, RepeatedTimeout,
    RestartFrom, RestartOnDuplicate, Restarts, RtoFloor, RxtAnswer, SackOnTimeout, Sampling,
    SlowStart, TimerClock, Validation, WindowLimited,
};
use rtolab_tcp::specification::{self, Question};
use rtolab_time::{Duration, Rate};

use super::base;

/// Every pair of a loss recovery and what follows a timeout, each detector and response, and
/// profiles.
pub const SENDERS: [&str; 110] = [
    "tahoe:no-bugfix",
    "tahoe:careful+frto",
    "reno:no-bugfix",
    "reno:careful",
    "reno:less-careful+frto",
    "reno:careful+eifel",
    "newreno:no-bugfix",
    "newreno:less-careful",
    "newreno:ack-heuristic",
    "newreno:timestamp-heuristic",
    "newreno:impatient",
    "newreno:steady",
    "newreno+frto",
    "newreno:no-bugfix+frto",
    "newreno:less-careful+frto",
    "newreno+eifel",
    "newreno:less-careful+eifel",
    "sack:rfc3517",
    "sack:rfc6675",
    "sack:ns2",
    "sack:rfc3517+frto",
    "sack:rfc6675+frto",
    "sack:rfc3517+eifel",
    "sack:rfc6675+eifel",
    "reno:careful+frto:rfc4138",
    "newreno+frto:rfc4138",
    "newreno+frto:rfc5682",
    "newreno:no-bugfix+frto:rfc5682",
    "newreno+frto:rfc5682-sack",
    "newreno+frto:linux",
    "newreno+frto:ns2",
    "tahoe:careful+frto:linux",
    "sack:rfc3517+frto:rfc4138",
    "sack:rfc6675+frto:rfc5682",
    "sack:rfc3517+frto:rfc5682-sack",
    "sack:rfc6675+frto:rfc5682-sack",
    "sack:rfc6675+frto:linux",
    "sack:rfc3517+frto:ns2",
    "sack:rfc6675+frto:ns2",
    "sack:ns2+frto:ns2",
    "sack+minrto",
    "newreno+minrto:resync",
    "newreno+frto+minrto",
    "linux-2.2",
    "linux-2.4+frto",
    "freebsd-4.1",
    "bsdi-3.0",
    "solaris-2007+eifel",
    "ns2-2006",
    "newreno+eifel:rfc3522:rfc4015",
    "sack+eifel:rfc3522:full",
    "sack+eifel:safe:rfc4015",
    "reno:no-bugfix+eifel:bsd",
    "tahoe:careful+dualrtt",
    "newreno:no-bugfix+dualrtt",
    "newreno+dualrtt:online",
    "sack+dualrtt:paper-ln:half",
    "sack+dualrtt:half",
    "newreno+eifel:rxt",
    "newreno+eifel:two-bits",
    "newreno+eifel:forward",
    "sack+eifel:forward:rfc4015",
    "sack+frto+eifel:rxt:rfc4015",
    "newreno+badrexmit",
    "sack+badrexmit+dualrtt",
    "sack+dsack",
    "sack+dsack:linux",
    "sack+dsack:linux+rfc4015",
    "sack+frto+dsack",
    "newreno+frto+eifel+ns2:full",
    "sack+frto+eifel:none",
    "sack+frto+eifel:rfc3522+badrexmit+dsack+ns2:slow-start",
    "newreno+frto:ns2+ns2:full",
    "sack+frto:linux+eifel:rfc3522:rfc4015",
    "newreno+frto:rfc5682:none",
    "sack+frto:rfc5682-sack+dsack:linux+ns2:half",
    "linux-2.4+frto:rfc4138+badrexmit",
    "newreno+frto+linux2.6:halving",
    "sack+eifel:linux2.6:conservative",
    "sack+dsack:linux+linux2.6:undo",
    "reno:less-careful+eifel+full:scaled",
    "sack+eifel-timer",
    "sack+dsack:causes",
    "newreno+frto+eifel-timer",
    "sack:rfc6675+prr",
    "sack:rfc3517+prr:crb",
    "sack:rfc6675+prr:ssrb+dsack:linux",
    "rack",
    "rack:no-tlp",
    "rack+at-once",
    "rack+prr:ssrb+frto",
    "rack+frto:linux+dsack:linux",
    "rack+frto:rfc5682-sack",
    "rack+eifel:rfc3522:rfc4015",
    "rack+prr:crb+eifel:forward",
    "rack+dsack+badrexmit+bsd",
    "rack:no-tlp+eifel+none",
    "sack+cubic",
    "sack+frto:linux+undo:linux",
    "newreno+undo:linux",
    "sack+cubic:linux+ecn+frto:linux+undo:linux",
    "sack+ecn+frto:linux",
    "newreno+ecn+eifel:rfc4015",
    "linux-2.4+ecn",
    "sack+cubic+ecn+dsack:linux",
    "newreno+cubic+frto+eifel",
    "sack+cubic:linux+hystart:linux+dsack:linux",
    "sack+cubic+hystart+frto:linux",
    "reno:no-bugfix+cubic+eifel:rfc4015",
    "sack:rfc3517+hystart+eifel:rfc3522:full",
];

/// Every loss recovery alone, and with every other policy.
pub fn specs() -> Vec<String> {
    let of = |recovery: bool| {
        specification::policies()
            .filter(move |policy| (policy.question == Question::Recovery) == recovery)
    };
    let pairs = of(true)
        .flat_map(|first| of(false).map(move |other| format!("{}+{}", first.name, other.name)));
    let mut told = Config::default();
    told.dualrtt.path = path();
    let known = |name: &String| specification::sender(name, &told).is_ok();
    of(true).map(|policy| policy.name.to_string()).chain(pairs.filter(known)).collect()
}

/// Any sender, by its spec and by the knobs that no spec names.
pub fn sender() -> impl Strategy<Value = Config> {
    sender_of(SENDERS.to_vec())
}

/// Any that goes by RACK, or reduces the rate in proportion.
pub fn sender_by_time() -> impl Strategy<Value = Config> {
    let by_time = |spec: &&str| spec.starts_with("rack") || spec.contains("prr");
    sender_of(SENDERS.into_iter().filter(by_time).collect())
}

fn sender_of(specs: Vec<&'static str>) -> impl Strategy<Value = Config> {
    let window = (
        select(vec![Halving::Bytes, Halving::Segments]),
        select(vec![Avoidance::Formula, Avoidance::Fraction, Avoidance::ByteCounting]),
        select(vec![FullAck::FlightSize, FullAck::Ssthresh, FullAck::Halved]),
        prop::option::of(1..5_u32),
        prop::option::of(1..20_u32),
        select(vec![Halves::FlightSize, Halves::Window]),
        select(vec![
            RepeatedTimeout::Keeps,
            RepeatedTimeout::Halves,
            RepeatedTimeout::OncePerWindow,
        ]),
    );
    let recovery = (
        any::<bool>(),
        1..5_u32,
        select(vec![Outstanding::Pipe, Outstanding::Classic]),
        select(vec![RecoverOnUndo::Reset, RecoverOnUndo::Keep, RecoverOnUndo::Discount]),
    );
    let rto = (
        select(vec![
            Sampling::EveryAck,
            Sampling::EveryReport,
            Sampling::OncePerWindow,
            Sampling::EverySegment,
        ]),
        any::<bool>(),
        select(vec![0, 10, 500_u64]),
        select(vec![
            RtoFloor::Total(Duration::from_secs(1)),
            RtoFloor::Total(Duration::ZERO),
            RtoFloor::Variance(Duration::from_millis(200)),
            RtoFloor::BackedOff(Duration::from_millis(200)),
        ]),
        select(vec![Arithmetic::Exact, Arithmetic::Ns2, Arithmetic::Bsd, Arithmetic::Eifel]),
        any::<bool>(),
    );
    (select(specs), window, recovery, rto, variant()).prop_map(
        |(name, window, recovery, rto, options)| {
            let mut config = Config { recover_on_undo: recovery.3, ..options };
            (config.window.halving, config.window.avoidance, config.window.full_ack, ..) = window;
            (config.window.max_burst, config.window.initial_ssthresh) = (window.3, window.4);
            (config.recovery.limited_transmit, config.recovery.dupthresh) =
                (recovery.0, recovery.1);
            config.recovery.sack.outstanding = recovery.2;
            (config.rto.sampling, config.rto.restart_on_retransmit) = (rto.0, rto.1);
            config.rto.granularity = Duration::from_millis(rto.2);
            (config.rto.floor, config.rto.arithmetic, config.rto.sample_handshake) =
                (rto.3, rto.4, rto.5);
            (config.window.halves, config.window.repeated_timeout) = (window.5, window.6);
            specification::sender(name, &config).unwrap()
        },
    )
}

/// What either end may offer, and the knobs by which systems differ.
fn variant() -> impl Strategy<Value = Config> {
    let timer = (
        select(vec![
            RestartOnDuplicate::Never,
            RestartOnDuplicate::InRecovery,
            RestartOnDuplicate::Always,
        ]),
        select(vec![History::Samples, History::Windows]),
        prop::option::of(0..5_u32),
        select(vec![
            TimerClock::Exact,
            TimerClock::Ticks,
            TimerClock::Wheel(Duration::from_millis(4)),
        ]),
        select(vec![RestartFrom::Ack, RestartFrom::OldestSegment]),
        select(vec![Restarts::AsSet, Restarts::Linux]),
    );
    let window = (
        select(vec![SlowStart::OneSegment, SlowStart::TwoSegments, SlowStart::PerAck]),
        select(vec![IdleRestart::Off, IdleRestart::LastSent, IdleRestart::LastReceived]),
        select(vec![Validation::Off, Validation::Rfc2861, Validation::Rfc7661]),
    );
    let recovery = (
        any::<bool>(),
        select(vec![
            Reduction::AtOnce,
            Reduction::RateHalving,
            Reduction::Prr(PrrBound::Crb),
            Reduction::Prr(PrrBound::Rfc9937),
            Reduction::Prr(PrrBound::Linux),
        ]),
        any::<bool>(),
        select(vec![PartialAck::AlsoNew, PartialAck::RetransmissionOnly]),
        select(vec![SackOnTimeout::Clear, SackOnTimeout::Keep]),
        select(vec![
            WindowLimited::Conventional,
            WindowLimited::Probe,
            WindowLimited::OneByte,
            WindowLimited::Tail,
            WindowLimited::Reserve(2),
        ]),
    );
    let rack = (
        select(vec![ReorderingWindow::Adaptive, ReorderingWindow::Static]),
        select(vec![RackThreshold::Dupthresh, RackThreshold::TimeOnly]),
        prop::option::of(1..5_000_u64),
        0..500_u64,
        select(vec![0, 2_u64]),
        select(vec![RackRules::Rfc8985, RackRules::Linux]),
    );
    let all = (options(), timer, window, recovery, rack);
    all.prop_map(|(mut config, timer, window, recovery, rack)| {
        let knobs = &mut config.recovery.rack;
        (knobs.reordering_window, knobs.threshold) = (rack.0, rack.1);
        knobs.min_rtt_window = rack.2.map(Duration::from_millis);
        knobs.max_ack_delay = Duration::from_millis(rack.3);
        (knobs.timer_slack, knobs.rules) = (Duration::from_millis(rack.4), rack.5);
        if rack.5 == RackRules::Linux {
            config.window.loss_window = LossWindow::BeyondPipe;
            (config.window.grows_when_recovered, config.window.counts_dsacked) = (true, true);
            config.connection.ecn_fallback = EcnFallback::Capable;
        }
        let rto = &mut config.rto;
        (rto.restart_on_duplicate, rto.history, rto.forget_after, ..) = timer;
        (rto.timer, rto.restart_from, rto.restarts) = (timer.3, timer.4, timer.5);
        (config.window.slow_start, config.window.idle_restart, config.window.validation) = window;
        config.recovery.early_retransmit = recovery.0;
        config.recovery.reduction = recovery.1;
        config.recovery.go_back_n_on_duplicates = recovery.2;
        config.recovery.newreno.partial_ack = recovery.3;
        config.recovery.sack.on_timeout = recovery.4;
        config.frto_window_limited = recovery.5;
        config
    })
}

/// A path to be told of, for the specs that go by one.
pub fn path() -> KnownPath {
    let rate = Rate::from_bits_per_second(50_000);
    KnownPath { rate, delay: Some(Duration::from_millis(200)) }
}

/// What either end may offer, and how it receives.
pub fn options() -> impl Strategy<Value = Config> {
    let echo = select(vec![
        EchoRule::Rfc1323,
        EchoRule::Rfc7323,
        EchoRule::Linux,
        EchoRule::Bsd,
        EchoRule::Ns2bis,
        EchoRule::EchoAll,
    ]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let scale = prop::option::of(0..15_u8);
    (flags, scale, echo, 2_000..200_000_u32, 1..4_u32, 0..500_u64).prop_map(
        |((timestamps, in_mss, sack, dsack), window_scale, echo, buffer, ack_every, delay)| {
            // A window counted in units larger than the buffer would be zero for ever.
            let window_scale = window_scale.map(|shift: u8| shift.min((buffer / 64).ilog2() as u8));
            let ecn = buffer % 2 == 0;
            let mut config = Config { timestamps, sack, dsack, ecn, window_scale, ..base() };
            (config.timestamp.in_mss, config.timestamp.echo) = (in_mss, echo);
            (config.receiver.buffer, config.receiver.ack_every) = (buffer, ack_every);
            config.receiver.delayed_ack = Duration::from_millis(delay);
            config.dualrtt.path = path();
            config
        },
    )
}

/// What either end may offer, and all knobs of the receiving side.
pub fn receiver() -> impl Strategy<Value = Config> {
    let acks = (
        (
            select(vec![AckDelay::Timer, AckDelay::Adaptive, AckDelay::Heartbeat]),
            (0..200_u64).prop_map(Duration::from_millis),
        ),
        select(vec![AckCounts::Segments, AckCounts::Bytes]),
        prop_oneof![Just(0), 0..20_u32],
        any::<bool>(),
        select(vec![GapFill::AtOnce, GapFill::WhereJoined, GapFill::Delayed]),
        1..5_u32,
        prop::option::of(0..3_000_u64),
        any::<bool>(),
        select(vec![RxtAnswer::AtOnce, RxtAnswer::NextAck]),
    );
    (options(), acks, any::<bool>()).prop_map(|(options, acks, push)| {
        let mut config = Config { push, ..options };
        let receiver = &mut config.receiver;
        ((receiver.ack_delay, receiver.heartbeat_phase), ..) = acks;
        (_, receiver.ack_counts, receiver.quick_acks, ..) = acks;
        (receiver.ack_pushed_at_once, receiver.gap_fill) = (acks.3, acks.4);
        (receiver.max_sack_blocks, receiver.rxt_echo) = (acks.5, acks.7);
        receiver.rxt_answer = acks.8;
        receiver.delayed_dupacks = acks.6.map(Duration::from_millis);
        config
    })
}
