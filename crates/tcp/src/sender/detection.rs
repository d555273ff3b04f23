//! The detectors that the sender acts on, in the order of [`Family`](crate::spurious::Family). The
//! sender responds to the first one that finds the last timeout or fast retransmit spurious.

use alloc::boxed::Box;

use rtolab_time::Instant;

use super::outcome::DetectionOutcome;
use super::responding::Detection;
use super::{SendPermission, Sender, detectors_of};
use crate::config::RackRules;
use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::recovery::LossRecovery;
use crate::seq::Seq;
use crate::spurious::{
    Advice, Beginning, DetectorId, DetectorSet, Episode, EpisodeKind, FrtoVariant, GoBack,
    Requirement, Resumption, Step2Window, Verdict,
};

impl Sender {
    /// Begins an episode: the retransmission timer of `head` expired, which will be retransmitted.
    pub(super) fn begin_timeout(&mut self, head: &Sent, at: Instant) {
        let (seq, una, max) = (head.seq, self.flight.una(), self.flight.max());
        let (kind, sack) = (EpisodeKind::Timeout, self.flight.uses_sack());
        let (probe, retrans_out) = (self.outstanding_probe(), self.retransmitted_segments());
        let beginning = Beginning { kind, seq, una, max, retrans_out, sack, probe, at };
        self.detectors().begin(beginning);
        let mut resent = *head;
        resent.transmissions = head.transmissions.saturating_add(1);
        (resent.last_sent, resent.cause) = (at, Cause::Timeout);
        resent.timestamp = self.timestamp(at);
        resent.marked = self.marks();
        self.detectors().on_retransmission(&resent, max);
    }

    /// The retransmitted segments in flight; `None` if loss recovery does not count them.
    fn retransmitted_segments(&self) -> Option<u32> {
        let counts = self.loss_recovery.is_time_based();
        counts.then(|| self.flight.retrans_out().div_ceil(self.window.smss()) as u32)
    }

    fn detectors(&mut self) -> &mut DetectorSet {
        self.detectors.get_or_insert_with(|| Box::new(detectors_of(&self.config)))
    }

    /// Do retransmissions carry the RXT flag?
    pub(crate) fn marks(&self) -> bool {
        self.config.detectors.need(Requirement::Marks)
    }

    /// Reports the retransmission of the segment at `seq` to the detectors. A retransmission by
    /// timeout was reported when the timer expired.
    pub(super) fn note_retransmission(&mut self, seq: Seq, cause: Cause) {
        if cause == Cause::Timeout {
            return;
        }
        if cause == Cause::Probe {
            self.detectors();
        }
        if let (Some(set), Some(sent)) = (&mut self.detectors, self.flight.segment_at(seq)) {
            set.on_retransmission(sent, self.flight.max());
        }
    }

    /// Passes an acknowledgment to loss recovery. A fast retransmit begins an episode, unless its
    /// segment has just timed out: then the episode of the timeout continues.
    pub(super) fn recover_with_episode(&mut self, facts: &AckFacts, outcome: DetectionOutcome) {
        if !facts.duplicate && facts.newly_sacked == 0 && !self.loss_recovery.is_time_based() {
            self.spurious_dupacks.consume(facts);
            return self.recover(facts, outcome);
        }
        self.with_episode(facts.at, |sender| match sender.spurious_dupacks.consume(facts) {
            true => sender.recover(&AckFacts { duplicate: false, ..*facts }, outcome),
            false => sender.recover(facts, outcome),
        });
    }

