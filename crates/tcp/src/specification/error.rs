//! Why a sender specification is invalid.

use alloc::string::String;

use thiserror::Error;

use crate::spurious::DetectorError;

/// Why a sender specification is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecificationError {
    /// No policy of that name.
    #[error("unknown policy `{found}` in sender `{spec}`; expected {expected}")]
    Unknown {
        /// The specification.
        spec: String,
        /// The unknown term.
        found: String,
        /// The terms that are nearest to it.
        expected: String,
    },
    /// A name is empty.
    #[error(
        "{place} sender `{spec}` the name of a policy is missing; expected policies joined by `+`, \
         such as `sack+frto`"
    )]
    MissingName {
        /// The specification.
        spec: String,
        /// Where it is missing, up to the specification.
        place: &'static str,
    },
    /// A detector's threshold is out of range.
    #[error("{error} (in sender `{spec}`)")]
    Detector {
        /// The specification.
        spec: String,
        /// What is wrong.
        error: DetectorError,
    },
    /// Two policies that exclude each other.
    #[error(
        "sender `{spec}` names both `{first}` and `{second}`, of which one rules out the other"
    )]
    Conflict {
        /// The specification.
        spec: String,
        /// The first policy.
        first: &'static str,
        /// The one that conflicts with it.
        second: &'static str,
    },
    /// A policy lacks another one or a parameter that it needs.
    #[error("sender `{spec}` names `{found}`, which needs {requirement}")]
    MissingRequirement {
        /// The specification.
        spec: String,
        /// The policy.
        found: &'static str,
        /// What it needs.
        requirement: &'static str,
    },
    /// The engine lacks the kernel's congestion control.
    #[error(
        "sender `{spec}` has the kernel's congestion control `{found}`; the engine knows cubic, \
         reno and bbr"
    )]
    Congestion {
        /// The specification.
        spec: String,
        /// The congestion control.
        found: String,
    },
    /// It does not begin with loss recovery.
    #[error("sender `{spec}` must begin with its loss recovery, such as `newreno` or `sack`")]
    NoRecovery {
        /// The specification.
        spec: String,
    },
}
