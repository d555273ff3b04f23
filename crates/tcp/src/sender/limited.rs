//! F-RTO where it has no new data to send (RFC 5682 appendix A): what is kept back for it, or sent
//! in their place.

use super::{Chunk, Permit, Sender};
use crate::config::WindowLimited;
use crate::flight::Cause;
use crate::segment::Flags;
use crate::seq::Seq;
use crate::spurious::Substitute;

impl Sender {
    /// The right edge of what new data may fill: the offered window's, less what is reserved for
    /// F-RTO where it is not F-RTO that asks. One segment may always be outstanding, else a small
    /// window would be closed for ever.
    pub(super) fn usable_edge(&self) -> Seq {
        let overrun = u64::from(self.config.window.overrun) * self.window.smss;
        let edge = Seq::new(self.edge.value() + overrun);
        match (self.config.frto_window_limited, self.permit) {
            (WindowLimited::Reserve(segments), Permit::Windows) if self.frto.is_some() => {
                let reserved = u64::from(segments) * self.window.smss;
                let least = Seq::new(self.flight.una().value() + self.window.smss);
                Seq::new(edge.value().saturating_sub(reserved)).max(least).min(edge)
            }
            _ => edge,
        }
    }

    /// What is sent where new segments cannot be.
    pub(super) fn substitute(&self) -> Option<Substitute> {
        let max = self.flight.max();
        match self.config.frto_window_limited {
            WindowLimited::Conventional | WindowLimited::Reserve(_) => None,
            WindowLimited::Probe => (self.flight.size() > 0).then_some(Substitute::Probe),
            // One beyond the window is enough.
            WindowLimited::OneByte => {
                (max < self.limit && max <= self.edge).then_some(Substitute::OneByte)
            }
            WindowLimited::Tail => {
                self.flight.last_unsacked().map(|tail| Substitute::Tail(tail.seq))
            }
        }
    }

    /// The chunk that is sent in place of new segments; the probe is none.
    pub(super) fn choose_instead(&mut self, substitute: Substitute) -> Option<Chunk> {
        let max = self.flight.max();
        let chunk = match substitute {
            Substitute::Probe => return None,
            Substitute::OneByte => {
                Some(Chunk { seq: max, len: 1, flags: Flags::NONE, cause: Cause::New })
            }
            Substitute::Tail(seq) => self.chunk_at(seq, Cause::GoBackN),
        };
        self.permit = Permit::New(0);
        chunk
    }

    /// Does an empty segment below SND.UNA leave now, to be answered?
    pub fn take_probe(&mut self) -> bool {
        let probes = self.permit == Permit::Instead(Substitute::Probe);
        if probes {
            self.permit = Permit::New(0);
        }
        probes
    }
}
