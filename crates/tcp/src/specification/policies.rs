//! The table of policies.

use rtolab_settings::Choice;
use rtolab_time::Duration;

use super::policy::{Policy, Question, Sets};
use crate::config::{
    AdaptiveThresholds, Algorithm, Arithmetic, BackoffEnd, Bugfix, Config, CongestionAvoidance,
    HalvedQuantity, LinearFor, OnPathChange, OnUnreachable, PacingRate, Parity, PartialAckTimer,
    PrrBound, Reduction, Response, RestartFrom, RtoFloor, SackRules, Sampling, SlowStart,
    SlowStartExit, UndoRule,
};
use crate::congestion::CONTROL_TERMS;
use crate::profile::PROFILES;
use crate::response::RESPONSES;
use crate::spurious::DetectorId;

/// Every policy that a specification may name. DualRTT with a threshold, as in `dualrtt:0.04`, is a
/// policy, too.
pub fn policies() -> impl Iterator<Item = Policy> {
    let detectors = DetectorId::all_acting().filter_map(Policy::of_detector);
    let others = OTHERS.iter().copied();
    RECOVERIES.iter().copied().chain(detectors).chain(controls()).chain(responses()).chain(others)
}

/// Every term that a specification may contain, profiles last.
pub fn terms() -> impl Iterator<Item = &'static str> {
    policies().map(|policy| policy.name).chain(PROFILES.iter().map(|profile| profile.name))
}

