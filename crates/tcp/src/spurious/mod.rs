//! Detectors of spurious retransmissions.
//!
//! A sender runs the detectors that it acts on. [`PassiveDetectors`] run any detectors on the
//! segments of any sender.

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
pub use detectors::{COMPOSITE_DETECTORS, DETECTORS, DetectorKind, Family, Requirement};
pub use dsack::Dsack;
pub use dsack_causes::DsackCauses;
pub use dsack_linux::DsackLinux;
pub use dualrtt::{DualRtt, DualRttConfig, FirstAck, Logarithm, PathParameter, Threshold};
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
pub use passive::{PassiveDetectors, PlainAck};
pub use rfc3522::Rfc3522;
pub use set::DetectorVerdict;
pub(crate) use set::{Beginning, DetectorSet};
pub use undo_linux::UndoLinux;

/// The decision of a detector about an [`Episode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No decision yet.
    Open,
    /// The retransmission was spurious: the original was only late.
    Spurious,
    /// The retransmission was needed.
    Genuine,
    /// The detector cannot decide, for this reason.
    Inconclusive(Reason),
}

impl Verdict {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Spurious => "spurious",
            Self::Genuine => "genuine",
            Self::Inconclusive(_) => "blind",
        }
    }
}

/// Why a detector cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It needs new segments, and there was no data or no window for any.
    NothingNewToSend,
    /// It needs timestamps, and the peer sends none.
    NoTimestamps,
    /// It needs D-SACKs, and the peer has never sent one.
    NoDsack,
    /// It needs the RXT flag, and the sender does not set it.
    NotMarked,
    /// It needs a round-trip sample, and there was none yet.
    NoRoundTrip,
    /// It needs certain transmissions, and the sender deviated from them.
    SenderDeviated,
    /// A recovery was under way, in which the detector does not run.
    AlreadyRecovering,
    /// The episode began with a fast retransmit, and the detector handles only timeouts.
    NotATimeout,
    /// The segment was a SYN, and the detector handles only data.
    Handshake,
    /// A segment was retransmitted twice, and the report may be for either copy.
    RetransmittedTwice,
    /// The network itself duplicates packets.
    NetworkDuplicates,
    /// It needs the rate or the delay of the path, which is not known.
    PathUnknown,
    /// A reason of a [`CustomDetector`].
    Other(&'static str),
}

impl Reason {
    /// Its name in tables.
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

/// A detector of spurious retransmissions. It receives one episode after the other.
pub trait Detector: CloneDetector + Debug + Send + Sync {
    /// A segment was retransmitted in this episode, including the first one.
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        let _ = (sent, episode);
    }

    /// A tail loss probe (RFC 8985 section 7) has retransmitted a segment, in this episode or
    /// before it.
    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        let _ = (sent, episode);
    }

    /// An acknowledgment arrived in this episode, about which the detector has not decided yet.
    /// Returns the decision.
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict;

    /// Can a D-SACK decide after the episode? Then the detector receives those that arrive until
    /// the next one begins.
    fn expects_late_reports(&self) -> bool {
        false
    }

    /// The episode ends without a decision. Returns a last one.
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
