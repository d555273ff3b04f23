//! Judges: what each detector would say of a sender's timeouts and fast retransmits, whatever the
//! sender makes of them.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use super::{Detector, DetectorKind, Episode, EpisodeKind, Verdict, Why};
use crate::flight::{AckFacts, Cause, Flight, Sent};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// Detectors that look on.
///
/// They are told what happens at the sender in its order: an acknowledgment before the timeout or
/// fast retransmit that it leads to, and this before the segments that leave for it. Each says one
/// thing at most of an [`Episode`].
#[derive(Clone, Debug)]
pub struct Judges {
    flight: Flight,
    bench: Vec<Judge>,
    episode: Option<Episode>,
    /// Does the episode's own retransmission still have to leave?
    awaited: bool,
    episodes: u32,
    min_rtt: Option<Duration>,
    dsack_seen: bool,
    judgments: VecDeque<Judgment>,
}

#[derive(Clone, Debug)]
struct Judge {
    name: &'static str,
    detector: Box<dyn Detector>,
    /// Has it spoken in this episode?
    decided: bool,
}

/// What a detector says of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// The number of the episode.
    pub episode: u32,
    /// Which detector.
    pub detector: &'static str,
    /// What it says; [`Verdict::Open`] where the episode ended without a word.
    pub verdict: Verdict,
    /// When it said so.
    pub at: Instant,
}

impl Judges {
    /// Judges of a connection that sends from `seq` on: [`Seq::FIRST`], where its SYN is seen.
    pub fn new<'a>(kinds: impl IntoIterator<Item = &'a DetectorKind>, seq: Seq) -> Self {
        let judge = |kind: &DetectorKind| Judge {
            name: kind.name,
            detector: (kind.make)(),
            decided: false,
        };
        Self {
            flight: Flight::starting_at(seq),
            bench: kinds.into_iter().map(judge).collect(),
            episode: None,
            awaited: false,
            episodes: 0,
            min_rtt: None,
            dsack_seen: false,
            judgments: VecDeque::new(),
        }
    }

    /// The retransmission timer of the segment at `seq` expired: the number of the episode.
    pub fn timeout(&mut self, seq: Seq, at: Instant) -> u32 {
        let undecided = self.bench.iter().all(|judge| !judge.decided);
        match &mut self.episode {
            Some(episode)
                if episode.kind == EpisodeKind::Timeout && episode.seq == seq && undecided =>
            {
                episode.timeouts += 1;
                self.awaited = true;
                episode.number
            }
            _ => self.begin(EpisodeKind::Timeout, seq, at),
        }
    }

    /// Duplicate acknowledgments said that the segment at `seq` was lost: the number of the episode.
    pub fn fast_retransmit(&mut self, seq: Seq, at: Instant) -> u32 {
        self.begin(EpisodeKind::FastRetransmit, seq, at)
    }

    /// The sender sent `segment`, and why, if that is known: an engine that sent it has the reason in
    /// its own flight, as [`Sent::cause`].
    pub fn sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if segment.sequence_length() == 0 {
            return;
        }
        let max = self.flight.max();
        let again = segment.seq < max;
        self.flight.sent(segment, at, self.cause_of(segment, cause));
        let Some(episode) = &mut self.episode else { return };
        if segment.end() > max {
            episode.new_segments += 1;
        }
        if again && !segment.flags.has(Flags::SYN) {
            self.awaited &= !covers(segment, episode.seq);
            episode.high = max;
            let from = segment.seq.max(self.flight.una());
            let resent = self.flight.segments_from(from);
            for sent in resent.take_while(|sent| sent.seq < segment.end() && sent.seq < max) {
                episode.retransmissions += 1;
                tell(&mut self.bench, sent, episode);
            }
        }
    }

    /// An acknowledgment reached the sender.
    pub fn acked(&mut self, segment: &Segment, at: Instant) {
        let known = self.flight.una()..=self.flight.max();
        if !segment.flags.has(Flags::ACK) || !known.contains(&segment.ack) {
            return;
        }
        let facts = self.flight.acked(segment, at);
        self.measure(&facts);
        self.dsack_seen |= facts.dsack.is_some();
        let Some(mut episode) = self.episode else { return };
        (episode.min_rtt, episode.dsack_seen) = (self.min_rtt, self.dsack_seen);
        self.episode = Some(episode);
        self.ask(at, |detector| detector.on_ack(&facts, &episode));
        if self.flight.una() > episode.high {
            self.end(at);
        }
    }

    /// Nothing more will happen: what is left open is said to be.
    pub fn finish(&mut self, at: Instant) {
        self.end(at);
    }

    /// The next thing that a detector says.
    pub fn poll(&mut self) -> Option<Judgment> {
        self.judgments.pop_front()
    }

    /// What an episode's own retransmission is sent for, whoever saw it leave.
    fn cause_of(&self, segment: &Segment, cause: Cause) -> Cause {
        match &self.episode {
            Some(episode) if self.awaited && covers(segment, episode.seq) => match episode.kind {
                EpisodeKind::Timeout => Cause::Timeout,
                EpisodeKind::FastRetransmit => Cause::FastRetransmit,
            },
            _ => cause,
        }
    }

    /// The connection's smallest round-trip time, by Karn's rule.
    fn measure(&mut self, facts: &AckFacts) {
        if let (Some(newest), false) = (facts.newest_acked, facts.acks_retransmission) {
            let rtt = facts.at.since(newest.first_sent);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn begin(&mut self, kind: EpisodeKind, seq: Seq, at: Instant) -> u32 {
        self.end(at);
        let (number, max) = (self.episodes, self.flight.max());
        self.episodes += 1;
        self.awaited = true;
        self.episode = Some(Episode {
            number,
            kind,
            began: at,
            seq,
            max,
            high: max,
            min_rtt: self.min_rtt,
            dsack_seen: self.dsack_seen,
            sack: self.flight.uses_sack(),
            timeouts: u32::from(kind == EpisodeKind::Timeout),
            retransmissions: 0,
            new_segments: 0,
        });
        let syn = self.flight.segment_at(seq).is_some_and(|sent| sent.flags.has(Flags::SYN));
        if syn {
            self.ask(at, |_| Verdict::Blind(Why::Handshake));
        }
        number
    }

    /// The episode ends, and those that have not spoken say their last word.
    fn end(&mut self, at: Instant) {
        let Some(episode) = self.episode else { return };
        for judge in &mut self.bench {
            if !core::mem::take(&mut judge.decided) {
                let verdict = judge.detector.at_end(&episode);
                let (episode, detector) = (episode.number, judge.name);
                self.judgments.push_back(Judgment { episode, detector, verdict, at });
            }
        }
        self.episode = None;
        self.awaited = false;
    }

    /// Asks those that have not spoken in this episode.
    fn ask(&mut self, at: Instant, mut question: impl FnMut(&mut dyn Detector) -> Verdict) {
        let Some(episode) = self.episode else { return };
        for judge in self.bench.iter_mut().filter(|judge| !judge.decided) {
            let verdict = question(judge.detector.as_mut());
            if verdict != Verdict::Open {
                judge.decided = true;
                let (episode, detector) = (episode.number, judge.name);
                self.judgments.push_back(Judgment { episode, detector, verdict, at });
            }
        }
    }
}

/// All judges hear of a retransmission, also those that have spoken: they may need it later.
fn tell(bench: &mut [Judge], sent: &Sent, episode: &Episode) {
    for judge in bench {
        judge.detector.on_retransmission(sent, episode);
    }
}

fn covers(segment: &Segment, seq: Seq) -> bool {
    segment.seq <= seq && seq < segment.end()
}
