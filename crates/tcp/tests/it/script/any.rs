//! Strategies for arbitrary configurations of an endpoint.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::sample::select;
use rtolab_settings::Choice;
use rtolab_tcp::Config;
use rtolab_tcp::config::{
    EcnFallback, KnownPath, LossWindow, PrrBound, RackRules, Reduction, Restarts, RtoFloor,
    Sampling,
};
use rtolab_tcp::specification::{self, Question};
use rtolab_time::{Duration, Rate};

use super::base;

/// Every pair of a loss recovery and a timeout policy, each detector and response, and profiles.
const SENDERS: &str = "
    tahoe:no-bugfix tahoe:careful+frto reno:no-bugfix reno:careful reno:less-careful+frto
    reno:careful+eifel newreno:no-bugfix newreno:less-careful newreno:ack-heuristic
    newreno:timestamp-heuristic newreno:impatient newreno:steady newreno+frto
    newreno:no-bugfix+frto newreno:less-careful+frto newreno+eifel newreno:less-careful+eifel
    sack:rfc3517 sack:rfc6675 sack:ns2 sack:rfc3517+frto sack:rfc6675+frto sack:rfc3517+eifel
    sack:rfc6675+eifel reno:careful+frto:rfc4138 newreno+frto:rfc4138 newreno+frto:rfc5682
    newreno:no-bugfix+frto:rfc5682 newreno+frto:rfc5682-sack newreno+frto:linux newreno+frto:ns2
    tahoe:careful+frto:linux sack:rfc3517+frto:rfc4138 sack:rfc6675+frto:rfc5682
    sack:rfc3517+frto:rfc5682-sack sack:rfc6675+frto:rfc5682-sack sack:rfc6675+frto:linux
    sack:rfc3517+frto:ns2 sack:rfc6675+frto:ns2 sack:ns2+frto:ns2 sack+minrto
    newreno+minrto:resync newreno+frto+minrto linux-2.2 linux-2.4+frto freebsd-4.1 bsdi-3.0
    solaris-2007+eifel ns2-2006 newreno+eifel:rfc3522:rfc4015 sack+eifel:rfc3522:full
    sack+eifel:safe:rfc4015 reno:no-bugfix+eifel:bsd tahoe:careful+dualrtt
    newreno:no-bugfix+dualrtt newreno+dualrtt:online sack+dualrtt:paper-ln:half
    sack+dualrtt:half newreno+eifel:rxt newreno+eifel:two-bits newreno+eifel:forward
    sack+eifel:forward:rfc4015 sack+frto+eifel:rxt:rfc4015 newreno+badrexmit
    sack+badrexmit+dualrtt sack+dsack sack+dsack:linux sack+dsack:linux+rfc4015 sack+frto+dsack
    newreno+frto+eifel+ns2:full sack+frto+eifel:none
    sack+frto+eifel:rfc3522+badrexmit+dsack+ns2:slow-start newreno+frto:ns2+ns2:full
    sack+frto:linux+eifel:rfc3522:rfc4015 newreno+frto:rfc5682:none
    sack+frto:rfc5682-sack+dsack:linux+ns2:half linux-2.4+frto:rfc4138+badrexmit
    newreno+frto+linux2.6:halving sack+eifel:linux2.6:conservative
    sack+dsack:linux+linux2.6:undo reno:less-careful+eifel+full:scaled sack+eifel-timer
    sack+dsack:causes newreno+frto+eifel-timer sack:rfc6675+prr sack:rfc3517+prr:crb
    sack:rfc6675+prr:ssrb+dsack:linux rack rack:no-tlp rack+at-once rack+prr:ssrb+frto
    rack+frto:linux+dsack:linux rack+frto:rfc5682-sack rack+eifel:rfc3522:rfc4015
    rack+prr:crb+eifel:forward rack+dsack+badrexmit+bsd rack:no-tlp+eifel+none sack+cubic
    sack+frto:linux+undo:linux newreno+undo:linux sack+cubic:linux+ecn+frto:linux+undo:linux
    sack+ecn+frto:linux newreno+ecn+eifel:rfc4015 linux-2.4+ecn sack+cubic+ecn+dsack:linux
    newreno+cubic+frto+eifel sack+cubic:linux+hystart:linux+dsack:linux
    sack+cubic+hystart+frto:linux reno:no-bugfix+cubic+eifel:rfc4015
    sack:rfc3517+hystart+eifel:rfc3522:full sack+backoff:linear+frto newreno+backoff:thin
    rack+backoff:2s newreno+backoff:new-ack sack+lcd+eifel newreno+frto+path-hint
