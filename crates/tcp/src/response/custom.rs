//! User-defined responses.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::{ResponseAction, ResponseContext};

/// A response that keeps state. The sender asks it when a detector that it acts on has decided.
pub trait Responder: CloneResponder + Debug + Send + Sync {
    /// A timeout or fast retransmit was spurious. `None`: everything goes on as if no detector had
    /// decided.
    fn on_spurious(&mut self, context: &ResponseContext) -> Option<ResponseAction>;

    /// A detector found it genuine: of the action only windows and estimates count.
    fn on_genuine(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        let _ = context;
        None
    }
}

/// Makes a trait object of [`Responder`] cloneable.
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

/// A user-defined response in its initial state. Every sender takes a copy.
#[derive(Clone, Debug)]
pub struct CustomResponse {
    /// Its name.
    pub name: &'static str,
    /// The original of the copies.
    pub responder: Box<dyn Responder>,
}

impl CustomResponse {
    /// A response of this name.
    pub fn new(name: &'static str, responder: impl Responder + 'static) -> Self {
        Self { name, responder: Box::new(responder) }
    }
}

impl PartialEq for CustomResponse {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CustomResponse {}
