//! What a loss recovery sees of the sender.

use rtolab_time::{Duration, Instant};

use crate::config::Config;
use crate::congestion::Window;
use crate::flight::Flight;
use crate::timer::TimerTable;

/// What a loss recovery sees of the sender.
pub(crate) struct Context<'a> {
    pub flight: &'a mut Flight,
    pub timers: &'a mut TimerTable,
    pub config: &'a Config,
    pub window: Window,
    pub srtt: Option<Duration>,
    /// Retransmissions are suppressed.
    pub suppressed: bool,
    /// The retransmission timer expired, and no new acknowledgment has come since.
    pub timed_out: bool,
    /// There are new data, and the advertised window has room for them.
    pub can_send_new: bool,
    pub now: Instant,
}
