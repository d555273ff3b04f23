//! Sender specifications, such as `newreno+frto` or `sack:rfc6675+eifel`: policies joined by `+`.
//!
//! The first term is a loss recovery, or a profile in its place: `linux-2.4`, `freebsd-4.1+frto`.
//! Several detectors of spurious retransmissions may follow; the sender responds to the first one
//! that detects. One response may follow, as a term of its own or after a detector and a colon:
//! `sack+eifel:rfc3522+rfc4015` equals `sack+eifel:rfc3522:rfc4015`. Without a response, the
//! default response of the detector applies.

mod custom;
mod parse;
mod policies;

use alloc::string::{String, ToString};

use thiserror::Error;

use crate::config::{Config, Detectors, PathFact, Reduction, Response};
use crate::profile::{PROFILES, Profile, Sysctl};
use crate::spurious::{DetectorError, DetectorId, DetectorKind, Family, Needs};

pub use custom::CustomPolicies;
use parse::parse;
use policies::{OTHERS, RECOVERIES, controls, responses};

/// A policy that a specification may name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name, with its variant if it has one: `newreno`, `newreno:less-careful`.
    pub name: &'static str,
    /// The question that it answers. A specification has at most one policy for each question, but
    /// any number of detectors.
    pub question: Question,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its publication: a paper or RFC with its section, or source code.
    pub source: &'static str,
    sets: Sets,
}

/// What a policy sets.
#[derive(Clone, Copy)]
enum Sets {
    Config(fn(&mut Config)),
    Detector(DetectorId),
    Response(Response),
}

/// The questions that the RFCs separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is lost? Every specification begins with a policy for this question.
    Recovery,
    /// What is sent after a timeout, and was the timeout spurious?
    Timeout,
    /// Was a retransmission spurious?
    Spurious,
    /// What is the response to a spurious retransmission?
    Response,
    /// How long is the retransmission timeout?
    Timer,
    /// How is cwnd reduced in fast recovery?
    Reduction,
    /// How does cwnd grow, and how far is it reduced?
    Congestion,
    /// When does slow start end?
    SlowStart,
    /// How much reordering is tolerated?
    Reordering,
    /// Which signals does the network send?
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
            Self::Reordering => "reordering",
            Self::Network => "network",
        }
    }
}

/// Why a sender specification is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecificationError {
    /// No policy of that name.
    #[error("unknown policy `{found}` in sender `{spec}`; expected {expected}")]
    Unknown {
        /// The specification.
        spec: String,
        /// The unknown term.
        found: String,
        /// The terms that are nearest to it.
        expected: String,
    },
    /// A detector's threshold is out of range.
    #[error("{error} (in sender `{spec}`)")]
    Detector {
        /// The specification.
        spec: String,
        /// What is wrong.
        error: DetectorError,
    },
    /// Two policies for one question.
    #[error(
        "sender `{spec}` names both `{first}` and `{second}`, of which one rules out the other"
    )]
    Twice {
        /// The specification.
        spec: String,
        /// The first policy.
        first: &'static str,
        /// The one that conflicts with it.
        second: &'static str,
    },
    /// A policy lacks another.
    #[error("sender `{spec}` names `{found}`, which needs {needs}")]
    Needs {
        /// The specification.
        spec: String,
        /// The policy.
        found: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// The engine lacks the kernel's congestion control.
    #[error(
        "sender `{spec}` has the kernel's congestion control `{found}`; the engine knows cubic and \
         reno"
    )]
    Congestion {
        /// The specification.
        spec: String,
        /// The congestion control.
        found: String,
    },
    /// It does not begin with loss recovery.
    #[error("sender `{spec}` must begin with its loss recovery, such as `newreno` or `sack`")]
    NoRecovery {
        /// The specification.
        spec: String,
    },
}

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

/// The settings of `base`, changed by the sender specification `name`.
pub fn sender(name: &str, base: &Config) -> Result<Config, SpecificationError> {
    sender_on(name, base, &Sysctl::default())
}

/// As [`sender`], on a host with these kernel settings. If the specification begins with a system
/// that has such settings, they apply after its profile and before the policies.
pub fn sender_on(name: &str, base: &Config, kernel: &Sysctl) -> Result<Config, SpecificationError> {
    sender_with(name, base, kernel, &CustomPolicies::default())
}

