//! One connection of a capture, in both directions.

mod handshake;
mod silences;

use rtolab_capture::{Captured, CapturedPacket, Conversation, End};
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::capture_points::{
    CaptureLocations, CapturePoint, CapturePoints, MIN_APART, MIN_COPIES, MIN_SHARE_OF_LATE_COPIES,
    TwoCapturePoints,
};
use crate::closing::{CloseState, IdleClose, Reset};
use crate::duplicates::{Copy, Location, RecentPackets};
use crate::half_connection::{HalfConnection, View};
use crate::held_segments::{HeldSegments, MIN_DELAY};
use crate::history::Frame;
use crate::missing_direction::EchoedTimestamps;
use crate::pauses::Pauses;
use crate::silence::{AfterIdle, MIN_IDLE, MIN_LENGTH, OpenSilence, Silence, Wait};
use crate::stack::Opening;
use crate::timers::TimerReplay;
use crate::vantage::{Turnarounds, Vantage};

pub(crate) use handshake::Handshake;

/// The state of a connection after the packets processed so far.
#[derive(Debug)]
pub(crate) struct Connection {
    pub first: CapturedPacket,
    pub number: u64,
    pub began: Instant,
    /// The client's initial sequence number, as the first packet with SYN shows it.
    pub isn: Option<u32>,
    pub last: Instant,
    last_frame: u64,
    /// When its last packet passed that was no keep-alive probe and no answer to one.
    active: Instant,
    /// The end that sent the last packet, if that was a keep-alive probe.
    keep_alive_from: Option<End>,
    pub packets: u64,
    /// The number of packets from client and server.
    pub seen: [u64; 2],
    /// The number of packets that the capture contains twice.
    pub copies: u64,
    pub silences: Vec<Silence>,
    /// Silences of which it is still open whether the ACK was late or data was lost.
    open_silences: Vec<OpenSilence>,
    /// The first data after the last long silence, until a packet answers it.
    pub after_idle: Option<AfterIdle>,
    pub handshake: Handshake,
    pub turnarounds: Turnarounds,
    pub timestamps: EchoedTimestamps,
    pub ends: [Option<Box<HalfConnection>>; 2],
    pub close_state: CloseState,
    /// The silence that the first FIN or RST ended.
    pub idle_close: Option<IdleClose>,
    /// The first reset.
    pub reset: Option<Reset>,
    conversation: Conversation,
    recent: [RecentPackets; 2],
    /// The number of copies that follow the first ones after at least [`MIN_APART`], or at another
    /// location.
    apart: u32,
    /// `None` unless the capture contains packets of two capture points.
    points: Option<Box<CapturePoints>>,
    /// The connection as the second capture point sees it.
    pub far: Option<Box<Connection>>,
    /// Are the timers of other minimum RTOs replayed?
    pub replays_timers: bool,
    /// The captured bytes of a frame that ends before the options of TCP do.
    pub cut_at: Option<u32>,
    pub pauses: Pauses,
    pub held_segments: HeldSegments,
    /// The end that sent the last data.
    last_data: Option<End>,
}

impl Connection {
    pub fn begun_by(packet: &CapturedPacket, number: u64, at: Instant) -> Self {
        Self {
            first: packet.clone(),
            number,
            began: at,
            isn: None,
            last: at,
            last_frame: 0,
            active: at,
            keep_alive_from: None,
            packets: 0,
            seen: [0; 2],
            copies: 0,
            silences: Vec::new(),
            open_silences: Vec::new(),
            after_idle: None,
            handshake: Handshake::default(),
            turnarounds: Turnarounds::default(),
            timestamps: EchoedTimestamps::default(),
            ends: [None, None],
            close_state: CloseState::Open,
            idle_close: None,
            reset: None,
            conversation: Conversation::from_first_packet(packet),
            recent: [RecentPackets::default(), RecentPackets::default()],
            apart: 0,
            points: None,
            far: None,
            replays_timers: false,
            cut_at: None,
            pauses: Pauses::default(),
            held_segments: HeldSegments::default(),
            last_data: None,
        }
    }

