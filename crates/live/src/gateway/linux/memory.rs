//! How much may be kept, by all connections together.

/// What a connection may always keep for its client, in bytes.
pub(crate) const FLOOR: u32 = 16 * 1024;
/// The smallest window that is offered, in bytes: few segments, but enough for fast retransmit.
const SMALLEST_WINDOW: u32 = 16 * 1024;

/// The payload that all connections may keep, in two halves that never exceed it.
///
/// One half is promised: to each connection its window, which a client may fill at any time, and
/// [`FLOOR`] bytes of what the server sends. Windows become smaller as less is left to be promised. The
/// other half is shared by connections whose servers send faster than their clients take: none keeps
/// more beyond the floor than an eighth of what is free of it (Choudhury and Hahne, "Dynamic queue
/// length thresholds for shared-memory packet switches", 1998), so that some that take nothing leave
/// room to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    half: u64,
    promised: u64,
    shared: u64,
    kept: u64,
}

/// A window is at most this part of what can still be promised.
const WINDOW_PART: u64 = 256;
/// What a connection keeps beyond the floor is at most this part of what is free.
const SHARED_PART: u64 = 8;

impl Memory {
    /// Of so many bytes.
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { half: bytes / 2, promised: 0, shared: 0, kept: 0 }
    }

    /// The window to promise to a new connection, `largest` halved as often as need be; `None`: there
    /// is nothing left to promise.
    pub(crate) fn window(&self, largest: u32) -> Option<u32> {
        let free = self.half - self.promised;
        let mut window = largest;
        while u64::from(window) > free / WINDOW_PART && window / 2 >= SMALLEST_WINDOW {
            window /= 2;
        }
        (u64::from(window) + u64::from(FLOOR) <= free).then_some(window)
    }

    /// A connection with such a window begins.
    pub(crate) fn promise(&mut self, window: u32) {
        self.promised += u64::from(window) + u64::from(FLOOR);
    }

    /// It is over.
    pub(crate) fn release(&mut self, window: u32) {
        self.promised -= u64::from(window) + u64::from(FLOOR);
    }

    /// How much a connection may keep for its client that keeps so much, `most` at most.
    pub(crate) fn room(&self, kept: usize, most: usize) -> usize {
        // With what it has itself: so much that eight times as much is free then.
        let free = self.half - self.shared + Self::beyond_floor(kept);
        most.min(FLOOR as usize + (free / (SHARED_PART + 1)) as usize)
    }

    /// A connection keeps `now` for its client and of it, which it did `before`.
    pub(crate) fn keeps(&mut self, before: [usize; 2], now: [usize; 2]) {
        self.shared = self.shared - Self::beyond_floor(before[0]) + Self::beyond_floor(now[0]);
        let all = |[down, up]: [usize; 2]| (down + up) as u64;
        self.kept = self.kept - all(before) + all(now);
    }

    /// What all keep, in bytes.
    pub(crate) const fn kept(&self) -> u64 {
        self.kept
    }

    const fn beyond_floor(kept: usize) -> u64 {
        (kept as u64).saturating_sub(FLOOR as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_shrink_before_there_are_none() {
        let mut memory = Memory::new(64 << 20);
        let mut windows = Vec::new();
        while let Some(window) = memory.window(256 << 10) {
            memory.promise(window);
            windows.push(window);
        }
        assert!(windows.is_sorted_by(|a, b| a >= b), "{windows:?}");
        assert_eq!(windows.last(), Some(&SMALLEST_WINDOW));
        assert!(windows.len() > 500, "{}", windows.len());
        let promised: u64 = windows.iter().map(|window| u64::from(window + FLOOR)).sum();
        assert!(promised <= 32 << 20);
        for window in windows {
            memory.release(window);
        }
        assert_eq!(memory.promised, 0);
    }

    #[test]
    fn who_takes_nothing_leaves_room_to_others_and_the_share_is_never_exceeded() {
        let (mut memory, most) = (Memory::new(64 << 20), 16 << 20);
        let mut kept = Vec::new();
        for _ in 0..1000 {
            let room = memory.room(0, most);
            assert!(room >= FLOOR as usize);
            memory.keeps([0, 0], [room, 0]);
            kept.push(room as u64);
        }
        assert!(kept[0] > 3 << 20, "{}", kept[0]);
        let beyond: u64 = kept.iter().map(|kept| kept - u64::from(FLOOR)).sum();
        assert!(beyond <= 32 << 20, "{beyond}");
        // Who has its share already gets no more of it.
        assert!(memory.room(kept[0] as usize, most) <= kept[0] as usize + 1);
    }
}
