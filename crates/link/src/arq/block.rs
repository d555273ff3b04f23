//! What local retransmission sends.

use rtolab_time::{Duration, Instant};

use crate::frame::{CopyId, Frame};

/// A block on its way. What it carries of a frame stays with the two ends that know it by number,
/// so that a block is small, whatever frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) bytes: u32,
    pub(crate) content: Content,
    pub(crate) purpose: Purpose,
    /// Damaged unnoticed by the link.
    pub(crate) corrupt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A frame or a piece of one.
    Data(Data),
    /// What the ends have to say to each other.
    Control(Control),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// Which block.
    pub(crate) number: u64,
    /// Of which frame.
    pub(crate) frame: u64,
    /// Which transmission, counted over all blocks: so the receiving end knows of each whether it
    /// came, and a block that is under way again is not reported missing twice.
    pub(crate) transmission: u64,
    /// The oldest block that the sending end has not given up.
    pub(crate) alive: u64,
    /// Is it the first transmission of the frame's last block?
    pub(crate) completes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// The receiving end reports.
    Report(Report),
    /// The sending end has given up everything before this block.
    Alive(u64),
}

/// What the receiving end has noticed so far. Reports repeat everything that no earlier report has
/// brought home, so it suffices to say how far this one goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// It brings word up to this one.
    pub(crate) upto: u64,
    /// The block that the receiving end still waits for, though blocks behind it are there and it
    /// has said so long ago; `None` if there is no such thing.
    pub(crate) still_expected: Option<u64>,
}

/// What a transmission is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It carries something new.
    New,
    /// It repeats what was sent before, on whatever level.
    Again,
    /// It carries a report.
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

    fn takes_marks(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {
        self.corrupt = true;
    }
}

/// What a level of local retransmission carries: a frame, or a block of the level above.
pub(crate) trait Payload: Clone {
    fn bytes(&self) -> u32;
    fn corrupt(&mut self);
    fn purpose(&self) -> Purpose;
    /// How long the transmitter had stalled in all when it came to the link.
    fn stalled_at_entry(&self, now: Moment) -> Duration;
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

    fn stalled_at_entry(&self, now: Moment) -> Duration {
        now.stalled
    }
}

/// The present, as a station sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// How long the transmitter has stalled so far, all together.
    pub(crate) stalled: Duration,
}

/// The instant before `at` by so much; the start of the run at the earliest.
pub(crate) const fn earlier(at: Instant, by: Duration) -> Instant {
    Instant::from_nanos(at.nanos().saturating_sub(by.nanos()))
}
