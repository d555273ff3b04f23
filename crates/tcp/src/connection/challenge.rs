//! Challenge ACKs (RFC 5961 sections 3 to 5 and 7). They answer a segment that would end or change
//! the connection and that a blind attacker may have sent. Only the true peer can react to them.

use rtolab_time::Instant;

use crate::config::ChallengeConfig;

/// The challenge ACKs of the current period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenges {
    /// When the period began.
    since: Instant,
    /// The number sent in it.
    sent: u32,
}

impl Default for Challenges {
    fn default() -> Self {
        Self { since: Instant::START, sent: 0 }
    }
}

impl Challenges {
    /// Returns whether one more may be sent, and counts it.
    pub fn allow(&mut self, config: &ChallengeConfig, at: Instant) -> bool {
        if self.sent == 0 || at - self.since >= config.period {
            *self = Self { since: at, sent: 0 };
        }
        let allowed = self.sent < config.limit;
        self.sent += u32::from(allowed);
        allowed
    }
}
