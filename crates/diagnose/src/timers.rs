//! Replay of the retransmission timers that other minimum RTOs would give a sender.
//!
//! The round trips of the capture feed one estimator of the engine per minimum. For each wait for
//! an ACK the replay asks when the probe timer and the retransmission timer of Linux
//! (`tcp_schedule_loss_probe`, `tcp_rearm_rto`) would have expired. What an earlier timeout would
//! have changed in the traffic after it is unknown and left out.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use rtolab_tcp::config::{Config, RtoFloor};
use rtolab_tcp::rtt::RttEstimator;
use rtolab_tcp::{Flight, Seq};
use rtolab_time::{Duration, Instant};

/// The minimum RTOs that are replayed, in milliseconds.
pub const MINIMUM_RTOS_MS: [u64; 18] =
    [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000];
pub(crate) const COUNT: usize = MINIMUM_RTOS_MS.len();

/// The maximum number of repaired waits kept per direction; later ones are left out.
const MAX_REPAIRS: usize = 1 << 16;

/// The maximum number of TSvals kept.
const MAX_STAMPS: usize = 1 << 10;

/// The configuration of Linux's sender with each minimum RTO.
static CONFIGS: LazyLock<Vec<Arc<Config>>> = LazyLock::new(|| {
    let base = Config::default();
    let linux = rtolab_tcp::specification::sender("linux", &base).unwrap_or(base);
    let with = |ms: u64| {
        let mut config = linux.clone();
        let floor = Duration::from_millis(ms);
        config.rto.floor = RtoFloor::Variance(floor);
        config.recovery.rack.max_ack_delay = floor;
        Arc::new(config)
    };
    MINIMUM_RTOS_MS.into_iter().map(with).collect()
});

/// When the timers of one minimum RTO expire during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadlines {
    /// The probe timer; `NEVER` without probes.
    pub probe: Instant,
    /// The retransmission timer, which a probe restarts.
    pub timeout: Instant,
    /// The retransmission timer if no probe restarts it.
    pub unprobed: Instant,
}

/// The wait for the ACK of the oldest outstanding segment.
#[derive(Clone, Debug)]
struct Wait {
    /// When the last new ACK came, or else when the segment was sent.
    since: Instant,
    /// When the probe timer was restarted last, by an ACK or by new data.
    restarted: Instant,
    /// Was that an ACK?
    by_ack: bool,
    /// The last transmission of the oldest segment.
    head_sent: Instant,
    /// Is only one segment outstanding?
    is_single: bool,
    probing: Probing,
    /// The deadlines that have passed and that new data no longer moves, by minimum RTO.
    passed: [Option<Deadlines>; COUNT],
}

/// May the sender send a tail loss probe?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probing {
    Yes,
    /// A probe is in flight: its timer runs, but continues with that of the oldest segment
    /// (`tcp_send_loss_probe`).
    InFlight,
    /// In recovery, or without SACK.
    No,
}

/// A wait that the sender ended with a retransmission of the oldest segment.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    /// The frame of the retransmission.
    pub frame: u64,
    pub at: Instant,
    /// When the next new ACK came; `NEVER` if none did.
    pub acked: Instant,
    /// When the wait began.
    pub since: Instant,
    pub srtt: Duration,
    pub is_single: bool,
    /// Was a probe sent during the wait, or in flight?
    pub was_probed: bool,
    pub deadlines: [Deadlines; COUNT],
}

/// What happened with one minimum RTO in the waits that ended without a retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub late: u64,
    pub probes: u64,
    pub timeouts: u64,
    pub single: u64,
}

