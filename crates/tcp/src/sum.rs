//! A sender's name: a sum of policies, such as `newreno+frto` or `sack:rfc6675+eifel`. A profile may
//! take the place of the loss recovery: `linux-2.4`, `freebsd-4.1+frto`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use rtolab_time::Duration;

use crate::config::{
    Algorithm, Bugfix, Config, FrtoVariant, Parity, PartialAckTimer, RtoFloor, SackRules,
};
use crate::profile::{PROFILES, Profile};

/// One policy that a sum may name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name, with its variant if it has one: `newreno`, `newreno:less-careful`.
    pub name: &'static str,
    /// Which of the questions it answers; a sum has at most one policy for each.
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
    /// How long is waited for an acknowledgment?
    Timer,
}

impl Question {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
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
    policy("eifel", Question::Timeout, "Eifel by timestamps, full response (LK 2000)", |c| {
        c.eifel = true;
        c.timestamps = true;
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
    let mut config = Config { frto: None, eifel: false, ..base.clone() };
    let Some(profile) = Profile::find(first) else {
        return policies(name, Some(name), None).map(|chosen| applied(config, &chosen));
    };
    let chosen = policies(name, rest, Some(profile))?;
    profile.apply(&mut config);
    Ok(applied(config, &chosen))
}

fn applied(mut config: Config, chosen: &[&Policy]) -> Config {
    for policy in chosen {
        (policy.set)(&mut config);
    }
    config
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
        let policy = POLICIES.iter().find(|policy| policy.name == term).ok_or_else(|| {
            let known = self::terms().collect::<Vec<_>>().join(", ");
            SumError::Unknown { sum: name.to_string(), found: term.to_string(), known }
        })?;
        if let (Some(profile), Question::Recovery) = (profile, policy.question) {
            let sum = name.to_string();
            return Err(SumError::Twice { sum, first: profile.name, second: policy.name });
        }
        if let Some(other) = chosen.iter().find(|other| other.question == policy.question) {
            let sum = name.to_string();
            return Err(SumError::Twice { sum, first: other.name, second: policy.name });
        }
        chosen.push(policy);
    }
    let recovers = chosen.first().is_some_and(|policy| policy.question == Question::Recovery);
    if profile.is_none() && !recovers {
        return Err(SumError::NoRecovery { sum: name.to_string() });
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_sets_what_its_policies_say_and_nothing_else() {
        let base = Config::default();
        let config = sender("newreno:less-careful+frto", &base).unwrap();
        assert_eq!(config.recovery.bugfix, Bugfix::LessCareful);
        assert!(config.frto == Some(FrtoVariant::Report) && !config.sack && !config.eifel);
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
