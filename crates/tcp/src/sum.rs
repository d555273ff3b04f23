//! A sender's name: a sum of policies, such as `newreno+frto` or `sack:rfc6675+eifel`.
//!
//! It begins with a loss recovery, whose place a profile may take: `linux-2.4`, `freebsd-4.1+frto`.
//! Several detectors of spurious retransmissions may follow, the first of which to find one is
//! answered; and one response to them, as a term of its own or behind a detector and a colon:
//! `sack+eifel:rfc3522+rfc4015` and `sack+eifel:rfc3522:rfc4015` are the same. Without a response
//! each detector has that of its own publication.

mod policies;
mod prototypes;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use crate::config::{Config, Detectors, PathFact};
use crate::profile::{PROFILES, Profile, Sysctl};
use crate::spurious::Prototype;

pub use policies::POLICIES;

/// One policy that a sum may name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name, with its variant if it has one: `newreno`, `newreno:less-careful`.
    pub name: &'static str,
    /// Which of the questions it answers; a sum has at most one policy for each, but several
    /// detectors.
    pub question: Question,
    /// What it is, in one line.
    pub about: &'static str,
    /// Who published it: a paper or an RFC with its section, or whose source code has it.
    pub source: &'static str,
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
    /// How does the window come down in fast recovery?
    Reduction,
    /// How fast does the window grow, and how far is it cut?
    Congestion,
    /// When does slow start end?
    SlowStart,
    /// What does the network tell?
    Network,
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
            Self::Reduction => "reduction",
            Self::Congestion => "congestion",
            Self::SlowStart => "slow start",
            Self::Network => "network",
        }
    }
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
    /// The kernel's congestion control is none of the engine's.
    #[error(
        "sender `{sum}` has the kernel's congestion control `{found}`; the engine knows cubic and \
         reno"
    )]
    Congestion {
        /// The whole name.
        sum: String,
        /// The congestion control.
        found: String,
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
    sender_on(name, base, &Sysctl::default())
}

/// The same on a host whose kernel is set so: where the sum begins with a system that has such
/// settings, they come behind it and before the policies.
pub fn sender_on(name: &str, base: &Config, kernel: &Sysctl) -> Result<Config, SumError> {
    sender_with(name, base, kernel, &[])
}

/// The same where a sum may name these detectors, too, behind its loss recovery.
pub fn sender_with(
    name: &str,
    base: &Config,
    kernel: &Sysctl,
    prototypes: &[Prototype],
) -> Result<Config, SumError> {
    let (first, rest) = name.split_once('+').map_or((name, None), |(a, b)| (a, Some(b)));
    let mut config = Config { frto: None, detectors: Detectors::default(), ..base.clone() };
    let profile = Profile::find(first);
    let terms = if profile.is_some() { rest } else { Some(name) };
    let Named { policies: chosen, detectors } = named(name, (terms, profile), prototypes)?;
    if let Some(profile) = profile {
        if let (Some(found), Some(_)) = (kernel.unknown_congestion(), profile.kernel) {
            return Err(SumError::Congestion { sum: name.to_string(), found: found.to_string() });
        }
        profile.apply_with(kernel, &mut config);
    }
    for policy in &chosen {
        (policy.set)(&mut config);
    }
    config.detectors.others.extend(detectors.into_iter().cloned());
    for policy in chosen {
        if let Some(needs) = policy.lacks(&config) {
            return Err(SumError::Needs { sum: name.to_string(), found: policy.name, needs });
        }
    }
    Ok(config)
}

/// What a sum names.
struct Named<'a> {
    policies: Vec<&'static Policy>,
    detectors: Vec<&'a Prototype>,
}

