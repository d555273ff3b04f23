//! The results of a replay of timers, one row per direction and minimum RTO.

use rtolab_time::{Duration, Instant};

use super::rows::{RetransmissionReport, TimeoutReport, TimerReport};
use crate::class::TimeoutClass;
use crate::evidence::Necessity;
use crate::half_connection::Timer;
use crate::timers::{COUNT, Deadlines, MINIMUM_RTOS_MS, Repair, TimerReplay};
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// A direction of a connection, with the fields of [`TimerReport`].
#[derive(Debug)]
pub(crate) struct Direction {
    pub from: &'static str,
    pub to: String,
    pub vantage: Vantage,
    pub min_rtt: Option<f64>,
}

/// What the capture shows about a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The timer ended a loss.
    GenuineTimeout,
    /// A probe repaired the loss of the only segment, or a timeout at the same time did.
    NeededProbe,
    /// Another retransmission repaired a loss.
    OtherRepair,
    /// The original arrived, and its ACK would have come.
    Unneeded,
    Unknown,
    /// A segment of the handshake, or a repeated timeout.
    LeftOut,
}

/// The rows of a direction. `found` are its retransmissions and timeouts in the order of frames.
pub(crate) fn reports(
    replay: &TimerReplay,
    found: (&[RetransmissionReport], &[TimeoutReport]),
    direction: &Direction,
) -> Vec<TimerReport> {
    let estimate = replay.estimators[0].estimate();
    let mut rows: Vec<TimerReport> = (0..COUNT)
        .map(|index| {
            let tally = replay.tallies[index];
            TimerReport {
                from: direction.from,
                to: direction.to.clone(),
                vantage: direction.vantage,
                min_rtt: direction.min_rtt,
                minimum: Duration::from_millis(MINIMUM_RTOS_MS[index]).secs_f64(),
                srtt: estimate.map(|known| known.srtt.secs_f64()),
                waits: replay.waits,
                single_waits: replay.single,
                late: tally.late,
                spurious_probes: tally.probes,
                spurious: tally.timeouts,
                spurious_single: tally.single,
                genuine: 0,
                saved: 0.0,
                probed: 0,
                probes_saved: 0.0,
                preempted: 0,
                unknown: 0,
            }
        })
        .collect();
    for repair in replay.repairs.iter().chain(&replay.repair) {
        let fate = fate(repair.frame, found);
        for (row, deadlines) in rows.iter_mut().zip(&repair.deadlines) {
            row.add(fate, repair, *deadlines);
            let lateness = repair.acked.since(repair.since).saturating_sub(repair.srtt);
            let is_known = fate == Fate::Unneeded && repair.acked < Instant::NEVER;
            row.waits += u64::from(is_known);
            row.late += u64::from(is_known && lateness.secs_f64() > row.minimum);
        }
    }
    rows
}

impl TimerReport {
    fn add(&mut self, fate: Fate, repair: &Repair, deadlines: Deadlines) {
        let Repair { at, acked, is_single, was_probed, .. } = *repair;
        let Deadlines { probe, timeout, unprobed } = deadlines;
        match fate {
            Fate::GenuineTimeout => {
                self.genuine += 1;
                // A timeout without a probe before it is that of a sender that does not probe.
                self.saved += difference(at, if was_probed { timeout } else { unprobed });
            }
            Fate::NeededProbe => {
                self.probed += 1;
                self.probes_saved += difference(at, probe.min(timeout));
            }
            Fate::OtherRepair => self.preempted += u64::from(timeout < at),
            Fate::Unneeded => {
                self.spurious_probes += u64::from(probe < acked);
                self.spurious += u64::from(timeout < acked);
                self.spurious_single += u64::from(timeout < acked && is_single);
            }
            Fate::Unknown => self.unknown += u64::from(timeout < acked),
            Fate::LeftOut => {}
        }
    }
}

/// How much later `at` is than `deadline`, in seconds.
fn difference(at: Instant, deadline: Instant) -> f64 {
    at.since(deadline).secs_f64() - deadline.since(at).secs_f64()
}

fn fate(
    frame: u64,
    (retransmissions, timeouts): (&[RetransmissionReport], &[TimeoutReport]),
) -> Fate {
    if let Ok(index) = timeouts.binary_search_by_key(&frame, |timeout| timeout.frame) {
        let timeout = &timeouts[index];
        return match timeout.class {
            _ if timeout.handshake || timeout.backoff > 0 => Fate::LeftOut,
            TimeoutClass::Genuine | TimeoutClass::AckLost => match timeout.timer {
                Timer::Retransmission => Fate::GenuineTimeout,
                Timer::Probe | Timer::Either => Fate::NeededProbe,
            },
            TimeoutClass::Spurious => Fate::Unneeded,
            TimeoutClass::Unknown => Fate::Unknown,
        };
    }
    let found = retransmissions.binary_search_by_key(&frame, |one| one.frame);
    let Ok(index) = found else { return Fate::Unknown };
    let retransmission = &retransmissions[index];
    match (retransmission.verdict, retransmission.trigger) {
        (Necessity::Needed, Trigger::TailLossProbe) => Fate::NeededProbe,
        (Necessity::Needed, _) => Fate::OtherRepair,
        (Necessity::Unneeded, _) => Fate::Unneeded,
        (Necessity::Unknown, _) => Fate::Unknown,
    }
}
