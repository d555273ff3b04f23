//! Half of the window of before at once, and the rest of it by slow start.

use crate::response::{Answer, Reduction, Responder, Situation};

/// Gives back half of what a spurious timeout took, and lets slow start find the rest; nothing where
/// the peer has echoed congestion meanwhile.
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
