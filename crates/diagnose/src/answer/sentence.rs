//! A sentence of the answer.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The shortest lost time that the answer mentions, in seconds.
pub(super) const MIN_MENTIONED_LOSS_S: f64 = 0.05;
/// The answer mentions a time without ACKs from this length on, in seconds.
pub(super) const LONG_WAIT: f64 = 1.0;

/// A sentence of the answer, with the figures on which it rests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Its figures in words.
    pub basis: String,
    /// Its figures by name: counts, seconds, bytes, shares.
    pub figures: BTreeMap<&'static str, Value>,
}

impl Sentence {
    /// A sentence, its figures in words, and the figures by name.
    pub fn new(
        text: impl Into<String>,
        basis: impl Into<String>,
        figures: &[(&'static str, Value)],
    ) -> Self {
        Self { text: text.into(), basis: basis.into(), figures: figures.iter().cloned().collect() }
    }
}
