//! Slow start ends before it overshoots: `HyStart++` (RFC 9406), and the `HyStart` before it that
//! Linux has.

mod linux;
mod rfc9406;

use rtolab_time::Duration;

use super::{Acked, Window};
use crate::config::SlowStartExit;
use linux::LinuxHyStart;
use rfc9406::HyStartPlusPlus;

/// What may end slow start, beside a loss. [`Form`] is the table of the ways out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    form: Form,
    /// The round trip of the current ACK.
    rtt: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    PlusPlus(HyStartPlusPlus),
    Linux(LinuxHyStart),
    /// Slow start is over.
    Done,
}

impl HyStart {
    /// Slow start begins.
    pub fn new(exit: SlowStartExit) -> Option<Self> {
        let form = match exit {
            SlowStartExit::Loss => return None,
            SlowStartExit::HyStartPlusPlus => Form::PlusPlus(HyStartPlusPlus::default()),
            SlowStartExit::HyStart => Form::Linux(LinuxHyStart::default()),
        };
        Some(Self { form, rtt: None })
    }

    /// A round trip was measured.
    pub fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(rtt);
    }

    /// A loss or a congestion mark: RFC 9406 is for the first slow start only.
    pub fn on_loss(&mut self) {
        if let Form::PlusPlus(_) = self.form {
            self.form = Form::Done;
        }
    }

    /// The retransmission timer expired: Linux ends the slow start that follows, too, and has
    /// forgotten all round trips (`bictcp_reset`).
    pub fn on_timeout(&mut self) {
        if let Form::Linux(linux) = &mut self.form {
            *linux = LinuxHyStart::default();
        }
    }

    /// An acknowledgment arrived: Linux uses its round trip first (`cubictcp_acked`), whether the
    /// window grows or not.
    pub fn on_arrival(&mut self, window: &mut Window, acked: &Acked) {
        let Form::Linux(linux) = &mut self.form else {
            return;
        };
        if self.rtt.take().is_some_and(|rtt| linux.update(rtt, window, acked)) {
            window.set_ssthresh(window.cwnd());
        }
    }

    /// The window grows in slow start; returns the bytes that are left for congestion avoidance.
    pub fn slow_start(&mut self, window: &mut Window, acked: &Acked) -> u64 {
        let rtt = self.rtt.take();
        let Form::PlusPlus(hystart) = &mut self.form else {
            return window.slow_start(acked.bytes);
        };
        window.increase_cwnd(hystart.growth(acked.bytes, window.smss()));
        if hystart.on_ack(rtt, acked) {
            window.set_ssthresh(window.cwnd());
            self.form = Form::Done;
        }
        0
    }
}

#[cfg(test)]
mod tests;
