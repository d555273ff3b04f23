//! The system calls and the shared memory of a packet socket. Only this file has unsafe code.
#![expect(unsafe_code, reason = "system calls that no safe crate wraps")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// A packet socket that receives nothing yet.
pub(super) fn socket() -> io::Result<OwnedFd> {
    // SAFETY: the call has no pointer.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    match socket {
        0.. => {
            // SAFETY: the descriptor is new, and nothing else owns it.
            Ok(unsafe { OwnedFd::from_raw_fd(socket) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

fn set<T>(socket: BorrowedFd<'_>, (level, name): (i32, i32), value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the value has.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Attaches a classic BPF program: the kernel runs it on each packet.
pub(super) fn attach_filter(
    socket: BorrowedFd<'_>,
    program: &[(u16, u8, u8, u32)],
) -> io::Result<()> {
    let instruction =
        |&(code, jt, jf, k): &(u16, u8, u8, u32)| libc::sock_filter { code, jt, jf, k };
    let mut filter: Vec<libc::sock_filter> = program.iter().map(instruction).collect();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // The kernel copies the instructions before it returns.
    set(socket, (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER), &program)
}

/// The blocks of a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingSize {
    /// The size of a block in bytes: a power of two, and a multiple of the page size.
    pub block: u32,
    pub blocks: u32,
    /// The kernel retires a block that is not full after this time.
    pub retire_timeout_ms: u32,
}

/// The frame size. The kernel requires one, although the packets of TPACKET_V3 have any length.
const FRAME: u32 = 2048;

/// Makes the ring of the socket.
pub(super) fn make_ring(socket: BorrowedFd<'_>, size: RingSize) -> io::Result<()> {
    let version = libc::tpacket_versions::TPACKET_V3 as i32;
    set(socket, (libc::SOL_PACKET, libc::PACKET_VERSION), &version)?;
    let request = libc::tpacket_req3 {
        tp_block_size: size.block,
        tp_block_nr: size.blocks,
        tp_frame_size: FRAME,
        tp_frame_nr: size.block / FRAME * size.blocks,
        tp_retire_blk_tov: size.retire_timeout_ms,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket, (libc::SOL_PACKET, libc::PACKET_RX_RING), &request)
}

/// Begins to receive from the interface with this index, 0 for all.
pub(super) fn bind(socket: BorrowedFd<'_>, interface: i32) -> io::Result<()> {
    // SAFETY: an address whose bytes are all zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = interface;
    // SAFETY: the address is as long as the call says.
    let status = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The packets and the drops since the previous call.
pub(super) fn statistics(socket: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    let mut counts = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
    let mut length = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
    // SAFETY: the structure is as long as `length` says, and both live until the call returns.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            ptr::from_mut(&mut counts).cast(),
            &raw mut length,
        )
    };
    match status {
        0 => Ok((counts.tp_packets, counts.tp_drops)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The offset of a block's status in its header (`struct tpacket_hdr_v1`).
const STATUS: usize = 8;

/// The mapping of a ring.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    size: RingSize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    pub(super) fn new(socket: BorrowedFd<'_>, size: RingSize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let length = size.block as usize * size.blocks as usize;
        // SAFETY: the kernel chooses the address, so the mapping replaces no other memory.
        let start = unsafe {
            let anywhere = ptr::null_mut();
            libc::mmap(anywhere, length, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { start, size }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        debug_assert!(index < self.size.blocks as usize);
        let index = index % self.size.blocks as usize;
        // SAFETY: the block is inside the mapping, which is aligned to pages.
        unsafe {
            let block = self.start.as_ptr().add(index * self.size.block as usize);
            AtomicU32::from_ptr(block.add(STATUS).cast())
        }
    }

    /// If the kernel has filled the block, calls `take` with its bytes and returns the block to the
    /// kernel. Returns whether the block was filled.
    pub(super) fn take(&mut self, index: usize, take: impl FnOnce(&[u8])) -> bool {
        if self.status(index).load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        let index = index % self.size.blocks as usize;
        // SAFETY: the block is inside the mapping, and the kernel does not write to it until it is
        // returned.
        let block = unsafe {
            let start = self.start.as_ptr().add(index * self.size.block as usize);
            slice::from_raw_parts(start, self.size.block as usize)
        };
        take(block);
        self.status(index).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        true
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let length = self.size.block as usize * self.size.blocks as usize;
        // SAFETY: `self` owns the mapping, and no reference to it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), length) };
    }
}
