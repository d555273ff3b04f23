//! The results of a replay of timers, one row per direction and minimum RTO.

use rtolab_time::{Duration, Instant};

use super::{COUNT, Deadlines, MINIMUM_RTOS_MS, Repair, TimerReplay};
use crate::class::TimeoutClass;
use crate::evidence::Necessity;
use crate::report::{RetransmissionReport, TimeoutReport};
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// The timeouts that a minimum RTO would have caused in one direction of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TimerReport {
    /// The end that sends: `client` or `server`.
    pub from: &'static str,
    /// Address and port of the end that receives.
    pub to: String,
    /// The capture point, as seen by the sending end.
    pub vantage: Vantage,
    /// The smallest round-trip time, in seconds.
    pub min_rtt: Option<f64>,
    /// SRTT at the end, in seconds.
    pub srtt: Option<f64>,
    /// The minimum RTO, in seconds.
    pub minimum: f64,
    /// The waits for ACKs of data that ended without a retransmission.
    pub waits: u64,
    /// Those with a single outstanding segment.
    pub single_waits: u64,
    /// The waits that were longer than SRTT and this minimum.
    pub late: u64,
    /// Spurious tail loss probes.
    pub spurious_probes: u64,
    /// Spurious timeouts: the ACK of the original came after the timer had expired.
    pub spurious: u64,
    /// Those with a single outstanding segment, whose ACK the receiver may delay.
    pub spurious_single: u64,
    /// Timeouts of the capture that were genuine, or whose ACKs were lost.
    pub genuine: u64,
    /// How much earlier than in the capture these would have come, in seconds, in total; negative
    /// if later.
    pub won: f64,
    /// Tail loss probes of the capture that repaired the loss of the only segment.
    pub probed: u64,
    /// How much earlier these would have come, in seconds, in total.
    pub probes_won: f64,
    /// Timeouts that would have come before a fast retransmit that was needed.
    pub preempted: u64,
    /// Timeouts of which the capture does not show whether they are spurious.
    pub unknown: u64,
}

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
    /// A probe repaired the loss of the only segment.
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
                won: 0.0,
                probed: 0,
                probes_won: 0.0,
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
    fn add(&mut self, fate: Fate, repair: &Repair, Deadlines { probe, timeout }: Deadlines) {
        let Repair { at, acked, is_single, .. } = *repair;
        match fate {
            Fate::GenuineTimeout => {
                self.genuine += 1;
                self.won += difference(at, timeout);
            }
            Fate::NeededProbe => {
                self.probed += 1;
                self.probes_won += difference(at, probe.min(timeout));
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
            TimeoutClass::Genuine | TimeoutClass::AckLost => Fate::GenuineTimeout,
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
