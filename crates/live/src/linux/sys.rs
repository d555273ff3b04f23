//! System calls that no safe crate wraps.
#![expect(unsafe_code, reason = "system calls that no safe crate wraps")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rtolab_time::Duration;

/// A connection's own state: the part of `struct tcp_info` that is used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// The state of the connection, as numbered by the kernel.
    pub state: u8,
    /// The state of loss recovery: 3 is TCP_CA_Recovery, 4 is TCP_CA_Loss.
    pub ca_state: u8,
    /// Consecutive timeouts.
    pub retransmits: u8,
    /// The number of backoffs.
    pub backoff: u8,
    /// Bits of the negotiated options.
    pub options: u8,
    pub rto: Duration,
    pub snd_mss: u32,
    /// In segments.
    pub unacked: u32,
    /// Zero before the first sample.
    pub srtt: Duration,
    /// RTTVAR.
    pub rttvar: Duration,
    /// In segments.
    pub ssthresh: u32,
    /// In segments.
    pub cwnd: u32,
    /// Acknowledged sequence numbers, SYN and FIN included.
    pub bytes_acked: u64,
}

impl TcpInfo {
    /// TCP_CA_Recovery: fast recovery.
    pub const RECOVERY: u8 = 3;
    pub const TIMESTAMPS: u8 = 1;
    pub const SACK: u8 = 2;

    /// Is its FIN acknowledged, or is the connection closed?
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, 5..=7)
    }

    pub const fn is_established(&self) -> bool {
        self.state == 1
    }

    /// Parses the kernel's structure.
    pub(crate) fn read(bytes: &[u8; TCP_INFO]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let micros = |at| Duration::from_micros(word(at).into());
        Self {
            state: bytes[0],
            ca_state: bytes[1],
            retransmits: bytes[2],
            backoff: bytes[4],
            options: bytes[5],
            rto: micros(8),
            snd_mss: word(16),
            unacked: word(24),
            srtt: micros(68),
            rttvar: micros(72),
            ssthresh: word(76),
            cwnd: word(80),
            bytes_acked: long(120),
        }
    }
}

/// The number of bytes of `struct tcp_info` (linux/tcp.h) that are read.
pub(crate) const TCP_INFO: usize = 128;

/// Reads the state of a TCP socket.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; TCP_INFO];
    let mut length = TCP_INFO as libc::socklen_t;
    // SAFETY: the buffer is as long as `length` says, and both live until the call returns.
    let refused = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match refused {
        0 => Ok(TcpInfo::read(&bytes)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves the calling thread into a new network namespace.
pub(crate) fn unshare_network() -> io::Result<()> {
    // SAFETY: the call changes neither the memory nor the files of this thread.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives the calling thread real-time priority, but not its children.
pub(crate) fn real_time() -> io::Result<()> {
    const PRIORITY: i32 = 10;
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters live until the call returns. 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