    /// Runs a step of loss recovery. If it decides on a fast retransmit, an episode begins.
    pub(super) fn with_episode(&mut self, at: Instant, recover: impl FnOnce(&mut Self)) {
        let mut before = self.state_to_save();
        let recovering = self.recovery.is_in_fast_recovery();
        let events = self.events.len();
        recover(self);
        let began = self.events[events..].iter().any(|e| matches!(e, Event::FastRetransmit(_)));
        if let (true, None) = (began, self.timed_out_at) {
            let seq = self.first_retransmission();
            let (una, max) = (self.flight.una(), self.flight.max());
            let (kind, sack) = (EpisodeKind::FastRetransmit, self.flight.uses_sack());
            let (probe, retrans_out) = (self.outstanding_probe(), self.retransmitted_segments());
            let beginning = Beginning { kind, seq, una, max, retrans_out, sack, probe, at };
            self.detectors().begin(beginning);
            if recovering && self.recovery.is_in_fast_recovery() {
                // One recovery ended, and the next one starts from its last window.
                before.state.cwnd = self.recovery.prior_cwnd;
            }
            self.save(before);
        }
    }

    /// Does any detector need acknowledgments? D-SACKs are counted without detectors, too.
    #[inline]
    pub(super) fn is_awaiting_verdict(&self) -> bool {
        self.detectors.as_ref().is_some_and(|set| !set.is_empty())
            || self.frto.as_ref().is_some_and(|frto| !frto.is_idle())
    }

    /// Passes an acknowledgment to the detectors, and responds to their verdict about the last
    /// timeout or fast retransmit.
    #[inline]
    pub(super) fn detect(&mut self, facts: &AckFacts) -> DetectionOutcome {
        let is_needed = self.is_awaiting_verdict() || facts.dsack.is_some();
        if is_needed { self.run_detectors(facts) } else { DetectionOutcome::None }
    }

    fn run_detectors(&mut self, facts: &AckFacts) -> DetectionOutcome {
        let episode = self.detectors.as_ref().and_then(|set| set.undecided_episode().copied());
        let found = self.run_other_detectors(facts, episode);
        if let Some(found) = found.filter(|found| !found.defers_to_frto()) {
            let outcome = self.respond_to(&found, facts);
            if outcome.ends_episode() {
                return outcome;
            }
        }
        let outcome = self.run_frto(facts, episode);
        match found {
            Some(found) if !outcome.ends_episode() && found.defers_to_frto() => {
                match self.respond_to(&found, facts) {
                    DetectionOutcome::None => outcome,
                    answered => answered,
                }
            }
            _ => outcome,
        }
    }

    /// Runs the detectors other than F-RTO. Returns the first that finds the episode spurious.
    fn run_other_detectors(
        &mut self,
        facts: &AckFacts,
        episode: Option<Episode>,
    ) -> Option<Detection> {
        if let (Some(cause), Some(range)) = (self.detectors().on_ack(facts), &facts.dsack) {
            self.push_event(Event::Duplicate { at: facts.at, seq: range.start, cause });
        }
        let kind = episode.map_or(EpisodeKind::Timeout, |episode| episode.kind);
        let mut found = None;
        while let Some(decision) = self.detectors().poll() {
            let detector = decision.detector;
            self.report((detector, kind), decision.verdict, decision.at);
            let detection = Detection { detector, episode, resumption: None };
            match decision.verdict {
                Verdict::Spurious => found = found.or(Some(detection)),
                Verdict::Genuine if self.responder.is_some() => {
                    self.respond_to_genuine(&detection, facts);
                }
                _ => {}
            }
        }
        found
    }

    fn run_frto(&mut self, facts: &AckFacts, episode: Option<Episode>) -> DetectionOutcome {
        let Some(variant) = self.config.frto else { return DetectionOutcome::None };
        let (can_send, fallback) = (self.can_send(), self.window_limited_fallback());
        let Some(frto) = self.frto.as_mut().filter(|frto| !frto.is_idle()) else {
            return DetectionOutcome::None;
        };
        let Some(detector) = DetectorId::of_frto(variant) else { return DetectionOutcome::None };
        let (advice, verdict) = frto.on_ack(facts, can_send, fallback);
        self.report((detector, EpisodeKind::Timeout), verdict, facts.at);
        let detection = Detection { detector, episode, resumption: None };
        let outcome = self.follow_frto_advice(advice, &detection, facts);
        if verdict == Verdict::Genuine && self.responder.is_some() {
            self.respond_to_genuine(&detection, facts);
        }
        outcome
    }

