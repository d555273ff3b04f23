//! A packet socket: the headers of the TCP packets that an interface carries, while they pass.

mod error;
mod filter;

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
#[cfg(target_os = "linux")]
mod linux;

use rtolab_capture::Captured;
use rtolab_time::Duration;

pub use error::PacketSocketError;
pub use filter::{KernelCounts, PacketFilter};

/// A packet socket on an interface, or on all. It receives the headers of TCP packets through a
/// ring that it shares with the kernel (packet(7), `TPACKET_V3`).
///
/// A packet that the network card splits or has merged (TSO, GRO) arrives as one super-segment.
#[derive(Debug)]
pub struct PacketSocket {
    ring: linux::Ring,
    filter: PacketFilter,
    number: u64,
    counts: KernelCounts,
}

impl PacketSocket {
    /// Opens a socket on the interface with this name, with a ring of about `size` bytes.
    ///
    /// # Errors
    /// The interface does not exist, the right `CAP_NET_RAW` is missing, or the system is not
    /// Linux.
    pub fn open(
        interface: &str,
        filter: PacketFilter,
        size: usize,
    ) -> Result<Self, PacketSocketError> {
        let ring = linux::Ring::open(interface, filter, size)?;
        Ok(Self { ring, filter, number: 0, counts: KernelCounts::default() })
    }

    /// Hands the packets that have come to `take`; if there are none, it waits for them until the
    /// time is over or a signal comes. Returns the number of packets.
    ///
    /// # Errors
    /// The interface went down or disappeared, or the system returns an error.
    pub fn receive(
        &mut self,
        timeout: Duration,
        mut take: impl FnMut(&Captured),
    ) -> Result<u64, PacketSocketError> {
        let (before, filter) = (self.number, self.filter);
        let number = &mut self.number;
        self.ring.receive(timeout, |frame| {
            let Some(captured) = Captured::in_ip(frame.bytes, frame.original, frame.at) else {
                return;
            };
            if filter.admits(&captured) {
                *number += 1;
                take(&Captured { number: *number, interface: frame.interface, ..captured });
            }
        })?;
        Ok(self.number - before)
    }

    /// The kernel's counts so far.
    ///
    /// # Errors
    /// The system returns an error.
    pub fn counts(&mut self) -> Result<KernelCounts, PacketSocketError> {
        let new = self.ring.counts()?;
        self.counts.packets += new.packets;
        self.counts.drops += new.drops;
        Ok(self.counts)
    }
}
