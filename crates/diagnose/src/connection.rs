//! One connection of a capture, in both directions.

use rtolab_capture::{Captured, CapturedPacket, Conversation, End};
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::duplicates::Recent;
use crate::half_connection::HalfConnection;
use crate::history::Frame;
use crate::stack::Opening;
use crate::vantage::{Turnarounds, Vantage};

/// The options of a handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// The last SYN of client and server.
    pub openings: [Option<Opening>; 2],
}

/// A connection as far as the capture has shown it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub first: CapturedPacket,
    pub number: u64,
    pub began: Instant,
    pub last: Instant,
    pub packets: u64,
    /// Packets that are in the capture twice.
    pub copies: u64,
    pub handshake: Handshake,
    pub turnarounds: Turnarounds,
    pub ends: [Option<Box<HalfConnection>>; 2],
    pub over: Over,
    conversation: Conversation,
    recent: [Recent; 2],
}

/// The closing state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Open,
    /// One end has sent its FIN.
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
            copies: 0,
            handshake: Handshake::default(),
            turnarounds: Turnarounds::default(),
            ends: [None, None],
            over: Over::Open,
            conversation: Conversation::begun_by(packet),
            recent: [Recent::default(), Recent::default()],
        }
    }

    /// Processes the next packet of the connection.
    pub fn packet(&mut self, captured: &Captured, at: Instant) {
        let Captured { number, packet, offer, .. } = captured;
        let number = *number;
        self.packets += 1;
        let Some((from, segment)) = self.conversation.segment(packet) else { return };
        if self.recent[from as usize].is_copy(packet, at) {
            self.copies += 1;
            return;
        }
        self.last = at;
        let frame =
            Frame { number, at, identification: packet.identification, raw: packet.segment.seq };
        self.turnarounds.pass(from, &segment, at);
        if segment.flags.has(Flags::SYN) {
            let offer = offer.clone().unwrap_or_default();
            let opening = Opening { syn: segment, offer, frame: number };
            self.handshake.openings[from as usize] = Some(opening);
        }
        if segment.flags.has(Flags::RST) {
            self.over = Over::Closed;
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.acked(from, &segment, &frame);
        }
        if segment.sequence_length() > 0 || self.ends[from as usize].is_some() {
            self.sent(from, &segment, &frame);
        }
        self.end(from, &segment);
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

    /// The end that sends more.
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
    }
}

pub(crate) const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}
