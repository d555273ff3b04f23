//! How far the window of a Linux receiver may grow (`tcp_grow_window`). The window that the peer
//! sees is another one: it is limited by the buffer that the application or the route sets.

use crate::config::ReceiverConfig;

/// The memory that a segment of at most 1,500 bytes occupies: `truesize` of the small buffers of
/// virtio-net on x86-64, which are 1,600 bytes and the kernel's structures.
const TRUESIZE: u64 = 2_176;

/// The part of `TRUESIZE` that is freed when a segment is appended to the one before it
/// (`skb_try_coalesce`): a `struct sk_buff`.
const SK_BUFF: u64 = 256;

/// Shares of the memory are in 256ths (`TCP_RMEM_TO_WIN_SCALE`).
const SCALE: u32 = 8;

/// The data above a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queued {
    /// The number of disjoint ranges.
    pub ranges: usize,
    /// All their bytes.
    pub bytes: u64,
}

/// The growth of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowGrowth {
    /// The window that could be advertised, in bytes (`rcv_ssthresh`).
    rcv_ssthresh: u64,
    /// The memory of the buffer, in bytes (`sk_rcvbuf`).
    memory: u64,
    /// The share of the memory that holds data, in 256ths (`scaling_ratio`).
    ratio: u64,
}

impl WindowGrowth {
    /// A window that begins with the buffer; `None` if it does not grow.
    pub(super) fn new(config: &ReceiverConfig) -> Option<Self> {
        let memory = u64::from(config.memory?);
        // TCP_DEFAULT_SCALING_RATIO
        let ratio = 1 << (SCALE - 1);
        Some(Self { rcv_ssthresh: u64::from(config.buffer), memory, ratio })
    }

    /// The largest segment so far has `len` bytes.
    pub(super) fn measure(&mut self, len: u32) {
        self.ratio = ((u64::from(len) << SCALE) / TRUESIZE).clamp(1, 255);
    }

    /// The bytes of data for which there is space in so much memory (`tcp_win_from_space`).
    const fn window(&self, space: u64) -> u64 {
        (space * self.ratio) >> SCALE
    }

    /// A segment of `len` bytes arrived; the largest ones have `mss`. Returns whether the window
    /// grows.
    pub(super) fn grow(&mut self, (len, mss): (u32, u32), queued: Queued) -> bool {
        let segments = queued.bytes.div_ceil(u64::from(mss).max(1));
        let used = TRUESIZE + segments * (TRUESIZE - SK_BUFF) + queued.ranges as u64 * SK_BUFF;
        let limit = self.window(self.memory.saturating_sub(used));
        if limit <= self.rcv_ssthresh || !self.is_worth(len) {
            return false;
        }
        let step = 2 * u64::from(len.max(mss));
        self.rcv_ssthresh = limit.min(self.rcv_ssthresh + step);
        true
    }

    /// Is enough of the segment's memory data, for a window of this size (`__tcp_grow_window`)?
    fn is_worth(&self, len: u32) -> bool {
        let (mut space, mut window) = (self.window(TRUESIZE), self.window(self.memory));
        if space <= u64::from(len) {
            return true;
        }
        (space, window) = (space / 2, window / 2);
        while self.rcv_ssthresh <= window {
            if space <= u64::from(len) {
                return true;
            }
            (space, window) = (space / 2, window / 2);
        }
        false
    }
}
