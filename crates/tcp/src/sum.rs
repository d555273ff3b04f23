//! A sender's name: a sum of policies, such as `newreno+frto` or `sack:rfc6675+eifel`.
//!
//! It begins with a loss recovery, whose place a profile may take: `linux-2.4`, `freebsd-4.1+frto`.
//! Several detectors of spurious retransmissions may follow, the first of which to find one is
//! answered; and one response to them, as a term of its own or behind a detector and a colon:
//! `sack+eifel:rfc3522+rfc4015` and `sack+eifel:rfc3522:rfc4015` are the same. Without a response
//! each detector has that of its own publication.

mod named;
mod policies;
mod prototypes;

use alloc::string::{String, ToString};

use thiserror::Error;

use crate::config::{Config, Detectors, PathFact};
use crate::profile::{PROFILES, Profile, Sysctl};

use named::named;
pub use policies::POLICIES;
pub use prototypes::Prototypes;

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
    sender_with(name, base, kernel, &Prototypes::default())
}

/// The same where a sum may name these, too, behind its loss recovery. The response of `base` is its
/// own where it says nothing of that.
pub fn sender_with(
    name: &str,
    base: &Config,
    kernel: &Sysctl,
    prototypes: &Prototypes,
) -> Result<Config, SumError> {
    let (first, rest) = name.split_once('+').map_or((name, None), |(a, b)| (a, Some(b)));
    let mut config =
        Config { frto: None, detectors: Detectors::default(), responder: None, ..base.clone() };
    let profile = Profile::find(first);
    let terms = if profile.is_some() { rest } else { Some(name) };
    let named = named(name, (terms, profile), prototypes)?;
    if let Some(profile) = profile {
        if let (Some(found), Some(_)) = (kernel.unknown_congestion(), profile.kernel) {
            return Err(SumError::Congestion { sum: name.to_string(), found: found.to_string() });
        }
        profile.apply_with(kernel, &mut config);
    }
    for policy in &named.policies {
        (policy.set)(&mut config);
    }
    config.detectors.others.extend(named.detectors.into_iter().cloned());
    config.responder = named.response.cloned().or(config.responder);
    let needs = |found, needs| SumError::Needs { sum: name.to_string(), found, needs };
    for policy in named.policies {
        if let Some(lacks) = policy.lacks(&config) {
            return Err(needs(policy.name, lacks));
        }
    }
    match &config.responder {
        Some(own) if detects_nothing(&config) => Err(needs(own.name, A_DETECTOR)),
        None if config.response.is_none() => {
            Ok(Config { responder: base.responder.clone(), ..config })
        }
        _ => Ok(config),
    }
}

/// What a response needs.
const A_DETECTOR: &str = "a detector, such as `eifel`";

fn detects_nothing(config: &Config) -> bool {
    config.frto.is_none() && config.detectors.is_empty()
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
            Question::Response if detects_nothing(config) => Some(A_DETECTOR),
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
    use crate::response::{self, Responder, Situation};
    use crate::spurious::{Prototype, detector};
    use alloc::boxed::Box;

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
        let prototypes = Prototypes { detectors: [own.clone()].into(), ..Prototypes::default() };
        let with = |name| sender_with(name, &base, &Sysctl::default(), &prototypes);
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

    #[derive(Clone, Debug)]
    struct Keeps;

    impl Responder for Keeps {
        fn on_spurious(&mut self, _: &Situation) -> Option<response::Answer> {
            None
        }
    }

    #[test]
    fn a_sum_may_name_a_response_that_no_table_lists() {
        let detector = Prototype { name: "own", ..Prototype::from(detector("dualrtt").unwrap()) };
        let keeps = |name| response::Prototype { name, responder: Box::new(Keeps) };
        let prototypes = Prototypes {
            detectors: [detector].into(),
            responses: ["mine", "keeps"].map(keeps).into(),
        };
        let base = Config::default();
        let with = |name| sender_with(name, &base, &Sysctl::default(), &prototypes);
        for name in ["sack+eifel:mine", "sack+eifel+mine", "sack+own:mine", "linux+mine"] {
            assert_eq!(with(name).unwrap().responder, Some(keeps("mine")), "{name}");
        }
        assert_eq!(with("sack+eifel:mine"), with("sack+mine+eifel"));
        assert_ne!(with("sack+eifel:mine"), with("sack+eifel"));
        let message = |name| with(name).unwrap_err().to_string();
        assert!(message("sack+mine").contains("needs a detector"));
        assert!(message("mine+sack+eifel").contains("must begin with its loss recovery"));
        assert!(message("sack+prr:mine").starts_with("unknown policy `prr` in sender"));
        assert!(message("sack+eifel:rfc4015+mine").contains("both `rfc4015` and `mine`"));
        assert!(message("sack+mine+eifel:rfc4015").contains("both `mine` and `rfc4015`"));
        assert!(message("sack+eifel:mine+keeps").contains("both `mine` and `keeps`"));
        assert!(message("sack+eifel:other").ends_with("smoltcp, own, mine, keeps"));
    }

    #[test]
    fn a_floor_may_be_one_of_the_terms() {
        let rto = sender("sack+eifel+minrto:resync", &Config::default()).unwrap().rto;
        assert_eq!(rto.floor, RtoFloor::DelayedAck(Duration::from_millis(500)));
        assert_eq!(rto.delayed_ack_parity, Parity::Resync);
    }
}
