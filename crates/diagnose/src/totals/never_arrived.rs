//! Data that was sent and never reached the capture point, among the totals.

use super::CaptureTotals;
use crate::report::{ConnectionReport, NeverArrived};
use crate::vantage::Vantage;

/// Connections with data that never reached the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NeverArrivedTotals {
    pub connections: u64,
    pub bytes: u64,
    /// That of the first of these connections, and its number.
    pub first: Option<(NeverArrived, u64)>,
}

impl CaptureTotals {
    /// Adds the data that never reached the capture point.
    pub(super) fn add_never_arrived(&mut self, report: &ConnectionReport) {
        let is_at_client = report.client_vantage == Vantage::Sender;
        self.away_from_client += u64::from(!is_at_client && report.only_from.is_none());
        let Some(found) = report.never_arrived else { return };
        self.never_arrived.connections += 1;
        self.never_arrived.bytes += found.bytes;
        self.never_arrived.first.get_or_insert((found, report.number));
    }
}
