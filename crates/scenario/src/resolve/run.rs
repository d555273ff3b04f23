//! The facts of a run that its links and flows are checked against.

use rtolab_tcp::Config;
use rtolab_time::Duration;

use crate::Prototypes;
use crate::files::Folder;

/// An IP and a TCP header without options, in bytes.
pub(super) const HEADERS: u32 = 40;
/// The timestamps option, in bytes.
const TIMESTAMPS: u32 = 12;
/// A packet with nothing but headers and all the options that fit, in bytes.
const LARGEST_ACK: u32 = 80;

/// The packet sizes that queues must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets {
    /// The largest, headers included, in bytes.
    pub(super) largest: u32,
    /// A full segment with its headers and no options, in bytes.
    pub(super) full: u32,
}

/// The facts that links and flows are checked against.
pub(super) struct Run<'a> {
    pub(super) sender: &'a Config,
    pub(super) duration: Duration,
    /// The folder of the scenario.
    pub(super) folder: Folder<'a>,
    pub(super) prototypes: &'a Prototypes,
}

impl Run<'_> {
    /// The packet sizes of the hosts.
    pub(super) fn packets(&self) -> Packets {
        packets(self.sender)
    }
}

/// The packet sizes of a host.
pub(super) fn packets(sender: &Config) -> Packets {
    let full = u32::from(sender.mss) + HEADERS;
    let timestamps = if sender.timestamp.in_mss { 0 } else { TIMESTAMPS };
    Packets { full, largest: (full + timestamps).max(LARGEST_ACK) }
}
