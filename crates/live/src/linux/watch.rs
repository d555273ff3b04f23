//! The windows, timeouts and fast retransmits of a kernel's sender, from its `TCP_INFO` after every
//! packet.
//!
//! The kernel's state shows why it retransmits: it counts consecutive timeouts and reports fast
//! recovery. The first retransmission after such a change is that of the timeout or the fast
//! retransmit. The kernel's counters show whether it was undone.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rtolab_record::{TimeoutKind, Truth};
use rtolab_tcp::spurious::DetectorId;
use rtolab_time::{Duration, Instant};

use super::counters::Counters;
use super::sys::{TcpInfo, tcp_info};
use crate::report::{Counts, since};

/// A timeout or fast retransmit.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub kind: TimeoutKind,
    pub at: Instant,
    /// The copy that it retransmitted.
    pub copy: u64,
    /// The RTO that expired, or was in effect.
    pub rto: Duration,
    /// The number of backoffs before it.
    pub backoff: u32,
    /// cwnd before, in bytes.
    pub cwnd: u64,
    /// The detector that caused the undo, and the time at which the undo was observed.
    pub undone: Option<(DetectorId, Instant)>,
    /// The ground truth of a repeated run; `None` if the run was not repeated.
    pub truth: Option<Truth>,
}

/// The state of a sender at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub at: Instant,
    pub info: TcpInfo,
}

/// A source of a sender's state.
pub(crate) trait Source {
    /// The state of its socket at this time; `None` if it is unknown.
    fn info(&mut self, at: Instant) -> Option<TcpInfo>;
    /// Its kernel's counters.
    fn counts(&mut self) -> Counts;
}

/// A socket of this machine's kernel, which has only its present state.
pub(crate) struct Socket<'a> {
    pub socket: Arc<OwnedFd>,
    pub counters: &'a Counters,
}

impl Source for Socket<'_> {
    fn info(&mut self, _: Instant) -> Option<TcpInfo> {
        tcp_info(self.socket.as_fd()).ok()
    }

    fn counts(&mut self) -> Counts {
        self.counters.read().unwrap_or_default()
    }
}

/// What is known of a sender besides its packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observations {
    pub episodes: Vec<Episode>,
    pub samples: Vec<Sample>,
    /// The copies that are tail loss probes.
    pub probes: Vec<u64>,
}

/// The observer of one sender.
pub(crate) struct SenderObserver<S> {
    source: S,
    /// The sequence number after the highest one sent.
    sent_max: Option<u32>,
    before: TcpInfo,
    /// An episode that has not sent its packet yet, and the state before it.
    begun: Option<(TimeoutKind, TcpInfo)>,
    counts: Counts,
    observations: Observations,
}

