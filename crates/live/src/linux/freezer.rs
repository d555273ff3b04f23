//! The middlebox that closes windows (see [`freeze`](rtolab_net::middlebox::freeze)), for kernels'
//! packets.

use rtolab_net::middlebox::freeze::FreezeSchedule;
use rtolab_packet::ip_header;
use rtolab_record::Place;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::{Payload, WireSegment};

use super::packet::{Packet, ipv4};

/// Closes the window of every flow before and during disconnections.
#[derive(Clone, Debug)]
pub(crate) struct Freezer {
    /// The node at which packets pass it.
    pub node: usize,
    pub schedule: FreezeSchedule,
    /// The newest ACK of each flow, with the receiver's window.
    newest: Vec<Option<(u32, Packet)>>,
}

impl Freezer {
    /// A middlebox at `node` that closes and reopens the windows of `flows` flows.
    pub(crate) fn new(node: usize, schedule: FreezeSchedule, flows: usize) -> Self {
        Self { node, schedule, newest: vec![None; flows] }
    }

    /// Closes the window of a packet, if it is the ACK of a receiver and windows are closed.
    /// Returns whether it did.
    pub(crate) fn on_packet(&mut self, packet: &mut Packet) -> bool {
        let Some((flow, Place::Receiver)) = packet.flow else { return false };
        if packet.damaged {
            return false;
        }
        let segment = segment(packet).filter(|segment| {
            segment.flags.has(Flags::ACK) && !segment.flags.any(Flags::SYN | Flags::RST)
        });
        let Some(segment) = segment else { return false };
        let newest = &mut self.newest[flow];
        if newest.as_ref().is_none_or(|(ack, _)| segment.ack.wrapping_sub(*ack) as i32 >= 0) {
            *newest = Some((segment.ack, packet.clone()));
        }
        let is_frozen = self.schedule.is_frozen();
        is_frozen && rewrite(packet, |segment| segment.window = 0)
    }

    /// Closes or reopens all windows. Returns the ACKs that then leave towards the senders, each
    /// at the step of its route that follows the node. They need new copy numbers.
    pub(crate) fn change(&mut self) -> Vec<Packet> {
        let copies = self.schedule.pass_change();
        let is_frozen = self.schedule.is_frozen();
        let mut acks = Vec::new();
        for (_, newest) in self.newest.iter().flatten() {
            let mut ack = newest.clone();
            let is_whole = rewrite(&mut ack, |segment| {
                let fin = u32::from(segment.flags.has(Flags::FIN));
                segment.seq = segment.seq.wrapping_add(segment.len + fin);
                (segment.len, segment.flags) = (0, Flags::ACK);
                if is_frozen {
                    segment.window = 0;
                }
            });
            if is_whole {
                acks.extend(std::iter::repeat_n(ack, copies));
            }
        }
        acks
    }
}

fn segment(packet: &Packet) -> Option<WireSegment> {
    let ip = ipv4(&packet.bytes, packet.bytes.len()).filter(rtolab_packet::Ip::is_tcp)?;
    WireSegment::parse(ip.payload, ip.length).ok()
}

