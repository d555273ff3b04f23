//! Passive detectors, whose verdicts about timeouts and fast retransmits do not influence the
//! sender.

use alloc::boxed::Box;

use rtolab_time::Instant;

use super::set::{Beginning, DetectorSet, made};
use super::{
    Detector, DetectorId, DetectorVerdict, Duplicates, EpisodeKind, KnownPath, Reason, Verdict,
};
use crate::flight::{AckFacts, Cause, Flight};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// The meaning of an acknowledgment on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainAck {
    /// Does it advance SND.UNA?
    pub is_new: bool,
    /// When the last segment that it newly and wholly acknowledges was sent; `None` if there is
    /// none, or if one of them was retransmitted (Karn's rule).
    pub newest_sent: Option<Instant>,
}

/// Detectors on which no sender acts.
///
/// Report the events of the sender in their order: an acknowledgment, then the fast retransmit that
/// it triggers, then the segments that are sent for it. Each detector has at most one verdict about
/// an [`Episode`](super::Episode).
#[derive(Clone, Debug)]
pub struct PassiveDetectors {
    flight: Flight,
    set: DetectorSet,
    /// Is the first retransmission of the episode still to be sent?
    retransmission_pending: bool,
}

impl PassiveDetectors {
    /// These detectors of the registry, for a connection whose first segment begins at `seq`, which
    /// is [`Seq::FIRST`] for the SYN.
    pub fn new(detectors: impl IntoIterator<Item = DetectorId>, seq: Seq) -> Self {
        Self::of(made(detectors), seq)
    }

    /// All detectors of the registry, for a connection as in [`Self::new`]. They take memory from
    /// the first episode on.
    pub fn all(seq: Seq) -> Self {
        Self::with(DetectorSet::deferred(), seq)
    }

    /// As [`Self::new`], with these detectors in their initial state.
    pub fn of(
        detectors: impl IntoIterator<Item = (DetectorId, Box<dyn Detector>)>,
        seq: Seq,
    ) -> Self {
        Self::with(DetectorSet::of(detectors), seq)
    }

    fn with(set: DetectorSet, seq: Seq) -> Self {
        Self { flight: Flight::starting_at(seq), set, retransmission_pending: false }
    }

    /// The same detectors, with the sender's knowledge of the path.
    #[must_use]
    pub fn with_known_path(mut self, path: KnownPath) -> Self {
        self.set = self.set.with_known_path(path);
        self
    }

    /// The retransmission timer of the segment at `seq` expired. Returns the number of the episode.
    pub fn timeout(&mut self, seq: Seq, at: Instant) -> u32 {
        self.begin(EpisodeKind::Timeout, seq, at)
    }

    /// The sender decided on a fast retransmit of the segment at `seq`. Returns the number of the
    /// episode.
    pub fn fast_retransmit(&mut self, seq: Seq, at: Instant) -> u32 {
        self.begin(EpisodeKind::FastRetransmit, seq, at)
    }

