//! A detector that the registry does not list.

use alloc::boxed::Box;

use super::{Detector, DetectorId, DetectorKind, DualRttConfig};

/// A user's detector that has seen nothing yet. Each connection takes a copy.
#[derive(Clone, Debug)]
pub struct CustomDetector {
    /// Its name.
    pub name: &'static str,
    /// What is copied.
    pub detector: Box<dyn Detector>,
}

impl CustomDetector {
    /// Which it is.
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
