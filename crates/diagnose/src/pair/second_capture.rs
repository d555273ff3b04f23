//! What the second of two captures shows without the first.

use std::collections::HashSet;

use crate::connection_key::ConnectionKey;
use crate::evidence::STILL_MISSING;
use crate::report::{ConnectionReport, RetransmissionReport};
use crate::vantage::Vantage;

/// What the second capture shows of the path to the receiver.
#[derive(Debug, Default)]
pub(crate) struct SecondCapture {
    /// The frames of retransmissions at which the receiver still missed their data, although an
    /// earlier copy had passed.
    pub still_missing: HashSet<u64>,
    /// The connections of which it is in the middle of the path, not at an end.
    pub in_the_middle: HashSet<ConnectionKey>,
}

impl SecondCapture {
    /// What these connections of its own diagnosis show.
    pub fn of(connections: &[ConnectionReport]) -> Self {
        let rows = connections.iter().flat_map(|connection| &connection.retransmissions);
        let is_missing = |row: &&RetransmissionReport| {
            row.evidence.first().is_some_and(|piece| piece.kind == STILL_MISSING)
        };
        let between = connections.iter().filter(|one| one.vantage == Vantage::Between);
        Self {
            still_missing: rows.filter(is_missing).map(|row| row.frame).collect(),
            in_the_middle: between.map(|one| one.key).collect(),
        }
    }

    /// Does it show nothing that changes a verdict?
    pub fn is_empty(&self) -> bool {
        self.still_missing.is_empty() && self.in_the_middle.is_empty()
    }
}
