//! The reasons why a scenario cannot be simulated.

use rtolab_tcp::sender::ReconfigureError;
use rtolab_tcp::specification::SpecificationError;
use rtolab_tcp::spurious::DetectorError;
use thiserror::Error;

/// The reason why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The sender specification is invalid.
    #[error(transparent)]
    Sender(#[from] SpecificationError),
    /// The name of a detector is invalid.
    #[error(transparent)]
    Detector(#[from] DetectorError),
    /// A sender cannot continue the connections of another.
    #[error("`{what_if}` cannot continue a connection of `{sender}`: {error}")]
    WhatIf {
        /// The sender that was to continue the connections.
        what_if: String,
        /// The sender with which the connections began.
        sender: String,
        /// The reason.
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
