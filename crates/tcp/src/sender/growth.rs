//! How the window grows and is cut: what every policy of congestion control is asked, in place of
//! Reno where there is one.

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use super::{Sender, Settled};
use crate::config::{self, CongestionConfig, RackRules, SlowStart};
use crate::congestion::{Acknowledged, Cubic, HyStart, Progress, Window};
use crate::flight::AckFacts;

/// What grows and cuts the window in place of Reno, or stands where nothing does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    cubic: Option<Cubic>,
    hystart: Option<HyStart>,
    /// Nothing is outstanding since what left then.
    idle_since: Option<Instant>,
}

impl Control {
    /// As `config` says; `None`: Reno alone.
    pub(super) fn of(config: &CongestionConfig) -> Option<Box<Self>> {
        let cubic = match config.control {
            config::Control::Reno | config::Control::None => None,
            config::Control::Cubic => Some(Cubic::new(config.cubic)),
        };
        let hystart = HyStart::new(config.slow_start_exit);
        let open = config.control == config::Control::None;
        let asked_for = open || cubic.is_some() || hystart.is_some();
        asked_for.then(|| Box::new(Self { cubic, hystart, idle_since: None }))
    }
}

impl Sender {
    /// Where there is no congestion control the window never limits, whatever cut it.
    #[inline]
    pub(super) fn open_window(&mut self) {
        if self.config.congestion.control == config::Control::None {
            self.window.cwnd = Window::UNLIMITED;
        }
    }

    /// New data are acknowledged, and nothing forbids that the window grows.
    #[inline]
    pub(super) fn grow_window(&mut self, facts: &AckFacts, credits: u64) {
        match self.control {
            None => self.window.grow(credits),
            Some(_) => self.grow_otherwise(facts, credits),
        }
    }

    /// Does the window grow for the acknowledgment that restored it, too (Linux, `tcp_cong_control`,
    /// which comes after `tcp_fastretrans_alert`)?
    pub(super) fn grows_where_restored(&self, settled: Settled) -> bool {
        settled == Settled::Restored && self.config.window.slow_start == SlowStart::Delivered
    }

    /// And for the one that ends fast recovery?
    pub(super) fn grows_where_recovered(&self) -> bool {
        let linux = self.config.recovery.rack.rules == RackRules::Linux;
        linux && self.config.window.slow_start == SlowStart::Delivered
    }

    /// For how many bytes the window grows; asked before loss recovery forgets what it counted. Where
    /// there is no SACK each duplicate acknowledgment stands for a segment that was delivered before.
    #[inline]
    pub(super) fn credits(&self, facts: &AckFacts) -> u64 {
        match self.config.window.slow_start {
            SlowStart::Delivered => {
                let unsacked = facts.max.since(facts.una_before) - facts.sacked_before;
                let delivered = unsacked - (self.flight.size() - self.flight.sacked());
                let before = match self.config.sack {
                    true => 0,
                    false => u64::from(self.recovery.dupacks) * self.window.smss,
                };
                let once = delivered.saturating_sub(before).max(delivered.min(self.window.smss));
                once + self.delivered_twice(facts)
            }
            _ => facts.advanced,
        }
    }

    /// What is reported as received twice was delivered, too: to Linux in whole segments
    /// (`tcp_dsack_seen`), to others not.
    pub(crate) fn delivered_twice(&self, facts: &AckFacts) -> u64 {
        let linux = self.config.recovery.rack.rules == RackRules::Linux;
        let range = facts.dsack.filter(|_| linux && self.rack.is_some() && !facts.doubted);
        range.map_or(0, |range| range.end.since(range.start).next_multiple_of(self.window.smss))
    }

