//! Totals of a capture.

use std::io::Read;

use rtolab_capture::{PacketTooBig, Reader, Skipped};
use serde::Serialize;

use crate::report::ConnectionReport;
use crate::totals::CaptureTotals;

/// Totals of a capture.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
    /// Connections that are not listed: those without a retransmission after the first ten
    /// thousand, and all connections after the first two million retransmissions.
    pub left_out: u64,
    /// Connections that counted as closed because too many were open at once.
    pub given_up: u64,
    pub retransmissions: u64,
}

/// The numbers of packets that were not diagnosed, by reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SkippedPackets {
    /// Not TCP over IP.
    pub other: u64,
    /// Fragments of packets that were never complete.
    pub fragments: u64,
    /// Fragments of packets that were discarded because some overlap.
    pub overlapping: u64,
    /// Without a whole TCP header.
    pub malformed: u64,
    /// Without a timestamp.
    pub untimed: u64,
    /// Not in the file: the capture dropped them, according to the statistics of its interfaces.
    pub dropped: u64,
    /// On interfaces of unknown link type.
    pub unknown_link: u64,
    /// The unknown link types.
    pub link_types: Vec<u16>,
    /// The ICMP messages among these that a TCP packet was too big.
    #[serde(skip)]
    pub(crate) too_big: Vec<PacketTooBig>,
}

impl SkippedPackets {
    /// The first message that a packet of this connection was too big.
    pub(crate) fn too_big_for(&self, report: &ConnectionReport) -> Option<PacketTooBig> {
        if self.too_big.is_empty() {
            return None;
        }
        let ends = [&report.client[..], &report.server[..]];
        let is_of = |one: &&PacketTooBig| {
            let [from, to] = [one.path.from(), one.path.to()].map(|end| end.to_string());
            ends == [&from[..], &to[..]] || ends == [&to[..], &from[..]]
        };
        self.too_big.iter().find(is_of).copied()
    }

    pub(crate) fn by<R: Read>(reader: &Reader<R>) -> Self {
        let Skipped { other, fragments, overlapping, unknown_link, malformed, untimed, dropped } =
            reader.skipped();
        let link_types = reader.unknown_links().collect();
        Self {
            other,
            fragments,
            overlapping,
            malformed,
            untimed,
            dropped,
            unknown_link,
            link_types,
            too_big: reader.too_big().to_vec(),
        }
    }
}
