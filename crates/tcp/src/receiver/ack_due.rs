//! When an acknowledgment is due.

use rtolab_time::Instant;

/// When the next acknowledgment is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckDue {
    /// Never: there is nothing to acknowledge.
    #[default]
    No,
    /// At once.
    Now,
    /// At this instant, unless a segment with data carries it before.
    At(Instant),
}
