//! The view of the sender that loss recovery has.

use rtolab_time::{Duration, Instant};

use crate::config::Config;
use crate::congestion::Window;
use crate::flight::Flight;
use crate::timer::TimerTable;

/// The view of the sender that loss recovery has.
pub(crate) struct Context<'a> {
    pub flight: &'a mut Flight,
    pub timers: &'a mut TimerTable,
    pub config: &'a Config,
    pub window: Window,
    pub srtt: Option<Duration>,
    /// Are retransmissions suppressed?
    pub suppressed: bool,
    /// Did the retransmission timer expire, and was nothing acknowledged since?
    pub timed_out: bool,
    /// Is there new data, and has the advertised window room for it?
    pub can_send_new: bool,
    pub now: Instant,
}
