//! Keep-alive probes to a silent peer (RFC 9293 section 3.8.4).

use rtolab_time::Instant;

use crate::config::KeepAlive;

/// The keep-alive probes since the peer was last active.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeepAliveProbes {
    /// When the last one was sent.
    last: Option<Instant>,
    /// The number of unanswered probes.
    unanswered: u32,
}

/// The action after the keep-alive timer expires.
pub(super) enum KeepAliveStep {
    /// The timer continues until this instant.
    Wait(Instant),
    /// A probe is sent.
    Probe,
    /// Too many probes are unanswered: the connection fails.
    TimedOut,
}

impl KeepAliveProbes {
    /// The timer expired at `at`, and the peer's last acknowledgment arrived at `last_received`.
    /// Arriving segments do not restart the timer; it compares times when it expires. There are
    /// `has_other_probes` while data is outstanding or the window is closed.
    pub fn on_timer(
        &mut self,
        settings: &KeepAlive,
        at: Instant,
        (last_received, has_other_probes): (Option<Instant>, bool),
    ) -> KeepAliveStep {
        if last_received >= self.last {
            self.unanswered = 0;
        }
        let due = last_received.map_or(at, |last_received| last_received + settings.idle);
        if has_other_probes {
            KeepAliveStep::Wait(at + settings.idle)
        } else if self.unanswered == 0 && due > at {
            KeepAliveStep::Wait(due)
        } else if self.unanswered >= settings.probes {
            KeepAliveStep::TimedOut
        } else {
            *self = Self { last: Some(at), unanswered: self.unanswered + 1 };
            KeepAliveStep::Probe
        }
    }
}
