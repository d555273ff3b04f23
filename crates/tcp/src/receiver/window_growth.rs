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

/// The data above a gap before a segment arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queued {
    /// The number of disjoint ranges.
    pub ranges: usize,
    /// All their bytes.
    pub bytes: u64,
    /// Does the segment itself count?
    pub own: Own,
}

/// Does the memory of an arriving segment count before the window grows?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Own {
    /// It does if the segment is the next one.
    #[default]
    Queued,
    /// Above a gap it does without its `struct sk_buff` if the segment is appended to a range.
    Appended,
    /// Otherwise it is counted after that (`tcp_data_queue_ofo`).
    NotYet,
    /// All of it is queued already, so it is dropped, and the window does not grow.
    Dropped,
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
    /// Is the size of segments known?
    measured: bool,
}

impl WindowGrowth {
    /// A window that begins with the buffer; `None` if it does not grow.
    pub(super) fn new(config: &ReceiverConfig) -> Option<Self> {
        let memory = u64::from(config.memory?);
        // TCP_DEFAULT_SCALING_RATIO
        let ratio = 1 << (SCALE - 1);
        Some(Self { rcv_ssthresh: u64::from(config.buffer), memory, ratio, measured: false })
    }

    /// The largest segment so far has `len` bytes. The first window holds whole segments
    /// (`tcp_select_initial_window`).
    pub(super) fn measure(&mut self, len: u32) {
        if !core::mem::replace(&mut self.measured, true) {
            self.rcv_ssthresh -= self.rcv_ssthresh % u64::from(len.max(1));
        }
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
        let own = match queued.own {
            Own::Queued => TRUESIZE,
            Own::Appended => TRUESIZE - SK_BUFF,
            Own::NotYet => 0,
            Own::Dropped => return false,
        };
        let used = own + segments * (TRUESIZE - SK_BUFF) + queued.ranges as u64 * SK_BUFF;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a megabyte 117 / 256 are data of segments of 1,000 bytes. A smaller segment lets the
    /// window grow only while the window is as small a part of all.
    #[test]
    fn small_segments_let_only_a_small_window_grow() {
        for (len, grows) in [(1000, true), (500, true), (250, true), (200, false), (128, false)] {
            let config = ReceiverConfig { memory: Some(1_000_000), ..ReceiverConfig::default() };
            let mut growth = WindowGrowth::new(&config).unwrap();
            growth.measure(1000);
            assert_eq!(growth.grow((len, 1000), Queued::default()), grows, "{len}");
        }
    }

    /// Data above a gap occupies memory, too: then the window is larger than what is left.
    #[test]
    fn queued_data_leaves_no_room_to_grow() {
        let config = ReceiverConfig { memory: Some(200_000), ..ReceiverConfig::default() };
        let mut growth = WindowGrowth::new(&config).unwrap();
        growth.measure(1000);
        for (bytes, grows) in [(0, true), (20_000, true), (40_000, false), (0, true)] {
            assert_eq!(
                growth.grow((1000, 1000), Queued { ranges: 1, bytes, own: Own::Queued }),
                grows,
                "{bytes}"
            );
        }
    }
    /// The memory of queued data: a buffer for each segment, and a `struct sk_buff` for each range
    /// into which segments were merged. The window may grow to the share of the rest that is data.
    #[test]
    fn each_range_above_a_gap_occupies_memory() {
        let config =
            ReceiverConfig { buffer: 65_000, memory: Some(200_000), ..ReceiverConfig::default() };
        for (own, ranges, bytes, used) in [
            (Own::Queued, 0, 0, 2_176),
            (Own::Appended, 0, 0, 2_176 - 256),
            (Own::NotYet, 0, 0, 0),
            (Own::NotYet, 1, 1_000, 1_920 + 256),
            (Own::NotYet, 3, 3_000, 3 * (1_920 + 256)),
            (Own::Queued, 2, 9_001, 2_176 + 10 * 1_920 + 2 * 256),
        ] {
            let mut growth = WindowGrowth::new(&config).unwrap();
            growth.measure(1000);
            while growth.grow((1000, 1000), Queued { ranges, bytes, own }) {}
            assert_eq!(growth.rcv_ssthresh, (200_000 - used) * 117 / 256, "{own:?} {ranges}");
        }
    }

    /// By two of the largest segments at a time (`tcp_grow_window`).
    #[test]
    fn the_window_grows_by_two_segments() {
        let config =
            ReceiverConfig { buffer: 65_535, memory: Some(1_000_000), ..ReceiverConfig::default() };
        let mut growth = WindowGrowth::new(&config).unwrap();
        growth.measure(1000);
        // The first window holds whole segments.
        assert_eq!(growth.rcv_ssthresh, 65_000);
        for (len, mss, window) in [(1000, 1000, 67_000), (1000, 500, 69_000), (700, 1000, 71_000)] {
            assert!(growth.grow((len, mss), Queued::default()));
            assert_eq!(growth.rcv_ssthresh, window);
        }
    }
}
