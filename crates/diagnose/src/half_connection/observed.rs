//! The events of a direction that show what limits its sender, and how it reacts to losses.

use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::{HalfConnection, TIMESTAMPS};
use crate::history::{reported_after, reported_beyond_gap};
use crate::trigger::Trigger;

impl HalfConnection {
    /// Notes the options in a SYN of the peer.
    #[cold]
    pub(super) fn note_syn_options(&mut self, segment: &Segment) {
        if let Some(mss) = segment.syn_options().mss {
            let options = if segment.timestamps().is_some() { TIMESTAMPS } else { 0 };
            self.mss = u32::from(mss).saturating_sub(options).max(1);
        }
        self.window_limit.on_syn(segment.window);
        // A SYN-ACK answers the option of the SYN.
        self.note_sack(segment.syn_options().sack_permitted);
    }

    /// Notes MSS, window and SACK of the client's SYN, which the SYN-ACK of this end answers.
    pub fn note_answered_syn(&mut self, syn: &Segment, syn_ack: &Segment) {
        if let Some(mss) = syn.syn_options().mss {
            let has_timestamps = syn.timestamps().is_some() && syn_ack.timestamps().is_some();
            let options = if has_timestamps { TIMESTAMPS } else { 0 };
            self.mss = u32::from(mss).saturating_sub(options).max(1);
        }
        self.window_limit.on_syn(syn.window);
        self.note_sack(syn.syn_options().sack_permitted && syn_ack.syn_options().sack_permitted);
    }

    /// Notes whether the sender may use SACK, which tail loss probes need.
    const fn note_sack(&mut self, is_permitted: bool) {
        self.single_segments.has_sack = is_permitted;
        if let Some(timers) = &mut self.timers {
            timers.has_probes = is_permitted;
        }
    }

    /// Notes an ECN echo in an ACK of the peer.
    #[inline]
    pub const fn note_ecn_echo(&mut self, segment: &Segment) {
        let echo = segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN);
        self.has_ecn_echo |= echo;
    }

    /// Notes the first full segment among new data.
    #[inline]
    pub(super) const fn note_full(&mut self, segment: &Segment) {
        if segment.len >= self.mss && self.first_full.is_none() {
            self.first_full = Some(segment.seq);
        }
    }

    /// Notes new data, of which the flight is the last, or the ACK of new data.
    #[inline]
    pub(super) fn note_flight(&mut self, at: Instant) {
        self.loss_response.update(self.detectors.flight());
        self.window_limit.update((self.flight().max(), self.mss), at);
    }

    /// Notes the window of an ACK, and its flight.
    #[inline]
    pub(super) fn note_window(&mut self, segment: &Segment, at: Instant) {
        self.loss_response.update(self.detectors.flight());
        if !segment.flags.any(Flags::SYN | Flags::RST) {
            self.window_limit.on_ack(segment, (self.detectors.flight().max(), self.mss), at);
        }
    }

    /// Notes a retransmission: its frame, its trigger and whether it may be a probe. The timer had
    /// run for `idle`.
    pub(super) fn note_trigger(
        &mut self,
        segment: &Segment,
        copy: (u64, Trigger, bool),
        idle: Duration,
    ) {
        self.single_segments.on_retransmission(segment, copy, idle);
        match copy.1 {
            Trigger::FastRetransmit => {
                self.loss_response.on_fast_retransmit(self.detectors.flight());
            }
            Trigger::Timeout(_) => self.loss_response.on_timeout(),
            _ => {}
        }
    }

    /// May a timer that expires for this segment now be that of a tail loss probe as well as the
    /// retransmission timer?
    pub(super) fn may_be_probe(&self, segment: &Segment) -> bool {
        let flight = self.flight();
        self.single_segments.has_sack
            && segment.seq <= flight.una()
            && segment.end() >= flight.max()
            && self.sender_state.may_probe()
    }

    /// When the newest data passed that the receiver is known to have got after a retransmitted
    /// range passed, and to have reported while it missed the range.
    pub(super) fn reported_beyond(&self, segment: &Segment, end: Seq) -> Option<Instant> {
        let una = self.flight().una();
        if una >= end || segment.flags.has(Flags::SYN) {
            return None;
        }
        if una < segment.seq {
            return reported_after(self.flight(), end);
        }
        let state = (self.sender_state.duplicates(), self.sender_state.gap());
        reported_beyond_gap(self.flight(), state)
    }

    /// Processes an ACK whose options the capture has cut off.
    pub fn on_cut_ack(&mut self, segment: &Segment, at: Instant) {
        let repeats = segment.ack == self.flight().una() && self.flight().size() > 0;
        if repeats && segment.len == 0 && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::RST) {
            self.cut_duplicates += 1;
            self.sender_state.on_cut_duplicate(at);
        }
    }
}
