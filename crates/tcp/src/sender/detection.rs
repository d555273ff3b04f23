//! Was the last timeout or fast retransmit spurious? The detectors that the sender acts on, in
//! their order: Eifel, by time, F-RTO, D-SACK. The sender responds to the first that finds it
//! spurious.

use alloc::boxed::Box;

use rtolab_time::Instant;

use super::responding::Detection;
use super::settled::Settled;
use super::{SendPermission, Sender, detectors_of};
use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::recovery::LossRecovery;
use crate::seq::Seq;
use crate::spurious::{
    Advice, Beginning, DetectorId, DetectorSet, Episode, EpisodeKind, GoBack, Needs, Reopening,
    Resumption, Verdict,
};

impl Sender {
    /// The retransmission timer of `head` expired: it is about to be retransmitted.
    pub(super) fn begin_timeout(&mut self, head: &Sent, at: Instant) {
        let max = self.flight.max();
        let (kind, sack) = (EpisodeKind::Timeout, self.flight.uses_sack());
        let probe = self.outstanding_probe();
        self.detectors().begin(Beginning { kind, seq: head.seq, max, sack, probe, at });
        let mut resent = *head;
        resent.transmissions = head.transmissions.saturating_add(1);
        (resent.last_sent, resent.cause) = (at, Cause::Timeout);
        resent.timestamp = self.timestamp(at);
        resent.marked = self.marks();
        self.detectors().resent(&resent, max);
    }

    fn detectors(&mut self) -> &mut DetectorSet {
        self.detectors.get_or_insert_with(|| Box::new(detectors_of(&self.config)))
    }

    /// Do retransmissions carry a mark?
    pub(crate) fn marks(&self) -> bool {
        self.config.detectors.need(Needs::Marks)
    }

    /// The segment at `seq` was retransmitted. The detectors know of retransmissions by timeout
    /// since the timer expired.
    pub(super) fn note_resent(&mut self, seq: Seq, cause: Cause) {
        if cause == Cause::Timeout {
            return;
        }
        if cause == Cause::Probe {
            self.detectors();
        }
        if let (Some(set), Some(sent)) = (&mut self.detectors, self.flight.segment_at(seq)) {
            set.resent(sent, self.flight.max());
        }
    }

    /// Loss recovery's part of an acknowledgment. A fast retransmit begins an episode, unless its
    /// segment has just timed out: then that episode goes on.
    pub(super) fn recover_or_begin(&mut self, facts: &AckFacts, settled: Settled) {
        if !facts.duplicate && facts.newly_sacked == 0 && !self.loss_recovery.is_by_time() {
            self.spurious_dupacks.takes(facts);
            return self.recover(facts, settled);
        }
        self.begin_where_lost(facts.at, |sender| match sender.spurious_dupacks.takes(facts) {
            true => sender.recover(&AckFacts { duplicate: false, ..*facts }, settled),
            false => sender.recover(facts, settled),
        });
    }

    /// Loss recovery goes on. A fast retransmit begins an episode.
    pub(super) fn begin_where_lost(&mut self, at: Instant, recover: impl FnOnce(&mut Self)) {
        let before = self.state_to_save();
        let events = self.events.len();
        recover(self);
        let began = self.events[events..].iter().any(|e| matches!(e, Event::FastRetransmit(_)));
        if let (true, None) = (began, self.timed_out_at) {
            let (seq, max) = (self.first_retransmission(), self.flight.max());
            let (kind, sack) = (EpisodeKind::FastRetransmit, self.flight.uses_sack());
            let probe = self.outstanding_probe();
            self.detectors().begin(Beginning { kind, seq, max, sack, probe, at });
            self.save(before);
        }
    }

    /// Does any detector look at acknowledgments? D-SACKs are counted without one.
    #[inline]
    pub(super) fn awaits_verdict(&self) -> bool {
        self.detectors.as_ref().is_some_and(|set| !set.is_empty())
            || self.frto.as_ref().is_some_and(|frto| !frto.is_idle())
    }

    /// Asks the detectors about the last timeout or fast retransmit, and responds.
    #[inline]
    pub(super) fn detect(&mut self, facts: &AckFacts) -> Settled {
        let asked = self.awaits_verdict() || facts.dsack.is_some();
        if asked { self.detect_by_all(facts) } else { Settled::No }
    }

    fn detect_by_all(&mut self, facts: &AckFacts) -> Settled {
        let episode = self.detectors.as_ref().and_then(|set| set.episode().copied());
        let found = self.ask(facts, episode);
        if let Some(found) = found.filter(|found| !found.waits_for_frto()) {
            let settled = self.respond_to(&found, facts);
            if settled.ends() {
                return settled;
            }
        }
        let settled = self.ask_frto(facts, episode);
        match found {
            Some(found) if !settled.ends() && found.waits_for_frto() => {
                match self.respond_to(&found, facts) {
                    Settled::No => settled,
                    answered => answered,
                }
            }
            _ => settled,
        }
    }

