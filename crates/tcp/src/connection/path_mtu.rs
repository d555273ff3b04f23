//! ICMP messages of a router whose next link has a smaller MTU (RFC 9293 section 3.7.5).

use rtolab_time::Instant;

use super::Connection;
use super::states::FastPath;
use crate::seq::Seq;

impl Connection {
    /// Processes an ICMP message that the segment at `seq` was too big for the path (RFC 1191, RFC
    /// 8201). `mss` is what the path MTU leaves after IP and TCP headers without options, as in the
    /// MSS option. Longer segments are retransmitted in parts, and cwnd stays.
    ///
    /// Returns false, and does nothing, if the segment is not in flight: the message may be forged
    /// (RFC 5927 section 4.1).
    pub fn on_packet_too_big(&mut self, seq: Seq, mss: u16, at: Instant) -> bool {
        let flight = self.sender.flight();
        let in_flight = flight.una() <= seq && seq < flight.max();
        if !self.connected || !in_flight {
            return false;
        }
        self.fast_path = FastPath::None;
        let smss = self.payload_of(mss);
        if smss < self.smss {
            self.smss = smss;
            self.sender.lower_smss(smss, at);
        }
        true
    }

    /// The payload of a full segment with this MSS.
    pub(super) fn payload_of(&self, mss: u16) -> u32 {
        let mss = u32::from(mss.max(self.config.connection.min_peer_mss).min(self.config.mss));
        let shrinks = self.negotiated.timestamps && self.config.timestamp.in_mss;
        let payload = if shrinks { mss.saturating_sub(TIMESTAMP_BYTES) } else { mss };
        payload.max(1)
    }
}

/// The length of the timestamps option with its padding, in bytes.
const TIMESTAMP_BYTES: u32 = 12;
