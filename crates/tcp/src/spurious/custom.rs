//! User-defined detectors.

use alloc::boxed::Box;

use super::{Detector, DetectorId, DetectorKind, DualRttConfig};

/// A user-defined detector in its initial state. Each connection takes a copy.
#[derive(Clone, Debug)]
pub struct CustomDetector {
    /// Its name.
    pub name: &'static str,
    /// The original of the copies.
    pub detector: Box<dyn Detector>,
}

impl CustomDetector {
    /// Its identity.
    pub const fn id(&self) -> DetectorId {
        DetectorId::custom(self.name)
    }
}

impl From<&DetectorKind> for CustomDetector {
    fn from(kind: &DetectorKind) -> Self {
        Self { name: kind.name, detector: kind.make(DualRttConfig::default()) }
    }
}

impl PartialEq for CustomDetector {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CustomDetector {}
