//! What is lost? Loss recovery by duplicate acknowledgments or by time.
//!
//! Each algorithm is a type in a file of its own that implements [`LossRecovery`]. It keeps its own
//! state and answers an acknowledgment with a value: a [`Step`], a [`NextSeg`]. The sender acts.

mod context;
mod early_retransmit;
mod loss_recovery;
mod newreno;
mod rack;
mod reno;
mod sack;
mod sack1;
mod state;
mod tahoe;
mod tlp;

use alloc::boxed::Box;

use crate::config::{Algorithm, RackConfig, RackRules, RecoveryConfig, SackRules};
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::TimerTable;
pub(crate) use context::Context;
pub(crate) use loss_recovery::{AfterTimeout, Entry, LossRecovery, NextSeg, Retransmit, Step};
use newreno::NewReno;
use rack::{LinuxRack, Rack};
use reno::Reno;
use sack::Sack;
use sack1::Sack1;
pub(crate) use state::Recovery;
use tahoe::Tahoe;
pub(crate) use tlp::{ProbeStep, TailLossProbe};

/// A loss recovery.
#[derive(Clone, Debug)]
pub(crate) enum AnyRecovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
    Rack(Box<Rack>),
    LinuxRack(Box<LinuxRack>),
}

/// Asks the algorithm that it holds.
macro_rules! ask {
    ($recovery:expr, $owner:ident => $answer:expr) => {
        match $recovery {
            AnyRecovery::Tahoe($owner) => $answer,
            AnyRecovery::Reno($owner) => $answer,
            AnyRecovery::NewReno($owner) => $answer,
            AnyRecovery::Sack($owner) => $answer,
            AnyRecovery::Sack1($owner) => $answer,
            AnyRecovery::Rack($owner) => $answer,
            AnyRecovery::LinuxRack($owner) => $answer,
        }
    };
}

/// Implements [`LossRecovery`] for the enum: methods with `&self`, then those with `&mut self`.
macro_rules! dispatch {
    (
        ask { $(fn $ask:ident($($asked:ident: $type:ty),*) $(-> $answer:ty)?;)+ }
        tell { $(fn $tell:ident($($told:ident: $kind:ty),*) $(-> $reply:ty)?;)+ }
    ) => {
        impl LossRecovery for AnyRecovery {
            $(#[inline]
            fn $ask(&self, $($asked: $type),*) $(-> $answer)? {
                ask!(self, owner => owner.$ask($($asked),*))
            })+
            $(#[inline]
            fn $tell(&mut self, $($told: $kind),*) $(-> $reply)? {
                ask!(self, owner => owner.$tell($($told),*))
            })+
        }
    };
}

dispatch! {
    ask {
        fn pipe(recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64>;
        fn has_next_seg(recovery: &Recovery) -> bool;
        fn first_lost(flight: &Flight) -> Option<Seq>;
        fn restarts_timer(config: &RecoveryConfig) -> bool;
        fn times_retransmissions() -> bool;
        fn retransmits_sacked() -> bool;
        fn may_grow_on_leaving() -> bool;
        fn has_reordered_beyond(dupthresh: u32) -> bool;
        fn is_by_time() -> bool;
        fn may_probe() -> bool;
    }
    tell {
        fn on_ack(recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> Step;
        fn begin_ack();
        fn on_delivered(sent: &Sent, ack: &AckFacts, cx: (&Recovery, &RackConfig));
        fn end_ack(ack: &AckFacts, config: &RackConfig, smss: u64) -> bool;
        fn on_timeout(recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout;
        fn on_reordering_timer(recovery: &Recovery, cx: &mut Context<'_>) -> Step;
        fn on_probe_timer() -> ProbeStep;
        fn on_retransmission(seq: Seq, flight: &mut Flight);
        fn on_undo();
        fn forget_losses(timers: &mut TimerTable, flight: &mut Flight);
        fn next_seg(recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg>;
        fn probe() -> Option<&mut TailLossProbe>;
    }
}

impl AnyRecovery {
    /// The one that `config` asks for.
    pub fn new(config: &RecoveryConfig) -> Self {
        match (config.algorithm, config.sack.rules, config.rack.rules) {
            (Algorithm::Tahoe, ..) => Self::Tahoe(Tahoe),
            (Algorithm::Reno, ..) => Self::Reno(Reno),
            (Algorithm::NewReno, ..) => Self::NewReno(NewReno::default()),
            (Algorithm::Sack, SackRules::Ns2, _) => Self::Sack1(Sack1::default()),
            (Algorithm::Sack, SackRules::Rfc3517 | SackRules::Rfc6675, _) => {
                Self::Sack(Sack::default())
            }
            (Algorithm::Rack, _, RackRules::Rfc8985) => Self::Rack(Box::default()),
            (Algorithm::Rack, _, RackRules::Linux) => Self::LinuxRack(Box::default()),
        }
    }

    /// Changes to `config`. What RACK has measured stays.
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

    /// What an undo restores of it: nothing where it detects losses by time, because its
    /// measurements outlive a reduction.
    pub fn to_save(&self) -> Option<Self> {
        (!self.is_by_time()).then(|| self.clone())
    }
}
