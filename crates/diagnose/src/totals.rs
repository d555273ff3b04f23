//! Totals over connections, on which the answer is based.

use serde::Serialize;

use crate::class::TimeoutClass;
use crate::evidence::Necessity;
use crate::report::{ConnectionReport, EpisodeReport};
use crate::silence::Wait;
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// Needed retransmissions belong to one burst of losses if they are within a round trip, or within
/// this time in seconds.
const BURST: f64 = 0.01;
/// From this number of connections on whose opening segments were lost, and from this ratio of
/// their loss rate to that of all other segments on, the server's listen queue is full.
const FULL_FOR: u64 = 5;
const TIMES_THE_LOSS_RATE: f64 = 20.0;
/// The segments that open a connection: SYN, SYN-ACK and the client's first data.
const OPENING_SEGMENTS: u64 = 3;
/// Shorter times without a packet are those of an ordinary retransmission timeout, in seconds.
const LONG_HOLD: f64 = 1.0;
/// The quantile of the normal distribution for a confidence interval of 95 %.
const QUANTILE: f64 = 1.96;

/// The number and the durations of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Waits {
    pub count: u64,
    /// The sum, in seconds.
    pub seconds: f64,
    /// The longest, in seconds.
    pub longest: f64,
}

impl Waits {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
        self.longest = self.longest.max(seconds);
    }
}

/// A share with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LossRate {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

impl LossRate {
    /// The share of `sent` packets that were lost, with Wilson's score interval; `None` if none was
    /// sent. `lost` are those that were lost, and those of which that is unknown. `burst` is the
    /// mean length of the burst to which a loss belongs.
    pub fn of(lost: [u64; 2], sent: u64, burst: f64) -> Option<Self> {
        if sent == 0 {
            return None;
        }
        let count = sent as f64 / burst;
        let interval = |lost: u64| {
            let share = (lost as f64 / sent as f64).min(1.0);
            let square = QUANTILE * QUANTILE;
            let middle = share + square / (2.0 * count);
            let spread = share * (1.0 - share) / count + square / (4.0 * count * count);
            let spread = QUANTILE * spread.sqrt();
            let whole = 1.0 + square / count;
            [share, ((middle - spread) / whole).max(0.0), ((middle + spread) / whole).min(1.0)]
        };
        let [lost, unknown] = lost;
        let [share, low, _] = interval(lost);
        let [_, _, high] = interval(lost + unknown);
        let low = if lost == 0 { 0.0 } else { low };
        Some(Self { share, low, high })
    }
}

/// Totals over connections, or the figures of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct CaptureTotals {
    /// Connections with packets of both ends.
    pub connections: u64,
    /// Connections with packets of one end only.
    pub one_way: u64,
    /// Connections with retransmissions that were captured at the receiver.
    pub at_receiver: u64,
    /// Payload bytes, retransmissions included.
    pub bytes: u64,
    /// Acknowledged bytes that the capture lacks.
    pub missed_bytes: u64,
    /// Data segments, retransmissions included.
    pub segments: u64,
    /// Lost segments: those whose retransmission was needed.
    pub lost: u64,
    /// Of these, segments that open a connection: SYN, SYN-ACK, the client's first data.
    pub lost_openings: u64,
    /// Connections with such a loss.
    #[serde(skip)]
    opened_late: u64,
    /// Bursts of losses. A burst is retransmitted within one round trip.
    pub bursts: u64,
    /// The sum over all bursts of the square of the number of losses.
    #[serde(skip)]
    squares: u64,
    /// The losses at a known round-trip time, those of them at a long queue, and the bytes in these
    /// queues, weighted by losses.
    #[serde(skip)]
    queued: [u64; 3],
    /// The longest stall of an episode whose timeouts were not spurious, in seconds.
    pub longest_outage: f64,
    pub retransmissions: u64,
    pub unneeded: u64,
    pub needed: u64,
    pub unknown: u64,
    /// The payload of unneeded retransmissions.
    pub unneeded_bytes: u64,
    pub timeouts: u64,
    pub spurious: u64,
    pub ack_lost: u64,
    pub genuine: u64,
    pub unknown_timeouts: u64,
    /// Retransmissions of SYNs and SYN-ACKs.
    pub handshake: u64,
    /// The longest time without a new ACK that led to a spurious timeout, in seconds.
    pub longest_stall: f64,
    /// When it began, in seconds since the capture's first packet.
    pub longest_stall_at: f64,
    /// The number of such stalls, each with one or more spurious timeouts.
    pub stalls: u64,
    /// The time lost to timeouts and to late ACKs, in seconds.
    pub time_lost: f64,
    /// The part of `time_lost` after the stalls, in which the sender retransmitted data that had
    /// arrived.
    pub time_lost_by_sender: f64,
    /// Unneeded retransmissions after timeouts, beyond the first of each.
    pub go_back_n: u64,
    /// Times at which the path held packets of which it lost others, or their ACKs.
    pub held: Waits,
    /// ACKs that were late without a retransmission.
    pub late: Waits,
    /// Silences in which the receiver's window was closed.
    pub closed_window: Waits,
    /// Silences in which the application of client or server had nothing to send.
    pub application: [Waits; 2],
    /// Silences of which the capture does not show whether the path or an application caused them.
    pub undecided: Waits,
    /// Connections whose first data after a silence was never answered, or answered by a reset.
    pub idle_timeouts: u64,
    /// Of these, those that a reset answered.
    pub idle_resets: u64,
    /// The shortest silence before such data, in seconds.
    pub shortest_idle_timeout: f64,
    /// The longest silence after which a connection went on, in seconds.
    pub longest_idle: f64,
    /// Retransmissions of such data.
    pub unanswered: u64,
}

