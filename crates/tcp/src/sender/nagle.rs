//! Small segments: Nagle's algorithm (RFC 896, RFC 9293 section 3.7.4), and Minshall's change to
//! it.

use super::{Chunk, Sender};
use crate::config::Nagle;
use crate::segment::Flags;

impl Sender {
    /// Is the new `chunk` so small that it waits for the acknowledgment of others? The last one of
    /// all does not. F-RTO does not ask: its second step is not to wait for anything (RFC 5682
    /// section 2).
    #[inline]
    fn withholds(&self, chunk: &Chunk) -> bool {
        let small = u64::from(chunk.len) < self.window.smss() && !chunk.flags.has(Flags::FIN);
        small && self.config.nagle != Nagle::Off && self.waits_for_small()
    }

    /// What there is of new data, if it need not wait.
    #[inline]
    pub(super) fn next_small_chunk(&self) -> Option<Chunk> {
        self.new_chunk().filter(|chunk| !self.withholds(chunk))
    }

    #[cold]
    fn waits_for_small(&self) -> bool {
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
