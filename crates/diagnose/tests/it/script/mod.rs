//! Captures of one connection that tests specify packet by packet.

use rtolab_capture::{Captured, CapturedPacket, RUN_START};
use rtolab_diagnose::{ConnectionReport, Diagnosis};
use rtolab_tcp::wire::{SackBlock, WireSegment};
use rtolab_tcp::{Flags, SynOptions, Timestamps};
use rtolab_time::Duration;

use crate::packets::{reversed, segment, sent};

pub const BYTES: u32 = 1000;
const ISN: u32 = 0xffff_f000;

/// A packet of a connection.
#[derive(Clone, Copy)]
pub enum Event {
    /// The client's n-th segment.
    Data(u32),
    /// A super-segment of the client's segments from the n-th to the m-th.
    SuperSegment(u32, u32),
    /// The server's acknowledgment of all segments up to the n-th.
    Ack(u32),
    /// The server's acknowledgment of all segments up to the n-th, with a SACK block of the m-th.
    Duplicate(u32, u32),
    /// As a duplicate, with a SACK block from the m-th to the k-th segment.
    Sacked(u32, u32, u32),
}
use Event::{Ack, Data, Duplicate, Sacked, SuperSegment};

/// A capture of one connection.
pub struct Script {
    diagnosis: Diagnosis,
    number: u64,
    stamps: bool,
    sack: bool,
    /// The timestamp that the server echoes.
    pub echo: u32,
    /// The timestamp that the client echoes.
    pub client_echo: u32,
    /// Does the capture cut off the options of the server's ACKs?
    pub cut: bool,
    /// The packets so far.
    pub packets: Vec<Captured>,
}

impl Script {
    /// A capture with a handshake. `near` and `far` are the round-trip times between the capture
    /// point and the client or the server, in milliseconds.
    pub fn opened((near, far): (u64, u64), stamps: bool, sack: bool) -> Self {
        Self::opened_with(Diagnosis::new(), (near, far), stamps, sack)
    }

    /// As [`Self::opened`], with this diagnosis.
    pub fn opened_with(
        diagnosis: Diagnosis,
        (near, far): (u64, u64),
        stamps: bool,
        sack: bool,
    ) -> Self {
        let packets = Vec::new();
        let (echo, client_echo, cut) = (1, 1, false);
        let mut script =
            Self { diagnosis, number: 0, stamps, sack, echo, client_echo, cut, packets };
        script.add_packet(0, (true, Flags::SYN), (ISN, 0, 0), None);
        script.add_packet(far, (false, Flags::SYN | Flags::ACK), (7, ISN.wrapping_add(1), 0), None);
        script.add_packet(far + near, (true, Flags::ACK), (8, 0, 0), None);
        script
    }

    fn add_packet(
        &mut self,
        millis: u64,
        (forward, flags): (bool, Flags),
        (seq, ack, len): (u32, u32, u32),
        sack: Option<SackBlock>,
    ) {
        self.number += 1;
        let now = millis as u32 + 1;
        let stamps =
            Timestamps { value: now, echo: if forward { self.client_echo } else { self.echo } };
        let (seq, ack) = match (forward, len) {
            (true, 0) if !flags.has(Flags::SYN) => (ISN.wrapping_add(1), seq),
            _ => (seq, ack),
        };
        let segment = WireSegment {
            // Timestamps take 12 bytes of each segment.
            syn: SynOptions {
                mss: Some(if self.stamps { 1012 } else { 1000 }),
                sack_permitted: self.sack,
                ..SynOptions::default()
            },
            timestamps: self.stamps.then_some(stamps),
            sack: sack.into_iter().collect(),
            ..segment(flags, (seq, ack, len))
        };
        let packet = CapturedPacket {
            identification: self.number as u16,
            ..sent(forward, RUN_START + Duration::from_millis(millis), segment)
        };
        let cut_at = (self.cut && !forward).then_some(68);
        let captured = Captured { number: self.number, packet, cut_at, ..Captured::empty() };
        self.diagnosis.packet(&captured);
        self.packets.push(captured);
    }

    /// Adds packets, each with its time in milliseconds.
    pub fn add_events(&mut self, events: &[(u64, Event)]) -> &mut Self {
        for &(millis, event) in events {
            let start = |n: u32| ISN.wrapping_add(1).wrapping_add((n - 1) * BYTES);
            let mut data = |first, last| {
                let len = (last + 1 - first) * BYTES;
                self.add_packet(millis, (true, Flags::ACK), (start(first), 8, len), None);
            };
            match event {
                Data(n) => data(n, n),
                SuperSegment(first, last) => data(first, last),
                Ack(n) => self.add_packet(millis, (false, Flags::ACK), (8, start(n + 1), 0), None),
                Duplicate(n, m) => {
                    self.add_events(&[(millis, Sacked(n, m, m))]);
                }
                Sacked(n, first, last) => {
                    let block = SackBlock { start: start(first), end: start(last + 1) };
                    let ack = start(n + 1);
                    self.add_packet(millis, (false, Flags::ACK), (8, ack, 0), Some(block));
                }
            }
        }
        self
    }

    /// The report if the server sends the data, with the handshake as captured there.
    pub fn report_of_server(&self) -> ConnectionReport {
        let [syn, syn_ack, ack] = [1, 0, 1].map(|number| self.packets[number].clone());
        let mut packets = vec![syn, syn_ack, ack];
        for (captured, flags) in packets.iter_mut().zip([Flags::SYN, Flags::SYN | Flags::ACK]) {
            captured.packet.at = RUN_START;
            captured.packet.segment.flags = flags;
        }
        packets[1].packet.segment.ack = 8;
        let ack = &mut packets[2].packet.segment;
        (ack.flags, ack.seq) = (Flags::ACK, 8);
        packets.extend_from_slice(&self.packets[3..]);
        let mut diagnosis = Diagnosis::with_timers();
        for (number, mut captured) in packets.into_iter().enumerate() {
            captured.number = number as u64 + 1;
            captured.packet = reversed(captured.packet);
            diagnosis.packet(&captured);
        }
        diagnosis.finish();
        diagnosis.poll().expect("a connection")
    }

    pub fn report(&mut self) -> ConnectionReport {
        self.diagnosis.finish();
        self.diagnosis.poll().expect("a connection")
    }
}