/// The policies of the sum `name` that `terms` names; a `profile` before them stands for the loss
/// recovery. Any of `prototypes` may be among them.
fn named<'a>(
    name: &str,
    (terms, profile): (Option<&str>, Option<&'static Profile>),
    prototypes: &'a [Prototype],
) -> Result<Named<'a>, SumError> {
    let mut chosen: Vec<&Policy> = Vec::new();
    let mut detectors: Vec<&Prototype> = Vec::new();
    for term in terms.into_iter().flat_map(|terms| terms.split('+')) {
        let (prototype, term) = prototypes::split(term, prototypes);
        if let Some(prototype) = prototype {
            if chosen.is_empty() && profile.is_none() {
                return Err(SumError::NoRecovery { sum: name.to_string() });
            }
            if detectors.contains(&prototype) {
                let (first, second) = (prototype.name, prototype.name);
                return Err(SumError::Twice { sum: name.to_string(), first, second });
            }
            detectors.push(prototype);
        }
        let Some(term) = term else { continue };
        for policy in policies_of(term) {
            let policy = policy.ok_or_else(|| {
                let own = prototypes.iter().map(|prototype| prototype.name);
                let known = self::terms().chain(own).collect::<Vec<_>>().join(", ");
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
    Ok(Named { policies: chosen, detectors })
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
        if self.detects() && other.detects() && family(self) == family(other) {
            return true;
        }
        match (self.question, other.question) {
            (Question::Spurious, Question::Spurious) => false,
            (own, others) if own == others => true,
            (Question::Timeout, _) => family(other) == Some("dualrtt"),
            (_, Question::Timeout) => family(self) == Some("dualrtt"),
            _ => false,
        }
    }

    /// What it needs and `config` lacks.
    fn lacks(&self, config: &Config) -> Option<&'static str> {
        match self.question {
            Question::Response if config.frto.is_none() && config.detectors.is_empty() => {
                Some("a detector, such as `eifel`")
            }
            Question::Reduction if self.name.starts_with("prr") && !config.tells_delivered() => {
                Some("`sack` or `rack`, but not ns-2's: SACK tells what is delivered")
            }
            Question::Spurious if self.name.starts_with("dsack") && !config.sack => {
                Some("`sack`, for D-SACKs are SACK options")
            }
            Question::Spurious if self.name.starts_with("dualrtt") => {
                config.dualrtt.lacks().map(|fact| match fact {
                    PathFact::Rate => "the path's bandwidth, as `tcp.dualrtt.path_rate`",
                    PathFact::Delay => "the path's one-way delay, as `tcp.dualrtt.path_delay`",
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::slice::from_ref;

    use rtolab_time::Duration;

    use super::*;
    use crate::config::{Algorithm, Bugfix, FrtoVariant, Parity, RtoFloor};
    use crate::spurious::detector;

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
        assert!(message("sack+eifel:forward+eifel").contains("both `eifel:forward` and `eifel`"));
        assert!(message("frto").contains("must begin with its loss recovery"));
        assert!(message("linux-2.4+sack").contains("names both `linux-2.4` and `sack`"));
        assert!(message("sack+linux-2.4").contains("unknown policy `linux-2.4`"));
        assert!(message("linux-2.5").ends_with("ns2-2006, linux, freebsd-14, gvisor, smoltcp"));
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
    fn every_policy_says_what_it_is_and_where_from() {
        for (index, policy) in POLICIES.iter().enumerate() {
            assert!(!policy.about.is_empty() && !policy.source.is_empty(), "{}", policy.name);
            assert!(!policy.about.contains(policy.source), "{}", policy.name);
            let others = &POLICIES[index + 1..];
            assert!(others.iter().all(|other| other.name != policy.name), "{}", policy.name);
        }
    }

    #[test]
    fn a_sum_may_name_what_no_table_lists() {
        let own = Prototype { name: "own", ..Prototype::from(detector("dualrtt").unwrap()) };
        let base = Config::default();
        let with = |name| sender_with(name, &base, &Sysctl::default(), from_ref(&own));
        let acting = with("sack+own:rfc4015").unwrap();
        assert_eq!(acting.detectors.others, from_ref(&own));
        assert_eq!(acting, with("sack+own+rfc4015").unwrap());
        assert_eq!(acting.response, sender("sack+eifel:rfc4015", &base).unwrap().response);
        assert_eq!(with("linux+own").unwrap().detectors.others.len(), 2);
        let message = |name| with(name).unwrap_err().to_string();
        assert!(message("own+sack").contains("must begin with its loss recovery"));
        assert!(message("sack+own+own").contains("names both `own` and `own`"));
        assert!(message("sack+other").ends_with("smoltcp, own"));
        assert!(sender("sack+own", &base).is_err());
    }

    #[test]
    fn a_floor_may_be_one_of_the_terms() {
        let floor = sender("sack+eifel+minrto:resync", &Config::default()).unwrap().rto.floor;
        assert_eq!(floor, RtoFloor::DelayedAck(Duration::from_millis(500), Parity::Resync));
    }
}
