//! Why a scenario cannot be simulated.

use rtolab_tcp::sender::ReconfigureError;
use rtolab_tcp::specification::SpecificationError;
use rtolab_tcp::spurious::DetectorError;
use thiserror::Error;

/// Why a scenario cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The sender specification is invalid.
    #[error(transparent)]
    Sender(#[from] SpecificationError),
    /// There is no such detector.
    #[error(transparent)]
    Detector(#[from] DetectorError),
    /// A sender cannot take over the connections of another.
    #[error("`{what_if}` cannot go on from `{sender}`: {error}")]
    WhatIf {
        /// The sender that was to take over.
        what_if: String,
        /// The sender that the connection began with.
        sender: String,
        /// Why not.
        error: ReconfigureError,
    },
    /// No links lead from one end of a flow to the other.
    #[error("flow `{flow}`: no links lead from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Its sender's node.
        from: String,
        /// Its receiver's node.
        to: String,
    },
}
