//! What a loss recovery is asked, and what it answers.

use super::tlp::{ProbeStep, TailLossProbe};
use super::{Context, Recovery};
use crate::config::{RackConfig, RecoveryConfig, SackOnTimeout};
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::TimerTable;

/// What a loss recovery is asked. `recovery` is what all algorithms share.
///
/// One that detects losses by time ([`Self::is_by_time`]) learns of every delivery and
/// transmission, has timers of its own, and takes the place of go-back-N after a timeout.
pub(crate) trait LossRecovery {
    /// An acknowledgment arrived.
    fn on_ack(&mut self, recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> Step;

    /// An acknowledgment is about to be processed.
    fn begin_ack(&mut self) {}

    /// The acknowledgment is the first to report `sent`.
    fn on_delivered(&mut self, _sent: &Sent, _ack: &AckFacts, _: (&Recovery, &RackConfig)) {}

    /// All that the acknowledgment delivers has been reported. Is its D-SACK to be ignored?
    fn end_ack(&mut self, _ack: &AckFacts, _config: &RackConfig, _smss: u64) -> bool {
        false
    }

    /// The retransmission timer expired: updates the scoreboard.
    fn on_timeout(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout {
        // A head that was selectively acknowledged shows that the receiver reneged.
        let reneged = cx.flight.head().is_some_and(Sent::is_sacked);
        match cx.config.recovery.sack.on_timeout {
            SackOnTimeout::Keep if !reneged => cx.flight.clear_losses(),
            SackOnTimeout::Keep | SackOnTimeout::Clear => cx.flight.clear_scoreboard(),
        }
        AfterTimeout::GoBackN
    }

    /// The reordering timer expired.
    fn on_reordering_timer(&mut self, _recovery: &Recovery, _cx: &mut Context<'_>) -> Step {
        Step::None
    }

    /// The probe timer expired: does a tail loss probe leave?
    fn on_probe_timer(&mut self) -> ProbeStep {
        ProbeStep::RestartTimer
    }

    /// The segment at `seq` is retransmitted.
    fn on_retransmission(&mut self, _seq: Seq, _flight: &mut Flight) {}

    /// The reduction is undone: what was marked lost was not.
    fn on_undo(&mut self) {}

    /// Forgets all losses, and stops the timers.
    fn forget_losses(&mut self, _timers: &mut TimerTable, _flight: &mut Flight) {}

    /// The bytes that count against cwnd; `None`: all up to SND.NXT.
    fn pipe(&self, _recovery: &Recovery, _: &Flight, _: &RecoveryConfig) -> Option<u64> {
        None
    }

    /// Does [`Self::next_seg`] choose what leaves, and not go-back-N?
    fn has_next_seg(&self, _recovery: &Recovery) -> bool {
        false
    }

    /// What leaves next, where cwnd has room for a segment.
    fn next_seg(&mut self, _recovery: &Recovery, _cx: &mut Context<'_>) -> Option<NextSeg> {
        None
    }

    /// The first segment that is marked lost and was not retransmitted since.
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

    /// Does go-back-N retransmit what is SACKed, too, and by limited transmit?
    fn retransmits_sacked(&self) -> bool {
        false
    }

    /// May the window grow for the acknowledgment that ends fast recovery?
    fn may_grow_on_leaving(&self) -> bool {
        true
    }

    /// Was reordering seen beyond `dupthresh`, so that cwnd also grows for data that arrive out of
    /// order (Linux, `tcp_may_raise_cwnd`)?
    fn has_reordered_beyond(&self, _dupthresh: u32) -> bool {
        false
    }

    /// Does it detect losses by time?
    fn is_by_time(&self) -> bool {
        false
    }

    /// Tail loss probes, if it has any.
    fn probe(&mut self) -> Option<&mut TailLossProbe> {
        None
    }

    /// May a tail loss probe be scheduled? Not while one is due, nor while losses that a timeout
    /// marked are being retransmitted.
    fn may_probe(&self) -> bool {
        false
    }
}

/// What loss recovery makes of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    None,
    /// A loss: fast retransmit, and fast recovery begins.
    Enter(Entry),
    /// A loss: fast retransmit, and slow start from one segment.
    SlowStart,
    /// Fast recovery goes on with a window of `cwnd` bytes.
    Stay { cwnd: u64, retransmit: Retransmit },
    /// Fast recovery is over; the window is `cwnd`, or stays as it is.
    Leave { cwnd: Option<u64> },
}

/// How fast recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Bytes that are added to the reduced window at once.
    pub inflation: u64,
    pub retransmit: Retransmit,
    /// It takes the place of the recovery from a timeout.
    pub ends_timeout: bool,
}

impl Entry {
    /// The head is retransmitted, and the window does not inflate.
    pub const HEAD: Self = Self { inflation: 0, retransmit: Retransmit::Head, ends_timeout: false };
}

/// What is retransmitted after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTimeout {
    /// What was outstanding, by go-back-N.
    GoBackN,
    /// What is marked lost.
    Losses,
}

/// What is retransmitted whatever the windows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retransmit {
    Nothing,
    /// The first segment that is lost.
    Head,
    /// That segment, and nothing else leaves for this acknowledgment.
    HeadAlone,
}

/// What leaves next in fast recovery (RFC 6675 section 4, NextSeg).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSeg {
    /// The outstanding segment there.
    Retransmission(Seq),
    /// New data, whatever Nagle's algorithm says.
    New,
    /// New data by the rules that hold outside of fast recovery.
    NewAsUsual,
}
