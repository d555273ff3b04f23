//! The parser of sender specifications.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use rtolab_settings::names::suggest;

use super::custom::Parts;
use super::{CustomPolicies, Policy, Question, SpecificationError, policies, terms};
use crate::profile::Profile;
use crate::response::CustomResponse;
use crate::spurious::{CustomDetector, DetectorError, DetectorId};

/// The policies of a specification.
pub(super) struct Parsed<'a> {
    pub policies: Vec<Policy>,
    pub detectors: Vec<&'a CustomDetector>,
    pub response: Option<&'a CustomResponse>,
}

/// The names of two policies that exclude each other.
type Conflict = (&'static str, &'static str);

/// Parses the terms `own_terms` of the specification `name`. A `profile` before them replaces the
/// loss recovery. They may name `custom` policies.
pub(super) fn parse<'a>(
    name: &str,
    (own_terms, profile): (Option<&str>, Option<&'static Profile>),
    custom: &'a CustomPolicies,
) -> Result<Parsed<'a>, SpecificationError> {
    let spec = || name.to_string();
    let mut parsed = Parsed { policies: Vec::new(), detectors: Vec::new(), response: None };
    if let Some(place) = missing_name(name) {
        return Err(SpecificationError::MissingName { spec: spec(), place });
    }
    for term in own_terms.into_iter().flat_map(|terms| terms.split('+')) {
        let parts = custom.split(term);
        let is_first = parsed.policies.is_empty() && profile.is_none();
        if is_first && (parts.detector.is_some() || parts.response.is_some()) {
            return Err(SpecificationError::NoRecovery { spec: spec() });
        }
        let policies = policies_of(parts).map_err(|found| {
            if let Err(error @ DetectorError::Threshold(_)) = found.parse::<DetectorId>() {
                return SpecificationError::Detector { spec: spec(), error };
            }
            let expected = suggest(&found, terms().chain(custom.names()));
            SpecificationError::Unknown { spec: spec(), found, expected }
        })?;
        let added = parsed.add(policies, profile).and_then(|()| parsed.add_own(parts));
        added.map_err(|(first, second)| SpecificationError::Conflict {
            spec: spec(),
            first,
            second,
        })?;
    }
    let recovers =
        parsed.policies.first().is_some_and(|first| first.question == Question::Recovery);
    if profile.is_none() && !recovers {
        return Err(SpecificationError::NoRecovery { spec: spec() });
    }
    Ok(parsed)
}

/// Where the name of a policy is missing, in words up to the specification.
fn missing_name(spec: &str) -> Option<&'static str> {
    if spec.is_empty() {
        Some("in the empty")
    } else if spec.ends_with('+') {
        Some("after the last `+` in")
    } else if spec.starts_with('+') {
        Some("before the first `+` in")
    } else {
        spec.contains("++").then_some("between two `+` in")
    }
}

impl<'a> Parsed<'a> {
    fn add(
        &mut self,
        policies: impl Iterator<Item = Policy>,
        profile: Option<&'static Profile>,
    ) -> Result<(), Conflict> {
        for policy in policies {
            let own = self.response.filter(|_| policy.question == Question::Response);
            let mut others = self.policies.iter().filter(|other| other.rules_out(&policy));
            let first = match (profile, policy.question) {
                (Some(profile), Question::Recovery) => Some(profile.name),
                _ => others.next().map(|other| other.name).or(own.map(|own| own.name)),
            };
            if let Some(first) = first {
                return Err((first, policy.name));
            }
            self.policies.push(policy);
        }
        Ok(())
    }

    fn add_own(&mut self, parts: Parts<'a, '_>) -> Result<(), Conflict> {
        if let Some(own) = parts.detector {
            if self.detectors.contains(&own) {
                return Err((own.name, own.name));
            }
            self.detectors.push(own);
        }
        if let Some(own) = parts.response {
            let mut listed = self.policies.iter().filter(|it| it.question == Question::Response);
            let listed = listed.next().map(|policy| policy.name);
            if let Some(first) = listed.or(self.response.map(|first| first.name)) {
                return Err((first, own.name));
            }
            self.response = Some(own);
        }
        Ok(())
    }
}

/// The policies of the rest of a term: one policy, or a detector and its response after a colon.
/// The error is the unknown term.
fn policies_of(parts: Parts<'_, '_>) -> Result<impl Iterator<Item = Policy>, String> {
    let parsed = |name: &str| match DetectorId::find(name) {
        Some(detector) => Policy::of_detector(detector),
        None => policies().find(|policy| policy.name == name),
    };
    let joined = |term: &str| {
        let colons = term.match_indices(':').map(|(at, _)| (&term[..at], &term[at + 1..]));
        let mut pairs = colons.filter_map(|(head, tail)| Some((parsed(head)?, parsed(tail)?)));
        pairs.find(|(head, tail)| head.detector().is_some() && tail.question == Question::Response)
    };
    let found = match parts.rest {
        None => [None, None],
        Some(term) => match (parsed(term), joined(term)) {
            // Only a detector may be followed by a colon and a response.
            (Some(policy), _) if parts.response.is_none() || policy.detector().is_some() => {
                [Some(policy), None]
            }
            (None, Some((head, tail))) => [Some(head), Some(tail)],
            _ => return Err(term.to_string()),
        },
    };
    Ok(found.into_iter().flatten())
}
