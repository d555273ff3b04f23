//! The silences of a connection.

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::{Duration, Instant};

use super::{Connection, name};
use crate::half_connection::HalfConnection;
use crate::held_segments::MIN_DELAY;
use crate::history::Frame;
use crate::pauses::MIN_PAUSE;
use crate::silence::{
    MAX_SILENCES, MIN_LENGTH, MIN_STOPPED, OpenSilence, STOPPED_TIMEOUTS, Silence, Wait, silence,
};
use crate::vantage::Vantage;

impl Connection {
    /// Adds a silence that a packet of `from` ended.
    pub(super) fn add_silence(&mut self, from: End, silence: Silence) {
        let sending = self.ends[from as usize].as_deref();
        match sending.filter(|_| silence.wait == Wait::Network && silence.end != name(from)) {
            Some(sending) => self.open_silences.push(OpenSilence {
                sender: from,
                una: sending.flight().una(),
                retransmissions: sending.retransmissions,
                silence,
            }),
            None => self.silences.push(silence),
        }
    }

    /// Decides about open silences after a packet.
    #[inline]
    pub(super) fn close_silences(&mut self) {
        if !self.open_silences.is_empty() {
            self.close_open_silences();
        }
    }

    #[cold]
    fn close_open_silences(&mut self) {
        for open in std::mem::take(&mut self.open_silences) {
            let Some(sending) = self.ends[open.sender as usize].as_deref() else { continue };
            if sending.retransmissions > open.retransmissions {
                continue;
            }
            match sending.flight().una() > open.una {
                true => self.silences.push(open.silence),
                false => self.open_silences.push(open),
            }
        }
    }

    /// The silence before this packet; `None` if the capture does not explain it or an episode
    /// does.
    pub(super) fn silence(&self, from: End, segment: &Segment, frame: &Frame) -> Option<Silence> {
        let of = |end: End| self.ends[end as usize].as_deref();
        let is_over = segment.flags.any(Flags::FIN | Flags::RST) && segment.len == 0;
        let known = self.seen.iter().all(|count| *count > 0)
            && self.silences.len() + self.open_silences.len() < MAX_SILENCES;
        let in_episode = self.ends.iter().flatten().any(|sending| sending.episodes.is_open());
        if is_over || !known || in_episode {
            return None;
        }
        let waits = |end: End| of(end).is_some_and(|sending| sending.flight().size() > 0);
        let has_zero_window =
            |end: End| of(end).is_some_and(|sending| sending.sender_state.zero_window().is_some());
        let (end, wait) = match segment.len > 0 {
            // The silence lasts until the window opens (`on_ack`).
            _ if has_zero_window(from.other()) || has_zero_window(from) => return None,
            _ if waits(from.other()) => self.late(frame.at, (from, from.other())),
            true if self.is_gap_at_receiver(from) => (from, Wait::Unknown),
            true if waits(from) => self.late(frame.at, (from.other(), from)),
            true if self.has_full_window(from) => return None,
            true if self.turnarounds.vantage(from) == Vantage::Sender => (from, Wait::Application),
            true => (from, Wait::Unknown),
            false => return None,
        };
        Some(silence(self.active, (frame.at, frame.number), (name(end), wait)))
    }

    /// Does the receiver of `sender`, at which the capture was made, acknowledge no more because it
    /// lacks data? Then nothing is outstanding that it could acknowledge.
    fn is_gap_at_receiver(&self, sender: End) -> bool {
        let lacks = |one: &HalfConnection| one.arrivals.lacks(one.flight().una());
        self.turnarounds.vantage(sender) == Vantage::Receiver
            && self.ends[sender as usize].as_deref().is_some_and(lacks)
    }

    /// Notes a delayed ACK after a `gap`, or the data that follows one.
    #[cold]
    pub(super) fn note_held_segment(
        &mut self,
        (from, segment): (End, &Segment),
        at: Instant,
        gap: Duration,
    ) {
        let of = |end: End| self.ends[end as usize].as_deref();
        let mut held = self.held_segments;
        held.on_next((from, segment), at, of(from), self.turnarounds.of(from));
        if let Some(sending) = of(from.other()).filter(|_| gap >= MIN_DELAY) {
            held.on_late_ack((from.other(), segment), (at, gap), sending);
        }
        self.held_segments = held;
    }

    /// Does the window of the receiver leave no room for a segment of `sender`? Unknown without the
    /// handshake, which has the window scale.
    fn has_full_window(&self, sender: End) -> bool {
        let has_scale = self.handshake.has_both();
        let sending = self.ends[sender as usize].as_deref();
        has_scale && sending.is_some_and(|sending| sending.window_limit.is_full())
    }

    /// The reason why `receiver` acknowledged data of `sender` only now.
    fn late(&self, at: Instant, (receiver, sender): (End, End)) -> (End, Wait) {
        let sending = self.ends[sender as usize].as_deref();
        let timeout = sending.and_then(HalfConnection::longest_timeout);
        let due = timeout.map(|timeout| (timeout * STOPPED_TIMEOUTS).max(MIN_STOPPED));
        let is_overdue = due.is_some_and(|due| at.since(self.active) >= due);
        match is_overdue && self.turnarounds.vantage(sender) == Vantage::Sender {
            true => (sender, Wait::Host),
            false => (receiver, Wait::Network),
        }
    }

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
            Wait::Unknown => {
                let is_long = self.turnarounds.of(from).is_some_and(|rtt| length >= rtt * 2);
                is_long && !self.is_gap_at_receiver(from)
            }
            Wait::Network | Wait::Window | Wait::LostUpdate | Wait::Host => false,
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

    /// Adds the silence of a window that was closed `since` then; `from` advertised it. From the
    /// first of several probes without an answer on, the sender waited because packets were lost.
    pub(super) fn note_closed_window(
        &mut self,
        (since, unanswered): (Instant, Option<Instant>),
        (at, frame): (Instant, u64),
        from: End,
    ) {
        let unanswered = unanswered.filter(|first| at.since(*first) >= MIN_LENGTH);
        let closed_until = unanswered.unwrap_or(at);
        let mut add = |since, until: Instant, wait| {
            if until.since(since) >= MIN_LENGTH && self.silences.len() < MAX_SILENCES {
                self.silences.push(silence(since, (until, frame), (name(from), wait)));
            }
        };
        add(since, closed_until, Wait::Window);
        add(closed_until, at, Wait::LostUpdate);
    }

    pub(super) fn retransmissions(&self) -> u64 {
        self.ends.iter().flatten().map(|sending| sending.retransmissions).sum()
    }
}
