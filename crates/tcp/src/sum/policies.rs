//! The table of policies.

use rtolab_time::Duration;

use super::{Policy, Question};
use crate::config::{
    Algorithm, Arithmetic, Bugfix, Config, DsackForm, EifelForm, FrtoVariant, Parity,
    PartialAckTimer, Response, RestartFrom, RtoFloor, SackRules, Sampling,
};

/// Every policy that a sum may name: a new algorithm is one file and one line here.
pub const POLICIES: &[Policy] = &[
    policy("tahoe", Question::Recovery, "Tahoe as the scenario sets it (Jacobson 1988)", tahoe),
    policy("tahoe:no-bugfix", Question::Recovery, "Tahoe without RFC 2582's bugfix", |c| {
        tahoe(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    policy("tahoe:careful", Question::Recovery, "Tahoe, bugfix careful (RFC 2582)", |c| {
        tahoe(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    policy("reno", Question::Recovery, "Reno as the scenario sets it (RFC 5681)", reno),
    policy("reno:no-bugfix", Question::Recovery, "Reno without RFC 2582's bugfix", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    policy("reno:less-careful", Question::Recovery, "Reno, bugfix less careful", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::LessCareful;
    }),
    policy("reno:careful", Question::Recovery, "Reno, bugfix careful (RFC 2582)", |c| {
        reno(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    policy("newreno", Question::Recovery, "NewReno as the scenario sets it (RFC 6582)", newreno),
    policy("newreno:no-bugfix", Question::Recovery, "NewReno without RFC 2582's bugfix", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::None;
    }),
    policy("newreno:less-careful", Question::Recovery, "NewReno, bugfix less careful", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::LessCareful;
    }),
    policy("newreno:careful", Question::Recovery, "NewReno, bugfix careful (RFC 6582)", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::Careful;
    }),
    policy("newreno:ack-heuristic", Question::Recovery, "NewReno, RFC 6582 section 4.1", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::AckHeuristic;
    }),
    policy("newreno:timestamp-heuristic", Question::Recovery, "NewReno, RFC 6582 4.2", |c| {
        newreno(c);
        c.recovery.bugfix = Bugfix::TimestampHeuristic;
        c.timestamps = true;
    }),
    policy("newreno:impatient", Question::Recovery, "NewReno, timer impatient (RFC 6582)", |c| {
        newreno(c);
        c.recovery.newreno.timer = PartialAckTimer::Impatient;
    }),
    policy("newreno:steady", Question::Recovery, "NewReno, slow but steady (RFC 6582)", |c| {
        newreno(c);
        c.recovery.newreno.timer = PartialAckTimer::SlowButSteady;
    }),
    policy("sack", Question::Recovery, "SACK recovery as the scenario sets it", sack),
    policy("sack:rfc3517", Question::Recovery, "SACK recovery by RFC 3517", |c| {
        sack(c);
        c.recovery.sack.rules = SackRules::Rfc3517;
    }),
    policy("sack:rfc6675", Question::Recovery, "SACK recovery by RFC 6675", |c| {
        sack(c);
        c.recovery.sack.rules = SackRules::Rfc6675;
    }),
    policy("frto", Question::Timeout, "F-RTO as in report C-2002-07 section 3", |c| {
        c.frto = Some(FrtoVariant::Report);
    }),
    policy("frto:rfc4138", Question::Timeout, "F-RTO by RFC 4138 section 2.1", |c| {
        c.frto = Some(FrtoVariant::Rfc4138);
    }),
    policy("frto:rfc5682", Question::Timeout, "F-RTO by RFC 5682 section 2.1", |c| {
        c.frto = Some(FrtoVariant::Rfc5682);
    }),
    policy("frto:rfc5682-sack", Question::Timeout, "F-RTO with SACK, RFC 5682 section 3.1", |c| {
        c.frto = Some(FrtoVariant::Rfc5682Sack);
    }),
    policy(
        "frto:linux",
        Question::Timeout,
        "F-RTO as in Linux 6.1, which undoes the timeout",
        |c| {
            c.frto = Some(FrtoVariant::Linux);
        },
    ),
    policy("frto:ns2", Question::Timeout, "F-RTO as in ns-2.35, spurious_response_ 2", |c| {
        c.frto = Some(FrtoVariant::Ns2);
    }),
    policy("eifel", Question::Spurious, "Eifel by timestamps for timeouts (LK 2000)", |c| {
        eifel(c, EifelForm::LudwigKatz);
    }),
    policy("eifel:rfc3522", Question::Spurious, "Eifel by timestamps (RFC 3522)", |c| {
        eifel(c, EifelForm::Rfc3522);
    }),
    policy("eifel:safe", Question::Spurious, "Eifel, the original's echo only (RFC 3522)", |c| {
        eifel(c, EifelForm::Safe);
    }),
    policy("eifel:rxt", Question::Spurious, "Eifel by marks on retransmissions (lab only)", |c| {
        c.detectors.eifel = Some(EifelForm::Flag);
    }),
    policy("badrexmit", Question::Spurious, "an ACK within half a round trip (FreeBSD)", |c| {
        c.detectors.bad_retransmit = true;
    }),
    policy("dualrtt", Question::Spurious, "DualRTT (Fu and Atiquzzaman 2004)", |c| {
        c.detectors.dualrtt = true;
    }),
    policy("dsack", Question::Spurious, "all retransmissions reported by D-SACK (RFC 3708)", |c| {
        c.detectors.dsack = Some(DsackForm::Rfc3708);
    }),
    policy("dsack:linux", Question::Spurious, "retransmissions less D-SACKs (Linux)", |c| {
        c.detectors.dsack = Some(DsackForm::Linux);
    }),
    policy("dsack:causes", Question::Spurious, "D-SACKs, but for lost ACKs (Pan et al.)", |c| {
        c.detectors.dsack = Some(DsackForm::Causes);
    }),
    policy("none", Question::Response, "nothing changes, to compare with", |c| {
        c.response = Some(Response::None);
    }),
    policy("stop-gbn", Question::Response, "new data in the reduced window", |c| {
        c.response = Some(Response::StopGbn);
    }),
    policy("half", Question::Response, "new data in half the window (C-2002-07)", |c| {
        c.response = Some(Response::Half);
    }),
    policy("full", Question::Response, "window and ssthresh as before (LK 2000)", |c| {
        c.response = Some(Response::Full);
    }),
    policy("full:scaled", Question::Response, "full, half, none by timeouts (LK 2000)", |c| {
        c.response = Some(Response::FullScaled);
    }),
    policy("ns2:full", Question::Response, "the window is what was outstanding (ns-2)", |c| {
        c.response = Some(Response::Ns2Full);
    }),
    policy("ns2:half", Question::Response, "slow start from half the window (ns-2)", |c| {
        c.response = Some(Response::Ns2Half);
    }),
    policy("ns2:slow-start", Question::Response, "slow start with new data (ns-2)", |c| {
        c.response = Some(Response::Ns2SlowStart);
    }),
    policy("rfc4015", Question::Response, "the Eifel response (RFC 4015)", |c| {
        c.response = Some(Response::Rfc4015);
    }),
    policy("linux", Question::Response, "nothing less than before (Linux undo)", |c| {
        c.response = Some(Response::Linux);
    }),
    policy("linux2.6:halving", Question::Response, "rate halving (Linux 2.6's 0)", |c| {
        c.response = Some(Response::Linux26Halving);
    }),
    policy("linux2.6:conservative", Question::Response, "half at once (Linux 2.6's 1)", |c| {
        c.response = Some(Response::Linux26Conservative);
    }),
    policy("linux2.6:undo", Question::Response, "twice half the window (Linux 2.6's 2)", |c| {
        c.response = Some(Response::Linux26Undo);
    }),
    policy("bsd", Question::Response, "as before, with its recovery (FreeBSD)", |c| {
        c.response = Some(Response::Bsd);
    }),
    policy("minrto", Question::Timer, "A floor for delayed ACKs only (Psaras 2007)", |c| {
        c.rto.floor = RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Paper);
    }),
    policy("minrto:resync", Question::Timer, "The same, counting what is outstanding", |c| {
        c.rto.floor = RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Resync);
    }),
    policy("eifel-timer", Question::Timer, "The Eifel retransmission timer (2000)", |c| {
        c.rto.arithmetic = Arithmetic::Eifel;
        c.rto.sampling = Sampling::EverySegment;
        c.rto.restart_from = RestartFrom::OldestSegment;
    }),
];

const fn policy(
    name: &'static str,
    question: Question,
    about: &'static str,
    set: fn(&mut Config),
) -> Policy {
    Policy { name, question, about, set }
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

fn eifel(config: &mut Config, form: EifelForm) {
    config.detectors.eifel = Some(form);
    config.timestamps = true;
}