    #[inline(never)]
    fn grow_otherwise(&mut self, facts: &AckFacts, bytes: u64) {
        let srtt = self.rtt.estimate().map_or(Duration::ZERO, |estimate| estimate.srtt);
        let (una, max, idle) = (self.flight.una(), self.flight.max(), self.flight.size() == 0);
        let Some(control) = &mut self.control else { return };
        let at = facts.at;
        if let (Some(cubic), Some(since)) = (&mut control.cubic, control.idle_since.take()) {
            let resumed = facts.oldest_acked.map_or(since, |oldest| oldest.first_sent);
            cubic.skip(resumed - since);
        }
        control.idle_since = if idle { self.last_activity.sent } else { None };
        let (window, progress) = (&mut self.window, Progress { at, una, max, bytes });
        let mut left = bytes;
        if window.cwnd < window.ssthresh {
            left = match &mut control.hystart {
                Some(hystart) => hystart.grow(window, &progress),
                None => window.grow_in_slow_start(bytes),
            };
            if left == 0 {
                return;
            }
        }
        match &mut control.cubic {
            Some(cubic) => cubic.grow(window, &Acknowledged { bytes: left, at, srtt }),
            None => window.avoid(left),
        }
    }

    /// A round trip was measured.
    #[inline]
    pub(super) fn note_round_trip(&mut self, rtt: Duration, facts: &AckFacts) {
        let Some(control) = &mut self.control else { return };
        if let Some(cubic) = &mut control.cubic {
            if cubic.is_settling(facts.at) {
                return;
            }
            // CUBIC begins behind the handshake (`tcp_init_transfer`).
            if !facts.acks_syn() {
                cubic.sample(rtt);
            }
        }
        if let Some(hystart) = &mut control.hystart {
            hystart.sample(rtt);
        }
    }

    /// What was just measured is looked at before it is known what the acknowledgment is.
    #[inline]
    pub(super) fn watch_slow_start(&mut self, at: Instant) {
        let (una, max) = (self.flight.una(), self.flight.max());
        let hystart = self.control.as_mut().and_then(|control| control.hystart.as_mut());
        if let Some(hystart) = hystart {
            hystart.look(&mut self.window, &Progress { at, una, max, bytes: 0 });
        }
    }

    /// A loss leaves a part of `whole` bytes, which becomes `ssthresh`; returns that part, not
    /// rounded.
    pub(crate) fn cut(&mut self, whole: u64) -> u64 {
        self.owe_cwr();
        let cwnd = self.recovery.deflated(self.window.cwnd);
        let Some(control) = &mut self.control else {
            self.window.halve(whole);
            return whole / 2;
        };
        if let Some(hystart) = &mut control.hystart {
            hystart.on_cut();
        }
        let part = match &mut control.cubic {
            None => whole / 2,
            Some(cubic) => {
                cubic.cut(cwnd, self.window.smss);
                cubic.remainder(whole)
            }
        };
        self.window.cut_to(part);
        part
    }

    /// What a cut changes of the curve may have to come back.
    pub(crate) fn save_curve(&mut self) {
        if let Some(cubic) = self.cubic() {
            cubic.save();
        }
    }

    /// The retransmission timer expired.
    pub(super) fn end_curve(&mut self) {
        let Some(control) = &mut self.control else { return };
        if let Some(cubic) = &mut control.cubic {
            cubic.on_timeout();
        }
        if let Some(hystart) = &mut control.hystart {
            hystart.on_timeout();
        }
    }

    /// A cut was wrong, and the windows are as before it.
    pub(crate) fn restore_curve(&mut self) {
        if let Some(cubic) = self.cubic() {
            cubic.restore();
        }
    }

    /// Is the window, cut from `before`, left alone though the cut was wrong?
    pub(crate) fn has_outgrown(&mut self, before: u64) -> bool {
        let cwnd = self.recovery.deflated(self.window.cwnd);
        self.cubic().is_some_and(|cubic| cubic.has_outgrown(before, cwnd))
    }

    fn cubic(&mut self) -> Option<&mut Cubic> {
        self.control.as_mut()?.cubic.as_mut()
    }
}
