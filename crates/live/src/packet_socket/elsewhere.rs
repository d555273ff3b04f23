//! Other systems than Linux: every call is an error.

use rtolab_time::{Duration, Instant};

use super::error::PacketSocketError;
use super::filter::{KernelCounts, PacketFilter};

/// A packet in the ring.
pub(super) struct RingFrame<'a> {
    pub bytes: &'a [u8],
    pub original: usize,
    pub at: Instant,
}

#[derive(Debug)]
pub(super) struct Ring;

impl Ring {
    pub fn open(_: &str, _: PacketFilter, _: usize) -> Result<Self, PacketSocketError> {
        Err(PacketSocketError::NotLinux)
    }

    pub fn receive(
        &mut self,
        _: Duration,
        _: impl FnMut(RingFrame<'_>),
    ) -> Result<(), PacketSocketError> {
        Err(PacketSocketError::NotLinux)
    }

    pub fn counts(&mut self) -> Result<KernelCounts, PacketSocketError> {
        Err(PacketSocketError::NotLinux)
    }
}
