//! Knobs of the retransmission timeout.

use rtolab_settings::{
    Choice, FormattedOption, IntegerRange, Positive, PositiveCount, Setting, Settings,
};
use rtolab_time::Duration;

/// The retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct RtoConfig {
    /// The gain of SRTT is one in `srtt_gain` (RFC 6298: 8).
    #[setting(format = PositiveCount, default = 8)]
    pub srtt_gain: u32,
    /// The gain of RTTVAR is one in `rttvar_gain` (RFC 6298: 4).
    #[setting(format = PositiveCount, default = 4)]
    pub rttvar_gain: u32,
    /// K, the multiplier of RTTVAR in the timeout; zero leaves it out (RFC 6298: 4).
    #[setting(format = IntegerRange<0, { u32::MAX }>, default = 4)]
    pub k: u32,
    /// G, the granularity of the clock; samples are whole ticks of it.
    #[setting(example = "10 ms")]
    pub granularity: Duration,
    /// The minimum, and what it applies to.
    #[setting(flatten, default = RtoFloor::Total(Duration::from_secs(1)))]
    pub floor: RtoFloor,
    /// How `min_delayed_ack` recognises segments whose acknowledgment is delayed.
    pub delayed_ack_parity: Parity,
    /// The timeout is never above this.
    #[setting(format = Positive, default = Duration::from_secs(60), example = "60 s")]
    pub max: Duration,
    /// Added to every timeout after the first sample, as in FreeBSD (`tcp_rexmit_slop`).
    #[setting(example = "200 ms")]
    pub slop: Duration,
    /// The timeout before the first sample.
    #[setting(format = Positive, default = Duration::from_secs(1), example = "3 s")]
    pub initial: Duration,
    /// The formula and the numbers that smooth round trips.
    pub arithmetic: Arithmetic,
    /// Which acknowledgments give a sample.
    pub sampling: Sampling,
    /// Does the handshake give a sample, too? The one-way agents of ns-2 have no handshake.
    #[setting(default = true)]
    pub sample_handshake: bool,
    /// Does a retransmission in fast recovery restart the timer (RFC 6675 section 6 allows it)?
    pub restart_on_retransmit: bool,
    /// Does a duplicate acknowledgment restart the timer?
    pub restart_on_duplicate: RestartOnDuplicate,
    /// The time from which a timer runs that a new acknowledgment restarts.
    pub restart_from: RestartFrom,
    /// What else restarts the timer, and from which time on.
    #[setting(skip)]
    pub restarts: Restarts,
    /// The span over which round trips are smoothed.
    pub history: History,
    /// After more than this number of back-offs in a row, the round trip is measured from scratch
    /// (RFC 6298 section 5.7 permits it). `None`: never, but after three with the arithmetic of
    /// ns-2 and BSD.
    #[setting(
        format = IntegerRange<0, 63>,
        unset = "never, but 3 with the arithmetic of ns2 and bsd",
    )]
    pub forget_after: Option<u32>,
    /// The precision of the timer.
    pub timer: TimerClock,
}

/// The minimum of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// RFC 6298 section 2.4: the timeout is never below this.
    Total(Duration),
    /// Linux: the timeout is never below SRTT plus this; the deviation is the largest of a window
    /// and falls slowly (`tcp_rtt_estimator`).
    Variance(Duration),
    /// Old ns-2 (`rfc2988_` false): the timeout with its back-off is never below this, but the
    /// value before the back-off has no floor.
    BackedOff(Duration),
    /// The timeout is never below this for a segment whose acknowledgment the receiver delays, the
    /// last of an odd number. For any other segment it has no floor (Psaras and Tsaoussidis 2007,
    /// section 4: R, 500 ms).
    DelayedAck(Duration),
}

impl RtoFloor {
    /// The duration of the floor.
    pub const fn duration(self) -> Duration {
        match self {
            Self::Total(floor)
            | Self::Variance(floor)
            | Self::BackedOff(floor)
            | Self::DelayedAck(floor) => floor,
        }
    }
}

/// Each floor has its own key.
type Floor = (&'static str, &'static str, &'static [&'static str], fn(Duration) -> RtoFloor);
const FLOORS: [Floor; 4] = [
    ("min", "The timeout is never below this (RFC 6298 section 2.4).", &["1 s"], RtoFloor::Total),
    (
        "min_on_variance",
        "Instead of `min`: the timeout is never below SRTT plus this, as in Linux.",
        &["200 ms"],
        RtoFloor::Variance,
    ),
    (
        "min_after_backoff",
        "Instead of `min`: the timeout with its back-off is never below this, but the value before \
         the back-off has no floor, as in old ns-2.",
        &["1 s"],
        RtoFloor::BackedOff,
    ),
    (
        "min_delayed_ack",
        "Instead of `min`: the timeout is never below this for a segment whose ACK the receiver \
         delays, the last of an odd number; for any other segment it has no floor.",
        &["500 ms"],
        RtoFloor::DelayedAck,
    ),
];

