//! The memory budget of all connections.

/// The bytes that a connection may always buffer for its client.
pub(crate) const FLOOR: u32 = 16 * 1024;
/// The smallest advertised window in bytes: a few segments, enough for fast retransmit.
const SMALLEST_WINDOW: u32 = 16 * 1024;

/// The payload that all connections may buffer, in two halves.
///
/// One half is promised: each connection gets its window, which a client may fill at any time, and
/// [`FLOOR`] bytes from the server. Windows shrink as less remains to be promised. The other half
/// is shared by connections whose servers send faster than their clients receive: each may buffer,
/// beyond the floor, an eighth of the free part (Choudhury and Hahne, "Dynamic queue length
/// thresholds for shared-memory packet switches", 1998), so that stalled clients leave memory to
/// others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    half: u64,
    promised: u64,
    shared: u64,
    kept: u64,
}

/// A window is at most this part of the memory that can still be promised.
const WINDOW_PART: u64 = 256;
/// A connection buffers, beyond the floor, at most this part of the free memory.
const SHARED_PART: u64 = 8;

impl Memory {
    /// A budget in bytes.
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { half: bytes / 2, promised: 0, shared: 0, kept: 0 }
    }

    /// The window for a new connection: `largest`, halved as often as necessary; `None` if no
    /// memory can be promised.
    pub(crate) fn window(&self, largest: u32) -> Option<u32> {
        let free = self.half - self.promised;
        let mut window = largest;
        while u64::from(window) > free / WINDOW_PART && window / 2 >= SMALLEST_WINDOW {
            window /= 2;
        }
        (u64::from(window) + u64::from(FLOOR) <= free).then_some(window)
    }

    /// Reserves the memory of a connection with this window.
    pub(crate) fn promise(&mut self, window: u32) {
        self.promised += u64::from(window) + u64::from(FLOOR);
    }

    /// Releases the memory of a connection.
    pub(crate) fn release(&mut self, window: u32) {
        self.promised -= u64::from(window) + u64::from(FLOOR);
    }

    /// How much a connection may buffer for its client that now buffers `kept` bytes, at most
    /// `most`.
    pub(crate) fn room(&self, kept: usize, most: usize) -> usize {
        // Its own bytes included: eight times as much is then free.
        let free = self.half - self.shared + Self::beyond_floor(kept);
        most.min(FLOOR as usize + (free / (SHARED_PART + 1)) as usize)
    }

    /// Updates the bytes that a connection buffers.
    pub(crate) fn keeps(&mut self, before: [usize; 2], now: [usize; 2]) {
        self.shared = self.shared - Self::beyond_floor(before[0]) + Self::beyond_floor(now[0]);
        let all = |[down, up]: [usize; 2]| (down + up) as u64;
        self.kept = self.kept - all(before) + all(now);
    }

    /// The bytes that all connections buffer.
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
        // A connection that has its share gets no more.
        assert!(memory.room(kept[0] as usize, most) <= kept[0] as usize + 1);
    }
}
