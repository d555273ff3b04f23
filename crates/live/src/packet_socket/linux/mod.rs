//! The ring of a packet socket (`Documentation/networking/packet_mmap.rst`).

mod program;
mod sys;

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use rtolab_settings::names::suggest;
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{netdevice::name_to_index, sockopt};

use super::error::PacketSocketError;
use super::filter::{ANY, KernelCounts, PacketFilter};
use sys::{Mapping, RingSize};

/// The size of a block, in bytes.
const BLOCK: u32 = 1 << 18;
/// The kernel retires a block that is not full after this time, in ms.
const RETIRE_TIMEOUT_MS: u32 = 50;

// Offsets of the fields of a block (struct tpacket_hdr_v1 of linux/if_packet.h) and of its packets
// (struct tpacket3_hdr).
const NUM_PKTS: usize = 12;
const OFFSET_TO_FIRST_PKT: usize = 16;
const TP_NEXT_OFFSET: usize = 0;
const TP_SEC: usize = 4;
const TP_NSEC: usize = 8;
const TP_SNAPLEN: usize = 12;
const TP_LEN: usize = 16;
const TP_NET: usize = 26;
/// The interface index of the address (struct `sockaddr_ll`) after the header.
const SLL_IFINDEX: usize = 52;

/// A packet in the ring, from its IP header on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingFrame<'a> {
    pub bytes: &'a [u8],
    /// The length of the whole packet.
    pub original: usize,
    pub at: Instant,
    /// The index of its interface.
    pub interface: u32,
}

/// A packet socket with its ring.
#[derive(Debug)]
pub(super) struct Ring {
    interface: String,
    mapping: Mapping,
    size: RingSize,
    /// The index of the next block to read.
    next: usize,
    socket: OwnedFd,
}

impl Ring {
    pub fn open(
        interface: &str,
        filter: PacketFilter,
        size: usize,
    ) -> Result<Self, PacketSocketError> {
        let system = PacketSocketError::system;
        let socket = sys::socket().map_err(system("open a packet socket"))?;
        let index = match interface {
            ANY => 0,
            name => name_to_index(&socket, name).map_err(|_| no_interface(name))?,
        };
        let program = program::program(filter);
        let attached = sys::attach_filter(socket.as_fd(), &program);
        attached.map_err(system("attach a filter to a packet socket"))?;
        let blocks = u32::try_from(size / BLOCK as usize).unwrap_or(u32::MAX).clamp(2, 1 << 12);
        let size = RingSize { block: BLOCK, blocks, retire_timeout_ms: RETIRE_TIMEOUT_MS };
        let made = sys::make_ring(socket.as_fd(), size);
        made.map_err(system("make the ring of a packet socket"))?;
        let mapping = Mapping::new(socket.as_fd(), size);
        let mapping = mapping.map_err(system("map the ring of a packet socket"))?;
        let bound = sys::bind(socket.as_fd(), index as i32);
        bound.map_err(system("receive packets from the interface"))?;
        Ok(Self { interface: interface.to_string(), mapping, size, next: 0, socket })
    }

    /// Calls `take` with each packet received so far. If there is none, waits for up to `timeout`.
    pub fn receive(
        &mut self,
        timeout: Duration,
        mut take: impl FnMut(RingFrame<'_>),
    ) -> Result<(), PacketSocketError> {
        if self.take_blocks(&mut take) {
            return Ok(());
        }
        let mut waited = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::ERR)];
        let nanos = timeout.nanos();
        let wait = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        };
        match poll(&mut waited, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(PacketSocketError::system("wait for packets")(error.into())),
        }
        if waited[0].revents().intersects(PollFlags::ERR) {
            let error = sockopt::socket_error(&self.socket).unwrap_or_else(Err);
            match error {
                Err(Errno::NETDOWN) => return Err(PacketSocketError::Down(self.interface.clone())),
                Err(error) => {
                    return Err(PacketSocketError::system("receive packets")(error.into()));
                }
                Ok(()) => {}
            }
        }
        self.take_blocks(&mut take);
        Ok(())
    }

    /// Takes the filled blocks, each at most once. Returns whether there was one.
    fn take_blocks(&mut self, take: &mut impl FnMut(RingFrame<'_>)) -> bool {
        let mut any = false;
        for _ in 0..self.size.blocks {
            if !self.mapping.take(self.next, |block| packets(block, take)) {
                break;
            }
            any = true;
            self.next = (self.next + 1) % self.size.blocks as usize;
        }
        any
    }

    /// The packets and drops since the previous call.
    pub fn counts(&mut self) -> Result<KernelCounts, PacketSocketError> {
        let counted = sys::statistics(self.socket.as_fd());
        let (packets, drops) = counted.map_err(PacketSocketError::system("read the drops"))?;
        Ok(KernelCounts { packets: packets.into(), drops: drops.into() })
    }
}

/// Calls `take` with each packet of a block.
fn packets(block: &[u8], take: &mut impl FnMut(RingFrame<'_>)) {
    let word = |at: usize| block.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    let word = |at: usize| word(at).map(u32::from_ne_bytes);
    let half = |at: usize| block.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
    let half = |at: usize| half(at).map(u16::from_ne_bytes);
    let (Some(count), Some(first)) = (word(NUM_PKTS), word(OFFSET_TO_FIRST_PKT)) else { return };
    let mut at = first as usize;
    for _ in 0..count {
        let packet = || {
            let start = at + usize::from(half(at + TP_NET)?);
            let bytes = block.get(start..start + word(at + TP_SNAPLEN)? as usize)?;
            let nanos = u64::from(word(at + TP_SEC)?) * 1_000_000_000;
            let nanos = nanos + u64::from(word(at + TP_NSEC)?);
            let original = word(at + TP_LEN)? as usize;
            let (at, interface) = (Instant::from_nanos(nanos), word(at + SLL_IFINDEX)?);
            Some(RingFrame { bytes, original, at, interface })
        };
        if let Some(packet) = packet() {
            take(packet);
        }
        match word(at + TP_NEXT_OFFSET) {
            Some(next) if next > 0 => at += next as usize,
            _ => return,
        }
    }
}

/// The error that there is no interface with this name.
fn no_interface(found: &str) -> PacketSocketError {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split_once(':'));
    let known: Vec<&str> = names.map(|(name, _)| name.trim()).chain([ANY]).collect();
    let expected = suggest(found, known.iter().copied());
    PacketSocketError::NoInterface { found: found.to_string(), expected }
}
