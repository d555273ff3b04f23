//! SACK blocks that do not match the sequence numbers of the data.

use rtolab_tcp::{Flight, Segment};

/// The distance from the outstanding data, in bytes, from which on a SACK block is of other
/// sequence numbers: the capture may lack data, and a D-SACK may report old data.
const FAR: u64 = 1 << 26;

/// ACKs with SACK blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SackCounts {
    pub all: u64,
    /// Those of which the first block is far from all data that was sent.
    pub foreign: u64,
}

impl SackCounts {
    /// Adds an ACK.
    pub fn add(&mut self, segment: &Segment, flight: &Flight) {
        let Some(block) = segment.sack_blocks().next() else { return };
        let is_foreign =
            block.start.since(flight.max()) > FAR || flight.una().since(block.start) > FAR;
        self.all += 1;
        self.foreign += u64::from(is_foreign);
    }
}