    /// Processes the next packet of the connection. Returns its capture point; `None` if it is a
    /// copy at the same point.
    pub fn on_packet(&mut self, captured: &Captured, at: Instant) -> Option<CapturePoint> {
        let Captured { number, packet, .. } = captured;
        let number = *number;
        self.packets += 1;
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::NONE);
        let from = self.conversation.segment_into(&mut segment, packet)?;
        let Some(point) = self.point((from, &segment), captured, at) else {
            if let (Some(sending), None) = (&mut self.ends[from as usize], &self.points) {
                sending.network_duplicates.on_copy(&segment);
            }
            return None;
        };
        let frame = Frame { number, at, ip_id: packet.identification, raw_seq: packet.segment.seq };
        match (point, &mut self.far) {
            (CapturePoint::Far, Some(far)) => far.on_own_packet((from, &segment), &frame, captured),
            _ => self.on_own_packet((from, &segment), &frame, captured),
        }
        Some(point)
    }

    /// The capture point of a packet. `None` if it is a copy at the same point, or one before the
    /// two points are distinguished.
    fn point(
        &mut self,
        (from, segment): (End, &Segment),
        captured: &Captured,
        at: Instant,
    ) -> Option<CapturePoint> {
        if let Some(CapturePoints::ByTime(points)) = self.points.as_deref_mut() {
            let (point, is_first) = points.of(from, &captured.packet, at);
            self.copies += u64::from(!is_first);
            let settles = points.settles;
            if at >= settles && settles > Instant::START {
                self.restart(&captured.packet, at);
            }
            return (at >= settles).then_some(point);
        }
        let copy = self.recent[from as usize].copied(captured, at, self.copies);
        if let Some(CapturePoints::ByLocation(locations)) = self.points.as_deref_mut() {
            let (point, is_second) = locations.of(from, captured, copy);
            self.copies += u64::from(is_second);
            return point;
        }
        let Some(copy) = copy else { return Some(CapturePoint::Near) };
        self.copies += 1;
        let locations = [copy.first, Location::of(captured)];
        let is_elsewhere = locations[0] != locations[1];
        if copy.lag < MIN_APART && !is_elsewhere {
            return None;
        }
        self.apart += 1;
        // At two capture points the SYN comes twice before the SYN-ACK may.
        let is_answer = segment.flags.has(Flags::ACK);
        let is_syn = segment.flags.has(Flags::SYN) && (is_elsewhere || !is_answer);
        let are_few = self.apart < MIN_COPIES
            || !is_elsewhere && self.copies * MIN_SHARE_OF_LATE_COPIES < self.packets;
        if !is_syn && are_few {
            return None;
        }
        match is_elsewhere {
            true => self.separate_by_location((from, is_syn), locations, (captured, at)),
            false => self.separate_by_time((from, is_syn), copy, (captured, at)),
        }
    }

    /// Separates two capture points by their locations.
    fn separate_by_location(
        &mut self,
        (from, is_syn): (End, bool),
        pair: [Location; 2],
        (captured, at): (&Captured, Instant),
    ) -> Option<CapturePoint> {
        let locations = match is_syn {
            true => {
                let before = self.recent[from.other() as usize].location();
                CaptureLocations::of_syn(from, pair, before)
            }
            false => CaptureLocations::of_packet(from, pair, (self.copies, self.packets))?,
        };
        let far = self.again(&captured.packet, at);
        (self.points, self.far) =
            (Some(Box::new(CapturePoints::ByLocation(locations))), Some(Box::new(far)));
        if is_syn {
            return Some(CapturePoint::Far);
        }
        // The packets so far are from both points.
        self.restart(&captured.packet, at);
        let Some(CapturePoints::ByLocation(locations)) = self.points.as_deref_mut() else {
            return None;
        };
        locations.of(from, captured, None).0
    }

    /// Separates two capture points by the times of copies.
    fn separate_by_time(
        &mut self,
        (from, is_syn): (End, bool),
        copy: Copy,
        (captured, at): (&Captured, Instant),
    ) -> Option<CapturePoint> {
        let packet = &captured.packet;
        let far = self.again(packet, at);
        // A SYN-ACK before this copy of the SYN shows that the clocks of the capture points differ.
        let is_after_syn_ack = is_syn && self.seen[from.other() as usize] > 0;
        let near =
            if is_after_syn_ack { None } else { Some(if is_syn { from } else { End::Client }) };
        let is_known = is_syn && !is_after_syn_ack;
        let mut points = TwoCapturePoints::new(near, (!is_known).then_some(at + copy.lag));
        if !is_known {
            points.of(from, packet, at);
        }
        (self.points, self.far) =
            (Some(Box::new(CapturePoints::ByTime(points))), Some(Box::new(far)));
        is_known.then_some(CapturePoint::Far)
    }

    /// The same connection without packets.
    fn again(&self, packet: &CapturedPacket, at: Instant) -> Self {
        let replays_timers = self.replays_timers;
        Self { replays_timers, ..Self::begun_by(packet, self.number, at) }
    }

    /// The client's initial sequence number, if this packet is a SYN or a SYN-ACK with the same one
    /// as all of the connection before.
    #[inline]
    pub fn isn_of(&mut self, packet: &CapturedPacket) -> Option<u32> {
        let isn = client_isn(packet)?;
        (*self.isn.get_or_insert(isn) == isn).then_some(isn)
    }

    /// Discards the packets so far. For both capture points the connection begins with this packet.
    fn restart(&mut self, packet: &CapturedPacket, at: Instant) {
        let fresh = || self.again(packet, at);
        let (mut near, mut far) = (fresh(), fresh());
        far.first = self.first.clone();
        std::mem::swap(self, &mut near);
        (self.packets, self.copies, self.began) = (near.packets, near.copies, near.began);
        (self.first, self.conversation, self.isn) = (near.first, near.conversation, near.isn);
        self.recent = near.recent;
        self.points = near.points.map(|mut points| {
            if let CapturePoints::ByTime(points) = &mut *points {
                points.settles = Instant::START;
            }
            points
        });
        self.far = Some(Box::new(far));
    }

    /// Processes a packet of this capture point, and records the silence before it.
    fn on_own_packet(
        &mut self,
        (from, segment): (End, &Segment),
        frame: &Frame,
        captured: &Captured,
    ) {
        let at = frame.at;
        let gap = at.since(self.active);
        let is_late = gap >= MIN_LENGTH && self.seen != [0; 2];
        if gap >= MIN_DELAY || self.held_segments.is_pending() {
            self.note_held_segment((from, segment), at, gap);
        }
        let is_keep_alive = (is_late || self.keep_alive_from.is_some())
            && self.is_keep_alive(from, segment, is_late);
        let silence =
            (is_late && !is_keep_alive).then(|| self.silence(from, segment, frame)).flatten();
        let pause = self.pause((from, segment), frame, is_late);
        self.note_idle_close((from, segment), at, is_late && !is_keep_alive);
        let before = match silence.is_some() || pause.is_some() {
            true => self.retransmissions(),
            false => 0,
        };
        let idle = at.since(self.last);
        (self.last, self.last_frame) = (at, frame.number);
        if !is_keep_alive {
            self.active = at;
        }
        self.seen[from as usize] += 1;
        self.process((from, segment), frame, captured);
        self.note_answer(from, segment);
        self.close_silences();
        if let Some((length, wait)) = pause.filter(|_| self.retransmissions() == before) {
            self.pauses.add(length, from, wait);
        }
        let ends_silence = |silence: &Silence| {
            // At the receiver, no episode has the time before a retransmission.
            let is_hidden = silence.wait == Wait::Unknown
                && self.turnarounds.vantage(from) == Vantage::Receiver;
            is_hidden || self.retransmissions() == before
        };
        if let Some(silence) = silence.filter(ends_silence) {
            let is_idle = matches!(silence.wait, Wait::Application | Wait::Unknown);
            if is_idle && idle >= MIN_IDLE {
                let (frame, is_reset) = (frame.number, false);
                self.after_idle = Some(AfterIdle { from, at, frame, idle, is_reset });
            }
            self.add_silence(from, silence);
        }
    }

    /// Notes a silence that this segment ends by closing the connection, or the answer to that.
    fn note_idle_close(&mut self, (from, segment): (End, &Segment), at: Instant, is_late: bool) {
        if let Some(close) = &mut self.idle_close {
            close.is_answered |= close.from != from;
            return;
        }
        let is_waiting = || self.ends.iter().flatten().any(|sending| sending.is_waiting());
        if is_late && !self.seen.contains(&0) && !is_waiting() {
            let times = (self.active, at);
            self.idle_close = IdleClose::by((from, segment), times, self.close_state);
        }
    }

    /// Notes the answer to the first data after a silence.
    fn note_answer(&mut self, from: End, segment: &Segment) {
        let Some(data) = self.after_idle.as_mut().filter(|data| data.from != from) else { return };
        if segment.flags.has(Flags::RST) {
            data.is_reset = true;
        } else if !data.is_reset {
            self.after_idle = None;
        }
    }

    fn process(&mut self, (from, segment): (End, &Segment), frame: &Frame, captured: &Captured) {
        let (number, at) = (frame.number, frame.at);
        self.turnarounds.note_hops(from, captured.hops, &captured.packet);
        self.turnarounds.pass(from, segment, at);
        self.timestamps.pass(from, segment, at);
        if segment.flags.has(Flags::SYN) {
            let syn_fingerprint = captured.syn_fingerprint.clone().unwrap_or_default();
            let opening = Opening { syn: *segment, syn_fingerprint, frame: number };
            self.handshake.is_cut |= opening.syn_fingerprint.is_cut;
            self.handshake.openings[from as usize] = Some(opening);
            self.recent[from.other() as usize].on_peer_syn();
            if let Some(sending) = &mut self.ends[from.other() as usize] {
                sending.sender_state.on_syn(at);
            }
        }
        if segment.flags.has(Flags::RST) {
            let others = self.turnarounds.hops(from);
            let hops = [captured.hops, others];
            let is_foreign = !hops.contains(&0) && captured.hops != others;
            let foreign_hops = is_foreign.then_some(hops);
            let ack = segment.flags.has(Flags::ACK).then_some(segment.ack);
            let close_state = self.close_state;
            let is_after_data = self.last_data == Some(from);
            let reset = Reset { from, ack, close_state, is_after_data, foreign_hops };
            self.reset.get_or_insert(reset);
            self.close_state = CloseState::Closed;
            return;
        }
        if let Some(length) = captured.cut_at {
            self.cut_at = Some(length);
            if let Some(sending) = &mut self.ends[from.other() as usize] {
                sending.on_cut_ack(segment, at);
            }
        }
        if segment.flags.has(Flags::ACK) {
            self.on_ack(from, segment, frame);
        }
        if segment.len > 0 {
            self.last_data = Some(from);
        }
        if segment.sequence_length() > 0 || self.ends[from as usize].is_some() {
            self.on_sent(from, segment, frame);
        }
        if segment.flags.has(Flags::SYN | Flags::ACK) {
            self.note_syn_ack(from, segment);
        }
        self.on_fin(from, segment);
    }

    fn on_ack(&mut self, from: End, segment: &Segment, frame: &Frame) {
        let other = from.other();
        let Some(sending) = &mut self.ends[other as usize] else { return };
        let (min_rtt, zero_window) = (sending.rtt.min, sending.sender_state.zero_window());
        let unanswered = zero_window.and_then(|_| sending.unanswered_window_probe(frame.at));
        sending.on_ack(segment, frame);
        let has_opened = sending.sender_state.zero_window().is_none();
        if sending.rtt.min != min_rtt {
            self.turnarounds.on_ack(from, sending.rtt.min.unwrap_or(Duration::ZERO));
        }
        if let Some(since) = zero_window.filter(|_| has_opened) {
            sending.on_window_opened(frame.at);
            // What waited for the window waits no longer, although a probe may look like one of a
            // keep-alive.
            self.active = frame.at;
            self.note_closed_window((since, unanswered), (frame.at, frame.number), from);
        }
    }

    fn on_sent(&mut self, from: End, segment: &Segment, frame: &Frame) {
        let turnarounds = &self.turnarounds;
        let replays_timers = self.replays_timers;
        let sending = self.ends[from as usize].get_or_insert_with(|| {
            let first = if segment.flags.has(Flags::SYN) { Seq::FIRST } else { segment.seq };
            let mut sending = Box::new(HalfConnection::new(first));
            sending.timers = replays_timers.then(|| Box::new(TimerReplay::new()));
            sending
        });
        sending.on_sent(segment, frame, || {
            let vantage = turnarounds.vantage(from);
            let turnaround = match vantage {
                Vantage::Sender => Duration::ZERO,
                _ => turnarounds.of(from).unwrap_or(Duration::ZERO),
            };
            let peer_stamp = turnarounds.newest_stamp(from.other());
            View { vantage, turnaround, peer_stamp }
        });
    }

    fn on_fin(&mut self, from: End, segment: &Segment) {
        if segment.flags.has(Flags::FIN) {
            self.close_state = match self.close_state {
                CloseState::Open => CloseState::HalfClosed(from),
                CloseState::HalfClosed(first) if first == from => CloseState::HalfClosed(first),
                CloseState::HalfClosed(_) | CloseState::Closed => CloseState::Closed,
            };
        }
    }

    /// Is the packet the first of another connection with the same ports?
    pub fn is_followed_by(&self, packet: &CapturedPacket, at: Instant) -> bool {
        let flags = packet.segment.flags;
        let opens = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        opens
            && (self.close_state == CloseState::Closed
                || self.first.segment.seq != packet.segment.seq
                    && (self.packets > 0 && at.since(self.last) > Duration::from_secs(1)
                        || self.close_state != CloseState::Open))
    }

    /// The end that sends more payload.
    pub fn main_sender(&self) -> End {
        let bytes = |end: End| self.ends[end as usize].as_ref().map_or(0, |sending| sending.bytes);
        match bytes(End::Server) > bytes(End::Client) {
            true => End::Server,
            false => End::Client,
        }
    }

    pub fn finish(&mut self) {
        for end in [End::Client, End::Server] {
            let closed = self.ends[end.other() as usize].as_ref();
            if let Some(since) = closed.and_then(|sending| sending.sender_state.zero_window()) {
                self.note_closed_window((since, None), (self.last, self.last_frame), end);
            }
            let vantage = self.turnarounds.vantage(end);
            if let Some(sending) = &mut self.ends[end as usize] {
                sending.finish(self.last, vantage);
            }
        }
        if let Some(far) = &mut self.far {
            far.finish();
        }
    }

    /// The number of packets in memory that wait for their copies at another capture point.
    pub fn waiting_packets(&self) -> usize {
        self.points.as_ref().map_or(0, |points| points.memory_items())
    }

    /// The connection as the capture point at the main sender sees it, and that point. The first
    /// point if neither is there.
    pub fn at_sender(&self) -> (&Self, CapturePoint) {
        let is_near = |one: &Self| one.turnarounds.vantage(one.main_sender()) == Vantage::Sender;
        match &self.far {
            Some(far) if !is_near(self) && is_near(far) => (far, CapturePoint::Far),
            _ => (self, CapturePoint::Near),
        }
    }
}

/// The name of an end in reports.
pub(crate) const fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

/// The client's initial sequence number, as a SYN or a SYN-ACK shows it. `None` for other packets.
#[inline]
fn client_isn(packet: &CapturedPacket) -> Option<u32> {
    let segment = &packet.segment;
    match (segment.flags.has(Flags::SYN), segment.flags.has(Flags::ACK)) {
        (false, _) => None,
        (true, false) => Some(segment.seq),
        (true, true) => Some(segment.ack.wrapping_sub(1)),
    }
}
