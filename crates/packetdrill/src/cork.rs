//! The end of Linux's send queue that it holds back, and the engine does not: a partial segment
//! after a call with `MSG_MORE`, or with `TCP_CORK` (`tcp_nagle_check`), and what a call has not
//! pushed yet. The engine gets the bytes when they are released.

use rtolab_time::{Duration, Instant};

/// The minimum time after which a probe sends the held bytes (`TCP_RTO_MIN`).
const MIN_PROBE_TIME: Duration = Duration::from_millis(200);

/// The part of the held bytes that is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// All.
    All,
    /// All but a partial segment at the end.
    FullSegments,
    /// One packet of at most this number of segments (`tcp_push_one`).
    Packet(u64),
}

/// The bytes that are held, and the timer that releases them.
#[derive(Debug, Default)]
pub struct Cork {
    /// Is `TCP_CORK` set?
    pub is_corked: bool,
    held: Vec<u8>,
    probe: Option<Instant>,
}

impl Cork {
    /// The number of bytes held.
    pub fn held(&self) -> u64 {
        self.held.len() as u64
    }

    /// Appends `bytes`.
    pub fn hold(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// Takes the bytes that are released. Before them there are `unsent` bytes; a full segment has
    /// `smss` bytes.
    pub fn take(&mut self, release: Release, unsent: u64, smss: u64) -> Vec<u8> {
        let end = match release {
            Release::All => unsent + self.held(),
            Release::FullSegments => (unsent + self.held()) / smss * smss,
            Release::Packet(segments) => segments * smss,
        };
        let count = end.saturating_sub(unsent).min(self.held());
        let rest = self.held.split_off(count as usize);
        std::mem::replace(&mut self.held, rest)
    }

    /// Starts the probe timer if bytes are held and nothing is outstanding, and stops it otherwise
    /// (`tcp_check_probe_timer`). It expires after `rto`.
    pub fn update_probe(&mut self, has_outstanding: bool, rto: Duration, at: Instant) {
        let expiry = self.probe.unwrap_or(at + rto.max(MIN_PROBE_TIME));
        self.probe = (!self.held.is_empty() && !has_outstanding).then_some(expiry);
    }

    /// When the probe timer expires, if it runs.
    pub const fn next_probe(&self) -> Option<Instant> {
        self.probe
    }

    /// Stops the probe timer if it has expired at `at`. Returns whether it has.
    pub fn take_probe(&mut self, at: Instant) -> bool {
        self.probe.take_if(|probe| *probe <= at).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_segments_are_released_and_the_rest_is_held() {
        let mut cork = Cork::default();
        cork.hold(&[1; 2100]);
        assert_eq!(cork.take(Release::Packet(1), 0, 1000).len(), 1000);
        assert_eq!(cork.take(Release::FullSegments, 0, 1000).len(), 1000);
        assert_eq!((cork.take(Release::FullSegments, 900, 1000).len(), cork.held()), (100, 0));
        cork.hold(&[1; 30]);
        assert_eq!(cork.take(Release::Packet(1), 1000, 1000).len(), 0);
        assert_eq!(cork.take(Release::All, 1000, 1000).len(), 30);
    }

    #[test]
    fn the_probe_timer_runs_while_nothing_is_outstanding() {
        let mut cork = Cork::default();
        let (start, rto) = (Instant::START, Duration::from_millis(210));
        cork.update_probe(false, rto, start);
        assert_eq!(cork.next_probe(), None, "nothing is held");
        cork.hold(&[1]);
        cork.update_probe(false, rto, start);
        cork.update_probe(false, rto, start + Duration::from_millis(5));
        assert_eq!(cork.next_probe(), Some(start + rto));
        assert!(!cork.take_probe(start) && cork.take_probe(start + rto));
        cork.update_probe(true, rto, start);
        assert_eq!(cork.next_probe(), None, "the retransmission timer runs");
    }
}
