//! User-defined impairments.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt::Debug;

use rtolab_time::{Duration, Instant};

use crate::frame::Direction;
use crate::stream::Rng;

/// An impairment between the end of a frame's transmission and its propagation, in addition to
/// those of the configuration.
pub trait Stage: CloneStage + Debug + Send + Sync {
    /// Starts a run; this copy belongs to one direction of a link and may draw from `rng`.
    fn begin(&mut self, direction: Direction, rng: Rng);

    /// Decides about a frame that was transmitted.
    fn on_frame(&mut self, frame: &SentFrame) -> FrameAction;
}

/// A frame at the end of its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// Its number, counted from 1 as frames of this direction are sent; frames that the queue drops
    /// do not count.
    pub number: u64,
    /// When its transmission ended.
    pub at: Instant,
    /// Its size on the link in bytes, headers included.
    pub bytes: u32,
}

/// The decision of a stage about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameAction {
    /// Deliver it.
    Pass,
    /// Lose it.
    Drop,
    /// Deliver it after this delay. If order is kept, later frames wait for it.
    Hold(Duration),
}

/// Clones a stage behind a `dyn` reference.
pub trait CloneStage {
    /// A clone on the heap.
    fn boxed(&self) -> Box<dyn Stage>;
}

impl<S: Stage + Clone + 'static> CloneStage for S {
    fn boxed(&self) -> Box<dyn Stage> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Stage> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// A named stage of a direction.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NamedStage {
    pub name: Arc<str>,
    /// The initial state: each run gets a clone.
    pub stage: Box<dyn Stage>,
}

impl PartialEq for NamedStage {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl NamedStage {
    /// Names a stage.
    pub fn new(name: &str, stage: impl Stage + 'static) -> Self {
        Self { name: name.into(), stage: Box::new(stage) }
    }
}

/// A stage in a run.
#[derive(Clone, Debug)]
pub(crate) struct RunningStage {
    stage: Box<dyn Stage>,
    frames: u64,
}

impl RunningStage {
    pub(crate) fn new(staged: &NamedStage, direction: Direction, rng: Rng) -> Self {
        let mut stage = staged.stage.clone();
        stage.begin(direction, rng);
        Self { stage, frames: 0 }
    }

    /// Whether the frame is lost, and how long it is held.
    #[cold]
    pub(crate) fn decide(&mut self, bytes: u32, at: Instant) -> (bool, Duration) {
        self.frames += 1;
        match self.stage.on_frame(&SentFrame { number: self.frames, at, bytes }) {
            FrameAction::Pass => (false, Duration::ZERO),
            FrameAction::Drop => (true, Duration::ZERO),
            FrameAction::Hold(length) => (false, length),
        }
    }
}
