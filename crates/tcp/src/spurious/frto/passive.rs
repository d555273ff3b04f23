//! F-RTO as a passive detector.

use super::advice::FrtoState;
use super::{CanSend, Expiry, Frto, FrtoVariant};
use crate::flight::{AckFacts, Cause, Sent};
use crate::seq::Seq;
use crate::spurious::{Detector, Episode, EpisodeKind, Reason, Verdict};

/// F-RTO as a passive detector of any sender. If the sender does not send the segments that F-RTO
/// would, the verdict is inconclusive.
#[derive(Clone, Copy, Debug)]
pub struct PassiveFrto {
    machine: Frto,
    /// The end of fast recovery, if it is under way.
    fast_recovery: Option<Seq>,
    /// Did the sender retransmit more than the segment that timed out?
    retransmitted_more: bool,
    /// The number of new segments sent before the first acknowledgment.
    new_segments_before: u32,
    /// The segment that a tail loss probe retransmitted.
    probed: Option<Seq>,
}

impl PassiveFrto {
    /// A passive detector by this variant of F-RTO.
    pub fn new(variant: FrtoVariant) -> Self {
        let machine = Frto::new(variant);
        Self {
            machine,
            fast_recovery: None,
            retransmitted_more: false,
            new_segments_before: 0,
            probed: None,
        }
    }

    /// Has the sender deviated from F-RTO before this acknowledgment?
    const fn has_deviated(&self, episode: &Episode) -> bool {
        match self.machine.step {
            FrtoState::Idle | FrtoState::NotEntered | FrtoState::AwaitingOriginal => false,
            FrtoState::AwaitingFirst => {
                self.retransmitted_more || episode.new_segments > self.new_segments_before
            }
            FrtoState::AwaitingSecond => {
                self.retransmitted_more || episode.new_segments == self.new_segments_before
            }
        }
    }

    fn on_timeout(&mut self, sent: &Sent, episode: &Episode) {
        let fast_recovery = self.fast_recovery.take();
        self.machine.on_timeout(&Expiry {
            una: episode.seq,
            end: sent.end(),
            max: episode.high,
            in_fast_recovery: fast_recovery.is_some_and(|recover| episode.seq < recover),
            sack: episode.sack,
            timestamp: sent.timestamp,
            probed: self.probed.filter(|probed| *probed >= episode.seq),
        });
        (self.retransmitted_more, self.new_segments_before) = (false, episode.new_segments);
    }
}

impl Detector for PassiveFrto {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        match sent.cause {
            Cause::Timeout => self.on_timeout(sent, episode),
            Cause::FastRetransmit => {
                self.fast_recovery = Some(episode.max);
                self.retransmitted_more = true;
            }
            _ => self.retransmitted_more = true,
        }
    }

    fn on_probe(&mut self, sent: &Sent, _episode: &Episode) {
        self.probed = Some(sent.seq);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        if self.machine.reports_arrival(ack) && self.has_deviated(episode) {
            self.machine.abandon(ack);
            return Verdict::Inconclusive(Reason::SenderDeviated);
        }
        let before = self.machine.step;
        // The next segments of the sender show what it could send.
        let (_, verdict) = self.machine.on_ack(ack, CanSend::Freely, None);
        if before == FrtoState::AwaitingFirst && self.machine.step == FrtoState::AwaitingSecond {
            self.new_segments_before = episode.new_segments;
        }
        verdict
    }
}
