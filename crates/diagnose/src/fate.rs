//! What the captures of both ends show of a retransmission.

use std::collections::HashMap;

use crate::class::Class;
use crate::evidence::{Necessity, Weighed};
use crate::history::{Bound, Kind, Sign};

/// What is known of a retransmission from both captures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    pub verdict: Necessity,
    /// The class of the timeout, if it was one.
    pub class: Class,
}

impl Fate {
    /// The verdict, which is certain.
    pub fn weighed(self, frame: u64) -> Weighed {
        let bound = Bound::AtMost(0);
        let evidence = vec![Sign { kind: &BOTH_CAPTURES, bound, frame }];
        Weighed { verdict: self.verdict, confidence: 1.0, evidence, against: Vec::new() }
    }
}

/// The captures of both ends show which copies arrived.
static BOTH_CAPTURES: Kind = Kind::new("both-captures", 1.0);

/// What both captures say of the retransmissions of the first one, by frame.
pub(crate) type Fates = HashMap<u64, Fate>;
