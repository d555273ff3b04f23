//! Challenge acknowledgments (RFC 5961 sections 3 to 5 and 7): a segment that would end or change
//! the connection, and that somebody may have guessed, is answered by what only the true peer knows
//! how to answer.

use rtolab_time::Instant;

use super::Connection;
use crate::config::ChallengeConfig;

/// How many were sent of late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenges {
    /// When the period under way began.
    since: Instant,
    /// How many have left in it.
    left: u32,
}

impl Default for Challenges {
    fn default() -> Self {
        Self { since: Instant::START, left: 0 }
    }
}

impl Challenges {
    /// May one more leave? If so, it counts.
    fn allow(&mut self, config: &ChallengeConfig, at: Instant) -> bool {
        if self.left == 0 || at - self.since >= config.period {
            *self = Self { since: at, left: 0 };
        }
        let allowed = self.left < config.limit;
        self.left += u32::from(allowed);
        allowed
    }
}

impl Connection {
    /// Answers a doubtful segment, unless there were too many of late.
    #[cold]
    pub(super) fn challenge(&mut self, at: Instant) {
        if self.cold.challenges.allow(&self.config.connection.challenge, at) {
            self.receiver.ack_now();
        }
    }
}
