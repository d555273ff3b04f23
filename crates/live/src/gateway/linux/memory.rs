//! The memory budget of all connections.

/// The number of bytes that every connection may buffer for its client.
pub(crate) const FLOOR: u32 = 16 * 1024;
/// The smallest advertised window in bytes. It holds enough segments for a fast retransmit.
const SMALLEST_WINDOW: u32 = 16 * 1024;

/// The payload that all connections may buffer, in two halves.
///
/// One half is reserved. Each connection reserves its window, which the client may fill at any
/// time, and [`FLOOR`] bytes for data from the server. Windows shrink as the unreserved memory
/// does. The other half is shared by connections whose servers send faster than their clients
/// receive. Each of them may buffer, beyond the floor, an eighth of the free memory (Choudhury and
/// Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998), so stalled
/// clients leave memory to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    half: u64,
    reserved: u64,
    shared: u64,
    buffered: u64,
}

/// The divisor of the unreserved memory that limits a window.
const WINDOW_PART: u64 = 256;
/// The divisor of the free memory that limits the buffered bytes beyond the floor.
const SHARED_PART: u64 = 8;

impl Memory {
    /// A budget of this number of bytes.
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { half: bytes / 2, reserved: 0, shared: 0, buffered: 0 }
    }

    /// The window of a new connection: `largest`, halved as often as necessary; `None` if there is
    /// too little unreserved memory.
    pub(crate) fn window(&self, largest: u32) -> Option<u32> {
        let free = self.half - self.reserved;
        let mut window = largest;
        while u64::from(window) > free / WINDOW_PART && window / 2 >= SMALLEST_WINDOW {
            window /= 2;
        }
        (u64::from(window) + u64::from(FLOOR) <= free).then_some(window)
    }

    /// Reserves the memory of a connection with this window.
    pub(crate) fn reserve(&mut self, window: u32) {
        self.reserved += u64::from(window) + u64::from(FLOOR);
    }

    /// Releases the memory of a connection.
    pub(crate) fn release(&mut self, window: u32) {
        self.reserved -= u64::from(window) + u64::from(FLOOR);
    }

    /// The number of bytes that a connection may buffer for its client, at most `most`. It buffers
    /// `buffered` bytes now.
    pub(crate) fn limit(&self, buffered: usize, most: usize) -> usize {
        // The free memory includes its own bytes beyond the floor.
        let free = self.half - self.shared + Self::beyond_floor(buffered);
        most.min(FLOOR as usize + (free / (SHARED_PART + 1)) as usize)
    }

    /// Updates the bytes that a connection buffers.
    pub(crate) fn update_buffered(&mut self, before: [usize; 2], now: [usize; 2]) {
        self.shared = self.shared - Self::beyond_floor(before[0]) + Self::beyond_floor(now[0]);
        let all = |[down, up]: [usize; 2]| (down + up) as u64;
        self.buffered = self.buffered - all(before) + all(now);
    }

    /// The bytes that all connections buffer.
    pub(crate) const fn buffered(&self) -> u64 {
        self.buffered
    }

    const fn beyond_floor(buffered: usize) -> u64 {
        (buffered as u64).saturating_sub(FLOOR as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_shrink_before_memory_is_exhausted() {
        let mut memory = Memory::new(64 << 20);
        let mut windows = Vec::new();
        while let Some(window) = memory.window(256 << 10) {
            memory.reserve(window);
            windows.push(window);
        }
        assert!(windows.is_sorted_by(|a, b| a >= b), "{windows:?}");
        assert_eq!(windows.last(), Some(&SMALLEST_WINDOW));
        assert!(windows.len() > 500, "{}", windows.len());
        let reserved: u64 = windows.iter().map(|window| u64::from(window + FLOOR)).sum();
        assert!(reserved <= 32 << 20);
        for window in windows {
            memory.release(window);
        }
        assert_eq!(memory.reserved, 0);
    }

    #[test]
    fn stalled_clients_leave_memory_to_others_and_the_shared_half_is_never_exceeded() {
        let (mut memory, most) = (Memory::new(64 << 20), 16 << 20);
        let mut buffered = Vec::new();
        for _ in 0..1000 {
            let limit = memory.limit(0, most);
            assert!(limit >= FLOOR as usize);
            memory.update_buffered([0, 0], [limit, 0]);
            buffered.push(limit as u64);
        }
        assert!(buffered[0] > 3 << 20, "{}", buffered[0]);
        let beyond: u64 = buffered.iter().map(|buffered| buffered - u64::from(FLOOR)).sum();
        assert!(beyond <= 32 << 20, "{beyond}");
        // A connection with a full share gets no more.
        assert!(memory.limit(buffered[0] as usize, most) <= buffered[0] as usize + 1);
    }
}
