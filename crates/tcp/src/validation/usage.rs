//! The use of the congestion window.

use rtolab_time::{Duration, Instant};

use crate::congestion::Window;
use crate::seq::Seq;

/// The state of the sender after it sent data; sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSent {
    pub at: Instant,
    pub len: u64,
    pub flight_size: u64,
    /// The advertised window.
    pub rwnd: u64,
    pub rto: Duration,
    pub initial_window: u64,
    /// Was the data sent for the first time?
    pub is_new: bool,
    pub in_recovery: bool,
    /// Has the application more data to send?
    pub has_more: bool,
}

impl DataSent {
    /// Is the window full, without room for another segment?
    pub fn is_window_full(&self, window: &Window) -> bool {
        self.flight_size + window.smss() > window.cwnd().min(self.rwnd)
    }
}

/// Raises `ssthresh` to at least 3/4 of cwnd, before cwnd is reduced (RFC 2861 and RFC 7661).
pub(super) fn raise_ssthresh(window: &mut Window) {
    window.set_ssthresh(window.ssthresh().max(window.cwnd() * 3 / 4));
}

/// The state of the sender after new data is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataAcked {
    pub at: Instant,
    /// SND.UNA after the acknowledgment.
    pub una: Seq,
    /// SND.MAX after the acknowledgment.
    pub max: Seq,
    pub srtt: Duration,
    /// The initial window, in bytes.
    pub initial_window: u64,
}