";

/// Senders with the loss recovery of QUIC.
const SENDERS_OF_QUIC: &str = "
    rfc9002 rfc9002+undo rfc9002:quic-go+undo rfc9002:quicly rfc9002:quiche+undo:any
    rfc9002+cubic+prr+undo rfc9002+ecn rfc9002+eifel:rfc3522 rfc9002+undo+dsack:linux
    rfc9002:quic-go+cubic:linux+hystart:linux
";

/// Every loss recovery alone, and with every other policy.
pub fn specs() -> Vec<String> {
    let of = |recovery: bool| {
        let policies = specification::policies();
        policies.filter(move |policy| (policy.question == Question::Recovery) == recovery)
    };
    let pairs = of(true)
        .flat_map(|first| of(false).map(move |other| format!("{}+{}", first.name, other.name)));
    let mut config = Config::default();
    config.dualrtt.path = path();
    let is_valid = |name: &String| specification::sender(name, &config).is_ok();
    of(true).map(|policy| policy.name.to_string()).chain(pairs.filter(is_valid)).collect()
}

/// Any sender, with any of the settings that its specification does not set.
pub fn sender() -> impl Strategy<Value = Config> {
    sender_of(|_| true)
}

/// Any sender with RACK or PRR.
pub fn sender_by_time() -> impl Strategy<Value = Config> {
    sender_of(|name| name.starts_with("rack") || name.contains("prr"))
}

/// Any value of a setting that is declared as a choice.
fn choice<C: Choice + Debug>() -> impl Strategy<Value = C> {
    select(C::CHOICES.iter().map(|(_, value, _)| *value).collect::<Vec<_>>())
}

fn millis(values: impl Strategy<Value = u64>) -> impl Strategy<Value = Duration> {
    values.prop_map(Duration::from_millis)
}

/// A configuration, with each of these fields set to any value of its strategy.
macro_rules! vary {
    ($config:expr; $($($field:ident).+: $values:expr,)+) => {{
        let config = $config.boxed();
        $(let config = (config, $values)
            .prop_map(|(mut config, value): (Config, _)| {
                config.$($field).+ = value;
                config
            })
            .boxed();)+
        config
    }};
}

fn sender_of(is_wanted: fn(&&str) -> bool) -> impl Strategy<Value = Config> {
    sender_among(SENDERS.split_whitespace().filter(is_wanted).collect())
}

/// Any sender with the loss recovery of QUIC.
pub fn sender_of_quic() -> impl Strategy<Value = Config> {
    let config = sender_among(SENDERS_OF_QUIC.split_whitespace().collect());
    vary! { config;
        recovery.rfc9002.packet_threshold: 1..6_u32,
        recovery.rfc9002.time_threshold: 8..20_u32,
        recovery.rfc9002.max_ack_delay: millis(0..500_u64),
        recovery.rfc9002.granularity: millis(select(vec![1, 10])),
    }
}

