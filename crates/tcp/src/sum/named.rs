//! What a sum names.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::prototypes::Parts;
use super::{Policy, Prototypes, Question, SumError, policies, terms};
use crate::profile::Profile;
use crate::response;
use crate::spurious::{CustomDetector, DetectorError, DetectorId};

/// What is done in a sum's place for each question.
pub(super) struct Named<'a> {
    pub policies: Vec<Policy>,
    pub detectors: Vec<&'a CustomDetector>,
    pub response: Option<&'a response::Prototype>,
}

/// Two names of which one rules out the other.
type Clash = (&'static str, &'static str);

/// What the sum `name` names in `own_terms`; a `profile` before them stands for the loss recovery.
/// Any of `prototypes` may be among them.
pub(super) fn named<'a>(
    name: &str,
    (own_terms, profile): (Option<&str>, Option<&'static Profile>),
    prototypes: &'a Prototypes,
) -> Result<Named<'a>, SumError> {
    let sum = || name.to_string();
    let mut named = Named { policies: Vec::new(), detectors: Vec::new(), response: None };
    for term in own_terms.into_iter().flat_map(|terms| terms.split('+')) {
        let parts = prototypes.split(term);
        let is_first = named.policies.is_empty() && profile.is_none();
        if is_first && (parts.detector.is_some() || parts.response.is_some()) {
            return Err(SumError::NoRecovery { sum: sum() });
        }
        let policies = policies_of(parts).map_err(|found| {
            if let Err(error @ DetectorError::Threshold(_)) = found.parse::<DetectorId>() {
                return SumError::Detector { sum: sum(), error };
            }
            let known = terms().chain(prototypes.names()).collect::<Vec<_>>().join(", ");
            SumError::Unknown { sum: sum(), found, known }
        })?;
        let added = named.add(policies, profile).and_then(|()| named.add_own(parts));
        added.map_err(|(first, second)| SumError::Twice { sum: sum(), first, second })?;
    }
    let recovers = named.policies.first().is_some_and(|first| first.question == Question::Recovery);
    if profile.is_none() && !recovers {
        return Err(SumError::NoRecovery { sum: sum() });
    }
    Ok(named)
}

impl<'a> Named<'a> {
    fn add(
        &mut self,
        policies: impl Iterator<Item = Policy>,
        profile: Option<&'static Profile>,
    ) -> Result<(), Clash> {
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

    fn add_own(&mut self, parts: Parts<'a, '_>) -> Result<(), Clash> {
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

/// The policies that are left of one term: itself, or a detector and behind a colon its response.
/// The error is what is none.
fn policies_of(parts: Parts<'_, '_>) -> Result<impl Iterator<Item = Policy>, String> {
    let named = |name: &str| match name.parse() {
        Ok(detector) => Policy::of_detector(detector),
        Err(_) => policies().find(|policy| policy.name == name),
    };
    let joined = |term: &str| {
        let colons = term.match_indices(':').map(|(at, _)| (&term[..at], &term[at + 1..]));
        let mut pairs = colons.filter_map(|(head, tail)| Some((named(head)?, named(tail)?)));
        pairs.find(|(head, tail)| head.detector().is_some() && tail.question == Question::Response)
    };
    let found = match parts.rest {
        None => [None, None],
        Some(term) => match (named(term), joined(term)) {
            // Behind a colon stands a detector's response, and nobody else's.
            (Some(policy), _) if parts.response.is_none() || policy.detector().is_some() => {
                [Some(policy), None]
            }
            (None, Some((head, tail))) => [Some(head), Some(tail)],
            _ => return Err(term.to_string()),
        },
    };
    Ok(found.into_iter().flatten())
}