/// As [`sender_on`], where the specification may name `custom` policies after its loss recovery.
/// The response of `base` applies if the specification has none.
pub fn sender_with(
    name: &str,
    base: &Config,
    kernel: &Sysctl,
    custom: &CustomPolicies,
) -> Result<Config, SpecificationError> {
    let (first, rest) = name.split_once('+').map_or((name, None), |(a, b)| (a, Some(b)));
    let mut config =
        Config { frto: None, detectors: Detectors::default(), responder: None, ..base.clone() };
    let profile = Profile::find(first);
    let terms = if profile.is_some() { rest } else { Some(name) };
    let parsed = parse(name, (terms, profile), custom)?;
    if let Some(profile) = profile {
        if let (Some(found), Some(_)) = (kernel.unknown_congestion(), profile.kernel) {
            return Err(SpecificationError::Congestion {
                spec: name.to_string(),
                found: found.to_string(),
            });
        }
        profile.apply_with(kernel, &mut config);
    }
    for policy in &parsed.policies {
        match policy.sets {
            Sets::Config(set) => set(&mut config),
            Sets::Detector(id) => config.act_on(id),
            Sets::Response(response) => config.response = Some(response),
        }
    }
    for own in parsed.detectors {
        config.detectors.add_custom(own.clone());
    }
    config.responder = parsed.response.cloned().or(config.responder);
    let needs = |found, needs| SpecificationError::Needs { spec: name.to_string(), found, needs };
    for policy in parsed.policies {
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
    /// The policy of a sender that acts on this detector.
    fn of_detector(id: DetectorId) -> Option<Self> {
        let DetectorKind { name, about, source, .. } = *id.kind()?;
        let question = id.variant().map_or(Question::Spurious, |_| Question::Timeout);
        id.acting()?;
        Some(Self { name, question, about, source, sets: Sets::Detector(id) })
    }

    /// The detector, if the policy is one.
    const fn detector(&self) -> Option<DetectorId> {
        match self.sets {
            Sets::Detector(id) => Some(id),
            Sets::Config(_) | Sets::Response(_) => None,
        }
    }

    /// The family of detectors that exclude each other, if the policy is a detector.
    fn family(&self) -> Option<Family> {
        Some(self.detector()?.acting()?.family)
    }

    /// Does it exclude the other? Only one detector of a family is allowed, and F-RTO excludes
    /// DualRTT, which waits for the ACK of a second retransmission.
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

    /// The policy or setting that it needs and `config` lacks.
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
    use crate::response::{CustomResponse, Responder, ResponseAction, ResponseContext};
    use crate::spurious::{CustomDetector, DETECTORS};
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    #[test]
    fn a_specification_sets_what_its_policies_set_and_nothing_else() {
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
    fn an_invalid_specification_yields_the_reason() {
        let base = Config::default();
        let message = |name| sender(name, &base).unwrap_err().to_string();
        assert!(message("sack+frot").starts_with("unknown policy `frot` in sender `sack+frot`"));
        assert!(message("sack+newreno").contains("names both `sack` and `newreno`"));
        assert!(message("sack+eifel:forward+eifel").contains("both `eifel:forward` and `eifel`"));
        assert!(message("frto").contains("must begin with its loss recovery"));
        assert!(message("linux-2.4+sack").contains("names both `linux-2.4` and `sack`"));
        assert!(message("sack+linux-2.4").contains("unknown policy `linux-2.4`"));
        assert!(message("linux-2.5").contains("linux-2.4"));
    }

    #[test]
    fn a_profile_may_be_the_first_term() {
        let base = Config::default();
        let config = sender("freebsd-4.1+frto", &base).unwrap();
        assert_eq!(config.recovery.algorithm, Algorithm::Reno);
        assert!(config.frto.is_some() && !config.sack);
        for profile in PROFILES {
            assert_ne!(sender(profile.name, &base).unwrap(), base, "{}", profile.name);
            assert!(profile.sends.iter().all(|behaviour| !behaviour.source.is_empty()));
        }
    }

    #[test]
    fn every_policy_has_a_description_and_a_source() {
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
            let error = message(&alloc::format!("sack+dualrtt:{wrong}"));
            let begins =
                alloc::format!("found the threshold of `dualrtt:{wrong}`; expected a part");
            assert!(error.starts_with(&begins), "{error}");
        }
        assert!(message("sack+dualrtt:0.04+dualrtt:table").contains("names both `dualrtt`"));
    }

    #[test]
    fn a_specification_may_name_a_custom_detector() {
        let own = own();
        let base = Config::default();
        let custom =
            CustomPolicies { detectors: [own.clone()].into(), ..CustomPolicies::default() };
        let with = |name| sender_with(name, &base, &Sysctl::default(), &custom);
        let acting = with("sack+own:rfc4015").unwrap();
        assert!(acting.detectors.iter().eq([own.id()]));
        assert_eq!(acting, with("sack+own+rfc4015").unwrap());
        assert_eq!(acting.response, sender("sack+eifel:rfc4015", &base).unwrap().response);
        assert_eq!(with("linux+own").unwrap().detectors.iter().count(), 2);
        let message = |name| with(name).unwrap_err().to_string();
        assert!(message("own+sack").contains("must begin with its loss recovery"));
        assert!(message("sack+own+own").contains("names both `own` and `own`"));
        assert!(message("sack+owm").ends_with("did you mean \"own\"?"));
        assert!(sender("sack+own", &base).is_err());
    }

    #[derive(Clone, Debug)]
    struct Keeps;

    impl Responder for Keeps {
        fn on_spurious(&mut self, _: &ResponseContext) -> Option<ResponseAction> {
            None
        }
    }

    #[test]
    fn a_specification_may_name_a_custom_response() {
        let detector = own();
        let keeps = |name| CustomResponse { name, responder: Box::new(Keeps) };
        let custom = CustomPolicies {
            detectors: [detector].into(),
            responses: ["mine", "keeps"].map(keeps).into(),
        };
        let base = Config::default();
        let with = |name| sender_with(name, &base, &Sysctl::default(), &custom);
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
        assert!(message("sack+eifel+keep").ends_with("did you mean \"keeps\"?"));
    }

    #[test]
    fn an_rto_floor_may_be_a_term() {
        let rto = sender("sack+eifel+minrto:resync", &Config::default()).unwrap().rto;
        assert_eq!(rto.floor, RtoFloor::DelayedAck(Duration::from_millis(500)));
        assert_eq!(rto.delayed_ack_parity, Parity::Resync);
    }
}
