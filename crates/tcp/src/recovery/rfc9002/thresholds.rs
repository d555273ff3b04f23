//! The loss thresholds (RFC 9002 section 6.1), and how QUIC stacks adapt them, as sections 6.1.1
//! and 6.1.2 permit.

use rtolab_time::{Duration, Instant};

use super::rtt::RttStats;
use crate::config::{AdaptiveThresholds, Rfc9002Config};

/// The largest packet threshold of quiche (`MAX_PACKET_THRESHOLD`).
const MAX_PACKET_THRESHOLD: u64 = 20;
/// The time threshold of quiche after reordering, in eighths (`PACKET_REORDER_TIME_THRESHOLD`).
const PACKET_REORDER_TIME_THRESHOLD: u64 = 10;
/// The largest time threshold of quic-go and quicly, in eighths: two round trips.
const MAX_TIME_THRESHOLD: u64 = 16;

/// The thresholds of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    /// kPacketThreshold; `None`: packets are not counted any more.
    pub packet: Option<u64>,
    /// kTimeThreshold, in eighths of a round trip.
    pub time: u64,
    /// quic-go: packets below this number do not raise the time threshold, because they were sent
    /// before it was raised last (`minPNToRelaxReordering`).
    relaxing_from: u64,
}

/// The late packets of one acknowledgment: declared lost, and acknowledged now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LateAcks {
    /// The smallest of their numbers.
    pub smallest: Option<u64>,
    /// When the earliest was sent that [`Thresholds::counts`].
    pub oldest: Option<Instant>,
}

/// The acknowledgment with late packets, and the state of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateContext<'a> {
    pub now: Instant,
    /// The largest packet number that is acknowledged.
    pub largest_acked: u64,
    /// Is it acknowledged for the first time?
    pub advances: bool,
    /// The number of the next packet.
    pub next: u64,
    pub rtt: &'a RttStats,
    pub config: &'a Rfc9002Config,
}

impl Thresholds {
    pub fn new(config: &Rfc9002Config) -> Self {
        Self {
            packet: Some(config.packet_threshold.into()),
            time: config.time_threshold.into(),
            relaxing_from: 0,
        }
    }

    /// May the late packet of this number raise the time threshold?
    pub const fn counts(&self, number: u64) -> bool {
        number >= self.relaxing_from
    }

    /// Adapts the thresholds to the late packets of an acknowledgment.
    pub fn on_late_acks(&mut self, late: &LateAcks, cx: &LateContext<'_>) {
        let Some(smallest) = late.smallest else { return };
        match cx.config.thresholds {
            AdaptiveThresholds::Fixed => {}
            AdaptiveThresholds::QuicGo => self.relax_as_quic_go(late, cx),
            AdaptiveThresholds::Quicly => self.relax_as_quicly(cx.advances),
            AdaptiveThresholds::Quiche => {
                let distance = cx.largest_acked.saturating_sub(smallest) + 1;
                let packet = self.packet.unwrap_or(0).max(distance.min(MAX_PACKET_THRESHOLD));
                (self.packet, self.time) = (Some(packet), PACKET_REORDER_TIME_THRESHOLD);
            }
        }
    }

    /// quic-go 0.65, `detectSpuriousLosses`: the first late packet ends the counting of packets.
    /// One that is later than the time threshold, and was sent after that was raised last, doubles
    /// what it exceeds a round trip by.
    fn relax_as_quic_go(&mut self, late: &LateAcks, cx: &LateContext<'_>) {
        self.packet = None;
        let loss_delay = cx.rtt.loss_delay(self.time, cx.config);
        let reordering = late.oldest.map_or(Duration::ZERO, |sent| cx.now - sent);
        if reordering > loss_delay && self.time < MAX_TIME_THRESHOLD {
            self.double_excess();
            self.relaxing_from = cx.next;
        }
    }

    /// quicly, `quicly_loss_on_ack_received`: each acknowledgment with a late packet first ends the
    /// counting of packets, and later doubles what the time threshold exceeds a round trip by. It
    /// does nothing if the acknowledgment does not also raise the largest acknowledged number.
    fn relax_as_quicly(&mut self, advances: bool) {
        match self.packet {
            _ if !advances => {}
            Some(_) => self.packet = None,
            None => self.double_excess(),
        }
    }

    fn double_excess(&mut self) {
        let excess = self.time.saturating_sub(8);
        self.time = (8 + 2 * excess).min(MAX_TIME_THRESHOLD).max(self.time);
    }
}
