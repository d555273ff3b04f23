//! Statistics and disturbances of a link.

use rtolab_time::{Duration, Instant};

use crate::frame::{Direction, DropCause};

/// The counts of one direction. A frame counts as delivered or dropped once its outcome was polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames sent into the link.
    pub offered: u64,
    /// Frames that were delivered.
    pub delivered: u64,
    /// The bytes of the delivered frames.
    pub bytes: u64,
    /// Frames that were lost.
    pub drops: Drops,
    /// The total time that delivered frames spent in the link.
    pub total_delay: Duration,
    /// The longest time that a delivered frame spent in the link.
    pub max_delay: Duration,
    /// The largest number of frames that waited in the queue.
    pub max_queue: u32,
    /// Second copies that arrived; not counted in `delivered`.
    pub duplicates: u64,
    /// Delivered frames that were damaged.
    pub corrupted: u64,
    /// Delivered frames that were marked.
    pub marked: u64,
    /// Transmissions: frames, ARQ blocks, their retransmissions, and reports.
    pub transmissions: u64,
    /// The bytes of the transmissions.
    pub transmitted_bytes: u64,
    /// Retransmitted ARQ blocks.
    pub local_retransmissions: u64,
    /// ARQ reports.
    pub reports: u64,
}

impl Stats {
    pub(crate) fn transmit(&mut self, bytes: u32) {
        self.transmissions += 1;
        self.transmitted_bytes += u64::from(bytes);
    }

    /// Counts a delivered frame that was one transmission.
    #[inline]
    pub(crate) fn count_delivered(&mut self, bytes: u32, delay: Duration) {
        self.transmit(bytes);
        self.count_sdu_delivered(bytes, delay);
    }

    /// Counts a delivered frame whose transmissions are counted already.
    pub(crate) fn count_sdu_delivered(&mut self, bytes: u32, delay: Duration) {
        self.delivered += 1;
        self.bytes += u64::from(bytes);
        self.total_delay += delay;
        self.max_delay = self.max_delay.max(delay);
    }

    pub(crate) fn count_impairment(&mut self, impairment: Option<Impairment>) {
        let Some(Impairment { corrupt, marked }) = impairment else { return };
        self.corrupted += u64::from(corrupt);
        self.marked += u64::from(marked);
    }

    pub(crate) fn count_lost(&mut self, bytes: u32, cause: DropCause) {
        self.drops.count(cause);
        if cause.is_after_transmission() {
            self.transmit(bytes);
        }
    }

    /// The mean time of delivered frames in the link; `None` if there are none.
    pub fn mean_delay(&self) -> Option<Duration> {
        (self.delivered > 0).then(|| self.total_delay / self.delivered)
    }
}

/// The impairments of a delivered frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Impairment {
    pub(crate) corrupt: bool,
    pub(crate) marked: bool,
}

/// Dropped frames by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// By [`DropCause::Queue`].
    pub queue: u64,
    /// By [`DropCause::Error`].
    pub error: u64,
    /// By [`DropCause::Outage`].
    pub outage: u64,
    /// By [`DropCause::Script`].
    pub script: u64,
    /// By [`DropCause::Early`].
    pub early: u64,
    /// By [`DropCause::Lifetime`].
    pub lifetime: u64,
    /// By [`DropCause::Retries`].
    pub retries: u64,
}

impl Drops {
    /// Drops of any cause.
    pub const fn total(&self) -> u64 {
        let Self { queue, error, outage, script, early, lifetime, retries } = *self;
        queue + error + outage + script + early + lifetime + retries
    }

    pub(crate) fn count(&mut self, cause: DropCause) {
        *match cause {
            DropCause::Queue => &mut self.queue,
            DropCause::Error => &mut self.error,
            DropCause::Outage => &mut self.outage,
            DropCause::Script => &mut self.script,
            DropCause::Early => &mut self.early,
            DropCause::Lifetime => &mut self.lifetime,
            DropCause::Retries => &mut self.retries,
        } += 1;
    }
}

impl DropCause {
    /// Was the frame transmitted before it was lost?
    pub(crate) const fn is_after_transmission(self) -> bool {
        match self {
            Self::Error | Self::Outage | Self::Script => true,
            Self::Queue | Self::Early | Self::Lifetime | Self::Retries => false,
        }
    }
}

/// The kind of a disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisturbanceKind {
    /// It holds all frames of a direction.
    Stall,
    /// It destroys all frames of a direction, or of both.
    Outage,
    /// It delays one frame, and those that have to wait for it.
    Spike,
}

/// A disturbance of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Disturbance {
    pub kind: DisturbanceKind,
    /// `None`: both directions.
    pub direction: Option<Direction>,
    /// When it began. A spike begins when the frame would have arrived or, if it holds service,
    /// when its transmission would have begun.
    pub from: Instant,
    pub to: Instant,
}