    /// The first of the detectors beside F-RTO that finds the episode spurious.
    fn ask(&mut self, facts: &AckFacts, episode: Option<Episode>) -> Option<Detection> {
        if let (Some(cause), Some(range)) = (self.detectors().acked(facts), &facts.dsack) {
            self.push_event(Event::Duplicate { at: facts.at, seq: range.start, cause });
        }
        let kind = episode.map_or(EpisodeKind::Timeout, |episode| episode.kind);
        let mut found = None;
        while let Some(said) = self.detectors().poll() {
            let detector = said.detector;
            self.report((detector, kind), said.verdict, said.at);
            let detection = Detection { detector, episode, resumption: None };
            match said.verdict {
                Verdict::Spurious => found = found.or(Some(detection)),
                Verdict::Genuine if self.responder.is_some() => {
                    self.respond_to_genuine(&detection, facts);
                }
                _ => {}
            }
        }
        found
    }

    fn ask_frto(&mut self, facts: &AckFacts, episode: Option<Episode>) -> Settled {
        let Some(variant) = self.config.frto else { return Settled::No };
        let (can_send, fallback) = (self.can_send(), self.window_limited_fallback());
        let Some(frto) = self.frto.as_mut().filter(|frto| !frto.is_idle()) else {
            return Settled::No;
        };
        let Some(detector) = DetectorId::of_frto(variant) else { return Settled::No };
        let (advice, verdict) = frto.on_ack(facts, can_send, fallback);
        self.report((detector, EpisodeKind::Timeout), verdict, facts.at);
        let detection = Detection { detector, episode, resumption: None };
        let settled = self.follow_frto(advice, &detection, facts);
        if verdict == Verdict::Genuine && self.responder.is_some() {
            self.respond_to_genuine(&detection, facts);
        }
        settled
    }

    fn follow_frto(&mut self, advice: Advice, detection: &Detection, facts: &AckFacts) -> Settled {
        match advice {
            Advice::Usual => {
                self.permission = SendPermission::Windows;
                return Settled::No;
            }
            Advice::Hold => self.permission = SendPermission::New(0),
            Advice::SendTwoNew(window) => self.send_beside(SendPermission::New(2), window),
            Advice::SendInstead(what, window) => {
                self.send_beside(SendPermission::Instead(what), window);
            }
            Advice::GoBackN { cwnd, extent } => {
                if extent == GoBack::All {
                    self.go_back_from(self.nxt);
                }
                return self.go_back(cwnd);
            }
            Advice::Resume(resumption) => {
                let found = Detection { resumption: Some(resumption), ..*detection };
                return match self.respond(&found, facts) {
                    Settled::No => self.do_not_resume(resumption),
                    settled => settled,
                };
            }
        }
        Settled::Advised
    }

    /// Step 2 b.
    fn send_beside(&mut self, permission: SendPermission, reopening: Reopening) {
        self.permission = permission;
        match reopening {
            Reopening::Ssthresh => self.window.set_cwnd(self.window.ssthresh()),
            Reopening::Two => self.window.set_segments(2),
        }
    }

    /// F-RTO found a timeout spurious, but there is no response: the sender goes on as after a
    /// duplicate acknowledgment in step 3.
    fn do_not_resume(&mut self, resumption: Resumption) -> Settled {
        match resumption {
            Resumption::Halved | Resumption::FromOne | Resumption::Restored => self.go_back(3),
            Resumption::TowardsPipe => {
                self.go_back_from(self.nxt);
                self.go_back(2)
            }
            Resumption::Undone => {
                self.permission = SendPermission::Windows;
                Settled::No
            }
        }
    }

    /// F-RTO ends: go-back-N continues in a window of this many segments.
    fn go_back(&mut self, segments: u32) -> Settled {
        self.permission = SendPermission::Windows;
        self.window.set_segments(segments);
        Settled::Advised
    }

    /// Another detector than F-RTO decided first, so F-RTO has not reduced the window yet.
    fn respond_to(&mut self, found: &Detection, facts: &AckFacts) -> Settled {
        if self.frto.as_ref().is_some_and(|frto| frto.awaits_first()) {
            self.window.set_segments(1);
        }
        let settled = self.respond(found, facts);
        if settled == Settled::No {
            self.stop_frto();
        }
        settled
    }

    /// F-RTO ends, and the windows limit what leaves.
    pub(crate) fn stop_frto(&mut self) {
        self.permission = SendPermission::Windows;
        if let Some(frto) = &mut self.frto {
            frto.stop();
        }
    }

    /// Reports the verdict of a detector about an episode of that kind.
    fn report(
        &mut self,
        (detector, kind): (DetectorId, EpisodeKind),
        verdict: Verdict,
        at: Instant,
    ) {
        if verdict != Verdict::Open {
            self.push_event(Event::Verdict { at, detector, kind, verdict });
        }
    }
}