/// The loss recoveries.
const RECOVERIES: &[Policy] = &[
    recovery("tahoe", "Tahoe, bugfix as the scenario sets it", "Jacobson 1988", tahoe),
    recovery("tahoe:no-bugfix", "Tahoe without bugfix", "Jacobson 1988", |c| {
        tahoe(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    recovery("tahoe:careful", "Tahoe, bugfix careful", "RFC 2582 section 5", |c| {
        tahoe(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    recovery("reno", "Reno, bugfix as the scenario sets it", "RFC 5681 section 3.2", reno),
    recovery("reno:no-bugfix", "Reno without bugfix", "RFC 2581 section 3.2", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    recovery("reno:less-careful", "Reno, bugfix less careful", "RFC 2582 section 5", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::LessCareful;
    }),
    recovery("reno:careful", "Reno, bugfix careful", "RFC 2582 section 5", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    recovery("newreno", "NewReno as the scenario sets it", "RFC 6582 section 3.2", newreno),
    recovery("newreno:no-bugfix", "NewReno without bugfix", "RFC 2582 section 5", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    recovery("newreno:less-careful", "NewReno, bugfix less careful", "RFC 2582 section 5", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::LessCareful;
    }),
    recovery("newreno:careful", "NewReno, bugfix careful", "RFC 6582 section 3.2", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    recovery(
        "newreno:ack-heuristic",
        "NewReno, careful but where ACKs advance little",
        "RFC 6582 section 4.1",
        |c| {
            newreno(c);
            c.recovery.bugfix = Bugfix::AckHeuristic;
        },
    ),
    recovery(
        "newreno:timestamp-heuristic",
        "NewReno, careful but where timestamps show a loss",
        "RFC 6582 section 4.2",
        |c| {
            newreno(c);
            c.recovery.bugfix = Bugfix::TimestampHeuristic;
            c.timestamps = true;
        },
    ),
    recovery(
        "newreno:impatient",
        "NewReno, the first partial ACK restarts the timer",
        "RFC 2582 section 4",
        |c| {
            newreno(c);
            c.recovery.newreno.timer = PartialAckTimer::Impatient;
        },
    ),
    recovery(
        "newreno:steady",
        "NewReno, every partial ACK restarts the timer",
        "RFC 2582 section 4",
        |c| {
            newreno(c);
            c.recovery.newreno.timer = PartialAckTimer::SlowButSteady;
        },
    ),
    recovery("sack", "SACK recovery as the scenario sets it", "RFC 6675 section 5", sack),
    recovery("sack:rfc3517", "SACK recovery by the older rules", "RFC 3517 section 5", |c| {
        sack(c);
        c.recovery.sack.rules = SackRules::Rfc3517;
    }),
    recovery("sack:rfc6675", "SACK recovery by the newer rules", "RFC 6675 section 5", |c| {
        sack(c);
        c.recovery.sack.rules = SackRules::Rfc6675;
    }),
    recovery("sack:ns2", "SACK recovery as simulated", "ns-2.35, tcp-sack1.cc", |c| {
        sack(c);
        c.recovery.sack.rules = SackRules::Ns2;
    }),
    recovery("rack", "RACK-TLP, by time and with PRR", "RFC 8985 section 6", rack),
    recovery("rack:no-tlp", "RACK without tail loss probes", "RFC 8985 section 6", |c| {
        rack(c);
        c.recovery.rack.tail_loss_probe = false;
    }),
    recovery("rfc9002", "QUIC's recovery as the scenario sets it", "RFC 9002 section 6", rfc9002),
    recovery(
        "rfc9002:quic-go",
        "QUIC's, late packets relax both thresholds",
        "quic-go 0.65, sent_packet_handler.go",
        |c| {
            rfc9002(c);
            c.recovery.rfc9002.thresholds = AdaptiveThresholds::QuicGo;
        },
    ),
    recovery(
        "rfc9002:quicly",
        "QUIC's, late ACKs relax both thresholds",
        "quicly, include/quicly/loss.h",
        |c| {
            rfc9002(c);
            c.recovery.rfc9002.thresholds = AdaptiveThresholds::Quicly;
        },
    ),
    recovery(
        "rfc9002:quiche",
        "QUIC's, the packet threshold follows late packets",
        "quiche 0.29, recovery/gcongestion/recovery.rs",
        |c| {
            rfc9002(c);
            c.recovery.rfc9002.thresholds = AdaptiveThresholds::Quiche;
        },
    ),
];

/// The policies for the other questions except detectors and responses. A new algorithm is one file
/// and one row here or in [`RECOVERIES`]. A row begins with the question that the policy answers,
/// followed by its name, description and source, and by what it sets.
const OTHERS: &[Policy] = &[
    timer(
        "minrto",
        "a minimum RTO for delayed ACKs only",
        "Psaras and Tsaoussidis 2007 section 3",
        |c| minrto(c, Parity::Paper),
    ),
    timer("minrto:resync", "as minrto, counting what is outstanding", "rtolab", |c| {
        minrto(c, Parity::Resync);
    }),
    timer(
        "eifel-timer",
        "the Eifel retransmission timer",
        "Ludwig and Sklower 2000, by its public descriptions",
        |c| {
            c.rto.arithmetic = Arithmetic::Eifel;
            c.rto.sampling = Sampling::EverySegment;
            c.rto.restart_from = RestartFrom::OldestSegment;
        },
    ),
    backoff(
        "backoff:linear",
        "six timeouts of a segment before the timeout doubles",
        "Linux, TCP_THIN_LINEAR_RETRIES, but for every connection",
        |c| {
            c.backoff.linear = 6;
            c.backoff.linear_for = LinearFor::All;
        },
    ),
    backoff(
        "backoff:thin",
        "linear while fewer than four segments are in flight",
        "Linux, tcp_thin_linear_timeouts",
        |c| {
            c.backoff.linear = 6;
            c.backoff.linear_for = LinearFor::ThinStreams;
        },
    ),
    backoff("backoff:2s", "doubling ends at 2 s", "noq 1.4, MAX_PTO_INTERVAL", |c| {
        c.backoff.cap = Some(Duration::from_secs(2));
    }),
    backoff(
        "backoff:new-ack",
        "any new ACK ends it, even without a sample (Karn)",
        "libudx 1, issue 316",
        |c| c.backoff.ends = BackoffEnd::NewAck,
    ),
    backoff("lcd", "ICMP host unreachable takes back one back-off", "RFC 6069 section 3", |c| {
        c.backoff.unreachable = OnUnreachable::Reverts;
    }),
    backoff(
        "path-hint",
        "a hint that the path changed ends the back-off and the wait",
        "noq issue 545; quic-go issue 5481",
        |c| c.backoff.path_change = OnPathChange::Resets,
    ),
    reduction(
        "at-once",
        "the window is halved when recovery begins",
        "RFC 5681 section 3.2",
        |c| {
            c.recovery.reduction = Reduction::AtOnce;
        },
    ),
    reduction("prr", "proportional rate reduction", "RFC 9937 section 6", |c| {
        c.recovery.reduction = Reduction::Prr(PrrBound::Rfc9937);
    }),
    reduction("prr:crb", "PRR with its conservative bound", "RFC 6937 section 3", |c| {
        c.recovery.reduction = Reduction::Prr(PrrBound::Crb);
    }),
    reduction("prr:ssrb", "PRR with its slow-start bound", "RFC 6937 section 3", |c| {
        c.recovery.reduction = Reduction::Prr(PrrBound::Ssrb);
    }),
    slow_start("hystart", "HyStart++: a rise of round trips ends slow start", "RFC 9406", |c| {
        c.congestion.slow_start_exit = SlowStartExit::HyStartPlusPlus;
    }),
    slow_start(
        "hystart:linux",
        "HyStart: longer round trips or a train of ACKs end slow start",
        "Ha and Rhee 2011; Linux, tcp_cubic.c",
        |c| {
            c.congestion.slow_start_exit = SlowStartExit::HyStart;
        },
    ),
    undo(
        "undo",
        "QUIC's, undoes a reduction if all its losses arrived",
        "quic-go 0.65, OnSpuriousLoss",
        |c| {
            c.recovery.rfc9002.undo = UndoRule::All;
        },
    ),
    undo(
        "undo:any",
        "QUIC's, undoes a reduction if one lost packet arrived",
        "quiche 0.29, rollback of CUBIC",
        |c| {
            c.recovery.rfc9002.undo = UndoRule::Any;
        },
    ),
    pacing(
        "pacing",
        "segments leave at a multiple of the window each round trip",
        "Linux, tcp_update_pacing_rate and tcp_pacing_check",
        |c| {
            c.pacing.rate = PacingRate::Window;
        },
    ),
    reordering(
        "adaptive-dupthresh",
        "each spurious fast retransmit raises dupthresh by one",
        "Blanton and Allman 2002, by public descriptions",
        |c| {
            c.recovery.dupthresh_increment = 1;
        },
    ),
    network("ecn", "CE marks reduce the window as losses do", "RFC 3168 section 6.1", |c| {
        c.ecn = true;
    }),
    network(
        "eln",
        "losses of the radio, which its base station reports",
        "Balakrishnan, Padmanabhan, Seshan and Katz 1997, scheme ELN",
        |c| {
            c.eln = true;
        },
    ),
];

/// The congestion controls, which are rows of `controls!` in `congestion.rs`.
fn controls() -> impl Iterator<Item = Policy> {
    CONTROL_TERMS.iter().map(|term| congestion(term.name, term.title, term.source, term.set))
}

/// The responses, which are rows of `responses!` in `response.rs`.
fn responses() -> impl Iterator<Item = Policy> {
    RESPONSES.iter().zip(Response::CHOICES).map(|(row, (name, response, _))| {
        let (question, sets) = (Question::Response, Sets::Response(*response));
        Policy { name, question, about: row.about, source: row.source, sets }
    })
}

/// Declares, for each question, the function that makes the rows that answer it.
macro_rules! rows {
    ($($row:ident: $question:ident,)+) => {$(
        const fn $row(
            name: &'static str,
            about: &'static str,
            source: &'static str,
            set: fn(&mut Config),
        ) -> Policy {
            Policy { name, question: Question::$question, about, source, sets: Sets::Config(set) }
        }
    )+};
}

rows! {
    recovery: Recovery,
    timer: Timer,
    backoff: Backoff,
    reduction: Reduction,
    congestion: Congestion,
    slow_start: SlowStart,
    pacing: Pacing,
    reordering: Reordering,
    undo: Spurious,
    network: Network,
}

fn minrto(config: &mut Config, parity: Parity) {
    config.rto.floor = RtoFloor::DelayedAck(Duration::from_millis(500));
    config.rto.delayed_ack_parity = parity;
}

fn tahoe(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Tahoe;
    config.sack = false;
}

fn reno(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Reno;
    config.sack = false;
}

fn newreno(config: &mut Config) {
    config.recovery.algorithm = Algorithm::NewReno;
    config.sack = false;
}

fn sack(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Sack;
    config.sack = true;
}

/// RFC 8985 section 9.3 recommends PRR, which replaces only the default reduction.
fn rack(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Rack;
    config.sack = true;
    if config.recovery.reduction == Reduction::AtOnce {
        config.recovery.reduction = Reduction::Prr(PrrBound::Rfc9937);
    }
}

/// RFC 9002. Each acknowledged packet adds its bytes to the window (appendix B.5), and a loss
/// reduces the congestion window (appendix B.6). Timestamps stand in for packet numbers.
fn rfc9002(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Rfc9002;
    (config.sack, config.timestamps) = (true, true);
    config.window.halves = HalvedQuantity::CongestionWindow;
    config.window.slow_start = SlowStart::Delivered;
    config.window.avoidance = CongestionAvoidance::ByteCounting;
}
