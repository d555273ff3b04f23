//! Linux's reordering metric (`tcp_check_sack_reordering`), which `tcp_info` shows as
//! `tcpi_reordering` and `tcpi_reord_seen`.

use rtolab_tcp::{Flight, Segment, Seq};

/// The initial degree (`net.ipv4.tcp_reordering`).
const INITIAL_DEGREE: u32 = 3;

/// The maximum degree (`net.ipv4.tcp_max_reordering`).
const MAX_DEGREE: u64 = 300;

/// The reordering observed so far.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// The maximum reordering degree, in segments.
    pub degree: u32,
    /// The number of reordering events.
    pub events: u32,
    /// The end of the highest SACKed segment.
    highest_sacked: Seq,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: INITIAL_DEGREE, events: 0, highest_sacked: Seq::FIRST }
    }
}

impl Reordering {
    /// Processes an acknowledgment before `flight` does. The segments of `flight` have `smss`
    /// bytes.
    pub fn on_ack(&mut self, segment: &Segment, flight: &Flight, smss: u64) {
        let highest_sacked = self.highest_sacked;
        let blocks: Vec<_> = segment.sack_blocks().collect();
        let delivered = |start: Seq, end: Seq| {
            end <= segment.ack || blocks.iter().any(|b| b.start <= start && end <= b.end)
        };
        let reordered = flight
            .segments_from(flight.una())
            .filter(|sent| !sent.was_retransmitted() && !sent.is_sacked())
            .find(|sent| delivered(sent.seq, sent.end()))
            .filter(|sent| sent.seq < highest_sacked);
        if let Some(sent) = reordered {
            let degree = highest_sacked.since(sent.seq).div_ceil(smss).min(MAX_DEGREE) as u32;
            self.degree = self.degree.max(degree);
            self.events += 1;
        }
        let block_ends = blocks.iter().map(|block| block.end);
        self.highest_sacked = block_ends.max().unwrap_or(highest_sacked).max(highest_sacked);
    }
}