    /// The sender sent `segment` for this `cause`, if it is known: an engine has it in its flight,
    /// as [`Sent::cause`](crate::Sent::cause).
    #[inline]
    pub fn sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if segment.sequence_length() == 0 {
            return;
        }
        let max = self.flight.max();
        let is_plain =
            segment.seq == max && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::RXT);
        if is_plain && cause == Cause::New && self.set.episode().is_none() {
            // The fast path, with the same result.
            return self.flight.sent_new(segment, at);
        }
        self.sent_any(segment, at, cause);
    }

    fn sent_any(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        let max = self.flight.max();
        let is_retransmission = segment.seq < max;
        self.flight.sent(segment, at, self.cause_of(segment, cause));
        let Some(episode) = self.set.episode().copied() else {
            let probe = self.flight.segment_at(segment.seq).filter(|_| cause == Cause::Probe);
            if let Some(probe) = probe.filter(|_| is_retransmission) {
                self.set.on_retransmission(probe, max);
            }
            return;
        };
        if segment.end() > max {
            self.set.on_new_segment();
        }
        if is_retransmission && !segment.flags.has(Flags::SYN) {
            self.retransmission_pending &= !covers(segment, episode.seq);
            let from = segment.seq.max(self.flight.una());
            let resent = self.flight.segments_from(from);
            for sent in resent.take_while(|sent| sent.seq < segment.end() && sent.seq < max) {
                self.set.on_retransmission(sent, max);
            }
        }
    }

    /// An acknowledgment reached the sender. Returns its facts, unless it is below SND.UNA or
    /// beyond SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) -> Option<AckFacts> {
        let known = self.flight.una()..=self.flight.max();
        if !segment.flags.has(Flags::ACK) || !known.contains(&segment.ack) {
            return None;
        }
        let facts = self.flight.on_ack(segment, at);
        self.set.on_ack(&facts);
        Some(facts)
    }

    /// The fast path of [`Self::on_ack`] for an acknowledgment of new data, or with data, without
    /// SACK blocks, outside of an episode, and while nothing is SACKed. `None` if the
    /// acknowledgment cannot take it; nothing has changed then.
    #[inline]
    pub fn on_plain_ack(&mut self, segment: &Segment, at: Instant) -> Option<PlainAck> {
        let una = self.flight.una();
        let is_known = una < segment.ack && segment.ack <= self.flight.max()
            // A segment without data may be a duplicate acknowledgment.
            || una == segment.ack && segment.len > 0;
        let is_plain = segment.flags.has(Flags::ACK)
            && !segment.flags.any(Flags::SYN | Flags::RXT_ECHO)
            && segment.sack_count() == 0;
        if !is_known || !is_plain || self.set.episode().is_some() || !self.flight.is_clean() {
            return None;
        }
        let is_new = una < segment.ack;
        let newest = self.flight.acked_plainly(segment);
        let newest = newest.filter(|_| is_new);
        self.set.on_plain_ack((una, segment.ack), newest.as_ref(), at);
        Some(PlainAck { is_new, newest_sent: newest.map(|newest| newest.first_sent) })
    }

    /// The history of sent and acknowledged segments.
    pub const fn flight(&self) -> &Flight {
        &self.flight
    }

    /// The number of reported duplicates, by cause.
    pub const fn duplicates(&self) -> Duplicates {
        self.set.duplicates()
    }

    /// The connection ended. Undecided verdicts stay [`Verdict::Open`].
    pub fn finish(&mut self, at: Instant) {
        self.set.end(at);
    }

    /// The next verdict.
    pub fn poll(&mut self) -> Option<DetectorVerdict> {
        self.set.poll()
    }

    /// The cause of a segment: for the first retransmission of an episode the kind of the episode,
    /// because a capture does not show it.
    fn cause_of(&self, segment: &Segment, cause: Cause) -> Cause {
        match self.set.episode() {
            Some(episode) if self.retransmission_pending && covers(segment, episode.seq) => {
                match episode.kind {
                    EpisodeKind::Timeout => Cause::Timeout,
                    EpisodeKind::FastRetransmit => Cause::FastRetransmit,
                }
            }
            _ => cause,
        }
    }

    fn begin(&mut self, kind: EpisodeKind, seq: Seq, at: Instant) -> u32 {
        let before = self.set.episode().map(|episode| episode.number);
        let number = self.set.begin(Beginning {
            kind,
            seq,
            una: self.flight.una(),
            max: self.flight.max(),
            retrans_out: None,
            sack: self.flight.uses_sack(),
            probe: self.flight.probed().copied(),
            at,
        });
        self.retransmission_pending = true;
        let syn = self.flight.segment_at(seq).is_some_and(|sent| sent.flags.has(Flags::SYN));
        if syn && before != Some(number) {
            self.set.run(at, |_| Verdict::Inconclusive(Reason::Handshake));
        }
        number
    }
}

fn covers(segment: &Segment, seq: Seq) -> bool {
    segment.seq <= seq && seq < segment.end()
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use rtolab_time::Duration;

    use super::*;

    const LEN: u32 = 1000;
    const FLAGS: [Flags; 5] = [Flags::SYN, Flags::FIN, Flags::RXT, Flags::PSH, Flags::NONE];
    const CAUSES: [Cause; 3] = [Cause::New, Cause::Unknown, Cause::Probe];

    proptest! {
        #[test]
        fn the_fast_path_has_the_effect_of_the_general_one(
            events in vec((0..5_usize, 0..5_usize, 0..6_usize, 0..3_u32), 1..80),
        ) {
            let mut fast = PassiveDetectors::all(Seq::FIRST);
            let mut general = fast.clone();
            let mut at = Instant::START;
            for (kind, flags, cause, segments) in events {
                at += Duration::from_millis(7);
                let (una, max) = (fast.flight().una(), fast.flight().max());
                // Most segments are in order, and sent for the first time.
                let cause = *CAUSES.get(cause).unwrap_or(&Cause::New);
                let mut segment = Segment::new(max, LEN, Flags::ACK | FLAGS[flags]);
                match kind {
                    0 | 1 => {
                        segment.seq = Seq::new(max.value() - u64::from(segments / 2 * LEN));
                        fast.sent(&segment, at, cause);
                        general.sent_any(&segment, at, cause);
                    }
                    2 | 3 => {
                        (segment.ack, segment.len) = (una + segments * LEN, segments / 2 * LEN);
                        if fast.on_plain_ack(&segment, at).is_none() {
                            fast.on_ack(&segment, at);
                        }
                        general.on_ack(&segment, at);
                    }
                    _ => {
                        fast.timeout(una, at);
                        general.timeout(una, at);
                    }
                }
                prop_assert_eq!(format!("{fast:?}"), format!("{general:?}"));
            }
        }
    }
}
