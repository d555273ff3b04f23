//! The report of a connection that the server did not accept.

use super::rows::ConnectionReport;
use crate::class::TimeoutClass;
use crate::evidence::Necessity;

/// Removes the verdicts of a connection that the server did not accept: it discarded packets that
/// had arrived, so that their copies were not unneeded.
pub(super) fn remove_verdicts(report: &mut ConnectionReport) {
    for retransmission in &mut report.retransmissions {
        retransmission.verdict = Necessity::Unknown;
        retransmission.confidence = 0.0;
        retransmission.evidence.clear();
        retransmission.against.clear();
    }
    for timeout in &mut report.timeouts {
        (timeout.class, timeout.confidence) = (TimeoutClass::Unknown, 0.0);
    }
    report.episodes.clear();
    report.probes.clear();
}
