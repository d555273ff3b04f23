//! A detector that no table lists.

use alloc::boxed::Box;

use super::{Detector, DetectorKind};

/// A detector that has seen nothing yet, with its name. A judge and a sender each take a copy.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Its name, by which it is known.
    pub name: &'static str,
    /// What is copied.
    pub detector: Box<dyn Detector>,
}

impl From<&DetectorKind> for Prototype {
    fn from(kind: &DetectorKind) -> Self {
        Self { name: kind.name, detector: (kind.make)() }
    }
}

impl PartialEq for Prototype {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Prototype {}
