//! How far segments overtook each other, in Linux's count (`tcp_check_sack_reordering`): what
//! `tcpi_reordering` and `tcpi_reord_seen` tell.

use rtolab_tcp::{Flight, Segment, Seq};

/// What is counted where nothing was seen (`net.ipv4.tcp_reordering`).
const INITIAL: u32 = 3;

/// The most that is counted (`net.ipv4.tcp_max_reordering`).
const MOST: u64 = 300;

/// What was seen so far.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// By how many segments one was overtaken at most.
    pub degree: u32,
    /// How often one was.
    pub seen: u32,
    /// Behind the highest that was SACKed since all was acknowledged.
    edge: Seq,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: INITIAL, seen: 0, edge: Seq::FIRST }
    }
}

impl Reordering {
    /// The acknowledgment `segment` is about to be taken, with so much in `flight`, in segments of
    /// `smss` bytes.
    pub fn note(&mut self, segment: &Segment, flight: &Flight, smss: u64) {
        let edge = self.edge;
        let blocks: Vec<_> = segment.sack_blocks().collect();
        let delivered = |start: Seq, end: Seq| {
            end <= segment.ack || blocks.iter().any(|b| b.start <= start && end <= b.end)
        };
        let overtaken = flight
            .segments_from(flight.una())
            .filter(|sent| !sent.was_retransmitted() && !sent.is_sacked())
            .find(|sent| delivered(sent.seq, sent.end()))
            .filter(|sent| sent.seq < edge);
        if let Some(sent) = overtaken {
            let degree = edge.since(sent.seq).div_ceil(smss).min(MOST) as u32;
            self.degree = self.degree.max(degree);
            self.seen += 1;
        }
        let highest = blocks.iter().map(|block| block.end).max();
        self.edge = self.edge.max(highest.unwrap_or(self.edge));
    }
}
