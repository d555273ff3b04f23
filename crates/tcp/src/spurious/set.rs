//! A set of detectors and their current episode: those that a sender acts on, or passive ones.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::Instant;

use super::duplicates::{DuplicateCause, Duplicates, Retransmissions};
use super::path::Path;
use super::{Detector, DetectorId, DualRttConfig, Episode, EpisodeKind, KnownPath, Verdict};
use crate::flight::{AckFacts, Cause, NewestAcked, Sent};
use crate::seq::Seq;

/// The verdict of a detector about an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectorVerdict {
    /// The number of the episode.
    pub episode: u32,
    /// The detector.
    pub detector: DetectorId,
    /// The verdict; [`Verdict::Open`] if the episode ended without a decision.
    pub verdict: Verdict,
    /// When it decided.
    pub at: Instant,
}

/// Detectors, each with at most one verdict for an [`Episode`].
#[derive(Clone, Debug, Default)]
pub(crate) struct DetectorSet {
    slots: Vec<Slot>,
    episode: Option<Episode>,
    /// The episode that ended last, if detectors expect late reports.
    awaiting_reports: Option<Episode>,
    episodes: u32,
    known: KnownPath,
    /// The measurements of the path, if there is a detector.
    path: Option<Box<Path>>,
    dsack_seen: bool,
    /// Does it still lack the detectors of the registry, which the first episode adds?
    is_deferred: bool,
    retransmissions: Retransmissions,
    duplicates: Duplicates,
    verdicts: VecDeque<DetectorVerdict>,
}

#[derive(Clone, Debug)]
struct Slot {
    id: DetectorId,
    detector: Box<dyn Detector>,
    /// Does it receive only retransmissions by timeout?
    timeouts_only: bool,
    /// Has it decided in this episode?
    decided: bool,
}

fn slots(detectors: impl IntoIterator<Item = (DetectorId, Box<dyn Detector>)>) -> Vec<Slot> {
    let slot = |(id, detector)| Slot { id, detector, timeouts_only: false, decided: false };
    detectors.into_iter().map(slot).collect()
}

/// The detectors of the registry with these names.
pub(super) fn made(
    detectors: impl IntoIterator<Item = DetectorId>,
) -> impl Iterator<Item = (DetectorId, Box<dyn Detector>)> {
    detectors.into_iter().filter_map(|id| Some((id, id.make(DualRttConfig::default())?)))
}

/// The timeout or fast retransmit that begins an episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    pub kind: EpisodeKind,
    /// The first sequence number of the segment that timed out or was marked lost.
    pub seq: Seq,
    /// SND.UNA.
    pub una: Seq,
    /// SND.MAX.
    pub max: Seq,
    /// The retransmitted segments in flight (`retrans_out`); `None` if this is unknown.
    pub retrans_out: Option<u32>,
    /// Is SACK in use?
    pub sack: bool,
    /// The segment that a tail loss probe retransmitted, if it is not acknowledged.
    pub probe: Option<Sent>,
    pub at: Instant,
}

impl DetectorSet {
    /// A set of these detectors, which run in this order.
    pub fn of(detectors: impl IntoIterator<Item = (DetectorId, Box<dyn Detector>)>) -> Self {
        let slots = slots(detectors);
        let path = (!slots.is_empty()).then(Box::default);
        Self { slots, path, ..Self::default() }
    }

    /// A set of all detectors of the registry. It makes them when the first episode begins: most
    /// connections have none.
    pub fn deferred() -> Self {
        Self { path: Some(Box::default()), is_deferred: true, ..Self::default() }
    }

    /// A set of these detectors, on which a sender acts. F-RTO is not among them, because it also
    /// decides what to send.
    pub fn acting(
        detectors: impl IntoIterator<Item = (DetectorId, Box<dyn Detector>)>,
        path: KnownPath,
    ) -> Self {
        let mut set = Self::of(detectors).with_known_path(path);
        for slot in &mut set.slots {
            slot.timeouts_only = slot.id.acting().is_some_and(|acting| acting.timeouts_only);
        }
        set
    }

