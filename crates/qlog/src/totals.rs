//! Totals of a log.

use rtolab_diagnose::TimeoutClass;
use serde::Serialize;

use crate::burst::Burst;
use crate::loss_class::LossClass;
use crate::report::LogReport;

/// Totals of a log.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LogSummary {
    /// The version of qlog, as the log gives it.
    pub qlog_version: Option<String>,
    /// When the first event happened, in seconds since 1970-01-01 00:00 UTC; 0 if it is unknown.
    pub began: f64,
    /// When the last event happened, likewise.
    pub ended: f64,
    pub events: u64,
    /// Packets that were sent and received.
    pub packets: u64,
    pub connections: u64,
    /// Events that matter and are malformed, or too far out of time order to be sorted.
    pub malformed: u64,
    /// The first of them.
    pub first_malformed: Option<String>,
    /// Events with an earlier time than the event before in the log, which were sorted.
    pub out_of_order: u64,
    /// The number of the first of them.
    pub first_out_of_order: Option<u64>,
    pub totals: LogTotals,
}

/// Totals over connections. The keys are those of captures where they mean the same; segments are
/// packets that ask for an acknowledgment, retransmissions are stream bytes.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LogTotals {
    /// Packets that ask for an acknowledgment.
    pub segments: u64,
    /// Packets that were declared lost.
    pub losses: u64,
    /// Of these, packets that arrived.
    pub spurious_losses: u64,
    /// Of these, packets that the receiver dropped because it had no key.
    pub undecryptable: u64,
    /// Packets that were declared lost and were lost.
    pub lost: u64,
    /// Declared losses without a verdict.
    pub unknown: u64,
    /// Connections whose log is of the end that receives.
    pub receivers: u64,
    /// Connections whose log lacks acknowledgments.
    pub one_way: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    pub spurious: u64,
    pub ack_lost: u64,
    pub genuine: u64,
    pub unknown_timeouts: u64,
    pub episodes: u64,
    /// Recovery episodes whose losses were all spurious.
    pub spurious_episodes: u64,
    pub stream_bytes: u64,
    pub stream_bytes_received: u64,
    /// Stream bytes that were retransmitted.
    pub retransmissions: u64,
    /// Of these, bytes whose earlier copy arrived.
    pub unneeded: u64,
    /// Of these, bytes whose earlier copy was lost, or was dropped by a receiver without a key.
    pub needed: u64,
    /// In seconds.
    pub time_in_recovery: f64,
    /// The part of it in episodes whose losses were all spurious.
    pub time_in_spurious_recovery: f64,
    /// The time lost to probe timeouts, in seconds.
    pub time_lost: f64,
    /// The longest burst of losses.
    #[serde(skip)]
    pub(crate) burst: Option<Burst>,
    /// How often senders found persistent congestion.
    #[serde(skip)]
    pub(crate) persistent_congestion: u64,
}

impl LogTotals {
    pub(crate) fn add(&mut self, one: &LogReport) {
        let losses =
            |verdict| one.losses.iter().filter(|row| row.verdict == verdict).count() as u64;
        let timeouts = |class| one.timeouts.iter().filter(|row| row.class == class).count() as u64;
        self.segments += one.ack_eliciting;
        self.losses += one.losses.len() as u64;
        self.spurious_losses += losses(LossClass::Spurious);
        self.lost += losses(LossClass::Genuine);
        self.unknown += losses(LossClass::Unknown);
        let undecryptable = one.losses.iter().filter(|row| row.is_undecryptable());
        self.undecryptable += undecryptable.count() as u64;
        self.receivers += u64::from(one.is_receiver);
        self.one_way += u64::from(!one.has_acks);
        self.timeouts += one.timeouts.len() as u64;
        self.spurious += timeouts(TimeoutClass::Spurious);
        self.ack_lost += timeouts(TimeoutClass::AckLost);
        self.genuine += timeouts(TimeoutClass::Genuine);
        self.unknown_timeouts += timeouts(TimeoutClass::Unknown);
        self.episodes += one.episodes.len() as u64;
        let spurious = one.episodes.iter().filter(|episode| episode.class == LossClass::Spurious);
        self.spurious_episodes += spurious.count() as u64;
        self.stream_bytes += one.stream_bytes;
        self.stream_bytes_received += one.stream_bytes_received;
        self.retransmissions += one.retransmitted_bytes;
        self.unneeded += one.unneeded_bytes;
        self.needed += one.needed_bytes;
        self.time_in_recovery += one.time_in_recovery;
        self.time_in_spurious_recovery += one.time_in_spurious_recovery;
        self.time_lost += one.time_lost;
        let longest =
            |burst: &Burst| self.burst.is_none_or(|before| burst.packets > before.packets);
        self.burst = Burst::longest(one).filter(longest).or(self.burst);
        self.persistent_congestion += one.persistent_congestion;
    }
}
