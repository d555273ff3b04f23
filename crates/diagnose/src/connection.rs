//! One connection of a capture, in both directions.

use rtolab_capture::{Captured, CapturedPacket, Conversation, End};
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::duplicates::RecentPackets;
use crate::half_connection::HalfConnection;
use crate::history::Frame;
use crate::places::{APART, COPIES, Place, Places};
use crate::silence::{MAX_SILENCES, MIN_LENGTH, Silence, Wait};
use crate::stack::Opening;
use crate::vantage::{Turnarounds, Vantage};

/// The options of a handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// The last SYN of client and server.
    pub openings: [Option<Opening>; 2],
    /// Were options of a SYN cut off? If so, the window scale is unknown.
    pub is_cut: bool,
}

/// The state of a connection after the packets processed so far.
#[derive(Debug)]
pub(crate) struct Connection {
    pub first: CapturedPacket,
    pub number: u64,
    pub began: Instant,
    pub last: Instant,
    pub packets: u64,
    /// Packets of client and server.
    pub seen: [u64; 2],
    /// The number of packets that the capture contains twice.
    pub copies: u64,
    pub silences: Vec<Silence>,
    pub handshake: Handshake,
    pub turnarounds: Turnarounds,
    pub ends: [Option<Box<HalfConnection>>; 2],
    pub over: Over,
    conversation: Conversation,
    recent: [RecentPackets; 2],
    /// The number of copies at least [`APART`] after the first ones.
    apart: u32,
    /// Set if the capture was made at two capture points.
    places: Option<Box<Places>>,
    /// The connection as seen from the second capture point.
    pub far: Option<Box<Connection>>,
}

/// The closing state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Open,
    /// This end has sent its FIN.
    Half(End),
    /// Both have sent a FIN, or one has sent a RST.
    Closed,
}

impl Connection {
    pub fn begun_by(packet: &CapturedPacket, number: u64, at: Instant) -> Self {
        Self {
            first: packet.clone(),
            number,
            began: at,
            last: at,
            packets: 0,
            seen: [0; 2],
            copies: 0,
            silences: Vec::new(),
            handshake: Handshake::default(),
            turnarounds: Turnarounds::default(),
            ends: [None, None],
            over: Over::Open,
            conversation: Conversation::from_first_packet(packet),
            recent: [RecentPackets::default(), RecentPackets::default()],
            apart: 0,
            places: None,
            far: None,
        }
    }

    /// Processes the next packet of the connection. Returns its capture point; `None` if it is a
    /// copy at the same point.
    pub fn packet(&mut self, captured: &Captured, at: Instant) -> Option<Place> {
        let Captured { number, packet, .. } = captured;
        let number = *number;
        self.packets += 1;
        let (from, segment) = self.conversation.segment(packet)?;
        let place = self.place((from, &segment), packet, at)?;
        let frame =
            Frame { number, at, identification: packet.identification, raw: packet.segment.seq };
        match (place, &mut self.far) {
            (Place::Far, Some(far)) => far.take((from, &segment), &frame, captured),
            _ => self.take((from, &segment), &frame, captured),
        }
        Some(place)
    }

    fn place(
        &mut self,
        (from, segment): (End, &Segment),
        packet: &CapturedPacket,
        at: Instant,
    ) -> Option<Place> {
        if let Some(places) = &mut self.places {
            let (place, is_first) = places.of(from, packet, at);
            self.copies += u64::from(!is_first);
            let settles = places.settles;
            if at >= settles && settles > Instant::START {
                self.restart(packet, at);
            }
            return (at >= settles).then_some(place);
        }
        let Some(lag) = self.recent[from as usize].copied(packet, at, self.copies) else {
            return Some(Place::Near);
        };
        self.copies += 1;
        if lag < APART {
            return None;
        }
        self.apart += 1;
        let is_syn = segment.flags.has(Flags::SYN);
        if !is_syn && self.apart < COPIES {
            return None;
        }
        let far = Self::begun_by(packet, self.number, at);
        // The answer passed before this copy, so the clocks of the two capture points differ.
        let is_answered = is_syn && self.seen[other(from) as usize] > 0;
        let near = if is_answered { None } else { Some(if is_syn { from } else { End::Client }) };
        let is_known = is_syn && !is_answered;
        let mut places = Places::new(near, (!is_known).then_some(at + lag));
        if !is_known {
            places.of(from, packet, at);
        }
        (self.places, self.far) = (Some(Box::new(places)), Some(Box::new(far)));
        is_known.then_some(Place::Far)
    }

    /// Discards the packets so far: both capture points see the connection as if it began here.
    fn restart(&mut self, packet: &CapturedPacket, at: Instant) {
        let fresh = || Self::begun_by(packet, self.number, at);
        let (mut near, far) = (fresh(), fresh());
        std::mem::swap(self, &mut near);
        (self.packets, self.copies, self.began) = (near.packets, near.copies, near.began);
        (self.first, self.conversation) = (near.first, near.conversation);
        self.places = near.places.map(|mut places| {
            places.settles = Instant::START;
            places
        });
        self.far = Some(Box::new(far));
    }

