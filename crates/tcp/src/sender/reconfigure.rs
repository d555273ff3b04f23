//! The change of the configuration during a connection, for counterfactuals.

use alloc::boxed::Box;
use alloc::sync::Arc;

use rtolab_time::Instant;
use thiserror::Error;

use super::{
    LastActivity, SendPermission, Sender, detectors_of, frto_of, responder_of, tracker_of,
};
use crate::config::Config;
use crate::congestion::Controller;
use crate::recovery::LossRecovery;
use crate::spurious::{DetectorSet, FrtoVariant, Requirement};
use crate::validation::WindowValidation;

/// Why a connection cannot continue with another configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReconfigureError {
    /// The handshake is not complete.
    #[error("a sender can be replaced only when the handshake is complete")]
    NotConnected,
    /// It needs timestamps, which were not negotiated.
    #[error("the sender needs timestamps, which were not negotiated; offer them from the start")]
    NoTimestamps,
    /// It needs SACK, which was not negotiated.
    #[error("the sender needs SACK, which was not negotiated; offer it from the start")]
    NoSack,
}

/// The negotiated options that a sender may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// Both ends use timestamps.
    pub timestamps: bool,
    /// The peer accepts SACK options.
    pub sack: bool,
}

impl Negotiated {
    /// Checks that a sender with this `config` can use the connection.
    pub fn supports(self, config: &Config) -> Result<(), ReconfigureError> {
        let by_timestamps = config.detectors.need(Requirement::Timestamps)
            || config.frto == Some(FrtoVariant::Eifel);
        if by_timestamps && !self.timestamps {
            return Err(ReconfigureError::NoTimestamps);
        }
        let by_sack = config.recovery.algorithm.needs_sack();
        if by_sack && !self.sack {
            return Err(ReconfigureError::NoSack);
        }
        Ok(())
    }
}

impl Sender {
    /// The peer opened the connection, and its acknowledgment of the SYN-ACK has arrived.
    pub(crate) fn on_passive_open(&mut self) {
        self.loss_recovery.on_passive_open();
    }

    /// Changes the configuration. The data in flight and the windows stay. A recovery ends if the
    /// algorithm changes, and F-RTO and the detectors restart if they change.
    pub(crate) fn reconfigure(&mut self, config: Arc<Config>) {
        self.on_fast_path = false;
        if config.recovery.algorithm != self.config.recovery.algorithm {
            self.window.set_cwnd(self.recovery.deflated(self.window.cwnd()));
            self.recovery.leave();
        }
        self.reconfigure_recovery(&config.recovery);
        let by_sack = config.recovery.algorithm.needs_sack();
        if !by_sack || !config.sack {
            self.flight.clear_scoreboard();
        }
        if config.frto != self.config.frto {
            self.permission = SendPermission::Windows;
            self.frto = frto_of(&config);
        }
        if (&config.detectors, config.dualrtt) != (&self.config.detectors, self.config.dualrtt) {
            let before = self.detectors.take().map_or_else(DetectorSet::default, |set| *set);
            self.detectors = Some(Box::new(before.replaced(detectors_of(&config))));
        }
        if config.responder != self.config.responder {
            self.responder = responder_of(&config);
        }
        if config.window.validation != self.config.window.validation {
            self.validation = WindowValidation::new(self.last_activity.sent, &config);
        }
        if config.rto.floor != self.config.rto.floor {
            self.delayed_acks = tracker_of(&config);
        }
        self.window.reconfigure(&config.window);
        let controls = (config.congestion, config.pacing);
        let is_new = controls != (self.config.congestion, self.config.pacing);
        if is_new {
            self.controller = Controller::new(&config);
        }
        self.rtt.reconfigure(config.clone());
        self.config = config;
        if is_new {
            let LastActivity { sent, received } = self.last_activity;
            self.start_pacing(sent.max(received).unwrap_or(Instant::START));
        }
        self.keep_own_cwnd();
    }
}