impl CaptureTotals {
    /// The figures of one connection.
    pub fn of(report: &ConnectionReport) -> Self {
        let mut totals = Self::default();
        totals.add(report);
        totals
    }

    /// Adds a connection.
    pub fn add(&mut self, report: &ConnectionReport) {
        let is_one_way = report.only_from.is_some();
        *(if is_one_way { &mut self.one_way } else { &mut self.connections }) += 1;
        let at_receiver = report.vantage == Vantage::Receiver;
        self.at_receiver += u64::from(at_receiver && !report.retransmissions.is_empty());
        self.bytes += report.bytes.iter().sum::<u64>();
        self.missed_bytes += report.missed_bytes;
        self.segments += report.segments.iter().sum::<u64>();
        self.time_lost += report.time_lost.unwrap_or(0.0);
        self.add_retransmissions(report);
        for timeout in report.timeouts.iter().filter(|timeout| !timeout.handshake) {
            self.timeouts += 1;
            *match timeout.class {
                TimeoutClass::Spurious => &mut self.spurious,
                TimeoutClass::AckLost => &mut self.ack_lost,
                TimeoutClass::Genuine => &mut self.genuine,
                TimeoutClass::Unknown => &mut self.unknown_timeouts,
            } += 1;
        }
        for episode in &report.episodes {
            let (stall, lost) = (episode.cost.stall, episode.cost.time_lost.unwrap_or(0.0));
            if episode.class == TimeoutClass::Spurious {
                self.add_stall(episode);
            } else if let Some(hold) = episode.hold.filter(|hold| *hold >= LONG_HOLD) {
                self.held.add(hold);
            } else {
                self.longest_outage = self.longest_outage.max(stall.unwrap_or(0.0));
            }
            if episode.cost.unneeded_bytes > 0 && episode.class != TimeoutClass::Genuine {
                self.time_lost_by_sender += stall.map_or(0.0, |stall| (lost - stall).max(0.0));
            }
        }
        for silence in &report.silences {
            let waits = match (silence.wait, silence.end) {
                (Wait::Network, _) => &mut self.late,
                (Wait::Window, _) => &mut self.closed_window,
                (Wait::Application, "client") => &mut self.application[0],
                (Wait::Application, _) => &mut self.application[1],
                (Wait::Unknown, _) => &mut self.undecided,
            };
            waits.add(silence.length);
            let is_idle = matches!(silence.wait, Wait::Application | Wait::Unknown);
            if is_idle && report.idle_timeout.is_none_or(|end| end.frame != silence.frame) {
                self.longest_idle = self.longest_idle.max(silence.length);
            }
        }
        if let Some(end) = report.idle_timeout {
            let first = self.idle_timeouts == 0;
            self.idle_timeouts += 1;
            self.idle_resets += u64::from(end.reset);
            self.unanswered += end.retransmissions;
            if first || end.idle < self.shortest_idle_timeout {
                self.shortest_idle_timeout = end.idle;
            }
        }
    }

