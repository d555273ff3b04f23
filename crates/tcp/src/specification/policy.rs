//! A policy, with its requirements and the policies that it excludes.

use crate::config::{Algorithm, Config, PathParameter, Reduction, Response};
use crate::spurious::{DetectorId, DetectorKind, Family, Requirement};

/// A policy that a specification may name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Its name, with its variant if it has one: `newreno`, `newreno:less-careful`.
    pub name: &'static str,
    /// The question that it answers. A specification has at most one policy for each question, but
    /// any number of detectors.
    pub question: Question,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its publication: a paper or RFC with its section, or source code.
    pub source: &'static str,
    pub(super) sets: Sets,
}

/// The settings of a policy.
#[derive(Clone, Copy)]
pub(super) enum Sets {
    Config(fn(&mut Config)),
    Detector(DetectorId),
    Response(Response),
}

/// The questions that the RFCs separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is lost? Every specification begins with a policy for this question.
    Recovery,
    /// What is sent after a timeout, and was the timeout spurious?
    Timeout,
    /// Was a retransmission spurious?
    Spurious,
    /// What is the response to a spurious retransmission?
    Response,
    /// How long is the retransmission timeout?
    Timer,
    /// How does the timeout grow while nothing is acknowledged?
    Backoff,
    /// How is cwnd reduced in fast recovery?
    Reduction,
    /// How does cwnd grow, and how far is it reduced?
    Congestion,
    /// When does slow start end?
    SlowStart,
    /// When do the segments leave that the windows allow?
    Pacing,
    /// How much reordering is tolerated?
    Reordering,
    /// Which signals does the network send?
    Network,
}

impl Question {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::Spurious => "spurious",
            Self::Response => "response",
            Self::Timer => "timer",
            Self::Backoff => "back-off",
            Self::Reduction => "reduction",
            Self::Congestion => "congestion",
            Self::SlowStart => "slow start",
            Self::Pacing => "pacing",
            Self::Reordering => "reordering",
            Self::Network => "network",
        }
    }
}

/// The requirement of a response.
pub(super) const A_DETECTOR: &str = "a detector, such as `eifel`";

/// The requirement of a policy about the retransmission timeout.
const A_TIMEOUT: &str = "a retransmission timeout, which `rfc9002` does not have";

/// The requirement of `undo`.
const NUMBERED_PACKETS: &str = "`rfc9002`, which knows the packets that it declared lost";

pub(super) fn detects_nothing(config: &Config) -> bool {
    config.frto.is_none() && config.detectors.is_empty()
}

impl Policy {
    /// The policy of a sender that acts on this detector.
    pub(super) fn of_detector(id: DetectorId) -> Option<Self> {
        let DetectorKind { name, about, source, .. } = *id.kind()?;
        let question = id.variant().map_or(Question::Spurious, |_| Question::Timeout);
        id.acting()?;
        Some(Self { name, question, about, source, sets: Sets::Detector(id) })
    }

    /// The detector, if the policy is one.
    pub(super) const fn detector(&self) -> Option<DetectorId> {
        match self.sets {
            Sets::Detector(id) => Some(id),
            Sets::Config(_) | Sets::Response(_) => None,
        }
    }

    /// The family of detectors that exclude each other, if the policy is a detector.
    fn family(&self) -> Option<Family> {
        Some(self.detector()?.acting()?.family)
    }

    /// Does it exclude the other? Only one detector of a family is allowed, and F-RTO excludes
    /// DualRTT, which waits for the ACK of a second retransmission.
    pub(super) fn rules_out(&self, other: &Self) -> bool {
        match (self.question, other.question) {
            (Question::Spurious | Question::Timeout, Question::Spurious | Question::Timeout) => {
                let families = [self.family(), other.family()];
                let both = [self.question, other.question];
                self.detector() == other.detector()
                    || (families[0] == families[1] && families[0] != Some(Family::Single))
                    || both == [Question::Timeout; 2]
                    || (both.contains(&Question::Timeout)
                        && families.contains(&Some(Family::DualRtt)))
            }
            (own, others) => own == others,
        }
    }

    /// The policy or setting that it needs and `config` lacks.
    pub(super) fn missing_parameter(&self, config: &Config) -> Option<&'static str> {
        let acting = self.detector().and_then(DetectorId::acting);
        let needs = acting.and_then(|acting| acting.needs);
        let has_rto = config.recovery.algorithm != Algorithm::Rfc9002;
        let is_about_rto = matches!(self.question, Question::Timeout | Question::Timer)
            || acting.is_some_and(|acting| acting.timeouts_only);
        match self.question {
            _ if is_about_rto && !has_rto => Some(A_TIMEOUT),
            Question::Spurious if self.detector().is_none() && has_rto => Some(NUMBERED_PACKETS),
            Question::Response if detects_nothing(config) => Some(A_DETECTOR),
            Question::Reduction
                if matches!(config.recovery.reduction, Reduction::Prr(_))
                    && !config.counts_delivered() =>
            {
                Some("`sack` or `rack`, not `sack:ns2`, because SACK reports the delivered data")
            }
            Question::Spurious if needs == Some(Requirement::Dsack) && !config.sack => {
                Some("`sack`, because D-SACKs are SACK options")
            }
            Question::Spurious if self.family() == Some(Family::DualRtt) => {
                config.dualrtt.missing_parameter().map(|fact| match fact {
                    PathParameter::Rate => "the path's bandwidth, as `tcp.dualrtt.path_rate`",
                    PathParameter::Delay => "the path's one-way delay, as `tcp.dualrtt.path_delay`",
                })
            }
            _ => None,
        }
    }
}
