//! Linux's reordering metric (`tcp_check_sack_reordering`), as in `tcpi_reordering` and
//! `tcpi_reord_seen`.

use rtolab_tcp::{Flight, Segment, Seq};

/// The initial degree (`net.ipv4.tcp_reordering`).
const INITIAL: u32 = 3;

/// The largest degree (`net.ipv4.tcp_max_reordering`).
const MOST: u64 = 300;

/// The reordering seen so far.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// The largest reordering degree, in segments.
    pub degree: u32,
    /// The number of reordering events.
    pub seen: u32,
    /// The end of the highest SACKed segment.
    edge: Seq,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: INITIAL, seen: 0, edge: Seq::FIRST }
    }
}

impl Reordering {
    /// Processes an acknowledgment before `flight` does, whose segments have `smss` bytes.
    pub fn note(&mut self, segment: &Segment, flight: &Flight, smss: u64) {
        let edge = self.edge;
        let blocks: Vec<_> = segment.sack_blocks().collect();
        let delivered = |start: Seq, end: Seq| {
            end <= segment.ack || blocks.iter().any(|b| b.start <= start && end <= b.end)
        };
        let reordered = flight
            .segments_from(flight.una())
            .filter(|sent| !sent.was_retransmitted() && !sent.is_sacked())
            .find(|sent| delivered(sent.seq, sent.end()))
            .filter(|sent| sent.seq < edge);
        if let Some(sent) = reordered {
            let degree = edge.since(sent.seq).div_ceil(smss).min(MOST) as u32;
            self.degree = self.degree.max(degree);
            self.seen += 1;
        }
        let highest = blocks.iter().map(|block| block.end).max();
        self.edge = self.edge.max(highest.unwrap_or(self.edge));
    }
}