impl Settings for RtoFloor {
    fn about(&self) -> &'static str {
        "The minimum of the retransmission timeout."
    }

    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        const CONFLICTING_KEYS: [&str; 4] = [FLOORS[0].0, FLOORS[1].0, FLOORS[2].0, FLOORS[3].0];
        for (key, about, examples, floor) in FLOORS {
            let mut min = Some(self.duration()).filter(|min| *self == floor(*min));
            let mut written = FormattedOption::<Positive, _>::new(&mut min);
            let setting = Setting::value(key, about, &mut written);
            visit(Setting { examples, conflicts_with: &CONFLICTING_KEYS, ..setting });
            *self = min.map_or(*self, floor);
        }
    }
}

/// The formula and the numbers that smooth round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Arithmetic {
    /// Nanoseconds.
    #[default]
    Exact,
    /// Scaled whole ticks of the granularity, as in 4.4BSD and ns-2 (`TcpAgent::rtt_update`).
    Ns2,
    /// As `ns2`, with two more bits, a first sample of one tick more, and a timeout at least two
    /// ticks above the last sample, as in FreeBSD and NetBSD (`tcp_xmit_timer`).
    Bsd,
    /// Nanoseconds. The gain and the weight of the variation follow the flight, and a falling round
    /// trip does not raise the variation: the Eifel retransmission timer (Ludwig and Sklower 2000).
    /// It ignores `srtt_gain`, `rttvar_gain` and `k`; the granularity is its tick.
    Eifel,
}

/// Which acknowledgments give a round-trip sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Sampling {
    /// Every acknowledgment of new data: by its timestamp echo if there are timestamps, else by the
    /// oldest segment that it acknowledges, unless one of them was retransmitted (Karn).
    #[default]
    EveryAck,
    /// As Linux (`tcp_ack_update_rtt`): by the oldest segment that is acknowledged in order, unless
    /// one of those was retransmitted; else by the first that is SACKed and was sent once; else by
    /// the echo of an acknowledgment of new data.
    #[choice(skip)]
    Linux,
    /// One segment at a time is timed, as in BSD; any retransmission discards the sample.
    OncePerWindow,
    /// Every segment is timed: an acknowledgment of several segments gives one sample for each,
    /// unless one of them was retransmitted (Gurtov and Ludwig, report C-2001-53).
    EverySegment,
}

/// How a floor for delayed acknowledgments finds the last segment of an odd number, whose
/// acknowledgment the receiver delays (Psaras and Tsaoussidis, "The TCP Minimum RTO Revisited",
/// 2007, section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Parity {
    /// As in the paper: the parities of all trains are added up.
    #[default]
    Paper,
    /// By the outstanding data: the receiver restarts its count with each acknowledgment that it
    /// sends, so an acknowledgment by its timer cannot leave the sender's parity wrong.
    Resync,
}

/// Does a duplicate acknowledgment restart the retransmission timer? It shows that segments still
/// arrive (Gurtov, "Effect of Delays on TCP Performance", 2001, section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RestartOnDuplicate {
    /// No (RFC 6298 section 5).
    #[default]
    Never,
    /// In fast recovery only.
    InRecovery,
    /// Always.
    Always,
}

/// The time from which a timer runs that a new acknowledgment restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RestartFrom {
    /// From that acknowledgment on, although its segment has been outstanding for longer (RFC 6298
    /// section 5.3).
    #[default]
    Ack,
    /// From the transmission of the oldest outstanding segment on, as in the Eifel retransmission
    /// timer: the timeout less the age of that segment. If nothing would be left, from the
    /// acknowledgment on (as RFC 7765 section 4).
    OldestSegment,
}

/// The span over which round trips are smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum History {
    /// A number of samples, however often they are taken (RFC 6298 section 2.3).
    #[default]
    Samples,
    /// A number of windows: the gains shrink with the samples expected in one window (RFC 7323
    /// appendix G).
    Windows,
}

/// The precision of the timers of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum TimerClock {
    /// It expires exactly when its time is over.
    #[default]
    Exact,
    /// It expires at a tick of the granularity, as in BSD: a timer of `n` ticks expires between `n
    /// - 1` and `n` ticks after it was set (`tcp_slowtimo`). Only the retransmission timer.
    Ticks,
    /// As Linux's timer wheel with ticks of this length: never early, and up to an eighth late
    /// (`calc_wheel_index`).
    #[choice("wheel-1000", Self::Wheel(Duration::from_millis(1)), "Linux's wheel, CONFIG_HZ=1000.")]
    #[choice("wheel-250", Self::Wheel(Duration::from_millis(4)), "Linux's wheel, CONFIG_HZ=250.")]
    Wheel(Duration),
}

/// What restarts the retransmission timer besides new acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restarts {
    /// Nothing else, only the other keys apply.
    #[default]
    NewAcks,
    /// As in Linux, which has one timer for timeout, probe and reordering (`tcp_rearm_rto`):
    ///
    /// - the retransmission of the oldest segment restarts it (`tcp_xmit_retransmit_queue`);
    /// - so does a SACK of a segment that was sent before the last transmission of the oldest one
    ///   (`tcp_clean_rtx_queue`);
    /// - while the probe timer or the reordering timer is running, or was until now, the timeout
    ///   runs from the last transmission of the oldest segment (`tcp_rto_delta_us`).
    Linux,
}
