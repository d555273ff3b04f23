//! A packet as the capture numbers it.

use rtolab_time::Instant;

/// A packet as the capture numbers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub number: u64,
    pub at: Instant,
    pub identification: u16,
    /// The sequence number on the wire.
    pub raw: u32,
}
