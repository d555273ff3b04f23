//! A sender's name: a sum of policies, such as `newreno+frto` or `sack:rfc6675+eifel`.
//!
//! It begins with a loss recovery. Several detectors of spurious retransmissions may follow, the
//! first of which to find one is answered; and one response to them, as a term of its own or behind
//! a detector and a colon: `sack+eifel:rfc3522+rfc4015` and `sack+eifel:rfc3522:rfc4015` are the
//! same. Without a response each detector has that of its own publication.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use crate::config::{
    Algorithm, Bugfix, Config, Detectors, DsackForm, EifelForm, PartialAckTimer, Response,
    SackRules,
};

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
}

impl Question {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::Spurious => "spurious",
            Self::Response => "response",
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
    policy("frto", Question::Timeout, "F-RTO as in report C-2002-07 section 3", |c| c.frto = true),
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

/// The settings of `base`, changed as the sum of policies `name` says.
pub fn sender(name: &str, base: &Config) -> Result<Config, SumError> {
    let mut chosen: Vec<&Policy> = Vec::new();
    for term in name.split('+') {
        for policy in policies_of(term) {
            let policy = policy.ok_or_else(|| {
                let known = POLICIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
                SumError::Unknown { sum: name.to_string(), found: term.to_string(), known }
            })?;
            if let Some(other) = chosen.iter().find(|other| other.rules_out(policy)) {
                let sum = name.to_string();
                return Err(SumError::Twice { sum, first: other.name, second: policy.name });
            }
            chosen.push(policy);
        }
    }
    if chosen.first().is_none_or(|policy| policy.question != Question::Recovery) {
        return Err(SumError::NoRecovery { sum: name.to_string() });
    }
    let mut config = Config { frto: false, detectors: Detectors::default(), ..base.clone() };
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
            Question::Response if !config.frto && config.detectors.is_empty() => {
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
        assert!(config.frto && !config.sack && config.detectors.is_empty());
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
    }
}
