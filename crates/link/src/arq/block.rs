//! The units that ARQ sends.

use rtolab_time::{Duration, Instant};

use crate::frame::{CopyId, Frame};

/// A block in transit. The two ends find the data it carries by its number, so a block is small
/// whatever the size of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) bytes: u32,
    pub(crate) content: Content,
    pub(crate) purpose: Purpose,
    /// Damaged, unnoticed by the link.
    pub(crate) corrupt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data(Data),
    Control(Control),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// The block's number.
    pub(crate) number: u64,
    /// The frame that it belongs to.
    pub(crate) frame: u64,
    /// The number of the transmission among those of all blocks. The receiver reports each
    /// transmission, so that a retransmitted block is not reported missing twice.
    pub(crate) transmission: u64,
    /// The oldest block that the sender has not given up: the start of the receiver's window.
    pub(crate) window_start: u64,
    /// Is it the first transmission of the frame's last block?
    pub(crate) completes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Report(Report),
    /// The sender has given up all blocks before this one, to which the receiver's window moves.
    MoveWindow(u64),
}

/// A report of the receiver. It contains all notices that no earlier report has delivered, so their
/// end suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The end of the notices that it delivers.
    pub(crate) upto: u64,
    /// In a repeated report: the block for which the receiver still waits.
    pub(crate) still_expected: Option<u64>,
}

/// The purpose of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// New data.
    New,
    /// A retransmission, on any layer.
    Retransmission,
    Report,
}

impl Frame for Block {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn copy_id(&self) -> CopyId {
        match self.content {
            Content::Data(data) => CopyId(data.transmission),
            Content::Control(_) => CopyId::default(),
        }
    }

    fn is_ecn_capable(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {
        self.corrupt = true;
    }
}

/// What an ARQ layer carries: a frame, or a block of the layer above.
pub(crate) trait Payload: Clone {
    fn bytes(&self) -> u32;
    fn corrupt(&mut self);
    fn purpose(&self) -> Purpose;
    /// The transmitter's total stall time when it entered the link.
    fn stalled_at_entry(&self, now: NodeTime) -> Duration;
}

impl Payload for Block {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn corrupt(&mut self) {
        self.corrupt = true;
    }

    fn purpose(&self) -> Purpose {
        self.purpose
    }

    fn stalled_at_entry(&self, now: NodeTime) -> Duration {
        now.stalled
    }
}

/// The current time of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeTime {
    pub(crate) now: Instant,
    /// The transmitter's total stall time so far.
    pub(crate) stalled: Duration,
}

/// `at - by`, but not before time 0.
pub(crate) const fn earlier(at: Instant, by: Duration) -> Instant {
    Instant::from_nanos(at.nanos().saturating_sub(by.nanos()))
}
