//! A packet with its number in the capture.

use rtolab_time::Instant;

/// A packet with its number in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub number: u64,
    pub at: Instant,
    /// The IPv4 identification; 0 for IPv6.
    pub ip_id: u16,
    /// The sequence number on the wire, not relative to the initial one.
    pub raw_seq: u32,
}
