//! Loss detection and recovery, by duplicate acknowledgments or by time.
//!
//! Each algorithm is a type in its own file that implements [`LossRecovery`]. It keeps its own
//! state and returns its decisions as values, a [`RecoveryAction`] or a [`NextSeg`]. The sender
//! carries them out.

mod context;
mod early_retransmit;
mod linux_reno;
mod loss_recovery;
mod newreno;
mod rack;
mod reno;
mod rfc9002;
mod sack;
mod sack1;
mod state;
mod tahoe;
mod tlp;

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use crate::config::{Algorithm, Config, RackRules, RecoveryConfig, SackRules};
use crate::estimate::Estimate;
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::TimerTable;
pub(crate) use context::Context;
use linux_reno::LinuxReno;
pub(crate) use loss_recovery::{
    AfterTimeout, Entry, LossRecovery, NextSeg, RecoveryAction, Retransmit,
};
use newreno::NewReno;
use rack::{LinuxRack, Rack};
use reno::Reno;
use rfc9002::Rfc9002;
pub(crate) use rfc9002::Transmission;
use sack::Sack;
use sack1::Sack1;
pub(crate) use state::Recovery;
use tahoe::Tahoe;
pub(crate) use tlp::{ProbeStep, TailLossProbe};

/// One of the loss recoveries.
#[derive(Clone, Debug)]
pub(crate) enum AnyRecovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    LinuxReno(Box<LinuxReno>),
    Sack(Sack),
    Sack1(Sack1),
    Rack(Box<Rack>),
    LinuxRack(Box<LinuxRack>),
    Rfc9002(Box<Rfc9002>),
}

/// Evaluates an expression for the algorithm that an [`AnyRecovery`] holds.
macro_rules! delegate {
    ($recovery:expr, $owner:ident => $answer:expr) => {
        match $recovery {
            AnyRecovery::Tahoe($owner) => $answer,
            AnyRecovery::Reno($owner) => $answer,
            AnyRecovery::NewReno($owner) => $answer,
            AnyRecovery::LinuxReno($owner) => $answer,
            AnyRecovery::Sack($owner) => $answer,
            AnyRecovery::Sack1($owner) => $answer,
            AnyRecovery::Rack($owner) => $answer,
            AnyRecovery::LinuxRack($owner) => $answer,
            AnyRecovery::Rfc9002($owner) => $answer,
        }
    };
}

/// Implements [`LossRecovery`] for the enum: methods with `&self`, then those with `&mut self`.
macro_rules! dispatch {
    (
        by_ref { $(fn $method:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)+ }
        by_mut { $(fn $method_mut:ident($($argument_mut:ident: $kind:ty),*) $(-> $reply:ty)?;)+ }
    ) => {
        impl LossRecovery for AnyRecovery {
            $(#[inline]
            fn $method(&self, $($argument: $type),*) $(-> $answer)? {
                delegate!(self, owner => owner.$method($($argument),*))
            })+
            $(#[inline]
            fn $method_mut(&mut self, $($argument_mut: $kind),*) $(-> $reply)? {
                delegate!(self, owner => owner.$method_mut($($argument_mut),*))
            })+
        }
    };
}

dispatch! {
    by_ref {
        fn pipe(recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64>;
        fn has_next_seg(recovery: &Recovery) -> bool;
        fn first_lost(flight: &Flight) -> Option<Seq>;
        fn restarts_timer(config: &RecoveryConfig) -> bool;
        fn times_retransmissions() -> bool;
        fn retransmits_sacked() -> bool;
        fn can_grow_on_leaving() -> bool;
        fn has_reordered_beyond(dupthresh: u32) -> bool;
        fn is_time_based() -> bool;
        fn may_probe() -> bool;
        fn is_undone() -> bool;
        fn inflates_window() -> bool;
        fn is_in_loss() -> bool;
        fn delivered() -> Option<u64>;
        fn delivered_segments() -> Option<u32>;
        fn probe_timeout(config: &Config) -> Option<Duration>;
        fn pto_count() -> Option<u32>;
        fn set_loss_detection_timer(outstanding: bool, cx: &mut Context<'_>);
        fn has_probe() -> bool;
    }
    by_mut {
        fn on_ack(recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> RecoveryAction;
        fn begin_ack();
        fn on_delivered(sent: &Sent, ack: &AckFacts, cx: (&Recovery, &RecoveryConfig));
        fn end_ack(ack: &AckFacts, config: &RecoveryConfig, smss: u64) -> bool;
        fn on_timeout(recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout;
        fn on_reordering_timer(recovery: &Recovery, cx: &mut Context<'_>) -> RecoveryAction;
        fn on_probe_timer() -> ProbeStep;
        fn on_probe_timeout(cx: &mut Context<'_>);
        fn on_sent(sent: &Transmission);
        fn on_retransmission(seq: Seq, timestamp: u32, flight: &mut Flight);
        fn on_passive_open();
        fn on_undo();
        fn keeps_state_on_undo(recovery: &Recovery, flight: &Flight, by_frto: bool) -> bool;
        fn on_round_trip(rtt: Duration, at: Instant, config: &RecoveryConfig);
        fn forget_losses(timers: &mut TimerTable, flight: &mut Flight);
        fn next_seg(recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg>;
        fn probe() -> Option<&mut TailLossProbe>;
        fn take_probe(flight: &Flight, can_send_new: bool) -> Option<NextSeg>;
        fn take_undo() -> bool;
        fn adopt(flight: &Flight, estimate: Option<Estimate>);
    }
}

impl AnyRecovery {
    /// The loss recovery of `config`.
    pub fn new(config: &RecoveryConfig) -> Self {
        match (config.algorithm, config.sack.rules, config.rack.rules) {
            (Algorithm::Tahoe, ..) => Self::Tahoe(Tahoe),
            (Algorithm::Reno, ..) => Self::Reno(Reno),
            (Algorithm::NewReno, _, RackRules::Linux) => Self::LinuxReno(Box::default()),
            (Algorithm::NewReno, ..) => Self::NewReno(NewReno::default()),
            (Algorithm::Sack, SackRules::Ns2, _) => Self::Sack1(Sack1::default()),
            (Algorithm::Sack, SackRules::Rfc3517 | SackRules::Rfc6675, _) => {
                Self::Sack(Sack::default())
            }
            (Algorithm::Rack, _, RackRules::Rfc8985) => Self::Rack(Box::default()),
            (Algorithm::Rack, _, RackRules::Linux) => Self::LinuxRack(Box::default()),
            (Algorithm::Rfc9002, ..) => Self::Rfc9002(Box::new(Rfc9002::new(&config.rfc9002))),
        }
    }

    /// Changes to the loss recovery of `config`. RACK's measurements stay.
    pub fn reconfigure(&mut self, config: &RecoveryConfig) {
        let new = Self::new(config);
        if core::mem::discriminant(&new) == core::mem::discriminant(self) {
            return;
        }
        *self = match (new, core::mem::replace(self, Self::Tahoe(Tahoe))) {
            (Self::LinuxRack(_), Self::Rack(rack)) => Self::LinuxRack(Box::new((*rack).into())),
            (Self::Rack(_), Self::LinuxRack(linux)) => Self::Rack(Box::new((*linux).into())),
            (new, _) => new,
        };
    }

    /// The state that an undo restores: none if it is time-based, because its measurements stay
    /// valid after an undo.
    pub fn to_save(&self) -> Option<Self> {
        (!self.is_time_based()).then(|| self.clone())
    }
}
