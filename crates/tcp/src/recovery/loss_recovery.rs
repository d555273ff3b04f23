//! The interface of a loss recovery.

use rtolab_time::{Duration, Instant};

use super::rfc9002::Transmission;
use super::tlp::{ProbeStep, TailLossProbe};
use super::{Context, Recovery};
use crate::config::{Config, RecoveryConfig, SackOnTimeout};
use crate::estimate::Estimate;
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::TimerTable;

/// A loss recovery. `recovery` is the state that all algorithms share.
///
/// A time-based one ([`Self::is_time_based`]) receives every delivery and transmission, has its own
/// timers, and replaces go-back-N after a timeout.
pub(crate) trait LossRecovery {
    /// Processes an acknowledgment.
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction;

    /// An acknowledgment is about to be processed.
    fn begin_ack(&mut self) {}

    /// The acknowledgment is the first to report the delivery of `sent`.
    fn on_delivered(&mut self, _sent: &Sent, _ack: &AckFacts, _: (&Recovery, &RecoveryConfig)) {}

    /// The acknowledgment at `at` gives this round trip.
    fn on_round_trip(&mut self, _rtt: Duration, _at: Instant, _: &RecoveryConfig) {}

    /// All deliveries of the acknowledgment have been reported. Returns whether its D-SACK must be
    /// ignored.
    fn end_ack(&mut self, _ack: &AckFacts, _config: &RecoveryConfig, _smss: u64) -> bool {
        false
    }

