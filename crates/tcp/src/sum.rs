//! A sender's name: a sum of policies, such as `newreno+frto` or `sack:rfc6675+eifel`.
//!
//! It begins with a loss recovery, whose place a profile may take: `linux-2.4`, `freebsd-4.1+frto`.
//! Several detectors of spurious retransmissions may follow, the first of which to find one is
//! answered; and one response to them, as a term of its own or behind a detector and a colon:
//! `sack+eifel:rfc3522+rfc4015` and `sack+eifel:rfc3522:rfc4015` are the same. Without a response
//! each detector has that of its own publication.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use rtolab_time::Duration;

use crate::config::{
    Algorithm, Bugfix, Config, Detectors, DsackForm, EifelForm, FrtoVariant, Parity,
    PartialAckTimer, Response, RtoFloor, SackRules,
};
use crate::profile::{PROFILES, Profile};

/// One policy that a sum may name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name, with its variant if it has one: `newreno`, `newreno:less-careful`.
    pub name: &'static str,
    /// Which of the questions it answers; a sum has at most one policy for each, but several
    /// detectors.
    pub question: Question,
    /// What it is, in one sentence with its source.
    pub about: &'static str,
    set: fn(&mut Config),
}

/// The questions that the RFCs keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is lost? Every sum begins with a policy for this one.
    Recovery,
    /// What is sent after a timeout until it is settled, and was it wrong?
    Timeout,
    /// Was a retransmission wrong?
    Spurious,
    /// What then?
    Response,
    /// How long is waited for an acknowledgment?
    Timer,
}

impl Question {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::Spurious => "spurious",
            Self::Response => "response",
            Self::Timer => "timer",
        }
    }
}

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
    policy("bsd", Question::Response, "as before, with its recovery (FreeBSD)", |c| {
        c.response = Some(Response::Bsd);
    }),
    policy("minrto", Question::Timer, "A floor for delayed ACKs only (Psaras 2007)", |c| {
        c.rto.floor = RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Paper);
    }),
    policy("minrto:resync", Question::Timer, "The same, counting what is outstanding", |c| {
        c.rto.floor = RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Resync);
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

/// Why a name is no sender.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SumError {
    /// No policy of that name.
    #[error("unknown policy `{found}` in sender `{sum}`; known are {known}")]
    Unknown {
        /// The whole name.
        sum: String,
        /// The term that is not known.
        found: String,
        /// All that are.
        known: String,
    },
    /// Two policies for one question.
    #[error("sender `{sum}` names both `{first}` and `{second}`, of which one rules out the other")]
    Twice {
        /// The whole name.
        sum: String,
        /// The first policy.
        first: &'static str,
        /// The one that conflicts with it.
        second: &'static str,
    },
    /// A policy lacks another.
    #[error("sender `{sum}` names `{found}`, which needs {needs}")]
    Needs {
        /// The whole name.
        sum: String,
        /// The policy.
        found: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// It does not begin with loss recovery.
    #[error("sender `{sum}` must begin with its loss recovery, such as `newreno` or `sack`")]
    NoRecovery {
        /// The whole name.
        sum: String,
    },
}

/// Every term that a sum may begin with or go on with: profiles last.
pub fn terms() -> impl Iterator<Item = &'static str> {
    let policies = POLICIES.iter().map(|policy| policy.name);
    policies.chain(PROFILES.iter().map(|profile| profile.name))
}

/// The settings of `base`, changed as the sum of policies `name` says.
pub fn sender(name: &str, base: &Config) -> Result<Config, SumError> {
    let (first, rest) = name.split_once('+').map_or((name, None), |(a, b)| (a, Some(b)));
    let mut config = Config { frto: None, detectors: Detectors::default(), ..base.clone() };
    let profile = Profile::find(first);
    let chosen = policies(name, if profile.is_some() { rest } else { Some(name) }, profile)?;
    if let Some(profile) = profile {
        profile.apply(&mut config);
    }
    for policy in &chosen {
        (policy.set)(&mut config);
    }
    for policy in chosen {
        if let Some(needs) = policy.lacks(&config) {
            return Err(SumError::Needs { sum: name.to_string(), found: policy.name, needs });
        }
    }
    Ok(config)
}

