//! Was that retransmission spurious? Detectors, each a state machine over facts.
//!
//! A sender asks those that it acts on; [`PassiveDetectors`] ask any of them about any sender.

mod badrexmit;
mod custom;
mod detectors;
mod dsack;
mod dsack_causes;
mod dsack_linux;
mod dualrtt;
mod duplicates;
pub mod eifel;
mod eifel_rxt;
mod eifel_safe;
pub mod frto;
mod id;
mod orig_acked;
mod passive;
mod path;
mod rfc3522;
mod set;
mod undo_linux;

use alloc::boxed::Box;
use core::fmt::Debug;

use crate::flight::{AckFacts, Sent};

pub use crate::episode::{DetectorId, Episode, EpisodeKind, KnownPath};

pub use badrexmit::BadRetransmit;
pub use custom::CustomDetector;
pub use detectors::{COMPOSITE_DETECTORS, DETECTORS, DetectorKind, Family, Needs};
pub use dsack::Dsack;
pub use dsack_causes::DsackCauses;
pub use dsack_linux::DsackLinux;
pub use dualrtt::{DualRtt, DualRttConfig, FirstAck, Logarithm, PathFact, Threshold};
pub use duplicates::{DuplicateCause, Duplicates};
pub use eifel::Eifel;
pub use eifel_rxt::EifelRxt;
pub use eifel_safe::EifelSafe;
pub use frto::{
    Advice, CanSend, Entry, Expiry, Fallback, Frto, FrtoVariant, GoBack, PassiveFrto, Resumption,
    Step2Window,
};
pub use id::DetectorError;
pub use orig_acked::OrigAcked;
pub use passive::PassiveDetectors;
pub use rfc3522::Rfc3522;
pub use set::DetectorVerdict;
pub(crate) use set::{Beginning, DetectorSet};
pub use undo_linux::UndoLinux;

/// The decision of a detector about a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Open,
    /// The original was only late.
    Spurious,
    /// No sign of that: it was needed.
    Genuine,
    /// The question cannot be answered, for this reason.
    Inconclusive(Reason),
}

impl Verdict {
    /// As tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Spurious => "spurious",
            Self::Genuine => "genuine",
            Self::Inconclusive(_) => "blind",
        }
    }
}

/// Why a detector cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It needs new segments to be sent, and there was no data or no window for any.
    NothingNewToSend,
    /// It needs timestamps, and the peer sends none.
    NoTimestamps,
    /// It needs D-SACKs, and the peer has never sent one.
    NoDsack,
    /// It needs retransmissions to be marked, and the sender marks none.
    NotMarked,
    /// It needs a round-trip time, and there was none yet.
    NoRoundTrip,
    /// It needs the sender to act in a certain way, and the sender did not.
    SenderDeviated,
    /// A recovery was under way, which it stays out of.
    AlreadyRecovering,
    /// It is for timeouts only.
    NotATimeout,
    /// It is for data, and the segment was a SYN.
    Handshake,
    /// A segment was retransmitted twice, and what is reported may stand for either.
    RetransmittedTwice,
    /// The network itself duplicates packets.
    NetworkDuplicates,
    /// It needs to know the path, and does not.
    PathUnknown,
    /// A reason of a [`CustomDetector`].
    Other(&'static str),
}

impl Reason {
    /// As tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NothingNewToSend => "nothing new to send",
            Self::NoTimestamps => "no timestamps",
            Self::NoDsack => "no D-SACK",
            Self::NotMarked => "no marks",
            Self::NoRoundTrip => "no round-trip time",
            Self::SenderDeviated => "the sender did otherwise",
            Self::AlreadyRecovering => "a recovery was under way",
            Self::NotATimeout => "not a timeout",
            Self::Handshake => "a handshake",
            Self::RetransmittedTwice => "retransmitted twice",
            Self::NetworkDuplicates => "the network duplicates",
            Self::PathUnknown => "the path is not known",
            Self::Other(why) => why,
        }
    }
}

/// Was that retransmission spurious? A detector sees one episode after the other.
pub trait Detector: CloneDetector + Debug + Send + Sync {
    /// A segment was retransmitted in this episode, the first one included.
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        let _ = (sent, episode);
    }

    /// A tail loss probe (RFC 8985 section 7) has retransmitted a segment, in this episode or
    /// before it.
    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        let _ = (sent, episode);
    }

    /// An acknowledgment arrived in this episode, which has no verdict yet.
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict;

    /// The episode ends without a verdict: the last chance for one.
    fn at_end(&mut self, episode: &Episode) -> Verdict {
        let _ = episode;
        Verdict::Open
    }
}

/// Makes a trait object of [`Detector`] cloneable.
pub trait CloneDetector {
    /// A copy with the same state.
    fn boxed(&self) -> Box<dyn Detector>;
}

impl<D: Detector + Clone + 'static> CloneDetector for D {
    fn boxed(&self) -> Box<dyn Detector> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Detector> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}
