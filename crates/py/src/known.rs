//! What there is to choose from, as dictionaries.

use pyo3::prelude::*;
use rtolab_tcp::profile::{self, PROFILES};
use rtolab_tcp::spurious::DETECTORS;
use rtolab_tcp::sum;

/// A term of a sender's name.
#[derive(IntoPyObject)]
pub(crate) struct Policy {
    name: &'static str,
    question: &'static str,
    about: &'static str,
    source: &'static str,
    quirks: Vec<Quirk>,
}

/// A receiver as a system shipped it.
#[derive(IntoPyObject)]
pub(crate) struct Receiver {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    quirks: Vec<Quirk>,
}

/// One way in which a system is its own.
#[derive(IntoPyObject)]
pub(crate) struct Quirk {
    about: &'static str,
    source: &'static str,
}

/// A detector that may judge.
#[derive(IntoPyObject)]
pub(crate) struct Detector {
    name: &'static str,
    about: &'static str,
    source: &'static str,
}

/// What a sender may be composed of: policies, and behind them profiles.
#[pyfunction]
pub(crate) fn policies() -> Vec<Policy> {
    let policies = sum::policies().map(|policy| Policy {
        name: policy.name,
        question: policy.question.name(),
        about: policy.about,
        source: policy.source,
        quirks: Vec::new(),
    });
    let profiles = PROFILES.iter().map(|profile| Policy {
        name: profile.name,
        question: "profile",
        about: profile.about,
        source: profile.source,
        quirks: quirks(profile.quirks),
    });
    policies.chain(profiles).collect()
}

/// The systems that a receiver may be.
#[pyfunction]
pub(crate) fn receivers() -> Vec<Receiver> {
    let receivers = PROFILES.iter().map(|profile| Receiver {
        name: profile.name,
        about: profile.about,
        source: profile.source,
        quirks: quirks(profile.receives),
    });
    receivers.collect()
}

/// The detectors that may judge.
#[pyfunction]
pub(crate) fn detectors() -> Vec<Detector> {
    let detectors = DETECTORS.iter();
    detectors.map(|d| Detector { name: d.name, about: d.about, source: d.source }).collect()
}

fn quirks(quirks: &[profile::Quirk]) -> Vec<Quirk> {
    quirks.iter().map(|quirk| Quirk { about: quirk.about, source: quirk.source }).collect()
}
