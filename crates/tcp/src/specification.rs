//! Sender specifications, such as `newreno+frto` or `sack:rfc6675+eifel`: policies joined by `+`.
//!
//! The first term is a loss recovery, or a profile in its place: `linux-2.4`, `freebsd-4.1+frto`.
//! Several detectors of spurious retransmissions may follow; the sender responds to the first one
//! that detects. One response may follow, as a term of its own or after a detector and a colon:
//! `sack+eifel:rfc3522+rfc4015` equals `sack+eifel:rfc3522:rfc4015`. Without a response, the
//! default response of the detector applies.

mod custom;
mod error;
mod parse;
mod policies;
mod policy;

use alloc::string::ToString;

use crate::config::{Config, Detectors};
use crate::profile::{Profile, Sysctl};

pub use custom::CustomPolicies;
pub use error::SpecificationError;
use parse::parse;
pub use policies::{policies, terms};
use policy::{A_DETECTOR, Sets, detects_nothing};
pub use policy::{Policy, Question};

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
    let missing = |found, requirement| SpecificationError::MissingRequirement {
        spec: name.to_string(),
        found,
        requirement,
    };
    for policy in parsed.policies {
        if let Some(lacks) = policy.missing_parameter(&config) {
            return Err(missing(policy.name, lacks));
        }
    }
    match &config.responder {
        Some(own) if detects_nothing(&config) => Err(missing(own.name, A_DETECTOR)),
        None if config.response.is_none() => {
            Ok(Config { responder: base.responder.clone(), ..config })
        }
        _ => Ok(config),
    }
}

#[cfg(test)]
mod tests {
    use rtolab_time::Duration;

    use super::*;
    use crate::config::{Algorithm, Bugfix, FrtoVariant, Parity, RtoFloor, Threshold};
    use crate::profile::PROFILES;
    use crate::response::{CustomResponse, Responder, ResponseAction, ResponseContext};
    use crate::spurious::{CustomDetector, DETECTORS};
    use alloc::boxed::Box;
    use alloc::format;
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
    fn a_missing_name_is_not_called_an_unknown_policy() {
        for (spec, place) in [
            ("", "in the empty sender ``"),
            ("sack+", "after the last `+` in sender `sack+`"),
            ("linux+", "after the last `+` in sender `linux+`"),
            ("+frto", "before the first `+` in sender `+frto`"),
            ("sack++frto", "between two `+` in sender `sack++frto`"),
        ] {
            let expected = "expected policies joined by `+`, such as `sack+frto`";
            assert_eq!(
                sender(spec, &Config::default()).unwrap_err().to_string(),
                format!("{place} the name of a policy is missing; {expected}")
            );
        }
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
