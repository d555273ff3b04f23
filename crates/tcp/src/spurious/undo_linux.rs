//! Undo as in Linux 6 (`tcp_may_undo` of `net/ipv4/tcp_input.c` and its callers), by timestamps and
//! D-SACKs in the kernel's order.
//!
//! | state                   | tested when           | undone if                                  |
//! |-------------------------|-----------------------|--------------------------------------------|
//! | Loss, after a timeout   | SND.UNA advances      | the echo is older, or all is reported      |
//! | Recovery, at its end    | SND.UNA reaches it    | the echo is older, or all is reported      |
//! | Recovery, before that   | SND.UNA advances      | the echo is older, none is in flight       |
//! | Recovery, before that   | anything arrives      | all is reported                            |
//! | Open or Disorder, after | anything arrives      | all is reported                            |
//!
//! "The echo is older": than the first retransmission (`retrans_stamp`, `tcp_packet_delayed`). "All
//! is reported": as many duplicates as there were retransmissions (`undo_retrans` is zero). In Loss
//! the test precedes F-RTO. A detector that only observes counts a SACKed retransmission in
//! `retrans_out` until it is acknowledged cumulatively.

use alloc::vec::Vec;

use super::{Detector, Episode, EpisodeKind, Reason, Verdict};
use crate::flight::{AckFacts, DsackBlock, Sent};
use crate::seq::Seq;

/// Detects an echo that is older than the first retransmission, or a report of every
/// retransmission.
#[derive(Clone, Debug, Default)]
pub struct UndoLinux {
    /// Number and kind of the current episode.
    episode: Option<(u32, EpisodeKind)>,
    /// SND.UNA when it began.
    undo_marker: Seq,
    /// SND.MAX when it began.
    high_seq: Seq,
    /// The number of retransmissions not yet reported; `None` before the first one.
    undo_retrans: Option<u32>,
    /// The timestamp of the first retransmission.
    retrans_stamp: Option<u32>,
    /// The ranges of the retransmitted segments.
    retransmitted: Vec<(Seq, Seq)>,
    /// The ranges of the segments that tail loss probes retransmitted. They set no `retrans_stamp`.
    probed: Vec<(Seq, Seq)>,
    /// Has any acknowledgment arrived?
    ack_seen: bool,
    /// Has any acknowledgment echoed a timestamp?
    echo_seen: bool,
}

/// The evidence of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Evidence {
    /// It answers a segment that was sent before the first retransmission (`tcp_packet_delayed`).
    delayed: bool,
    /// All retransmissions were duplicates.
    all_reported: bool,
}

impl UndoLinux {
    /// Begins an episode (`tcp_init_undo`). A timeout in an unfinished recovery keeps its counts
    /// (`tcp_enter_loss`); otherwise only retransmissions in flight count.
    fn begin(&mut self, episode: &Episode) {
        let before = self.episode.replace((episode.number, episode.kind));
        let recovering = matches!(before, Some((_, EpisodeKind::FastRetransmit)));
        let continues = recovering && episode.una < self.high_seq;
        let times_out = episode.kind == EpisodeKind::Timeout;
        self.high_seq = episode.max;
        if continues && times_out {
            return;
        }
        self.undo_marker = episode.una;
        self.retransmitted.retain(|(_, end)| *end > episode.una);
        self.probed.retain(|(_, end)| *end > episode.una);
        let retrans_out = episode.retrans_out.unwrap_or(self.retransmitted.len() as u32);
        self.undo_retrans = Some(retrans_out + self.probed.len() as u32).filter(|count| *count > 0);
        if self.retransmitted.is_empty() {
            self.retrans_stamp = None;
        }
    }

    fn is_new(&self, episode: &Episode) -> bool {
        self.episode.is_none_or(|(number, _)| number != episode.number)
    }

    /// Begins the episode if it is a new one.
    fn follow(&mut self, episode: &Episode) {
        if self.is_new(episode) {
            self.begin(episode);
        }
    }

    /// Counts a retransmission.
    fn count(&mut self, episode: &Episode) {
        self.follow(episode);
        self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + 1);
    }

    /// Is this the report of a retransmission of the episode (`tcp_check_dsack`)?
    fn counts(&self, range: &DsackBlock, una_before: Seq) -> bool {
        let overlaps = |(start, end): &(Seq, Seq)| *start < range.end && range.start < *end;
        let below = range.end <= una_before;
        let mut known = self.retransmitted.iter().chain(&self.probed);
        range.end > self.undo_marker && (below || known.any(overlaps))
    }

    fn evidence(&mut self, ack: &AckFacts) -> Evidence {
        let range = ack.dsack.as_ref().filter(|_| !ack.dsack_ignored);
        let range = range.filter(|range| self.counts(range, ack.una_before));
        let reported = u32::from(range.is_some());
        self.undo_retrans = self.undo_retrans.map(|count| count.saturating_sub(reported));
        self.ack_seen = true;
        self.echo_seen |= ack.echo.is_some();
        // An echo of zero does not count (`tcp_tsopt_ecr_before`).
        let echo = ack.echo.filter(|echo| *echo != 0);
        let older = |(echo, stamp): (u32, u32)| (echo.wrapping_sub(stamp) as i32) < 0;
        let delayed = echo.zip(self.retrans_stamp).is_some_and(older);
        Evidence { delayed, all_reported: self.undo_retrans == Some(0) }
    }

    /// Is a retransmission in flight after `ack` is acknowledged (`retrans_out`)?
    fn has_retrans_out(&self, ack: &AckFacts) -> bool {
        let listed = || self.retransmitted.iter().any(|(_, end)| *end > ack.ack);
        ack.retrans_out.map_or_else(listed, |bytes| bytes > 0)
    }

    /// Is the reduction undone (`tcp_process_loss` before F-RTO, `tcp_try_undo_recovery`,
    /// `tcp_try_undo_partial` and `tcp_try_undo_dsack`)?
    fn may_undo(&self, kind: EpisodeKind, ack: &AckFacts, evidence: Evidence) -> bool {
        let Evidence { delayed, all_reported } = evidence;
        let open = ack.una_before >= self.high_seq;
        match kind {
            _ if open => all_reported,
            EpisodeKind::Timeout => ack.is_new() && (delayed || all_reported),
            EpisodeKind::FastRetransmit if ack.ack >= self.high_seq => delayed || all_reported,
            // A partial ACK undoes only if no retransmission is in flight, which could be needed.
            EpisodeKind::FastRetransmit if ack.is_new() && delayed => !self.has_retrans_out(ack),
            EpisodeKind::FastRetransmit => all_reported,
        }
    }
}

impl Detector for UndoLinux {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        self.count(episode);
        self.retrans_stamp.get_or_insert(sent.timestamp);
        self.retransmitted.push((sent.seq, sent.end()));
    }

    /// Only a probe in flight when the episode begins counts (`tcp_init_undo`).
    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        if self.is_new(episode) {
            self.count(episode);
        }
        self.probed.push((sent.seq, sent.end()));
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        self.follow(episode);
        let evidence = self.evidence(ack);
        if self.may_undo(episode.kind, ack, evidence) { Verdict::Spurious } else { Verdict::Open }
    }

    /// `undo_marker` and `undo_retrans` stay until the next episode or until the undo.
    fn expects_late_reports(&self) -> bool {
        self.undo_retrans.is_some_and(|count| count > 0)
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        match self.ack_seen && !self.echo_seen && !episode.dsack_seen {
            true => Verdict::Inconclusive(Reason::NoTimestamps),
            false => Verdict::Open,
        }
    }
}
