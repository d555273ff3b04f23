//! User-defined responses.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::{ResponseAction, ResponseContext};

/// A response with state. The sender calls it when a detector that it acts on has decided.
pub trait Responder: CloneResponder + Debug + Send + Sync {
    /// Responds to a spurious timeout or fast retransmit. If it returns `None`, the sender ignores
    /// the detection.
    fn on_spurious(&mut self, context: &ResponseContext) -> Option<ResponseAction>;

    /// Responds to a genuine timeout or fast retransmit. Only the windows and the estimate of the
    /// action apply.
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