/// Changes the header of a TCP segment, and corrects its checksums. Without its length the payload
/// goes, too. Returns whether the packet is a TCP segment.
fn rewrite(packet: &mut Packet, change: impl FnOnce(&mut WireSegment)) -> bool {
    let changed = || {
        let ip = ipv4(&packet.bytes, packet.bytes.len()).filter(rtolab_packet::Ip::is_tcp)?;
        let mut segment = WireSegment::parse(ip.payload, ip.length).ok()?;
        let begin = ip.length - segment.len as usize;
        change(&mut segment);
        let payload = ip.payload.get(begin..begin + segment.len as usize)?;
        let header = segment.emit(ip.header.addresses, Payload::Bytes(payload));
        let rtolab_packet::IpHeader { addresses, codepoint, identification, .. } = ip.header;
        let length = header.len() + payload.len();
        let mut bytes = ip_header(addresses, codepoint, identification, length)?;
        bytes.extend(header);
        bytes.extend(payload);
        Some(bytes)
    };
    match changed() {
        Some(bytes) => {
            packet.bytes = bytes;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use rtolab_link::{CopyId, Interval};
    use rtolab_packet::header_checksum_holds;
    use rtolab_tcp::wire::{Addresses, Ports, checksum_holds};
    use rtolab_tcp::{SynOptions, Timestamps};
    use rtolab_time::{Duration, Instant};

    use super::*;

    const ADDRESSES: Addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 83, 0, 2), to: Ipv4Addr::new(10, 83, 0, 1) };

    /// A packet of flow 0 with this acknowledgment number and payload.
    fn packet(from: Place, ack: u32, payload: &[u8]) -> Packet {
        let segment = WireSegment {
            ports: Ports { from: 10_000, to: 30_000 },
            seq: 7,
            ack,
            len: payload.len() as u32,
            window: 500,
            timestamps: Some(Timestamps { value: 3, echo: 2 }),
            flags: Flags::ACK,
            syn: SynOptions::default(),
            sack: std::iter::empty().collect(),
        };
        let header = segment.emit(ADDRESSES, Payload::Bytes(payload));
        let length = header.len() + payload.len();
        let codepoint = rtolab_tcp::Codepoint::NotEct;
        let mut bytes = ip_header(ADDRESSES, codepoint, 9, length).unwrap();
        bytes.extend(header);
        bytes.extend(payload);
        let hops = Arc::from([]);
        Packet { bytes, copy: CopyId(0), hops, step: 1, flow: Some((0, from)), damaged: false }
    }

    /// A middlebox with a disconnection from 10 s to 12 s, and a warning of 500 ms.
    fn freezer() -> Freezer {
        let length = Duration::from_secs(2);
        let disconnection = Interval { at: Instant::START + Duration::from_secs(10), length };
        let schedule = FreezeSchedule::new([disconnection].into(), Duration::from_millis(500));
        Freezer::new(0, schedule, 1)
    }

    /// Sequence number, acknowledgment number, window and length, if both checksums hold.
    fn fields(packet: &Packet) -> (u32, u32, u16, u32) {
        assert!(header_checksum_holds(&packet.bytes));
        assert!(checksum_holds(&packet.bytes[20..], ADDRESSES));
        let segment = segment(packet).unwrap();
        assert_eq!(segment.timestamps, Some(Timestamps { value: 3, echo: 2 }));
        (segment.seq, segment.ack, segment.window, segment.len)
    }

    #[test]
    fn the_window_is_closed_before_a_disconnection_and_reopened_after_it() {
        let mut freezer = freezer();
        let mut ack = packet(Place::Receiver, 100, b"data");
        assert!(!freezer.on_packet(&mut ack));
        assert_eq!(fields(&ack), (7, 100, 500, 4));
        // The newest ACK leaves again, without its data and with a closed window.
        let closing = freezer.change();
        assert_eq!(closing.iter().map(fields).collect::<Vec<_>>(), [(11, 100, 0, 0)]);
        // Later ones keep their data.
        let mut ack = packet(Place::Receiver, 200, b"data");
        assert!(freezer.on_packet(&mut ack));
        assert_eq!(fields(&ack), (7, 200, 0, 4));
        let opening = freezer.change();
        assert_eq!(opening.iter().map(fields).collect::<Vec<_>>(), [(11, 200, 500, 0); 3]);
        assert_eq!(freezer.schedule.next_change(), None);
    }

    #[test]
    fn only_intact_acks_of_the_receiver_count() {
        let mut freezer = freezer();
        let _ = freezer.change();
        let mut damaged = packet(Place::Receiver, 100, b"");
        damaged.damaged = true;
        let unknown = Packet { flow: None, ..packet(Place::Receiver, 100, b"") };
        for mut packet in [packet(Place::Sender, 100, b""), damaged, unknown] {
            let before = packet.bytes.clone();
            assert!(!freezer.on_packet(&mut packet) && packet.bytes == before);
        }
        assert_eq!(freezer.change().len(), 0);
    }

    #[test]
    fn a_reordered_ack_does_not_replace_the_newest_one() {
        let mut freezer = freezer();
        // The acknowledgment numbers wrap.
        for ack in [5, u32::MAX] {
            freezer.on_packet(&mut packet(Place::Receiver, ack, b""));
        }
        assert_eq!(freezer.change().iter().map(fields).collect::<Vec<_>>(), [(7, 5, 0, 0)]);
    }
}