    /// Processes a packet of one capture point.
    fn take(&mut self, (from, segment): (End, &Segment), frame: &Frame, captured: &Captured) {
        let at = frame.at;
        let is_late = at.since(self.last) >= MIN_LENGTH && self.seen != [0; 2];
        let silence = is_late.then(|| self.silence(from, segment, frame)).flatten();
        let before = self.retransmissions();
        self.last = at;
        self.seen[from as usize] += 1;
        self.pass((from, segment), frame, captured);
        if let Some(silence) = silence.filter(|_| self.retransmissions() == before) {
            self.silences.push(silence);
        }
    }

    fn pass(&mut self, (from, segment): (End, &Segment), frame: &Frame, captured: &Captured) {
        let (number, at) = (frame.number, frame.at);
        self.turnarounds.pass(from, segment, at);
        if segment.flags.has(Flags::SYN) {
            let syn_fingerprint = captured.syn_fingerprint.clone().unwrap_or_default();
            let opening = Opening { syn: *segment, syn_fingerprint, frame: number };
            self.handshake.is_cut |= opening.syn_fingerprint.is_cut;
            self.handshake.openings[from as usize] = Some(opening);
            if let Some(sending) = &mut self.ends[other(from) as usize] {
                sending.sender_state.on_syn(at);
            }
        }
        if segment.flags.has(Flags::RST) {
            self.over = Over::Closed;
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.acked(from, segment, frame);
        }
        if segment.sequence_length() > 0 || self.ends[from as usize].is_some() {
            self.sent(from, segment, frame);
        }
        self.end(from, segment);
    }

    fn retransmissions(&self) -> u64 {
        self.ends.iter().flatten().map(|sending| sending.retransmissions).sum()
    }

    /// The silence that this packet ends; `None` if timeouts explain it.
    fn silence(&self, from: End, segment: &Segment, frame: &Frame) -> Option<Silence> {
        let of = |end: End| self.ends[end as usize].as_deref();
        let is_over = segment.flags.any(Flags::FIN | Flags::RST) && segment.len == 0;
        let known = self.seen.iter().all(|count| *count > 0) && self.silences.len() < MAX_SILENCES;
        let in_episode = self.ends.iter().flatten().any(|sending| sending.episodes.is_open());
        if is_over || !known || in_episode {
            return None;
        }
        let waits = |end: End| of(end).is_some_and(|sending| sending.flight().size() > 0);
        let is_closed = |end: End| of(end).is_some_and(|sending| sending.sender_state.is_closed());
        let (end, wait) = match segment.len > 0 {
            _ if is_closed(other(from)) => (from, Wait::Window),
            _ if waits(other(from)) => (from, Wait::Network),
            true if is_closed(from) => (other(from), Wait::Window),
            true if waits(from) => (other(from), Wait::Network),
            true if self.turnarounds.vantage(from) == Vantage::Sender => (from, Wait::Application),
            true => (from, Wait::Unknown),
            false => return None,
        };
        let start = self.last.secs_f64();
        let length = frame.at.since(self.last).secs_f64();
        Some(Silence { end: name(end), start, length, frame: frame.number, wait })
    }

    fn acked(&mut self, from: End, segment: &Segment, frame: &Frame) {
        let other = other(from);
        let Some(sending) = &mut self.ends[other as usize] else { return };
        let least = sending.trips.least;
        sending.acked(segment, frame);
        if sending.trips.least != least {
            self.turnarounds.acked(from, sending.trips.least.unwrap_or(Duration::ZERO));
        }
    }

    fn sent(&mut self, from: End, segment: &Segment, frame: &Frame) {
        let vantage = self.turnarounds.vantage(from);
        let turnaround = match vantage {
            Vantage::Sender => Duration::ZERO,
            _ => self.turnarounds.of(from).unwrap_or(Duration::ZERO),
        };
        let sending = self.ends[from as usize].get_or_insert_with(|| {
            let first = if segment.flags.has(Flags::SYN) { Seq::FIRST } else { segment.seq };
            Box::new(HalfConnection::new(first))
        });
        sending.sent(segment, frame, (vantage, turnaround));
    }

    fn end(&mut self, from: End, segment: &Segment) {
        if segment.flags.has(Flags::FIN) {
            self.over = match self.over {
                Over::Open => Over::Half(from),
                Over::Half(first) if first == from => Over::Half(first),
                Over::Half(_) | Over::Closed => Over::Closed,
            };
        }
    }

    /// Is the packet the first of another connection with the same ports?
    pub fn is_followed_by(&self, packet: &CapturedPacket, at: Instant) -> bool {
        let flags = packet.segment.flags;
        let opens = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        opens
            && (self.over == Over::Closed
                || self.first.segment.seq != packet.segment.seq
                    && (self.packets > 0 && at.since(self.last) > Duration::from_secs(1)
                        || self.over != Over::Open))
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
            let vantage = self.turnarounds.vantage(end);
            if let Some(sending) = &mut self.ends[end as usize] {
                sending.finish(self.last, vantage);
            }
        }
        if let Some(far) = &mut self.far {
            far.finish();
        }
    }

    /// The connection as seen from the capture point nearest to the end that sends more.
    pub fn at_sender(&self) -> (&Self, Place) {
        let is_near = |one: &Self| one.turnarounds.vantage(one.main_sender()) == Vantage::Sender;
        match &self.far {
            Some(far) if !is_near(self) && is_near(far) => (far, Place::Far),
            _ => (self, Place::Near),
        }
    }
}

pub(crate) const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}

/// The name of an end in documents.
pub(crate) const fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}
