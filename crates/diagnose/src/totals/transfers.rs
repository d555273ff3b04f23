//! The connections among the totals that have a rate, or that hide delays.

use super::CaptureTotals;
use crate::report::ConnectionReport;
use crate::vantage::Vantage;

/// Shorter transfers than this, in seconds, have no meaningful rate.
pub(crate) const MIN_TRANSFER: f64 = 0.5;
/// The payload of fewer bytes says nothing about a rate.
pub(crate) const MIN_BYTES: u64 = 100_000;

impl CaptureTotals {
    pub(super) fn add_transfer(&mut self, report: &ConnectionReport) {
        let bytes: u64 = report.bytes.iter().sum();
        let hides_delays = bytes > 0 && report.vantage == Vantage::Receiver;
        self.without_delays += u64::from(hides_delays);
        self.transfers += u64::from(bytes >= MIN_BYTES && busy(report) >= MIN_TRANSFER);
    }
}

/// The duration of a connection without its silences, in seconds.
fn busy(report: &ConnectionReport) -> f64 {
    let silences = report.silences.iter().map(|silence| silence.length);
    let closing = report.closing_silence.map_or(0.0, |silence| silence.length);
    report.end - report.start - closing - silences.sum::<f64>()
}
