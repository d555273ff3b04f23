//! Which late packets undo a reduction of the window. RFC 9002 has no undo.

use crate::config::UndoRule;

/// The losses of the last reduction of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The numbers of the packets whose losses belong to the reduction: from the end of the last
    /// recovery period to the packets that had been sent.
    range: (u64, u64),
    /// The number of those that were declared lost and are not acknowledged
    /// (`numCongestionEvents` of quic-go).
    outstanding: u32,
    /// Is there a reduction that was not undone?
    active: bool,
    /// Was the sender in slow start before the reduction?
    in_slow_start: bool,
    /// Is the reduction to be undone?
    due: bool,
}

impl Undo {
    /// A loss reduces the window. The packets below `next` have been sent; those below `from`
    /// belong to earlier reductions.
    pub const fn begin(&mut self, from: u64, next: u64, in_slow_start: bool) {
        *self =
            Self { range: (from, next), outstanding: 0, active: true, in_slow_start, due: false };
    }

    /// This packet was declared lost.
    pub const fn on_lost(&mut self, number: u64) {
        if self.covers(number) {
            self.outstanding += 1;
        }
    }

    const fn covers(&self, number: u64) -> bool {
        self.range.0 <= number && number < self.range.1
    }

    /// A packet that was declared lost is acknowledged.
    pub const fn on_late(&mut self, number: u64, rule: UndoRule) {
        if self.covers(number) {
            self.outstanding = self.outstanding.saturating_sub(1);
        }
        match rule {
            UndoRule::Never => {}
            // `OnSpuriousLoss` of quic-go
            UndoRule::All => {
                self.due |= self.active && self.covers(number) && self.outstanding == 0;
            }
            // `rollback` of quiche: "Don't go back to slow start."
            UndoRule::Any => self.due |= self.active && !self.in_slow_start,
        }
    }

    /// The first packet whose loss would have been a new reduction before the one that is undone;
    /// `None` if no undo is due.
    pub const fn take(&mut self) -> Option<u64> {
        if !self.due {
            return None;
        }
        (self.due, self.active) = (false, false);
        Some(self.range.0)
    }
}