/// The replay of the timers of one direction.
#[derive(Debug)]
pub(crate) struct TimerReplay {
    pub estimators: Vec<RttEstimator>,
    /// Does the sender use tail loss probes? They need SACK.
    pub has_probes: bool,
    wait: Option<Wait>,
    /// The retransmission whose ACK is awaited.
    pub repair: Option<Repair>,
    pub repairs: Vec<Repair>,
    /// The TSvals sent last, and when each was sent first.
    stamps: VecDeque<(u32, Instant)>,
    /// SND.MAX at the last retransmission, until it is acknowledged.
    recover: Option<Seq>,
    /// SND.MAX at the last probe, until it is acknowledged (Linux: `tlp_high_seq`).
    probe_end: Option<Seq>,
    pub waits: u64,
    /// Waits with a single segment.
    pub single: u64,
    pub tallies: [Tally; COUNT],
}

impl TimerReplay {
    pub fn new() -> Self {
        Self {
            estimators: CONFIGS.iter().map(|config| RttEstimator::new(config.clone())).collect(),
            has_probes: true,
            wait: None,
            repair: None,
            repairs: Vec::new(),
            stamps: VecDeque::new(),
            recover: None,
            probe_end: None,
            waits: 0,
            single: 0,
            tallies: [Tally::default(); COUNT],
        }
    }

    /// Processes new data; `flight` and its full segments of `mss` bytes include it.
    pub fn on_new_data(&mut self, flight: &Flight, mss: u32, at: Instant) {
        if self.repair.is_some() || flight.size() == 0 {
            return;
        }
        self.note_passed(at);
        let is_single = flight.size() <= u64::from(mss);
        match &mut self.wait {
            Some(wait) => {
                (wait.restarted, wait.by_ack, wait.is_single) = (at, false, is_single);
            }
            None => self.begin_wait(flight, (mss, false), at),
        }
    }

    /// Processes a retransmission at a sequence number, in a frame; `is_probe`: it is a tail loss
    /// probe. `flight` is the flight with it.
    pub fn on_retransmission(
        &mut self,
        (seq, frame, is_probe): (Seq, u64, bool),
        flight: &Flight,
        at: Instant,
    ) {
        let was_probed = self.probe_end.is_some();
        match is_probe {
            true => self.probe_end = Some(flight.max()),
            false => self.recover = Some(flight.max()),
        }
        if seq > flight.una() {
            return;
        }
        self.note_passed(at);
        let Some(wait) = self.wait.take() else { return };
        let deadlines = std::array::from_fn(|index| {
            wait.passed[index].unwrap_or_else(|| self.deadlines(&wait, index))
        });
        let Wait { since, is_single, .. } = wait;
        let (acked, srtt) = (Instant::NEVER, self.srtt());
        self.repair =
            Some(Repair { frame, at, acked, since, srtt, is_single, was_probed, deadlines });
    }

    /// Processes an ACK that advances SND.UNA. `sample` is when the segment was sent whose round
    /// trip it measures, `flight` is the flight after it.
    pub fn on_new_ack(
        &mut self,
        sample: Option<Instant>,
        (flight, mss): (&Flight, u32),
        at: Instant,
    ) {
        self.end_wait(at);
        if let Some(repair) = self.repair.take().filter(|_| self.repairs.len() < MAX_REPAIRS) {
            self.repairs.push(Repair { acked: at, ..repair });
        }
        for end in [&mut self.recover, &mut self.probe_end] {
            *end = end.filter(|end| flight.una() < *end);
        }
        self.on_sack(sample, flight, at);
        self.begin_wait(flight, (mss, true), at);
    }

    /// Takes the sample of an ACK, if it has one.
    pub fn on_sack(&mut self, sample: Option<Instant>, flight: &Flight, at: Instant) {
        let Some(sent) = sample else { return };
        for estimator in &mut self.estimators {
            estimator.sample(at.since(sent), flight.una(), flight.max());
        }
    }

    /// Notes that a segment with this TSval was sent.
    pub fn note_stamp(&mut self, value: u32, at: Instant) {
        if self.stamps.back().is_none_or(|(last, _)| *last != value) {
            if self.stamps.len() == MAX_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((value, at));
        }
    }

