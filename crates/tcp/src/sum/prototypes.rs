//! Terms of a sum that no table lists.

use alloc::vec::Vec;

use crate::response;
use crate::spurious::CustomDetector;

/// What a sum may name though no table lists it.
#[derive(Clone, Debug, Default)]
pub struct Prototypes {
    /// Detectors of spurious retransmissions.
    pub detectors: Vec<CustomDetector>,
    /// Responses to them.
    pub responses: Vec<response::Prototype>,
}

/// A term, taken apart.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts<'a, 't> {
    pub detector: Option<&'a CustomDetector>,
    pub response: Option<&'a response::Prototype>,
    /// What is left to be looked up.
    pub rest: Option<&'t str>,
}

impl Prototypes {
    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let detectors = self.detectors.iter().map(|own| own.name);
        detectors.chain(self.responses.iter().map(|own| own.name))
    }

    /// The prototypes that a term names: a detector, a response, or a detector and behind a colon
    /// its response, of which one may be in the tables.
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
                // Nothing stands between a detector and its response.
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
