//! RFC 2861 section 3, with the pseudo-code of `TcpAgent::process_qoption_after_send` of ns-2.

use rtolab_time::{Duration, Instant};

use super::usage::{DataSent, raise_ssthresh};
use crate::congestion::Window;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rfc2861 {
    /// When data was last sent.
    pub t_last: Option<Instant>,
    /// When the window was last full.
    pub t_prev: Option<Instant>,
    /// The largest FlightSize since then, in bytes.
    w_used: u64,
    /// Was the window full when data was last sent?
    pub is_full: bool,
}

impl Rfc2861 {
    pub const fn new(last: Option<Instant>) -> Self {
        Self { t_last: last, t_prev: last, w_used: 0, is_full: false }
    }

    /// Data was sent: reduces the window if it was not used.
    pub fn on_sent(&mut self, window: &mut Window, sent: &DataSent) {
        let t_last = self.t_last.replace(sent.at).unwrap_or(sent.at);
        self.t_prev.get_or_insert(sent.at);
        // In recovery the application does not determine the use of the window.
        if sent.in_recovery || !sent.is_new {
            self.restart(sent.at);
            return;
        }
        self.after_idle(window, sent, t_last);
        self.is_full = sent.is_window_full(window);
        if self.is_full {
            self.restart(sent.at);
        } else if !sent.has_more {
            self.w_used = self.w_used.max(sent.flight_size);
            if self.t_prev.is_some_and(|t_prev| sent.at - t_prev >= sent.rto) {
                // cwnd = (win + W_used) / 2
                raise_ssthresh(window);
                let win = window.cwnd().min(sent.rwnd);
                window.set_cwnd(u64::midpoint(win, self.w_used));
                self.restart(sent.at);
            }
        }
    }

    /// Halves the window for each RTO in which nothing was sent.
    fn after_idle(&mut self, window: &mut Window, sent: &DataSent, t_last: Instant) {
        let rto = sent.rto.max(Duration::from_nanos(1));
        let timeouts = (sent.at - t_last).nanos() / rto.nanos();
        if timeouts == 0 {
            return;
        }
        raise_ssthresh(window);
        // After as many halvings as it has bits, the window is at its minimum.
        for _ in 0..timeouts.min(64) {
            let win = window.cwnd().min(sent.rwnd);
            window.set_cwnd(win / 2);
        }
        self.restart(sent.at);
    }

    const fn restart(&mut self, at: Instant) {
        (self.t_prev, self.w_used) = (Some(at), 0);
    }
}