    /// When the first segment with this TSval was sent. Forgets older ones.
    pub fn sent_with(&mut self, echo: u32) -> Option<Instant> {
        while self.stamps.front().is_some_and(|(value, _)| (value.wrapping_sub(echo) as i32) < 0) {
            self.stamps.pop_front();
        }
        self.stamps.front().filter(|(value, _)| *value == echo).map(|(_, at)| *at)
    }

    /// Begins the wait for the oldest outstanding segment, if there is one.
    fn begin_wait(&mut self, flight: &Flight, (mss, by_ack): (u32, bool), at: Instant) {
        let Some(head) = flight.head() else { return };
        self.wait = Some(Wait {
            since: at,
            restarted: at,
            by_ack,
            head_sent: head.last_sent,
            is_single: flight.size() <= u64::from(mss),
            probing: match (self.has_probes && self.recover.is_none(), self.probe_end) {
                (false, _) => Probing::No,
                (true, None) => Probing::Yes,
                (true, Some(_)) => Probing::InFlight,
            },
            passed: [None; COUNT],
        });
    }

    /// Counts a wait that ended with the ACK of an original.
    fn end_wait(&mut self, at: Instant) {
        self.note_passed(at);
        let Some(wait) = self.wait.take() else { return };
        if self.estimators[0].estimate().is_none() {
            return;
        }
        self.waits += 1;
        self.single += u64::from(wait.is_single);
        let lateness = at.since(wait.since).saturating_sub(self.srtt());
        for (index, tally) in self.tallies.iter_mut().enumerate() {
            tally.late += u64::from(lateness > Duration::from_millis(MINIMUM_RTOS_MS[index]));
            let Some(passed) = wait.passed[index] else { continue };
            tally.probes += u64::from(passed.probe < at);
            tally.timeouts += u64::from(passed.timeout < at);
            tally.single += u64::from(passed.timeout < at && wait.is_single);
        }
    }

    /// Keeps the deadlines that passed before `at`.
    fn note_passed(&mut self, at: Instant) {
        let Some(mut wait) = self.wait.take() else { return };
        let srtt = self.srtt();
        // No timer is shorter than SRTT, so few waits need a closer look.
        if at.since(wait.since) > srtt {
            for index in 0..COUNT {
                if wait.passed[index].is_none() {
                    let deadlines = self.deadlines(&wait, index);
                    let first = deadlines.probe.min(deadlines.timeout);
                    wait.passed[index] = (first < at).then_some(deadlines);
                }
            }
        }
        self.wait = Some(wait);
    }

    /// SRTT, which no minimum changes; zero without a sample.
    fn srtt(&self) -> Duration {
        self.estimators[0].estimate().map_or(Duration::ZERO, |known| known.srtt)
    }

    /// The deadlines of a wait with the minimum RTO of this index.
    fn deadlines(&self, wait: &Wait, index: usize) -> Deadlines {
        let estimator = &self.estimators[index];
        let rto = estimator.rto();
        if wait.probing == Probing::No || estimator.estimate().is_none() {
            let timeout = wait.since + rto;
            return Deadlines { probe: Instant::NEVER, timeout, unprobed: timeout };
        }
        let unprobed = wait.since + rto;
        // The probe is never later than the timeout, which runs from the oldest segment after new
        // data (`tcp_rto_delta_us`).
        let bound = if wait.by_ack { wait.restarted } else { wait.head_sent } + rto;
        let probe = wait.restarted + estimator.probe_timeout(wait.is_single);
        let probe = if bound > wait.restarted { probe.min(bound) } else { probe };
        if wait.probing == Probing::InFlight {
            let timeout = (wait.head_sent + rto).max(probe);
            return Deadlines { probe: Instant::NEVER, timeout, unprobed };
        }
        // A probe restarts the timer from now (`tcp_send_loss_probe`).
        Deadlines { probe, timeout: probe + rto, unprobed }
    }
}
