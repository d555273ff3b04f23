//! The limits of a watch.

use rtolab_time::Duration;

/// The limits of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchLimits {
    /// The most connections. Beyond it, closed ones are forgotten, and without these the quarter of
    /// the open ones that has been idle longest is evicted.
    pub connections: usize,
    /// The most memory of all connections, in bytes, as estimated. Beyond it, likewise.
    pub memory: usize,
    /// A connection without packets for this time is over.
    pub idle: Duration,
}

impl Default for WatchLimits {
    fn default() -> Self {
        Self { connections: 1 << 14, memory: 512 << 20, idle: Duration::from_secs(600) }
    }
}