    /// Updates the scoreboard after a timeout.
    fn on_timeout(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout {
        // A SACKed head shows that the receiver reneged.
        let reneged = cx.flight.head().is_some_and(Sent::is_sacked);
        match cx.config.recovery.sack.on_timeout {
            SackOnTimeout::Keep if !reneged => cx.flight.clear_losses(),
            SackOnTimeout::Keep | SackOnTimeout::Clear => cx.flight.clear_scoreboard(),
        }
        AfterTimeout::GoBackN
    }

    /// The reordering timer expired.
    fn on_reordering_timer(
        &mut self,
        _recovery: &Recovery,
        _cx: &mut Context<'_>,
    ) -> RecoveryAction {
        RecoveryAction::None
    }

    /// The probe timer expired: returns whether a tail loss probe is sent.
    fn on_probe_timer(&mut self) -> ProbeStep {
        ProbeStep::RestartTimer
    }

    /// A segment is sent, new data or not.
    fn on_sent(&mut self, _sent: &Transmission) {}

    /// The segment at `seq` is retransmitted with this TSval.
    fn on_retransmission(&mut self, _seq: Seq, _timestamp: u32, _flight: &mut Flight) {}

    /// This end is a passive opener, and the acknowledgment of its SYN-ACK has arrived: the first
    /// segment after the peer's SYN.
    fn on_passive_open(&mut self) {}

    /// The reduction is undone: the segments marked lost were not lost.
    fn on_undo(&mut self) {}

    /// The last reduction is undone, by F-RTO or by another detector. Returns whether fast recovery
    /// continues.
    fn keeps_state_on_undo(&mut self, _: &Recovery, _: &Flight, _by_frto: bool) -> bool {
        false
    }

    /// Is the reduction of the current recovery undone, so that its end does not set cwnd?
    fn is_undone(&self) -> bool {
        false
    }

    /// Is cwnd in fast recovery another one than that after it, so that a further reduction starts
    /// from the latter?
    fn inflates_window(&self) -> bool {
        true
    }

    /// Does a recovery from a timeout continue that F-RTO cannot see?
    fn is_in_loss(&self) -> bool {
        false
    }

    /// The bytes that the current acknowledgment delivers, if the scoreboard does not tell.
    fn delivered(&self) -> Option<u64> {
        None
    }

    /// The number of segments that the current acknowledgment delivers, if they count instead of
    /// their bytes.
    fn delivered_segments(&self) -> Option<u32> {
        None
    }

    /// Clears all losses, and stops the timers.
    fn forget_losses(&mut self, _timers: &mut TimerTable, _flight: &mut Flight) {}

    /// The pipe: the bytes that count against cwnd. `None`: all data up to SND.NXT.
    fn pipe(&self, _recovery: &Recovery, _: &Flight, _: &RecoveryConfig) -> Option<u64> {
        None
    }

    /// Does [`Self::next_seg`] choose the next segment, in place of go-back-N?
    fn has_next_seg(&self, _recovery: &Recovery) -> bool {
        false
    }

    /// The next segment to send, if cwnd has room for it.
    fn next_seg(&mut self, _recovery: &Recovery, _cx: &mut Context<'_>) -> Option<NextSeg> {
        None
    }

    /// The first segment that is marked lost and not retransmitted since.
    fn first_lost(&self, _flight: &Flight) -> Option<Seq> {
        None
    }

    /// Does a new acknowledgment restart the retransmission timer in fast recovery?
    fn restarts_timer(&self, _config: &RecoveryConfig) -> bool {
        true
    }

    /// Does a retransmission in fast recovery affect the timer and the timed segment?
    fn times_retransmissions(&self) -> bool {
        true
    }

    /// Does go-back-N also retransmit SACKed data, and use limited transmit (ns-2)?
    fn retransmits_sacked(&self) -> bool {
        false
    }

    /// May the window grow for the acknowledgment that ends fast recovery?
    fn can_grow_on_leaving(&self) -> bool {
        true
    }

    /// Was reordering seen beyond `dupthresh`, so that cwnd also grows for data that arrives out of
    /// order (Linux: `tcp_may_raise_cwnd`)?
    fn has_reordered_beyond(&self, _dupthresh: u32) -> bool {
        false
    }

    /// Is the loss detection time-based (RACK)?
    fn is_time_based(&self) -> bool {
        false
    }

    /// The time from the last transmission to the probe timeout that replaces the retransmission
    /// timeout (RFC 9002 section 6.2); `None`: it has a retransmission timeout.
    fn probe_timeout(&self, _config: &Config) -> Option<Duration> {
        None
    }

    /// The number of probe timeouts since the last acknowledgment, if they replace the
    /// retransmission timeout.
    fn pto_count(&self) -> Option<u32> {
        None
    }

    /// The probe timeout expired.
    fn on_probe_timeout(&mut self, _cx: &mut Context<'_>) {}

    /// Sets the timers of an algorithm with a probe timeout. `outstanding`: data is in flight.
    fn set_loss_detection_timer(&self, _outstanding: bool, _cx: &mut Context<'_>) {}

    /// Is a probe to be sent after a probe timeout?
    fn has_probe(&self) -> bool {
        false
    }

    /// Takes such a probe: returns what it contains.
    fn take_probe(&mut self, _flight: &Flight, _can_send_new: bool) -> Option<NextSeg> {
        None
    }

    /// Is the last reduction of the window to be undone? Returns it once.
    fn take_undo(&mut self) -> bool {
        false
    }

    /// Takes over a flight and an estimate from another loss recovery.
    fn adopt(&mut self, _flight: &Flight, _estimate: Option<Estimate>) {}

    /// The state of tail loss probes, if it sends them.
    fn probe(&mut self) -> Option<&mut TailLossProbe> {
        None
    }

    /// May a tail loss probe be scheduled? It may not while one is due, or while the losses that a
    /// timeout marked are being retransmitted.
    fn may_probe(&self) -> bool {
        false
    }
}

/// The decision of loss recovery about an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryAction {
    /// No change.
    None,
    /// A loss: fast retransmit and fast recovery begin.
    Enter(Entry),
    /// A loss: fast retransmit, and slow start from one segment (Tahoe).
    SlowStart,
    /// Fast recovery continues with a window of `cwnd` bytes.
    Stay { cwnd: u64, retransmit: Retransmit },
    /// Fast recovery ends with a window of `cwnd` bytes; `None`: unchanged.
    Leave { cwnd: Option<u64> },
    /// Congestion is persistent: the window falls to its minimum (RFC 9002 section 7.6.2).
    Collapse,
}

/// How fast recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The bytes added to the reduced window at once.
    pub inflation: u64,
    pub retransmit: Retransmit,
    /// Does it replace the recovery from a timeout?
    pub ends_timeout: bool,
    /// Is the congestion persistent, so that the window falls to its minimum (RFC 9002 section
    /// 7.6.2)?
    pub persistent: bool,
}

impl Entry {
    /// An entry that retransmits the head and does not inflate the window.
    pub const HEAD: Self =
        Self { inflation: 0, retransmit: Retransmit::Head, ends_timeout: false, persistent: false };
}

/// The data to retransmit after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTimeout {
    /// All outstanding data, by go-back-N.
    GoBackN,
    /// The segments marked lost.
    Losses,
}

/// The segment that is retransmitted regardless of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retransmit {
    /// None.
    Nothing,
    /// The first lost segment.
    Head,
    /// The first lost segment, and this acknowledgment releases no other segment.
    HeadAlone,
}

/// The next segment in fast recovery (RFC 6675 section 4, NextSeg).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSeg {
    /// A retransmission of the outstanding segment at this sequence number.
    Retransmission(Seq),
    /// New data, regardless of Nagle's algorithm.
    New,
    /// New data by the rules outside of fast recovery.
    NewAsUsual,
}
