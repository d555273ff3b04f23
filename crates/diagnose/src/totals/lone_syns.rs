//! SYNs that nothing answered and nothing repeated.

use super::CaptureTotals;
use crate::report::ConnectionReport;

/// The minimum number of such SYNs that says something. Of fewer the answers may not be captured,
/// or the capture ends before they come.
const MIN_LONE_SYNS: u64 = 10;

/// Connections of which the capture has one SYN and nothing else. If the capture lacked one
/// direction only, it would have the acknowledgment or the data that follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LoneSyns {
    pub count: u64,
    /// The number of the first connection, and its server's address and port.
    pub first: (u64, String),
    /// Do all go to this server?
    pub to_one_server: bool,
}

impl CaptureTotals {
    /// Adds a connection.
    pub(super) fn add_lone_syn(&mut self, report: &ConnectionReport) {
        if !report.is_lone_syn {
            return;
        }
        let syns = &mut self.lone_syns;
        if syns.count == 0 {
            (syns.first, syns.to_one_server) = ((report.number, report.server.clone()), true);
        }
        syns.count += 1;
        syns.to_one_server &= syns.first.1 == report.server;
    }

    /// The lone SYNs, if there are many.
    pub(crate) fn lone_syns(&self) -> Option<&LoneSyns> {
        Some(&self.lone_syns).filter(|syns| syns.count >= MIN_LONE_SYNS)
    }

    /// The connections of which one direction was captured only.
    pub(crate) fn one_direction(&self) -> u64 {
        self.one_way - self.lone_syns().map_or(0, |syns| syns.count)
    }
}
