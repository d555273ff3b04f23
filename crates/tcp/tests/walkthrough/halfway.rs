//! Half of the previous window at once, and the rest by slow start.

use crate::response::{Answer, Reduction, Responder, Situation};

/// Restores half of the window that a spurious timeout took, and lets slow start find the rest.
/// Restores nothing if the peer has echoed congestion meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Halfway;

impl Responder for Halfway {
    fn on_spurious(&mut self, situation: &Situation) -> Option<Answer> {
        if situation.congestion_echoed {
            return Some(Answer::default());
        }
        let before = situation.before.cwnd;
        Some(Answer {
            cwnd: Some(before / 2),
            ssthresh: Some(before),
            reduction: Reduction::Undone,
            ..Answer::default()
        })
    }
}
