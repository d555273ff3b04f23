//! The available senders, receivers and detectors, as dictionaries.

use pyo3::prelude::*;
use rtolab_tcp::profile::{self, PROFILES};
use rtolab_tcp::specification;
use rtolab_tcp::spurious::DETECTORS;

/// A term of a sender specification.
#[derive(IntoPyObject)]
pub(crate) struct Policy {
    name: &'static str,
    question: &'static str,
    about: &'static str,
    source: &'static str,
    behaviours: Vec<Behaviour>,
}

/// The receiver of an operating system.
#[derive(IntoPyObject)]
pub(crate) struct Receiver {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    behaviours: Vec<Behaviour>,
}

/// A difference of an operating system from the default, with its source.
#[derive(IntoPyObject)]
pub(crate) struct Behaviour {
    about: &'static str,
    source: &'static str,
}

/// A detector that can run passively.
#[derive(IntoPyObject)]
pub(crate) struct Detector {
    name: &'static str,
    about: &'static str,
    source: &'static str,
}

/// The terms of sender specifications. Policies come before profiles.
#[pyfunction]
pub(crate) fn policies() -> Vec<Policy> {
    let policies = specification::policies().map(|policy| Policy {
        name: policy.name,
        question: policy.question.name(),
        about: policy.about,
        source: policy.source,
        behaviours: Vec::new(),
    });
    let profiles = PROFILES.iter().map(|profile| Policy {
        name: profile.name,
        question: "profile",
        about: profile.about,
        source: profile.source,
        behaviours: behaviours(profile.sends),
    });
    policies.chain(profiles).collect()
}

/// The available receivers.
#[pyfunction]
pub(crate) fn receivers() -> Vec<Receiver> {
    let receivers = PROFILES.iter().map(|profile| Receiver {
        name: profile.name,
        about: profile.about,
        source: profile.source,
        behaviours: behaviours(profile.receives),
    });
    receivers.collect()
}

/// The detectors that can run passively.
#[pyfunction]
pub(crate) fn detectors() -> Vec<Detector> {
    let detectors = DETECTORS.iter();
    detectors.map(|d| Detector { name: d.name, about: d.about, source: d.source }).collect()
}

fn behaviours(of: &[profile::Behaviour]) -> Vec<Behaviour> {
    of.iter().map(|one| Behaviour { about: one.about, source: one.source }).collect()
}
