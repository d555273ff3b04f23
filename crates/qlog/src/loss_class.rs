//! The class of a declared loss, and classifications with their evidence.

use serde::Serialize;

use crate::order::EventId;

/// A class with the confidence in it, between 0 and 1, and the evidence: its kind, and the event
/// that shows it.
pub(crate) type Classification<Class> = (Class, f64, Option<(&'static str, EventId)>);

/// The class of a declared loss, or of a recovery episode by its losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossClass {
    /// The packet was lost.
    Genuine,
    /// The packet arrived.
    Spurious,
    /// The log does not show which of these is true.
    Unknown,
}

impl LossClass {
    /// The name in reports and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::Spurious => "spurious",
            Self::Unknown => "unknown",
        }
    }
}
