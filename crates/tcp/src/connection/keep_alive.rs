//! Keep-alive: probes a peer that has been silent for long (RFC 9293 section 3.8.4).

use rtolab_time::Instant;

use crate::config::KeepAlive;

/// The probes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// When the last one left.
    last: Option<Instant>,
    /// Probes without an answer.
    unanswered: u32,
}

/// What follows when the keep-alive timer expires.
pub(super) enum Silence {
    /// The timer runs on until this instant.
    NotLongEnough(Instant),
    /// A probe leaves.
    Probe,
    /// Too many probes had no answer.
    TooLong,
}

impl Asked {
    /// The timer expired at `at`, and the peer was `heard` last then: the peer's segments do not
    /// restart the timer, which compares times when it expires. Something `else_asks` while data
    /// are outstanding or a window is closed: both have probes of their own.
    pub fn on_timer(
        &mut self,
        knobs: &KeepAlive,
        at: Instant,
        (heard, else_asks): (Option<Instant>, bool),
    ) -> Silence {
        if heard >= self.last {
            self.unanswered = 0;
        }
        let due = heard.map_or(at, |heard| heard + knobs.idle);
        if else_asks {
            Silence::NotLongEnough(at + knobs.idle)
        } else if self.unanswered == 0 && due > at {
            Silence::NotLongEnough(due)
        } else if self.unanswered >= knobs.probes {
            Silence::TooLong
        } else {
            *self = Self { last: Some(at), unanswered: self.unanswered + 1 };
            Silence::Probe
        }
    }
}
