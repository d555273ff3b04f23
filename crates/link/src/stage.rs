//! A stage that the engine does not know.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt::Debug;

use rtolab_time::{Duration, Instant};

use crate::frame::Direction;
use crate::stream::Rng;

/// What befalls frames between the end of their transmission and their propagation, beside all that
/// the link's configuration says.
pub trait Stage: CloneStage + Debug + Send + Sync {
    /// A run begins, and this copy stands in one direction of a link; of all random numbers it may
    /// take these.
    fn begin(&mut self, direction: Direction, rng: Rng);

    /// A frame has been sent.
    fn on_frame(&mut self, frame: &SentFrame) -> Treatment;
}

/// A frame at the end of its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// Frames of this direction are counted from 1 as they are sent; those that the queue dropped do
    /// not count.
    pub number: u64,
    /// When its transmission ended.
    pub at: Instant,
    /// Its size on the link in bytes, headers included.
    pub bytes: u32,
}

/// What a stage does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Nothing.
    Pass,
    /// It is lost.
    Drop,
    /// It is held for so long before it comes out. Where order is kept, those behind it wait.
    Hold(Duration),
}

/// A copy of a stage whose type is not known.
pub trait CloneStage {
    /// A copy with the same state.
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

/// The stage of a direction, by its name.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Its name.
    pub name: Arc<str>,
    /// What every run takes a copy of, before it has seen anything.
    pub stage: Box<dyn Stage>,
}

impl PartialEq for Staged {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Staged {
    /// Under this name.
    pub fn new(name: &str, stage: impl Stage + 'static) -> Self {
        Self { name: name.into(), stage: Box::new(stage) }
    }
}

/// A stage at work.
#[derive(Clone, Debug)]
pub(crate) struct AtWork {
    stage: Box<dyn Stage>,
    frames: u64,
}

impl AtWork {
    pub(crate) fn new(staged: &Staged, direction: Direction, rng: Rng) -> Self {
        let mut stage = staged.stage.clone();
        stage.begin(direction, rng);
        Self { stage, frames: 0 }
    }

    /// Is the frame, whose transmission ended then, lost, and for how long is it held?
    #[cold]
    pub(crate) fn treat(&mut self, bytes: u32, at: Instant) -> (bool, Duration) {
        self.frames += 1;
        match self.stage.on_frame(&SentFrame { number: self.frames, at, bytes }) {
            Treatment::Pass => (false, Duration::ZERO),
            Treatment::Drop => (true, Duration::ZERO),
            Treatment::Hold(length) => (false, length),
        }
    }
}
