//! What can be said of a link afterwards.

use rtolab_time::{Duration, Instant};

use crate::frame::{Direction, DropCause};

/// One direction's frames so far. A frame is delivered or dropped here once its outcome was polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The frames that were sent into the link.
    pub offered: u64,
    /// Those that came out.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that did not.
    pub drops: Drops,
    /// The time that the delivered ones spent in the link, all together.
    pub total_delay: Duration,
    /// The longest time of one of them.
    pub max_delay: Duration,
    /// The most frames that ever waited in the queue at once.
    pub max_queue: u32,
    /// Frames that arrived a second time; not counted in `delivered`.
    pub duplicates: u64,
    /// Delivered frames that were damaged.
    pub corrupted: u64,
    /// Delivered frames that were marked.
    pub marked: u64,
    /// What the transmitter sent: frames, blocks of local retransmission, their copies and reports.
    pub transmissions: u64,
    /// Their bytes.
    pub transmitted_bytes: u64,
    /// Of the transmissions: blocks that were sent again.
    pub local_retransmissions: u64,
    /// Of the transmissions: reports of local retransmission.
    pub reports: u64,
}

impl Stats {
    /// Something was sent.
    pub(crate) fn transmit(&mut self, bytes: u32) {
        self.transmissions += 1;
        self.transmitted_bytes += u64::from(bytes);
    }

    /// A frame comes out that was sent as it is.
    pub(crate) fn deliver(&mut self, bytes: u32, delay: Duration) {
        self.transmit(bytes);
        self.come_out(bytes, delay);
    }

    /// A frame comes out, in whatever pieces it was sent.
    pub(crate) fn come_out(&mut self, bytes: u32, delay: Duration) {
        self.delivered += 1;
        self.bytes += u64::from(bytes);
        self.total_delay += delay;
        self.max_delay = self.max_delay.max(delay);
    }

    pub(crate) fn note(&mut self, impairment: Option<Impairment>) {
        let Some(Impairment { corrupt, marked }) = impairment else { return };
        self.corrupted += u64::from(corrupt);
        self.marked += u64::from(marked);
    }

    pub(crate) fn lose(&mut self, bytes: u32, cause: DropCause) {
        self.drops.count(cause);
        if cause.is_after_transmission() {
            self.transmit(bytes);
        }
    }

    /// The mean time a delivered frame spent in the link; `None` if there was none.
    pub fn mean_delay(&self) -> Option<Duration> {
        (self.delivered > 0).then(|| self.total_delay / self.delivered)
    }
}

/// What a delivered frame suffered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Impairment {
    /// It was damaged.
    pub(crate) corrupt: bool,
    /// It was marked.
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
    /// Of any cause.
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
    /// Was the frame sent before it was lost?
    const fn is_after_transmission(self) -> bool {
        match self {
            Self::Error | Self::Outage | Self::Script => true,
            Self::Queue | Self::Early | Self::Lifetime | Self::Retries => false,
        }
    }
}

/// What a disturbance does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisturbanceKind {
    /// It holds all frames of a direction.
    Stall,
    /// It destroys all frames of a direction, or of both.
    Outage,
    /// It delays one frame, and those that have to wait for it.
    Spike,
}

/// Something that happened to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disturbance {
    /// What it does.
    pub kind: DisturbanceKind,
    /// Which way; `None` for both.
    pub direction: Option<Direction>,
    /// When it began: for a spike, when the frame would have arrived, or when its transmission
    /// would have begun if the spike holds service.
    pub from: Instant,
    /// When it ended.
    pub to: Instant,
}