fn sender_among(names: Vec<&'static str>) -> impl Strategy<Value = Config> {
    let floors = vec![
        RtoFloor::Total(Duration::from_secs(1)),
        RtoFloor::Total(Duration::ZERO),
        RtoFloor::Variance(Duration::from_millis(200)),
        RtoFloor::BackedOff(Duration::from_millis(200)),
    ];
    let config = vary! { options();
        window.halving: choice(),
        window.avoidance: choice(),
        window.full_ack: choice(),
        window.max_burst: prop::option::of(1..5_u32),
        window.initial_ssthresh: prop::option::of(1..20_u32),
        window.halves: choice(),
        window.repeated_timeout: choice(),
        window.slow_start: choice(),
        window.idle_restart: choice(),
        window.validation: choice(),
        recovery.limited_transmit: any::<bool>(),
        recovery.early_retransmit: any::<bool>(),
        recovery.dupthresh: 1..5_u32,
        recovery.dupthresh_increment: 0..3_u32,
        recovery.reduction: prop_oneof![4 => choice(), 1 => Just(Reduction::Prr(PrrBound::Linux))],
        recovery.go_back_n_on_duplicates: any::<bool>(),
        recovery.newreno.partial_ack: choice(),
        recovery.sack.outstanding: choice(),
        recovery.sack.on_timeout: choice(),
        recovery.rack.reordering_window: choice(),
        recovery.rack.threshold: choice(),
        recovery.rack.min_rtt_window: prop::option::of(millis(1..5_000_u64)),
        recovery.rack.max_ack_delay: millis(0..500_u64),
        recovery.rack.timer_slack: millis(select(vec![0, 2])),
        recovery.rack.rules: select(vec![RackRules::Rfc8985, RackRules::Linux]),
        recover_on_undo: choice(),
        frto_window_limited: choice(),
        rto.sampling: prop_oneof![3 => choice(), 1 => Just(Sampling::Linux)],
        rto.restart_on_retransmit: any::<bool>(),
        rto.restart_on_duplicate: choice(),
        rto.restart_from: choice(),
        rto.restarts: select(vec![Restarts::NewAcks, Restarts::Linux]),
        rto.granularity: millis(select(vec![0, 10, 500])),
        rto.floor: select(floors),
        rto.arithmetic: choice(),
        rto.sample_handshake: any::<bool>(),
        rto.history: choice(),
        rto.forget_after: prop::option::of(0..5_u32),
        rto.timer: choice(),
    };
    (select(names), config).prop_map(|(name, mut config)| {
        if config.recovery.rack.rules == RackRules::Linux {
            config.window.loss_window = LossWindow::BeyondPipe;
            (config.window.grows_when_recovered, config.window.counts_dsacked) = (true, true);
            config.connection.ecn_fallback = EcnFallback::Capable;
        }
        specification::sender(name, &config).unwrap()
    })
}

/// A known path, for the detectors that need one.
pub fn path() -> KnownPath {
    let rate = Rate::from_bits_per_second(50_000);
    KnownPath { rate, delay: Some(Duration::from_millis(200)) }
}

/// The options that either end may offer, and how it acknowledges.
pub fn options() -> impl Strategy<Value = Config> {
    let config = vary! { Just(base());
        timestamps: any::<bool>(),
        sack: any::<bool>(),
        dsack: any::<bool>(),
        ecn: any::<bool>(),
        window_scale: prop::option::of(0..15_u8),
        timestamp.in_mss: any::<bool>(),
        timestamp.echo: choice(),
        receiver.buffer: 2_000..200_000_u32,
        receiver.ack_every: 1..4_u32,
        receiver.delayed_ack: millis(0..500_u64),
        dualrtt.path: Just(path()),
    };
    config.prop_map(|mut config| {
        // A window counted in units larger than the buffer would always be zero.
        let largest = (config.receiver.buffer / 64).ilog2() as u8;
        config.window_scale = config.window_scale.map(|shift| shift.min(largest));
        config
    })
}

/// The options that either end may offer, and all settings of the receiving side.
pub fn receiver() -> impl Strategy<Value = Config> {
    vary! { options();
        push: any::<bool>(),
        receiver.ack_delay: choice(),
        receiver.heartbeat_phase: millis(0..200_u64),
        receiver.ack_counts: choice(),
        receiver.quick_acks: prop_oneof![Just(0), 0..20_u32],
        receiver.ack_pushed_at_once: any::<bool>(),
        receiver.gap_fill: choice(),
        receiver.max_sack_blocks: 1..5_u32,
        receiver.delayed_dupacks: prop::option::of(millis(0..3_000_u64)),
        receiver.rxt_echo: any::<bool>(),
        receiver.rxt_answer: choice(),
    }
}
