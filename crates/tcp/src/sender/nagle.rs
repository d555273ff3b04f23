//! Nagle's algorithm (RFC 896, RFC 9293 section 3.7.4), and Minshall's modification.

use super::{Chunk, Sender};
use crate::config::Nagle;
use crate::segment::Flags;

impl Sender {
    /// Does Nagle's algorithm hold the new `chunk` back until other data is acknowledged? It does
    /// not hold the last segment, with the FIN. The segments of F-RTO's second step ignore Nagle's
    /// algorithm (RFC 5682 section 2).
    #[inline]
    fn is_held_by_nagle(&self, chunk: &Chunk) -> bool {
        let small = u64::from(chunk.len) < self.window.smss() && !chunk.flags.has(Flags::FIN);
        small && self.config.nagle != Nagle::Off && self.must_wait()
    }

    /// The next chunk of new data of any length, unless Nagle's algorithm holds it back.
    #[inline]
    pub(super) fn next_small_chunk(&self) -> Option<Chunk> {
        self.new_chunk().filter(|chunk| !self.is_held_by_nagle(chunk))
    }

    /// Is data outstanding that a small segment waits for?
    #[cold]
    fn must_wait(&self) -> bool {
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::Rfc896 => self.flight.size() > 0,
            Nagle::Minshall => {
                let mut sent = self.flight.segments_from(self.flight.una());
                sent.any(|sent| u64::from(sent.len) < self.window.smss())
            }
        }
    }
}
