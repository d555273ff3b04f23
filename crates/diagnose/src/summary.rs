//! Totals of a capture.

use std::io::Read;

use rtolab_capture::{Reader, Skipped};
use serde::Serialize;

use crate::totals::CaptureTotals;

/// Totals of a capture.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Summary {
    /// When the first packet was captured, in seconds since 1970-01-01 00:00 UTC.
    pub began: f64,
    /// When the last packet was captured, likewise.
    pub ended: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections.
    pub connections: u64,
    /// Totals over all connections.
    pub totals: CaptureTotals,
    /// Connections left out: those without a retransmission after the first ten thousand, and all
    /// after the first two million retransmissions.
    pub left_out: u64,
    /// Connections treated as over because too many were open at once.
    pub given_up: u64,
    pub retransmissions: u64,
}

/// The numbers of skipped packets, by reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PassedOver {
    /// Not TCP over IP.
    pub other: u64,
    /// Fragments of packets that were not completed.
    pub fragments: u64,
    /// Fragments of packets that were discarded because some overlap.
    pub overlapping: u64,
    /// Without a whole TCP header.
    pub malformed: u64,
    /// Without a time.
    pub untimed: u64,
    /// On interfaces of unknown link type.
    pub unknown_link: u64,
    /// The unknown link types.
    pub link_types: Vec<u16>,
}

impl PassedOver {
    pub(crate) fn by<R: Read>(reader: &Reader<R>) -> Self {
        let Skipped { other, fragments, overlapping, unknown_link, malformed, untimed } =
            reader.skipped();
        let link_types = reader.unknown_links().collect();
        Self { other, fragments, overlapping, malformed, untimed, unknown_link, link_types }
    }
}
