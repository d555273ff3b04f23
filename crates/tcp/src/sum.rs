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

use crate::config::{Config, Detectors, PathFact, Reduction};
use crate::profile::{PROFILES, Profile, Sysctl};
use crate::spurious::{DetectorError, DetectorId, DetectorKind, Family, Needs};

use named::named;
use policies::{OTHERS, RECOVERIES, controls};
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
    sets: Sets,
}

/// What a policy sets.
#[derive(Clone, Copy)]
enum Sets {
    Knobs(fn(&mut Config)),
    Detector(DetectorId),
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
    /// A detector's threshold is out of range.
    #[error("{error} (in sender `{sum}`)")]
    Detector {
        /// The whole name.
        sum: String,
        /// What is wrong.
        error: DetectorError,
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

/// Every policy that a sum may name; with a threshold, such as `dualrtt:0.04`, DualRTT is one, too.
pub fn policies() -> impl Iterator<Item = Policy> {
    let detectors = DetectorId::all_acting().filter_map(Policy::of_detector);
    RECOVERIES.iter().copied().chain(detectors).chain(controls()).chain(OTHERS.iter().copied())
}

/// Every term that a sum may begin with or go on with: profiles last.
pub fn terms() -> impl Iterator<Item = &'static str> {
    policies().map(|policy| policy.name).chain(PROFILES.iter().map(|profile| profile.name))
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
        match policy.sets {
            Sets::Knobs(set) => set(&mut config),
            Sets::Detector(id) => config.act_on(id),
        }
    }
    for own in named.detectors {
        config.detectors.add_custom(own.clone());
    }
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
    /// A sender acts on this detector.
    fn of_detector(id: DetectorId) -> Option<Self> {
        let DetectorKind { name, about, source, .. } = *id.kind()?;
        let question = id.variant().map_or(Question::Spurious, |_| Question::Timeout);
        id.acting()?;
        Some(Self { name, question, about, source, sets: Sets::Detector(id) })
    }

    /// The detector that it is.
    const fn detector(&self) -> Option<DetectorId> {
        match self.sets {
            Sets::Detector(id) => Some(id),
            Sets::Knobs(_) => None,
        }
    }

    /// Which detectors rule out one another, if it is one.
    fn family(&self) -> Option<Family> {
        Some(self.detector()?.acting()?.family)
    }

    /// May the other not stand beside it? Of one family of detectors only one may; and F-RTO sends no
    /// second retransmission, whose answer DualRTT waits for.
    fn rules_out(&self, other: &Self) -> bool {
        match (self.question, other.question) {
            (Question::Spurious | Question::Timeout, Question::Spurious | Question::Timeout) => {
                let families = [self.family(), other.family()];
                let both = [self.question, other.question];
                self.detector() == other.detector()
                    || (families[0] == families[1] && families[0] != Some(Family::Single))
                    || both == [Question::Timeout; 2]
                    || (both.contains(&Question::Timeout)
                        && families.contains(&Some(Family::DualRtt)))
            }
            (own, others) => own == others,
        }
    }

    /// What it needs and `config` lacks.
    fn lacks(&self, config: &Config) -> Option<&'static str> {
        let needs = self.detector().and_then(|id| id.acting()?.needs);
        match self.question {
            Question::Response if detects_nothing(config) => Some(A_DETECTOR),
            Question::Reduction
                if matches!(config.recovery.reduction, Reduction::Prr(_))
                    && !config.tells_delivered() =>
            {
                Some("`sack` or `rack`, but not ns-2's: SACK tells what is delivered")
            }
            Question::Spurious if needs == Some(Needs::Dsack) && !config.sack => {
                Some("`sack`, for D-SACKs are SACK options")
            }
            Question::Spurious if self.family() == Some(Family::DualRtt) => {
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
    use rtolab_time::Duration;

    use super::*;
    use crate::config::{Algorithm, Bugfix, FrtoVariant, Parity, RtoFloor, Threshold};
    use crate::response::{self, Responder, Situation};
    use crate::spurious::{CustomDetector, DETECTORS};
    use alloc::boxed::Box;
    use alloc::vec::Vec;

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
        let all: Vec<_> = policies().collect();
        for (index, policy) in all.iter().enumerate() {
            assert!(!policy.about.is_empty() && !policy.source.is_empty(), "{}", policy.name);
            assert!(!policy.about.contains(policy.source), "{}", policy.name);
            let others = &all[index + 1..];
            assert!(others.iter().all(|other| other.name != policy.name), "{}", policy.name);
        }
    }

    fn own() -> CustomDetector {
        CustomDetector { name: "own", ..CustomDetector::from(&DETECTORS[0]) }
    }

    #[test]
    fn dualrtt_may_have_a_threshold_in_its_name() {
        let base = Config::default();
        let config = sender("sack+dualrtt:0.04:half", &base).unwrap();
        assert_eq!(config.dualrtt.threshold, Threshold::Fixed(40));
        assert!(config.detectors.iter().eq(["dualrtt:0.04"]));
        let message = |name: &str| sender(name, &base).unwrap_err().to_string();
        for wrong in ["0", "1", "1.5", "0.0004", "0.", ".4", "-0.1"] {
            let told = message(&alloc::format!("sack+dualrtt:{wrong}"));
            let begins =
                alloc::format!("found the threshold of `dualrtt:{wrong}`; expected a part");
            assert!(told.starts_with(&begins), "{told}");
        }
        assert!(message("sack+dualrtt:0.04+dualrtt:table").contains("names both `dualrtt`"));
    }

    #[test]
    fn a_sum_may_name_what_no_table_lists() {
        let own = own();
        let base = Config::default();
        let prototypes = Prototypes { detectors: [own.clone()].into(), ..Prototypes::default() };
        let with = |name| sender_with(name, &base, &Sysctl::default(), &prototypes);
        let acting = with("sack+own:rfc4015").unwrap();
        assert!(acting.detectors.iter().eq([own.id()]));
        assert_eq!(acting, with("sack+own+rfc4015").unwrap());
        assert_eq!(acting.response, sender("sack+eifel:rfc4015", &base).unwrap().response);
        assert_eq!(with("linux+own").unwrap().detectors.iter().count(), 2);
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
        let detector = own();
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
