//! Pauses, keep-alives and closed windows.

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::{Duration, Instant};

use super::{Connection, silence};
use crate::history::Frame;
use crate::pauses::MIN_PAUSE;
use crate::silence::{MAX_SILENCES, MIN_LENGTH, Wait};

impl Connection {
    /// The pause before this packet that is too short for a silence, if nothing was outstanding.
    pub(super) fn pause(
        &self,
        (from, segment): (End, &Segment),
        frame: &Frame,
        is_late: bool,
    ) -> Option<(Duration, Wait)> {
        let length = frame.at.since(self.active);
        if is_late || length < MIN_PAUSE || segment.len == 0 {
            return None;
        }
        let wait = self.silence(from, segment, frame)?.wait;
        let is_pause = match wait {
            Wait::Application => true,
            // At the receiver, all that has arrived is acknowledged while the next flight comes.
            Wait::Unknown => self.turnarounds.of(from).is_some_and(|rtt| length >= rtt * 2),
            Wait::Network | Wait::Window | Wait::Host => false,
        };
        is_pause.then_some((length, wait))
    }

    /// Is this a keep-alive probe (RFC 9293 section 3.8.4), or the answer to one? Neither ends a
    /// silence.
    pub(super) fn is_keep_alive(&mut self, from: End, segment: &Segment, is_late: bool) -> bool {
        let is_small = segment.len <= 1 && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::RST);
        let is_answer = self.keep_alive_from == Some(from.other()) && segment.len == 0;
        let is_probe = is_late
            && self.ends[from as usize]
                .as_ref()
                .is_some_and(|sending| segment.seq < sending.flight().una());
        self.keep_alive_from = (is_small && is_probe).then_some(from);
        is_small && (is_probe || is_answer)
    }

    /// Adds the silence of a window that was closed `since` then; `from` advertised it.
    pub(super) fn note_closed_window(&mut self, since: Instant, until: (Instant, u64), from: End) {
        if until.0.since(since) >= MIN_LENGTH && self.silences.len() < MAX_SILENCES {
            self.silences.push(silence(since, until, (from, Wait::Window)));
        }
    }

    pub(super) fn retransmissions(&self) -> u64 {
        self.ends.iter().flatten().map(|sending| sending.retransmissions).sum()
    }
}