/// The policies of the sum `name` that `terms` names; a `profile` before them stands for the loss
/// recovery.
fn policies(
    name: &str,
    terms: Option<&str>,
    profile: Option<&'static Profile>,
) -> Result<Vec<&'static Policy>, SumError> {
    let mut chosen: Vec<&Policy> = Vec::new();
    for term in terms.into_iter().flat_map(|terms| terms.split('+')) {
        for policy in policies_of(term) {
            let policy = policy.ok_or_else(|| {
                let known = self::terms().collect::<Vec<_>>().join(", ");
                SumError::Unknown { sum: name.to_string(), found: term.to_string(), known }
            })?;
            let first = match (profile, policy.question) {
                (Some(profile), Question::Recovery) => Some(profile.name),
                _ => chosen.iter().find(|other| other.rules_out(policy)).map(|other| other.name),
            };
            if let Some(first) = first {
                let sum = name.to_string();
                return Err(SumError::Twice { sum, first, second: policy.name });
            }
            chosen.push(policy);
        }
    }
    let recovers = chosen.first().is_some_and(|policy| policy.question == Question::Recovery);
    if profile.is_none() && !recovers {
        return Err(SumError::NoRecovery { sum: name.to_string() });
    }
    Ok(chosen)
}

/// The policies that one term names: itself, or a detector and behind a colon its response.
fn policies_of(term: &str) -> impl Iterator<Item = Option<&'static Policy>> {
    let named = |name: &str| POLICIES.iter().find(|policy| policy.name == name);
    let joined = || {
        let colons = term.match_indices(':').map(|(at, _)| (&term[..at], &term[at + 1..]));
        let mut pairs = colons.filter_map(|(head, tail)| Some((named(head)?, named(tail)?)));
        pairs.find(|(head, tail)| head.detects() && tail.question == Question::Response)
    };
    match (named(term), joined()) {
        (None, Some((head, tail))) => [Some(Some(head)), Some(Some(tail))],
        (policy, _) => [Some(policy), None],
    }
    .into_iter()
    .flatten()
}

impl Policy {
    /// Is it a detector of spurious retransmissions?
    const fn detects(&self) -> bool {
        matches!(self.question, Question::Timeout | Question::Spurious)
    }

    /// May the other not stand beside it? Of one detector only one form may; and F-RTO sends no
    /// second retransmission, whose answer DualRTT waits for.
    fn rules_out(&self, other: &Self) -> bool {
        let family = |policy: &Self| policy.name.split(':').next();
        match (self.question, other.question) {
            (Question::Spurious, Question::Spurious) => family(self) == family(other),
            (own, others) if own == others => true,
            (Question::Timeout, _) => other.name == "dualrtt",
            (_, Question::Timeout) => self.name == "dualrtt",
            _ => false,
        }
    }

    /// What it needs and `config` lacks.
    fn lacks(&self, config: &Config) -> Option<&'static str> {
        match self.question {
            Question::Response if config.frto.is_none() && config.detectors.is_empty() => {
                Some("a detector, such as `eifel`")
            }
            Question::Spurious if self.name.starts_with("dsack") && !config.sack => {
                Some("`sack`, for D-SACKs are SACK options")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_sets_what_its_policies_say_and_nothing_else() {
        let base = Config::default();
        let config = sender("newreno:less-careful+frto", &base).unwrap();
        assert_eq!(config.recovery.bugfix, Bugfix::LessCareful);
        assert!(config.frto == Some(FrtoVariant::Report) && !config.sack);
        assert!(config.detectors.is_empty());
        assert_eq!(config.rto, base.rto);
        assert!(sender("sack+eifel", &base).unwrap().timestamps);
        let reno = sender("reno:no-bugfix", &base).unwrap().recovery;
        assert_eq!((reno.algorithm, reno.bugfix), (Algorithm::Reno, Bugfix::None));
    }

    #[test]
    fn a_wrong_sum_says_what_is_wrong() {
        let base = Config::default();
        let message = |name| sender(name, &base).unwrap_err().to_string();
        assert!(message("sack+frot").starts_with("unknown policy `frot` in sender `sack+frot`"));
        assert!(message("sack+newreno").contains("names both `sack` and `newreno`"));
        assert!(message("frto").contains("must begin with its loss recovery"));
        assert!(message("linux-2.4+sack").contains("names both `linux-2.4` and `sack`"));
        assert!(message("sack+linux-2.4").contains("unknown policy `linux-2.4`"));
        assert!(message("linux-2.5").ends_with("ns2-2001, ns2-2006"));
    }

    #[test]
    fn a_profile_may_stand_first() {
        let base = Config::default();
        let config = sender("freebsd-4.1+frto", &base).unwrap();
        assert_eq!(config.recovery.algorithm, Algorithm::Reno);
        assert!(config.frto.is_some() && !config.sack);
        for profile in PROFILES {
            assert_ne!(sender(profile.name, &base).unwrap(), base, "{}", profile.name);
            assert!(profile.quirks.iter().all(|quirk| !quirk.source.is_empty()));
        }
    }

    #[test]
    fn a_floor_may_be_one_of_the_terms() {
        let floor = sender("sack+eifel+minrto:resync", &Config::default()).unwrap().rto.floor;
        assert_eq!(floor, RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Resync));
    }
}
