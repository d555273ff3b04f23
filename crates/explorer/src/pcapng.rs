//! Conversion of a traced run to a capture at the sender or at the receiver.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use rtolab_capture::{CapturedPacket, Conversation, End, Interface, RUN_START, WriteError, Writer};
use rtolab_record::{Fate, PacketEvent, Place, Recording, SegmentRow};
use rtolab_tcp::Flags;
use rtolab_tcp::wire::{Addresses, Ports};
use rtolab_time::Instant;

const SENDER: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const RECEIVER: u32 = u32::from_be_bytes([10, 128, 0, 1]);
const SERVER_PORT: u16 = 5001;
/// The longest header of IPv4 and of TCP together, in bytes.
const HEADERS: u32 = 60 + 60;
/// The dynamic ports of RFC 6335 section 6.
const CLIENT_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// The capture at `place` as a pcapng file, with a payload of zeros. Each simulated flow has its
/// own port. Its initial sequence numbers depend only on the flow and the seed. Packets have
/// comments if they are retransmissions, lost, delayed or modified.
///
/// # Errors
/// A packet does not fit into the format.
pub fn pcapng(recording: &Recording, place: Place) -> Result<Vec<u8>, WriteError> {
    capture(recording, place, None)
}

/// As [`pcapng`], but packets are cut after their headers, for a much shorter file.
///
/// # Errors
/// A packet does not fit into the format.
pub fn pcapng_of_headers(recording: &Recording, place: Place) -> Result<Vec<u8>, WriteError> {
    capture(recording, place, Some(HEADERS))
}

fn capture(
    recording: &Recording,
    place: Place,
    snaplen: Option<u32>,
) -> Result<Vec<u8>, WriteError> {
    let run = &recording.run;
    let comment = format!("run {}, seed {}, sender {}", run.run, run.seed, run.sender);
    let interface = Interface { name: place.name().into(), comment: Some(comment), snaplen };
    let mut writer = Writer::new(Vec::new(), &interface)?;
    let mut conversations: Vec<Conversation> = Vec::new();
    for row in recording.segments.iter().filter(|row| row.place == place) {
        let (at, comment) = (RUN_START + row.at.since(Instant::START), comment_on(row));
        if let Some(head) = recording.heads.get(row.copy as usize) {
            writer.captured(at, (head, row.bytes as usize), comment.as_deref())?;
            continue;
        }
        // A simulated datagram is not part of a TCP conversation.
        if row.segment.flags == Flags::NONE {
            continue;
        }
        for flow in conversations.len() as u32..=row.flow {
            conversations.push(conversation(flow, run.seed));
        }
        let packet = conversations[row.flow as usize].packet(sender_of(row), &row.segment);
        writer.packet(&CapturedPacket {
            at,
            identification: row.copy as u16,
            comment: comment.map(Cow::Owned),
            ..packet
        })?;
    }
    writer.finish()
}

fn conversation(flow: u32, seed: u64) -> Conversation {
    let (host, port) = (flow / CLIENT_PORTS.len() as u32, flow % CLIENT_PORTS.len() as u32);
    let addresses =
        Addresses::V4 { from: Ipv4Addr::from(SENDER + host), to: Ipv4Addr::from(RECEIVER + host) };
    let ports = Ports { from: CLIENT_PORTS.start() + port as u16, to: SERVER_PORT };
    let isn = mix(seed ^ u64::from(flow).rotate_left(32));
    Conversation::new(addresses, ports, [isn as u32, (isn >> 32) as u32])
}

/// The finalizer of SplitMix64.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The end that sent the packet. The flow's sender opens the connection, so it is the client.
const fn sender_of(row: &SegmentRow) -> End {
    match (row.place, row.event) {
        (Place::Sender, PacketEvent::Sent) | (Place::Receiver, PacketEvent::Received) => {
            End::Client
        }
        (Place::Sender, PacketEvent::Received) | (Place::Receiver, PacketEvent::Sent) => {
            End::Server
        }
    }
}

fn comment_on(row: &SegmentRow) -> Option<String> {
    let mut remarks = Vec::new();
    match (row.retransmission, row.unneeded) {
        (false, _) => {}
        (true, false) => remarks.push("retransmission, needed".to_string()),
        (true, true) => remarks.push("retransmission, unneeded".to_string()),
    }
    match (row.fate, row.fate_at) {
        (Fate::Delivered, _) => {}
        (Fate::Underway, _) => remarks.push("under way at the end of the run".to_string()),
        (Fate::Corrupt, _) => remarks.push("arrives damaged".to_string()),
        (Fate::Absorbed, _) => remarks.push("taken out by a middlebox".to_string()),
        (Fate::Dropped(_), None) => remarks.push(format!("lost: {}", row.fate.name())),
        (Fate::Dropped(_), Some(at)) => {
            remarks.push(format!("lost: {} at {at}", row.fate.name()));
        }
    }
    if !row.held.is_zero() {
        remarks.push(format!("held for {}", row.held));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
