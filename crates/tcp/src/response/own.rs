//! A response that no table lists.

use alloc::boxed::Box;
use core::fmt::Debug;

use rtolab_time::{Duration, Instant};

use super::{Adapting, Answered, Detection, outstanding_before};
use crate::congestion::Window;
use crate::flight::AckFacts;
use crate::rtt::Estimate;
use crate::sender::{Sender, Settled};
use crate::spurious::{DetectorId, Episode};

/// What now? Asked when a detector that the sender acts on has spoken.
pub trait Responder: CloneResponder + Debug + Send + Sync {
    /// A timeout or fast retransmit was spurious. `None`: all goes on as if nobody had said so.
    fn on_spurious(&mut self, situation: &Situation) -> Option<Answer>;

    /// It is taken for needed: of the answer only windows and estimates count.
    fn on_genuine(&mut self, situation: &Situation) -> Option<Answer> {
        let _ = situation;
        None
    }
}

/// A copy of a response whose type is not known.
pub trait CloneResponder {
    /// A copy with the same state.
    fn boxed(&self) -> Box<dyn Responder>;
}

impl<R: Responder + Clone + 'static> CloneResponder for R {
    fn boxed(&self) -> Box<dyn Responder> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Responder> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// A response that has seen nothing yet, with its name. Every sender takes a copy.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Its name, by which it is known.
    pub name: &'static str,
    /// What is copied.
    pub responder: Box<dyn Responder>,
}

impl Prototype {
    /// Under this name.
    pub fn new(name: &'static str, responder: impl Responder + 'static) -> Self {
        Self { name, responder: Box::new(responder) }
    }
}

impl PartialEq for Prototype {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Prototype {}

/// How a sender stands as a detector speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// When the acknowledgment came.
    pub at: Instant,
    /// Who has spoken.
    pub detector: DetectorId,
    /// Of what: as it was before the acknowledgment.
    pub episode: Option<Episode>,
    /// As it is.
    pub now: Posture,
    /// As it was before the timeout or fast retransmit.
    pub before: Posture,
    /// What was outstanding before the acknowledgment, in bytes.
    pub flight_before_ack: u64,
    /// How many bytes it acknowledges.
    pub acked: u64,
    /// A full-sized segment, in bytes.
    pub smss: u64,
    /// The initial window, in bytes.
    pub initial_window: u64,
    /// The granularity of the retransmission timer.
    pub granularity: Duration,
    /// Has the peer echoed congestion since?
    pub congestion_echoed: bool,
    /// Has CUBIC made up for the reduction already (RFC 9438 section 4.9.2)?
    pub outgrown: bool,
    /// Were losses being repaired as the timer expired, of which F-RTO cannot tell (RFC 5682
    /// section 6)?
    pub losses_under_way: bool,
}

/// A sender's windows and estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posture {
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// The slow start threshold, in bytes.
    pub ssthresh: u64,
    /// What is outstanding, in bytes.
    pub flight: u64,
    /// SRTT and RTTVAR, if there was a round trip.
    pub estimate: Option<Estimate>,
}

/// What a sender is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The congestion window from now on, in bytes; `None`: as it is.
    pub cwnd: Option<u64>,
    /// The slow start threshold; `None`: as it is.
    pub ssthresh: Option<u64>,
    /// SRTT and RTTVAR from now on.
    pub estimate: Option<Estimate>,
    /// What the first round trip of new data must not lower them below (RFC 4015 section 3.2 step
    /// 11).
    pub adapt_from: Option<Estimate>,
    /// What becomes of the reduction.
    pub reduction: Reduction,
    /// Does the window grow for this acknowledgment?
    pub growth: Growth,
}

/// What becomes of a reduction beside the windows: CUBIC's curve, and the CWR that is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// It stands.
    #[default]
    Stands,
    /// It is taken back.
    Undone,
}

/// Does the window grow for the acknowledgment that settled it?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// No.
    #[default]
    Withheld,
    /// As for any.
    Usual,
}

impl Sender {
    /// Does as its own response says, where a timeout or fast retransmit was spurious; once an episode.
    pub(super) fn respond_by_own(&mut self, detection: &Detection, facts: &AckFacts) -> Settled {
        let situation = self.situation(detection, facts);
        let Self { saved: Some(saved), responder: Some(responder), .. } = self else {
            return Settled::No;
        };
        if saved.answered != Answered::NotYet {
            return Settled::No;
        }
        let asked = situation.and_then(|situation| responder.on_spurious(&situation));
        let Some(answer) = asked else { return Settled::No };
        saved.answered = Answered::Restored;
        self.resume(detection);
        if detection.is_of_fast_retransmit() {
            self.flight.clear_losses();
        }
        self.follow(&answer, facts);
        match answer.growth {
            Growth::Withheld => Settled::Restored,
            Growth::Usual => Settled::Resumed,
        }
    }

    /// The same where it is taken for needed.
    pub(crate) fn tell_genuine(&mut self, detection: &Detection, facts: &AckFacts) {
        let Some(situation) = self.situation(detection, facts) else { return };
        let Some(responder) = &mut self.responder else { return };
        if let Some(answer) = responder.on_genuine(&situation) {
            self.follow(&answer, facts);
        }
    }

    fn follow(&mut self, answer: &Answer, facts: &AckFacts) {
        let Answer { cwnd, ssthresh, estimate, adapt_from, reduction, growth: _ } = *answer;
        if let Some(cwnd) = cwnd {
            self.window.cwnd = cwnd.max(self.window.smss);
        }
        if let Some(ssthresh) = ssthresh {
            self.window.ssthresh = ssthresh;
        }
        if let Some(estimate) = estimate {
            self.rtt.adapt(estimate, Duration::ZERO);
        }
        if let Some(before) = adapt_from {
            let from = self.saved.as_ref().map_or(self.flight.max(), |saved| saved.max);
            self.adapting = Some(Box::new(Adapting { before, from }));
            self.validate_anew(facts.at);
        }
        if reduction == Reduction::Undone {
            self.undo_reduction();
        }
    }

    /// `None` before the first timeout or fast retransmit.
    fn situation(&mut self, detection: &Detection, facts: &AckFacts) -> Option<Situation> {
        let saved = **self.saved.as_ref()?;
        let Window { cwnd, ssthresh, smss, .. } = self.window;
        Some(Situation {
            at: facts.at,
            detector: detection.detector,
            episode: detection.episode,
            now: Posture {
                cwnd,
                ssthresh,
                flight: self.flight.size(),
                estimate: self.rtt.estimate(),
            },
            before: Posture {
                cwnd: saved.cwnd,
                ssthresh: saved.ssthresh,
                flight: saved.flight,
                estimate: saved.estimate,
            },
            flight_before_ack: outstanding_before(facts),
            acked: facts.advanced,
            smss,
            initial_window: self.initial_window(),
            granularity: self.config.rto.granularity,
            congestion_echoed: saved.congestion_echoed,
            outgrown: self.keeps_window(saved.cwnd),
            losses_under_way: detection.losses_were_under_way(&saved),
        })
    }
}