    /// How often packets were late.
    pub const fn delays(&self) -> u64 {
        self.spurious + self.held.count + self.late.count
    }

    /// Were packets late once only?
    pub const fn is_delayed_once(&self) -> bool {
        let delays = self.delays();
        delays == 1 || delays == self.spurious && self.stalls == 1
    }

    /// Do most retransmissions lack a verdict? Then nothing can be recommended.
    pub const fn is_undecided(&self) -> bool {
        self.unexplained() > self.needed + self.unneeded
    }

    /// Retransmissions without a verdict, other than those that nothing answers after a silence.
    pub const fn unexplained(&self) -> u64 {
        self.unknown.saturating_sub(self.unanswered)
    }

    /// Are all retransmissions those that nothing answers after a silence?
    pub const fn is_idle_only(&self) -> bool {
        self.idle_timeouts > 0 && self.retransmissions == self.unanswered
    }

    fn add_stall(&mut self, episode: &EpisodeReport) {
        self.stalls += 1;
        let Some([from, to]) = episode.stalled else { return };
        if to - from > self.longest_stall {
            (self.longest_stall, self.longest_stall_at) = (to - from, from);
        }
    }

    fn add_retransmissions(&mut self, report: &ConnectionReport) {
        let gap = report.min_rtt.unwrap_or(0.0).max(BURST);
        let (mut burst, mut last) = (0, f64::NEG_INFINITY);
        let (mut lost, mut lost_openings) = (0, 0);
        for retransmission in &report.retransmissions {
            self.retransmissions += 1;
            let is_syn = matches!(retransmission.trigger, Trigger::Syn(_));
            self.handshake += u64::from(is_syn);
            match retransmission.verdict {
                Necessity::Unneeded => {
                    self.unneeded += 1;
                    self.unneeded_bytes += u64::from(retransmission.len);
                    self.go_back_n += u64::from(retransmission.trigger == Trigger::AfterTimeout);
                }
                Necessity::Needed => {
                    self.needed += 1;
                    let segments = u64::from(retransmission.segments.max(1));
                    lost += segments;
                    lost_openings += if retransmission.is_opening { segments } else { 0 };
                    if retransmission.t - last > gap {
                        self.close_burst(burst);
                        burst = 0;
                    }
                    burst += segments;
                    last = retransmission.t;
                }
                Necessity::Unknown => self.unknown += 1,
            }
        }
        self.close_burst(burst);
        self.lost += lost;
        self.lost_openings += lost_openings;
        self.opened_late += u64::from(lost_openings > 0);
        if let Some(queue) = report.queue {
            let long = if queue > 0 { lost } else { 0 };
            self.queued = [0, 1, 2].map(|at| self.queued[at] + [lost, long, lost * queue][at]);
        }
    }

    fn close_burst(&mut self, losses: u64) {
        self.bursts += u64::from(losses > 0);
        self.squares += losses * losses;
    }

    /// The share of data segments that the network lost. Losses of a burst are not independent, so
    /// the number of segments is divided by the mean burst length of a loss. Retransmissions
    /// without a verdict raise the upper bound.
    pub fn loss(&self) -> Option<LossRate> {
        let design = if self.lost > 0 { self.squares as f64 / self.lost as f64 } else { 1.0 };
        LossRate::of([self.lost, self.unknown], self.segments, design)
    }

    /// Did a server discard segments that open connections because its listen queue was full? A
    /// path that loses packets loses others at the same rate.
    pub fn is_listen_queue_full(&self) -> bool {
        let openings = self.lost_openings + OPENING_SEGMENTS * self.connections;
        let others = self.segments.saturating_sub(self.connections).max(1);
        let rate = self.lost_openings as f64 / openings as f64;
        // One more loss than there were: none lost does not mean that the rate is 0.
        let rate_of_others = (self.lost - self.lost_openings + 1) as f64 / others as f64;
        self.opened_late >= FULL_FOR && rate > TIMES_THE_LOSS_RATE * rate_of_others
    }

    /// The mean number of bytes in the queue at losses, 0 if most losses happened without a queue;
    /// `None` if the capture does not show it.
    pub fn queue(&self) -> Option<u64> {
        let [known, long, weighted] = self.queued;
        if known * 2 < self.lost || known == 0 {
            return None;
        }
        Some(if long * 2 >= known { weighted / long } else { 0 })
    }
}
