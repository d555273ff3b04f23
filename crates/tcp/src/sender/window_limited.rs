//! F-RTO without new data to send (RFC 5682 appendix A): the reserved part of the advertised
//! window, and the segments sent in place of new ones.

use super::{Chunk, SendPermission, Sender};
use crate::config::WindowLimited;
use crate::flight::Cause;
use crate::segment::Flags;
use crate::seq::Seq;
use crate::spurious::Fallback;

impl Sender {
    /// The right edge for new data: that of the advertised window, less the part that is reserved
    /// for F-RTO unless F-RTO itself sends. One segment may always be outstanding; otherwise
    /// nothing would be sent into a small window.
    pub(super) fn usable_wnd_edge(&self) -> Seq {
        let overrun = u64::from(self.config.window.overrun) * self.window.smss();
        let edge = Seq::new(self.wnd_edge.value() + overrun);
        match (self.config.frto_window_limited, self.permission) {
            (WindowLimited::Reserve(segments), SendPermission::Windows) if self.frto.is_some() => {
                let reserved = u64::from(segments) * self.window.smss();
                let least = Seq::new(self.flight.una().value() + self.window.smss());
                Seq::new(edge.value().saturating_sub(reserved)).max(least).min(edge)
            }
            _ => edge,
        }
    }

    /// The segment that F-RTO sends if it cannot send new ones.
    pub(super) fn window_limited_fallback(&self) -> Option<Fallback> {
        let max = self.flight.max();
        match self.config.frto_window_limited {
            WindowLimited::Conventional | WindowLimited::Reserve(_) => None,
            WindowLimited::Probe => (self.flight.size() > 0).then_some(Fallback::Probe),
            // At most one byte lies beyond the window.
            WindowLimited::OneByte => {
                (max < self.write_seq && max <= self.wnd_edge).then_some(Fallback::OneByte)
            }
            WindowLimited::Tail => self.flight.last_unsacked().map(|tail| Fallback::Tail(tail.seq)),
        }
    }

    /// The chunk that is sent in place of new segments; `None` for the probe, which is an empty
    /// segment.
    pub(super) fn choose_fallback(&mut self, fallback: Fallback) -> Option<Chunk> {
        let max = self.flight.max();
        let chunk = match fallback {
            Fallback::Probe => return None,
            Fallback::OneByte => {
                Some(Chunk { seq: max, len: 1, flags: Flags::NONE, cause: Cause::New })
            }
            Fallback::Tail(seq) => self.chunk_at(seq, Cause::GoBackN),
        };
        self.permission = SendPermission::New(0);
        chunk
    }

    /// Takes F-RTO's pending probe: returns whether an empty segment below SND.UNA is sent now.
    pub fn take_frto_probe(&mut self) -> bool {
        let probes = self.permission == SendPermission::Fallback(Fallback::Probe);
        if probes {
            self.permission = SendPermission::New(0);
        }
        probes
    }
}
