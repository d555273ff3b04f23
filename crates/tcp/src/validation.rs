//! Congestion window validation: a window that was not used is no evidence about the path.

mod linux;
mod rfc2861;
mod rfc7661;
mod usage;

use alloc::boxed::Box;

use rtolab_time::Instant;

use crate::config::{Config, Validation};
use linux::CwndUsage;
use rfc2861::Rfc2861;
use rfc7661::Rfc7661;
pub(crate) use usage::{DataAcked, DataSent};

/// The state of window validation.
#[derive(Clone, Debug)]
pub(crate) enum WindowValidation {
    Rfc2861(Rfc2861),
    Rfc7661(Rfc7661),
    Linux(CwndUsage),
}

impl WindowValidation {
    /// The window validation of `config`, if any. `last`: when data was last sent.
    pub fn new(last: Option<Instant>, config: &Config) -> Option<Box<Self>> {
        match config.window.validation {
            Validation::Off => None,
            Validation::Rfc2861 => Some(Box::new(Self::Rfc2861(Rfc2861::new(last)))),
            Validation::Rfc7661 => Some(Box::new(Self::Rfc7661(Rfc7661::new(last)))),
            Validation::Linux => Some(Box::new(Self::Linux(CwndUsage::default()))),
        }
    }
}
