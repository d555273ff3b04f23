//! Linux's estimate of the peer's segment size (`tcp_measure_rcv_mss`), which `tcp_info` shows as
//! `tcpi_rcv_mss`.

use rtolab_tcp::Flags;
use rtolab_tcp::wire::WireSegment;

/// The initial estimate, and a size that a full segment may have, in bytes (`TCP_MSS_DEFAULT`).
const MSS_DEFAULT: u32 = 536;

/// The smallest MSS, in bytes (`TCP_MIN_MSS`).
const MIN_MSS: u32 = 88;

/// The length of a TCP header without options, in bytes.
const HEADER: u32 = 20;

/// The length of the timestamps option with its padding, in bytes.
const TIMESTAMPS: u32 = 12;

/// The estimate of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiveMss {
    /// The estimate, in bytes; `None` before the first full segment.
    bytes: Option<u32>,
    /// The size of the last segment, if it was smaller (`last_seg_size`); otherwise 0.
    last_small: u32,
}

impl ReceiveMss {
    /// What `tcpi_rcv_mss` reads, in bytes, if the own segments have `smss` bytes and the own SYN
    /// announced `advmss` (`tcp_initialize_rcv_mss`).
    pub fn bytes(&self, (smss, advmss): (u64, u32)) -> u32 {
        self.bytes.unwrap_or_else(|| MSS_DEFAULT.min(smss as u32).min(advmss).max(MIN_MSS))
    }

    /// Processes a segment with new data. Its device may have merged it from segments of
    /// `gso_size` bytes. `smss` and `advmss` are as for [`bytes`](Self::bytes).
    pub fn on_data(
        &mut self,
        segment: &WireSegment,
        gso_size: Option<u32>,
        (smss, advmss): (u64, u32),
    ) {
        let last_small = std::mem::take(&mut self.last_small);
        let merged = gso_size.filter(|&size| size < segment.len);
        let len = merged.unwrap_or(segment.len);
        if len >= self.bytes((smss, advmss)) {
            self.bytes = Some(len.min(advmss));
            return;
        }
        // With SACK blocks the payload of a full segment is smaller.
        let blocks = segment.sack.len() as u32;
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let timestamps = if segment.timestamps.is_some() { TIMESTAMPS } else { 0 };
        let with_header = HEADER + timestamps + sack + len;
        let ends_write = segment.flags.any(Flags::FIN | Flags::SYN | Flags::PSH);
        if with_header >= MSS_DEFAULT + HEADER || (with_header >= MIN_MSS + HEADER && !ends_write) {
            self.last_small = len + sack;
            if self.last_small == last_small {
                self.bytes = Some(self.last_small);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rtolab_tcp::SynOptions;
    use rtolab_tcp::wire::Ports;

    use super::*;

    /// The segment size and the announced MSS, in bytes.
    const SIZES: (u64, u32) = (1000, 1460);

    fn segment(len: u32, flags: Flags) -> WireSegment {
        let ports = Ports { from: 1, to: 2 };
        WireSegment {
            ports,
            seq: 0,
            ack: 0,
            len,
            window: 100,
            flags,
            syn: SynOptions::default(),
            timestamps: None,
            sack: <_>::default(),
        }
    }

    #[test]
    fn a_larger_segment_raises_the_estimate_up_to_the_announced_mss() {
        let mut estimate = ReceiveMss::default();
        assert_eq!((estimate.bytes(SIZES), estimate.bytes((400, 1460))), (536, 400));
        estimate.on_data(&segment(1000, Flags::ACK), None, SIZES);
        assert_eq!(estimate.bytes((400, 1460)), 1000);
        estimate.on_data(&segment(9000, Flags::ACK), None, SIZES);
        assert_eq!(estimate.bytes(SIZES), 1460);
    }

    #[test]
    fn a_merged_packet_counts_with_the_size_of_its_segments() {
        let mut estimate = ReceiveMss::default();
        estimate.on_data(&segment(10_000, Flags::ACK), Some(1000), SIZES);
        assert_eq!(estimate.bytes(SIZES), 1000);
    }

    #[test]
    fn two_equal_smaller_segments_lower_the_estimate() {
        let mut estimate = ReceiveMss::default();
        estimate.on_data(&segment(1000, Flags::ACK), None, SIZES);
        estimate.on_data(&segment(700, Flags::ACK), None, SIZES);
        assert_eq!(estimate.bytes(SIZES), 1000);
        estimate.on_data(&segment(700, Flags::ACK), None, SIZES);
        assert_eq!(estimate.bytes(SIZES), 700);
        // The last segment of a write may be of any size.
        for _ in 0..2 {
            estimate.on_data(&segment(90, Flags::ACK | Flags::PSH), None, SIZES);
        }
        assert_eq!(estimate.bytes(SIZES), 700);
    }
}
