//! The early end of slow start: `HyStart++` (RFC 9406), and the older `HyStart` of Linux.

mod linux;
mod rfc9406;

use rtolab_time::{Duration, Instant};

use super::{Acked, Window};
use crate::config::SlowStartExit;
use crate::seq::Seq;
use linux::LinuxHyStart;
use rfc9406::HyStartPlusPlus;

/// An algorithm that may end slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    variant: Variant,
    /// The round-trip sample of the current ACK.
    rtt: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    PlusPlus(HyStartPlusPlus),
    Linux(LinuxHyStart),
    /// Slow start is over.
    Done,
}

impl HyStart {
    /// The algorithm of `exit`; `None`: only a loss ends slow start.
    pub fn new(exit: SlowStartExit) -> Option<Self> {
        let variant = match exit {
            SlowStartExit::Loss => return None,
            SlowStartExit::HyStartPlusPlus => Variant::PlusPlus(HyStartPlusPlus::default()),
            SlowStartExit::HyStart => Variant::Linux(LinuxHyStart::default()),
        };
        Some(Self { variant, rtt: None })
    }

    /// Records a round-trip sample.
    pub fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(rtt);
    }

    /// A loss or an ECE flag ends `HyStart++`, which is for the first slow start only.
    pub fn on_loss(&mut self) {
        if let Variant::PlusPlus(_) = self.variant {
            self.variant = Variant::Done;
        }
    }

    /// A timeout resets the `HyStart` of Linux, which also ends later slow starts (`bictcp_reset`).
    pub fn on_timeout(&mut self, at: Instant, max: Seq) {
        if let Variant::Linux(linux) = &mut self.variant {
            *linux = LinuxHyStart::after_timeout(at, max);
        }
    }

    /// Processes the arrival of an ACK, whether the window grows or not: Linux uses its round trip
    /// first (`cubictcp_acked`).
    pub fn on_any_ack(&mut self, window: &mut Window, acked: &Acked) {
        let Variant::Linux(linux) = &mut self.variant else {
            return;
        };
        if self.rtt.take().is_some_and(|rtt| linux.update(rtt, window, acked)) {
            window.set_ssthresh(window.cwnd());
        }
    }

    /// Grows the window in slow start; returns the bytes that remain for congestion avoidance.
    pub fn slow_start(&mut self, window: &mut Window, acked: &Acked) -> u64 {
        let rtt = self.rtt.take();
        let Variant::PlusPlus(hystart) = &mut self.variant else {
            return window.slow_start(acked.bytes);
        };
        window.increase_cwnd(hystart.growth(acked.bytes, window.smss()));
        if hystart.on_ack(rtt, acked) {
            window.set_ssthresh(window.cwnd());
            self.variant = Variant::Done;
        }
        0
    }
}

#[cfg(test)]
mod tests;