impl<S: Source> SenderObserver<S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source,
            sent_max: None,
            before: TcpInfo::default(),
            begun: None,
            counts: Counts::new(),
            observations: Observations::default(),
        }
    }

    /// Its observations so far.
    pub(crate) fn observations(&self) -> Observations {
        self.observations.clone()
    }

    /// Processes a packet with these sequence numbers that the sender sent.
    pub(crate) fn sent(&mut self, copy: u64, (seq, length): (u32, u32), at: Instant) {
        self.sample(at);
        if length == 0 {
            return;
        }
        let end = seq.wrapping_add(length);
        let is_new = self.sent_max.is_none_or(|max| (seq.wrapping_sub(max) as i32) >= 0);
        if is_new {
            self.sent_max = Some(end);
            return;
        }
        let Some((kind, before)) = self.begun.take() else {
            // Outside of a recovery a kernel retransmits nothing but a probe.
            if self.before.ca_state < TcpInfo::RECOVERY {
                self.observations.probes.push(copy);
            }
            return;
        };
        let TcpInfo { rto, backoff, cwnd, snd_mss, .. } = before;
        let (backoff, cwnd) = (backoff.into(), u64::from(cwnd) * u64::from(snd_mss));
        let (undone, truth) = (None, None);
        let episodes = &mut self.observations.episodes;
        episodes.push(Episode { kind, at, copy, rto, backoff, cwnd, undone, truth });
        self.counts = self.source.counts();
    }

    /// Processes a packet that reached the sender.
    pub(crate) fn received(&mut self, at: Instant) {
        self.sample(at);
    }

    fn sample(&mut self, at: Instant) {
        let Some(info) = self.source.info(at) else { return };
        if info == self.before {
            return;
        }
        let before = std::mem::replace(&mut self.before, info);
        let recovering = info.ca_state == TcpInfo::RECOVERY;
        // If an acknowledgment ends a recovery and begins the next, only ssthresh shows it.
        let enters = before.ca_state != TcpInfo::RECOVERY || info.ssthresh < before.ssthresh;
        if info.retransmits > before.retransmits {
            self.begun = Some((TimeoutKind::Timeout, before));
        } else if recovering && enters {
            self.begun = Some((TimeoutKind::FastRetransmit, before));
        } else if info.ca_state < TcpInfo::RECOVERY {
            self.begun = None;
        }
        if self.may_be_undo(&before, &info) {
            self.check_undo(at, &info);
        }
        self.observations.samples.push(Sample { at, info });
    }

    /// May this change be an undo?
    fn may_be_undo(&self, before: &TcpInfo, info: &TcpInfo) -> bool {
        let open =
            self.observations.episodes.last().is_some_and(|episode| episode.undone.is_none());
        let left = before.ca_state >= TcpInfo::RECOVERY && info.ca_state < TcpInfo::RECOVERY;
        open && (left || info.ssthresh > before.ssthresh || info.cwnd > before.cwnd + 3)
    }

    /// Checks by the kernel's counters whether the last episode was undone.
    fn check_undo(&mut self, at: Instant, info: &TcpInfo) {
        let now = self.source.counts();
        let grown = since(&self.counts, &now);
        let by_time = info.options & TcpInfo::TIMESTAMPS != 0;
        let detector = UNDONE.iter().find(|(counter, ..)| grown.contains_key(*counter));
        let Some((_, detector)) = detector else { return };
        let detector = match detector {
            By::Frto => DetectorId::named("frto"),
            By::Either if by_time => DetectorId::named("eifel"),
            By::Dsack | By::Either => DetectorId::named("dsack"),
        };
        if let Some(episode) = self.observations.episodes.last_mut() {
            episode.undone = Some((detector, at));
        }
        self.counts = now;
    }
}

/// The basis of the kernel's undo.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Frto,
    Dsack,
    /// Timestamps if they are in use, otherwise D-SACKs of all retransmissions.
    Either,
}

/// The counters of undo events, the most specific first.
pub(crate) const UNDONE: &[(&str, By)] = &[
    ("TcpExtTCPSpuriousRTOs", By::Frto),
    ("TcpExtTCPDSACKUndo", By::Dsack),
    ("TcpExtTCPLossUndo", By::Either),
    ("TcpExtTCPFullUndo", By::Either),
    ("TcpExtTCPPartialUndo", By::Either),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The states after each packet, in order.
    struct States(std::vec::IntoIter<TcpInfo>);

    impl Source for States {
        fn info(&mut self, _: Instant) -> Option<TcpInfo> {
            self.0.next()
        }

        fn counts(&mut self) -> Counts {
            Counts::new()
        }
    }

    fn state(ca_state: u8, ssthresh: u32) -> TcpInfo {
        TcpInfo { ca_state, ssthresh, ..TcpInfo::default() }
    }

    fn episodes(states: Vec<TcpInfo>) -> usize {
        let length = states.len();
        let mut observer = SenderObserver::new(States(states.into_iter()));
        observer.sent(0, (1000, 100), Instant::START);
        for copy in 1..length as u64 {
            observer.sent(copy, (1000, 100), Instant::START);
        }
        observer.observations().episodes.len()
    }

    #[test]
    fn one_recovery_after_the_other_counts_twice() {
        const IN: u8 = TcpInfo::RECOVERY;
        let before = state(0, 20);
        assert_eq!(episodes(vec![before, state(IN, 14), state(IN, 14)]), 1);
        assert_eq!(episodes(vec![before, state(IN, 14), state(IN, 9)]), 2);
        // The second recovery retransmits nothing; the last packet is a probe.
        let mut observer = SenderObserver::new(States(
            vec![before, state(IN, 14), state(IN, 9), state(0, 9)].into_iter(),
        ));
        observer.sent(0, (1000, 100), Instant::START);
        observer.sent(1, (1000, 100), Instant::START);
        observer.received(Instant::START);
        observer.sent(2, (1000, 100), Instant::START);
        let Observations { episodes, probes, .. } = observer.observations();
        assert_eq!((episodes.len(), probes), (1, vec![2]));
    }
}