    fn follow_frto_advice(
        &mut self,
        advice: Advice,
        detection: &Detection,
        facts: &AckFacts,
    ) -> DetectionOutcome {
        match advice {
            Advice::Continue => {
                self.permission = SendPermission::Windows;
                return DetectionOutcome::None;
            }
            // What an earlier acknowledgment permits may not have been sent yet.
            Advice::Hold => {}
            Advice::SendTwoNew(_) if self.has_linux_recovery() => {
                self.permission = SendPermission::NewInWindow;
                return DetectionOutcome::None;
            }
            Advice::SendTwoNew(window) => self.permit_new_segments(SendPermission::New(2), window),
            Advice::SendFallback(what, window) => {
                self.permit_new_segments(SendPermission::Fallback(what), window);
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
                    DetectionOutcome::None => self.do_not_resume(resumption),
                    outcome => outcome,
                };
            }
        }
        DetectionOutcome::FrtoAdvised
    }

    /// Step 2 b of F-RTO: allows new segments, or one in their place, and sets cwnd.
    fn permit_new_segments(&mut self, permission: SendPermission, window: Step2Window) {
        self.permission = permission;
        match window {
            Step2Window::Ssthresh => self.window.set_cwnd(self.window.ssthresh()),
            Step2Window::Two => self.window.set_segments(2),
        }
    }

    /// F-RTO found a timeout spurious, but the response does nothing: the sender continues as after
    /// a duplicate acknowledgment in step 3.
    fn do_not_resume(&mut self, resumption: Resumption) -> DetectionOutcome {
        match resumption {
            Resumption::Halved | Resumption::FromOne | Resumption::Restored => self.go_back(3),
            Resumption::TowardsPipe => {
                self.go_back_from(self.nxt);
                self.go_back(2)
            }
            Resumption::Undone => {
                self.permission = SendPermission::Windows;
                DetectionOutcome::None
            }
        }
    }

    /// Ends F-RTO: go-back-N continues with a cwnd of this many segments.
    fn go_back(&mut self, segments: u32) -> DetectionOutcome {
        self.permission = SendPermission::Windows;
        self.window.set_segments(segments);
        DetectionOutcome::FrtoAdvised
    }

    /// Responds to a detector other than F-RTO. F-RTO may not have reduced cwnd yet.
    fn respond_to(&mut self, found: &Detection, facts: &AckFacts) -> DetectionOutcome {
        if self.frto.as_ref().is_some_and(|frto| frto.is_awaiting_first_ack()) {
            self.window.set_segments(1);
        }
        let outcome = self.respond(found, facts);
        if outcome == DetectionOutcome::None {
            self.stop_frto();
        }
        outcome
    }

    /// Does F-RTO leave the window and the losses to the rules of Linux (`tcp_process_loss`)?
    fn has_linux_recovery(&self) -> bool {
        self.config.frto == Some(FrtoVariant::Linux)
            && self.loss_recovery.is_time_based()
            && self.config.recovery.rack.rules == RackRules::Linux
    }

    /// The last timeout is undone, with SND.UNA at `una`. The next one begins F-RTO anew, unless
    /// the recovery continues.
    pub(super) fn forget_frto(&mut self, una: Seq) {
        if let Some(frto) = self.frto.as_mut().filter(|_| !self.loss_recovery.is_in_loss()) {
            frto.on_undo(una);
        }
    }

    /// Ends F-RTO: only the windows limit the sender.
    pub(crate) fn stop_frto(&mut self) {
        self.permission = SendPermission::Windows;
        if let Some(frto) = &mut self.frto {
            frto.stop();
        }
    }

    /// Emits the event of a detector's verdict about an episode of this kind.
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
