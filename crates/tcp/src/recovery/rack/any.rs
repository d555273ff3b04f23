//! The RACK of a sender: that of RFC 8985, or of Linux.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use rtolab_time::Duration;

use super::Rack;
use super::linux::LinuxRack;
use crate::config::{Algorithm, Config, RackConfig, RackRules, RecoveryConfig};
use crate::flight::{AckFacts, Flight, Sent};
use crate::recovery::{Context, LossRecovery, NextSeg, Recovery, Step};

/// RACK by RFC 8985, or as Linux has it.
#[derive(Clone, Debug)]
pub(crate) enum AnyRack {
    Rfc8985(Rack),
    Linux(LinuxRack),
}

impl Deref for AnyRack {
    type Target = Rack;

    fn deref(&self) -> &Rack {
        match self {
            Self::Rfc8985(rack) => rack,
            Self::Linux(linux) => &linux.rack,
        }
    }
}

impl DerefMut for AnyRack {
    fn deref_mut(&mut self) -> &mut Rack {
        match self {
            Self::Rfc8985(rack) => rack,
            Self::Linux(linux) => &mut linux.rack,
        }
    }
}

impl LossRecovery for AnyRack {
    fn on_ack(&mut self, recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> Step {
        match self {
            Self::Rfc8985(rack) => rack.on_ack(recovery, ack, cx),
            Self::Linux(linux) => linux.on_ack(recovery, ack, cx),
        }
    }

    /// Data neither SACKed nor lost, plus retransmissions. Without limited transmit SACKed data
    /// count until recovery begins.
    fn pipe(&self, recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64> {
        let sacked = match recovery.is_fast() || self.timed_out || config.limited_transmit {
            true => flight.sacked(),
            false => 0,
        };
        Some(flight.size() - sacked - flight.lost() + flight.retrans_out())
    }

    /// Lost segments, then new data.
    fn next_seg(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let lost = self.first_lost(cx.flight).map(NextSeg::Retransmission);
        lost.or(cx.can_send_new.then_some(NextSeg::New))
    }
}

impl AnyRack {
    /// The one that `config` asks for, if any, with the state of the one `known` before.
    pub fn of(config: &Config, known: Option<Box<Self>>) -> Option<Box<Self>> {
        if config.recovery.algorithm != Algorithm::Rack {
            return None;
        }
        let is_linux = config.recovery.rack.rules == RackRules::Linux;
        match known {
            Some(known) if is_linux == matches!(*known, Self::Linux(_)) => Some(known),
            known => {
                let rack = known.map(|known| (**known).clone()).unwrap_or_default();
                Some(Box::new(match is_linux {
                    true => Self::Linux(rack.into()),
                    false => Self::Rfc8985(rack),
                }))
            }
        }
    }

    /// An acknowledgment is about to be processed.
    pub fn begin_ack(&mut self) {
        self.deref_mut().begin_ack();
        if let Self::Linux(linux) = self {
            linux.begin_ack();
        }
    }

    /// The acknowledgment is the first to report `sent`.
    pub fn on_delivered(&mut self, sent: &Sent, ack: &AckFacts, cx: (&Recovery, &RackConfig)) {
        match self {
            Self::Rfc8985(rack) => rack.on_delivered(sent, ack, cx.1),
            Self::Linux(linux) => linux.on_delivered(sent, ack, cx),
        }
    }

    /// All that the acknowledgment delivers has been reported. Is its D-SACK to be ignored?
    pub fn end_ack(&mut self, ack: &AckFacts, config: &RackConfig, smss: u64) -> bool {
        match self {
            Self::Rfc8985(rack) => {
                rack.end_ack(ack, config, smss);
                false
            }
            Self::Linux(linux) => linux.end_ack(ack, config, smss),
        }
    }

    /// The reordering timer expired.
    pub fn on_reordering_timer(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> Step {
        match self {
            Self::Rfc8985(rack) => {
                let losses = rack.detect_loss(recovery, cx);
                rack.enter_recovery(losses, recovery, cx)
            }
            Self::Linux(linux) => linux.detect_loss(recovery, cx),
        }
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self, cx: &mut Context<'_>) {
        match self {
            Self::Rfc8985(rack) => rack.mark_losses_on_rto(rack.reo_wnd, cx),
            Self::Linux(linux) => linux.rack.mark_losses_on_rto(Duration::ZERO, cx),
        }
    }

    /// The marked losses were not: the next acknowledgment detects losses again.
    pub const fn on_undo(&mut self) {
        if let Self::Linux(linux) = self {
            linux.on_undo();
        }
    }

    /// Was reordering seen beyond `dupthresh`, so that cwnd also grows for data that arrive out of
    /// order (Linux, `tcp_may_raise_cwnd`)?
    pub fn has_reordered_beyond(&self, dupthresh: u32) -> bool {
        matches!(self, Self::Linux(linux) if linux.rack.reordering > u64::from(dupthresh))
    }

    /// Must a round trip be measured between two probes?
    pub const fn probes_once_a_round_trip(&self) -> bool {
        matches!(self, Self::Rfc8985(_))
    }
}
