//! The connections that failed, by kind.

use serde::Serialize;

use super::CaptureTotals;
use crate::evidence::Necessity;
use crate::failure::FailureKind;
use crate::report::ConnectionReport;

/// The connections that failed in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct FailedConnections {
    pub count: u64,
    /// The number of the first of them.
    pub number: u64,
    /// For the first of them: the address and port of the end that did not answer, or that sent the
    /// reset.
    pub peer: String,
    /// For the first of them: this end, `client` or `server`.
    pub by: &'static str,
    /// Retransmissions or keep-alive probes without an answer.
    pub repeats: u64,
    /// The longest time without a packet of the other end, in seconds.
    pub silent: f64,
    /// Payload bytes that were never acknowledged.
    pub outstanding: u64,
    /// Is [`ConnectionFailure::full_size_only`](crate::ConnectionFailure::full_size_only) true for
    /// all of them?
    pub full_size_only: bool,
    /// Is [`ConnectionFailure::arrived`](crate::ConnectionFailure::arrived) true for all of them?
    #[serde(skip)]
    pub(crate) arrived: bool,
    /// Is [`ConnectionFailure::is_unknown_to_host`](crate::ConnectionFailure::is_unknown_to_host)
    /// true for all of them?
    #[serde(skip)]
    pub(crate) is_unknown_to_host: bool,
    /// For the first of them: the hop limit of the reset and that of the end, if they differ.
    pub foreign_hops: Option<[u8; 2]>,
}

impl CaptureTotals {
    /// Adds the failure of a connection.
    pub(super) fn add_failure(&mut self, report: &ConnectionReport) {
        let Some(failure) = &report.failure else { return };
        let of_end = report.retransmissions.iter().rev().filter(|one| one.from == failure.from);
        let unanswered = of_end.take(failure.unanswered());
        let of_opening = report.retransmissions.iter().filter(|one| one.from != failure.from);
        let of_opening = of_opening.filter(|_| failure.kind == FailureKind::NotAccepted);
        let unanswered = unanswered.chain(of_opening);
        self.unanswered +=
            unanswered.filter(|one| one.verdict == Necessity::Unknown).count() as u64;
        let failed = self.failures.entry(failure.kind).or_insert_with(|| {
            let silent_end = match failure.kind {
                FailureKind::Refused | FailureKind::Reset => failure.from,
                _ if failure.from == "client" => "server",
                _ => "client",
            };
            let address = if silent_end == "client" { &report.client } else { &report.server };
            FailedConnections {
                number: report.number,
                peer: address.clone(),
                by: silent_end,
                full_size_only: true,
                arrived: true,
                is_unknown_to_host: true,
                foreign_hops: failure.foreign_hops,
                ..FailedConnections::default()
            }
        });
        failed.count += 1;
        failed.repeats += failure.repeats;
        failed.silent = failed.silent.max(failure.silent);
        failed.outstanding += failure.outstanding;
        failed.full_size_only &= failure.full_size_only;
        failed.arrived &= failure.arrived;
        failed.is_unknown_to_host &= failure.is_unknown_to_host;
    }
}
