//! What travels: a segment with its way through the network.

use rtolab_link::{CopyId, Frame};
use rtolab_tcp::Segment;
use rtolab_time::Duration;

/// Bytes of the IPv4 header.
const IP_HEADER: u32 = 20;

/// One copy of a segment on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The segment.
    pub segment: Segment,
    /// Which copy: every sending of every flow has its own.
    pub copy: CopyId,
    /// How long stalls and spikes have held it so far.
    pub held: Duration,
    /// The flow's index.
    pub flow: u32,
    /// Its size with IP and TCP headers.
    pub bytes: u32,
    /// How often its first sequence number had been sent before.
    pub order: u16,
    /// How many hops of its route are behind it.
    pub hop: u8,
    /// Was it damaged on its way, so that its destination's checksum will find it?
    pub corrupt: bool,
    /// Does it go from the flow's sender to its receiver, or back?
    pub to_receiver: bool,
}

impl Packet {
    /// The size of a packet that carries `segment` over IPv4.
    pub const fn size_of(segment: &Segment) -> u32 {
        IP_HEADER + segment.header_bytes() + segment.len
    }
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn copy_id(&self) -> CopyId {
        self.copy
    }

    fn takes_marks(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {
        self.corrupt = true;
    }
}