    /// The same set, with this knowledge of the path.
    pub const fn with_known_path(mut self, path: KnownPath) -> Self {
        self.known = path;
        self
    }

    /// The set `other` with the retransmissions and duplicates of this one.
    pub fn replaced(self, other: Self) -> Self {
        Self { retransmissions: self.retransmissions, duplicates: self.duplicates, ..other }
    }

    /// The number of reported duplicates, by cause.
    pub const fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// Is there no detector?
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && !self.is_deferred
    }

    /// The current episode.
    pub const fn episode(&self) -> Option<&Episode> {
        self.episode.as_ref()
    }

    /// The current episode, or the last one if detectors expect late reports.
    pub fn undecided_episode(&self) -> Option<&Episode> {
        self.episode.as_ref().or(self.awaiting_reports.as_ref())
    }

    /// Begins an episode with a timeout or fast retransmit, and returns its number. Another timeout
    /// of the same segment belongs to the current episode as long as no detector has decided.
    pub fn begin(&mut self, beginning: Beginning) -> u32 {
        let Beginning { kind, seq, una, max, retrans_out, sack, probe, at } = beginning;
        if core::mem::take(&mut self.is_deferred) {
            self.slots = slots(made(DetectorId::all()));
        }
        let undecided = self.slots.iter().all(|slot| !slot.decided);
        if let (EpisodeKind::Timeout, Some(episode)) = (kind, &mut self.episode) {
            if episode.kind == kind && episode.seq == seq && undecided {
                episode.timeouts += 1;
                return episode.number;
            }
        }
        self.end(at);
        let number = self.episodes;
        self.episodes += 1;
        let path = self.path.as_deref().copied().unwrap_or_default();
        self.episode = Some(Episode {
            number,
            kind,
            began: at,
            seq,
            una,
            max,
            retrans_out,
            high: max,
            min_rtt: path.min_rtt,
            srtt: path.srtt,
            spacing: path.spacing,
            known: self.known,
            estimated: path.estimate(),
            dsack_seen: self.dsack_seen,
            sack,
            timeouts: u32::from(kind == EpisodeKind::Timeout),
            retransmissions: 0,
            new_segments: 0,
        });
        if let (EpisodeKind::Timeout, Some(path)) = (kind, &mut self.path) {
            path.timed_out();
        }
        if let Some(probe) = &probe {
            self.on_probe(probe);
        }
        number
    }

    /// A segment was retransmitted; SND.MAX is `max`. Detectors that have decided receive it, too,
    /// because they may need it in a later episode.
    pub fn on_retransmission(&mut self, sent: &Sent, max: Seq) {
        let Some(episode) = &mut self.episode else {
            if sent.cause == Cause::Probe {
                self.retransmissions.note_probe(sent, max);
            }
            return;
        };
        episode.high = max;
        self.retransmissions.note(sent, episode);
        if sent.cause == Cause::Probe {
            return self.on_probe(sent);
        }
        episode.retransmissions += 1;
        for slot in &mut self.slots {
            if !slot.timeouts_only || sent.cause == Cause::Timeout {
                slot.detector.on_retransmission(sent, episode);
            }
        }
    }

    /// A tail loss probe has retransmitted a segment. D-SACK may report it like any retransmission.
    fn on_probe(&mut self, sent: &Sent) {
        let Some(episode) = &mut self.episode else { return };
        episode.retransmissions += 1;
        for slot in &mut self.slots {
            slot.detector.on_probe(sent, episode);
        }
    }

    /// A segment was sent for the first time.
    pub fn on_new_segment(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.new_segments += 1;
        }
    }

    /// Passes an acknowledgment to the detectors. Returns the cause of the duplicate that it
    /// reports, if any.
    pub fn on_ack(&mut self, facts: &AckFacts) -> Option<DuplicateCause> {
        let cause = self.duplicate(facts);
        self.run_all(facts);
        cause
    }

    /// As [`Self::on_ack`] outside of an episode, for an acknowledgment without SACK blocks that
    /// advances SND.UNA from `una` to `ack`. `newest` is as for [`Path::take`].
    #[inline]
    pub fn on_plain_ack(
        &mut self,
        (una, ack): (Seq, Seq),
        newest: Option<&NewestAcked>,
        at: Instant,
    ) {
        self.retransmissions.forget(una);
        if let Some(path) = self.path.as_mut().filter(|_| ack > una) {
            path.take(at, ack.since(una), newest);
        }
    }

    fn duplicate(&mut self, facts: &AckFacts) -> Option<DuplicateCause> {
        self.retransmissions.forget(facts.una_before);
        let report = self.retransmissions.report(facts.dsack.as_ref()?, facts.una_before);
        self.duplicates.count(report.cause);
        Some(report.cause)
    }

    fn run_all(&mut self, facts: &AckFacts) {
        let Some(path) = &mut self.path else { return self.end_if_covered(facts) };
        path.measure(facts);
        self.dsack_seen |= facts.dsack.is_some();
        let Some(episode) = &mut self.episode else { return self.report_late(facts) };
        (episode.min_rtt, episode.dsack_seen) = (path.min_rtt, self.dsack_seen);
        let episode = *episode;
        self.run(facts.at, |detector| detector.on_ack(facts, &episode));
        self.end_if_covered(facts);
    }

    /// Passes a D-SACK to the detectors that expect it although the episode has ended.
    fn report_late(&mut self, facts: &AckFacts) {
        let late = self.awaiting_reports.as_mut().filter(|_| facts.dsack.is_some());
        let Some(episode) = late else { return };
        episode.dsack_seen = true;
        let episode = *episode;
        self.run(facts.at, |detector| detector.on_ack(facts, &episode));
    }

    /// Ends the episode if data is acknowledged that was sent after its last retransmission, for
    /// all detectors but those that expect late reports.
    fn end_if_covered(&mut self, facts: &AckFacts) {
        if self.episode.is_none_or(|episode| facts.ack <= episode.high) {
            return;
        }
        self.end_where(facts.at, |slot| !slot.detector.expects_late_reports());
        let ended = self.episode.take();
        self.awaiting_reports = ended.filter(|_| self.slots.iter().any(|slot| !slot.decided));
    }

    /// Runs `step` for the detectors that have not decided in this episode.
    pub fn run(&mut self, at: Instant, mut question: impl FnMut(&mut dyn Detector) -> Verdict) {
        let Some(episode) = self.undecided_episode().copied() else { return };
        for slot in self.slots.iter_mut().filter(|slot| !slot.decided) {
            let verdict = question(slot.detector.as_mut());
            if verdict != Verdict::Open {
                slot.decided = true;
                let (episode, detector) = (episode.number, slot.id);
                self.verdicts.push_back(DetectorVerdict { episode, detector, verdict, at });
            }
        }
    }

    /// Ends the episode. Detectors that have not decided return their last verdict.
    pub fn end(&mut self, at: Instant) {
        self.end_where(at, |_| true);
        (self.episode, self.awaiting_reports) = (None, None);
        for slot in &mut self.slots {
            slot.decided = false;
        }
    }

    /// These detectors, if they have not decided, return their last verdict.
    fn end_where(&mut self, at: Instant, ends: impl Fn(&Slot) -> bool) {
        let Some(episode) = self.undecided_episode().copied() else { return };
        for slot in self.slots.iter_mut().filter(|slot| !slot.decided && ends(slot)) {
            slot.decided = true;
            let verdict = slot.detector.at_end(&episode);
            let (episode, detector) = (episode.number, slot.id);
            self.verdicts.push_back(DetectorVerdict { episode, detector, verdict, at });
        }
    }

    /// The next verdict.
    pub fn poll(&mut self) -> Option<DetectorVerdict> {
        self.verdicts.pop_front()
    }
}
