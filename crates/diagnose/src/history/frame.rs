//! A packet with its number in the capture.

use rtolab_time::Instant;

/// A packet with its number in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub number: u64,
    pub at: Instant,
    pub identification: u16,
    /// The sequence number on the wire.
    pub raw: u32,
}
