//! Kernel settings of all hosts and of single ones.

use rtolab_settings::Settings;

use crate::formats::Name;

/// The kernel settings of emulated hosts, and of simulated hosts that are Linux. Defaults are those
/// of Linux.
#[derive(Debug, Settings)]
pub(crate) struct Kernel {
    #[setting(flatten)]
    pub all: crate::Kernel,
    /// The settings of single hosts.
    #[setting(list)]
    pub host: Vec<KernelHost>,
}

/// The kernel settings of one host that differ from those of all.
#[derive(Debug, Settings)]
pub(crate) struct KernelHost {
    /// The node.
    #[setting(format = Name, required, example = "mobile")]
    pub name: String,
    #[setting(flatten)]
    pub own: crate::Kernel,
}
