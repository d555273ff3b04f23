//! User-defined terms of a sender specification.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::response::CustomResponse;
use crate::spurious::{CustomDetector, Detector, DetectorError, DetectorId};

/// The user-defined policies that a specification may name.
#[derive(Clone, Debug, Default)]
pub struct CustomPolicies {
    /// Detectors of spurious retransmissions.
    pub detectors: Vec<CustomDetector>,
    /// Responses to them.
    pub responses: Vec<CustomResponse>,
}

/// A term, split at its user-defined policies.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts<'a, 't> {
    pub detector: Option<&'a CustomDetector>,
    pub response: Option<&'a CustomResponse>,
    /// The rest, to be looked up in the tables.
    pub rest: Option<&'t str>,
}

impl CustomPolicies {
    /// The passive detector of this name: one of these, or one of the registry.
    ///
    /// # Errors
    /// There is none of this name, or its threshold is out of range.
    pub fn passive_detector(
        &self,
        name: &str,
    ) -> Result<(DetectorId, Box<dyn Detector>), DetectorError> {
        if let Some(own) = self.detectors.iter().find(|own| own.name == name) {
            return Ok((own.id(), own.detector.clone()));
        }
        DetectorId::passive(name).map_err(|error| match error {
            DetectorError::Unknown { .. } => {
                DetectorError::unknown(name, self.detectors.iter().map(|own| own.name))
            }
            error @ DetectorError::Threshold(_) => error,
        })
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let detectors = self.detectors.iter().map(|own| own.name);
        detectors.chain(self.responses.iter().map(|own| own.name))
    }

    /// Splits a term: a detector, a response, or a detector, a colon and its response, one of which
    /// may be in the tables.
    pub(super) fn split<'t>(&self, term: &'t str) -> Parts<'_, 't> {
        let head =
            self.detectors.iter().find_map(|detector| match term.strip_prefix(detector.name)? {
                "" => Some((detector, None)),
                tail => Some((detector, Some(tail.strip_prefix(':')?))),
            });
        let (detector, rest) = match head {
            Some((detector, rest)) => (Some(detector), rest),
            None => (None, Some(term)),
        };
        let tail = self.responses.iter().find_map(|response| {
            match rest?.strip_suffix(response.name)? {
                "" => Some((response, None)),
                // Nothing may separate a detector and its response.
                head if detector.is_none() => Some((response, Some(head.strip_suffix(':')?))),
                _ => None,
            }
        });
        match tail {
            Some((response, rest)) => Parts { detector, response: Some(response), rest },
            None => Parts { detector, response: None, rest },
        }
    }
}
