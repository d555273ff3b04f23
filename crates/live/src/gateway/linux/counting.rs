//! Counting of events.

use rtolab_tcp::Event;
use rtolab_tcp::spurious::{EpisodeKind, Verdict};

use crate::gateway::counts::Counts;
use crate::linux::segment::DropReason;

impl Counts {
    /// Counts a dropped packet.
    pub(in crate::gateway) fn drop_reason(&mut self, drop_reason: DropReason) {
        *match drop_reason {
            DropReason::NotTcp => &mut self.not_tcp,
            DropReason::Fragment => &mut self.fragments,
            DropReason::Damaged => &mut self.damaged,
            DropReason::Martian => &mut self.martian,
        } += 1;
    }

    /// Counts an event of loss recovery.
    pub(in crate::gateway) fn event(&mut self, event: Event) {
        match event {
            Event::Timeout(_) => self.timeouts += 1,
            Event::FastRetransmit(_) => self.fast_retransmits += 1,
            Event::Probe(_) => self.probes += 1,
            Event::Verdict { verdict: Verdict::Spurious, kind, .. } => match kind {
                EpisodeKind::Timeout => self.spurious_timeouts += 1,
                EpisodeKind::FastRetransmit => self.spurious_fast_retransmits += 1,
            },
            _ => {}
        }
    }
}
