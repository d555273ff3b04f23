//! Challenge acknowledgments (RFC 5961 sections 3 to 5 and 7): the answer to a segment that would
//! end or change the connection and that an attacker may have guessed. Only the true peer can react
//! to it.

use rtolab_time::Instant;

use crate::config::ChallengeConfig;

/// The challenge acknowledgments of the current period.
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
    /// May one more leave? If so, counts it.
    pub fn allow(&mut self, config: &ChallengeConfig, at: Instant) -> bool {
        if self.left == 0 || at - self.since >= config.period {
            *self = Self { since: at, left: 0 };
        }
        let allowed = self.left < config.limit;
        self.left += u32::from(allowed);
        allowed
    }
}
