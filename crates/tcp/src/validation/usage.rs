//! How the congestion window is used.

use rtolab_time::{Duration, Instant};

use crate::congestion::Window;
use crate::seq::Seq;

/// Data have left; what a sender has under way then, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSent {
    pub at: Instant,
    pub len: u64,
    pub flight_size: u64,
    /// The advertised window.
    pub rwnd: u64,
    pub rto: Duration,
    pub initial_window: u64,
    /// Were they sent for the first time?
    pub is_new: bool,
    pub in_recovery: bool,
    /// Has the application more to send?
    pub has_more: bool,
}

impl DataSent {
    /// Is there no room for another segment?
    pub fn fills(&self, window: &Window) -> bool {
        self.flight_size + window.smss() > window.cwnd().min(self.rwnd)
    }
}

/// `ssthresh` remembers three quarters of the former window (both RFCs).
pub(super) fn keep_in_ssthresh(window: &mut Window) {
    window.set_ssthresh(window.ssthresh().max(window.cwnd() * 3 / 4));
}

/// New data are acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataAcked {
    pub at: Instant,
    /// SND.UNA and SND.MAX after that.
    pub una: Seq,
    pub max: Seq,
    pub srtt: Duration,
    /// In bytes.
    pub initial_window: u64,
}
