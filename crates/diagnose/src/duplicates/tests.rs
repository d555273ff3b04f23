//! Tests of the recognition of copies, on single packets.

use rtolab_tcp::Timestamps;
use rtolab_tcp::wire::SackBlock;

use super::*;

const HERE: Location = Location { interface: 0, hops: 64 };
const THERE: Location = Location { interface: 1, hops: 64 };

/// A packet with this IP identification.
fn packet(identification: u16, flags: Flags) -> CapturedPacket {
    let mut packet = Captured::empty().packet;
    (packet.identification, packet.segment.flags) = (identification, flags);
    packet
}

fn stamped(mut packet: CapturedPacket) -> CapturedPacket {
    packet.segment.timestamps = Some(Timestamps { value: 1, echo: 2 });
    packet
}

/// The packets of one direction.
#[derive(Default)]
struct Direction {
    recent: RecentPackets,
    /// The number of copies before.
    copies: u64,
}

impl Direction {
    fn pass(&mut self, packet: &CapturedPacket, micros: u64, location: Location) -> Option<Copy> {
        let Location { interface, hops } = location;
        let packet = packet.clone();
        let captured = Captured { interface, hops, packet, ..Captured::empty() };
        let at = Instant::START + Duration::from_micros(micros);
        self.recent.copied(&captured, at, self.copies)
    }
}

/// Is the second of two equal packets, `micros` later and at this location, a copy of the first?
fn is_copy(packet: &CapturedPacket, micros: u64, second: Location, copies: u64) -> bool {
    let mut direction = Direction { copies, ..Direction::default() };
    assert_eq!(direction.pass(packet, 1000, HERE), None);
    direction.pass(packet, 1000 + micros, second).is_some()
}

#[test]
fn the_identification_tells_copies_from_retransmissions_for_50_ms() {
    let (numbered, without) = (packet(7, Flags::ACK), packet(0, Flags::ACK));
    for location in [HERE, THERE] {
        assert!(is_copy(&numbered, 50_000, location, 0));
        assert!(!is_copy(&numbered, 50_001, location, 0));
    }
    assert!(is_copy(&without, 100, HERE, 0));
    assert!(!is_copy(&without, 101, HERE, 0));
    assert!(is_copy(&without, 50_000, THERE, 0));
    assert!(!is_copy(&without, 50_001, THERE, 0));
}

/// A host retransmits a SYN after a second.
#[test]
fn equal_syns_are_copies_for_half_a_second() {
    let syn = packet(7, Flags::SYN);
    for location in [HERE, THERE] {
        assert!(is_copy(&syn, 500_000, location, 0));
        assert!(!is_copy(&syn, 500_001, location, 0));
        // A retransmission would have another timestamp.
        assert!(is_copy(&stamped(syn.clone()), 1_000_000, location, 0));
    }
}

/// A retransmitted SYN and an expired timer cause equal SYN-ACKs at almost the same time.
#[test]
fn equal_syn_acks_without_an_identification_are_copies_if_something_else_shows_it() {
    let syn_ack = packet(0, Flags::SYN | Flags::ACK);
    assert!(!is_copy(&syn_ack, 50, HERE, 0));
    assert!(is_copy(&syn_ack, 50, HERE, 1), "the capture has other copies");
    assert!(is_copy(&syn_ack, 500_000, THERE, 0), "another location");
    assert!(!is_copy(&syn_ack, 500_001, THERE, 0));
    assert!(is_copy(&stamped(syn_ack.clone()), 1_000_000, THERE, 0));
    // Timestamps differ after a tick of the clock, 10 ms at most.
    assert!(!is_copy(&stamped(syn_ack.clone()), 10_000, HERE, 0));
    assert!(is_copy(&stamped(syn_ack), 10_001, HERE, 0));
}

/// Only a timer causes another SYN-ACK then, after a second or more.
#[test]
fn equal_syn_acks_are_copies_for_half_a_second_if_the_peer_sent_one_syn() {
    let is_copy = |syn_ack: &CapturedPacket, micros: u64, syns| {
        let mut direction = Direction::default();
        (0..syns).for_each(|_| direction.recent.on_peer_syn());
        assert_eq!(direction.pass(syn_ack, 1000, HERE), None);
        direction.pass(syn_ack, 1000 + micros, HERE).is_some()
    };
    let syn_ack = packet(0, Flags::SYN | Flags::ACK);
    for (syns, expected) in [(0, false), (1, true), (2, false)] {
        assert_eq!(is_copy(&syn_ack, 50, syns), expected, "{syns}");
        assert_eq!(is_copy(&stamped(syn_ack.clone()), 50, syns), expected, "{syns}");
    }
    assert!(is_copy(&syn_ack, 500_000, 1));
    assert!(!is_copy(&syn_ack, 500_001, 1));
    assert!(is_copy(&stamped(syn_ack), 1_000_000, 1));
}

#[test]
fn equal_resets_without_an_identification_are_copies_if_something_else_shows_it() {
    let reset = packet(0, Flags::RST);
    assert!(!is_copy(&reset, 50, HERE, 0));
    assert!(is_copy(&reset, 50, HERE, 1));
    assert!(is_copy(&reset, 50, THERE, 0));
    assert!(is_copy(&packet(7, Flags::RST), 50, HERE, 0));
}

#[test]
fn a_copy_has_its_lag_and_the_locations_that_saw_others() {
    let numbered = packet(7, Flags::ACK);
    let mut direction = Direction::default();
    assert_eq!(direction.recent.location(), None);
    assert_eq!(direction.pass(&numbered, 1000, HERE), None);
    assert_eq!(direction.recent.location(), Some(HERE));
    let copy =
        |micros, first, others| Some(Copy { lag: Duration::from_micros(micros), first, others });
    assert_eq!(direction.pass(&numbered, 1300, THERE), copy(300, HERE, 1));
    assert_eq!(direction.recent.location(), Some(THERE));
    let third = Location { interface: 2, hops: 63 };
    assert_eq!(direction.pass(&numbered, 1400, third), copy(100, THERE, 2));
    // A location that saw the packet before counts first, even if others saw it later.
    assert_eq!(direction.pass(&numbered, 1500, HERE), copy(500, HERE, 2));
}

#[test]
fn a_syn_at_a_third_location_has_two_others() {
    let syn = packet(7, Flags::SYN);
    let mut direction = Direction::default();
    direction.pass(&syn, 0, HERE);
    assert_eq!(direction.pass(&syn, 10, THERE).map(|copy| copy.others), Some(1));
    let third = Location { interface: 2, hops: 63 };
    assert_eq!(direction.pass(&syn, 20, third).map(|copy| copy.others), Some(2));
}

#[test]
fn a_packet_is_compared_with_the_latest_16() {
    for (others, is_known) in [(15, true), (16, false)] {
        let mut direction = Direction::default();
        direction.pass(&packet(1, Flags::ACK), 0, HERE);
        (0..others).for_each(|n| _ = direction.pass(&packet(100 + n, Flags::ACK), 1, HERE));
        let copy = direction.pass(&packet(1, Flags::ACK), 2, HERE);
        assert_eq!(copy.is_some(), is_known, "{others}");
    }
}

/// Packets that differ from one without any bit set, each in a single bit of one field.
fn packets_of_one_bit() -> Vec<CapturedPacket> {
    let none = packet(0, Flags::from_bits(0));
    let mut packets = vec![none.clone()];
    let mut add = |change: &dyn Fn(&mut CapturedPacket)| {
        let mut changed = none.clone();
        change(&mut changed);
        packets.push(changed);
    };
    for bit in 0..32 {
        let value = 1_u32 << bit;
        add(&|one| one.segment.seq = value);
        add(&|one| one.segment.ack = value);
        add(&|one| one.segment.len = value);
        add(&|one| one.segment.timestamps = Some(Timestamps { value, echo: 0 }));
        add(&|one| one.segment.timestamps = Some(Timestamps { value: 0, echo: value }));
        add(&|one| one.segment.sack.push(SackBlock { start: value, end: 0 }));
        add(&|one| one.segment.sack.push(SackBlock { start: 0, end: value }));
    }
    for bit in 0..16 {
        add(&|one| one.segment.window = 1 << bit);
        add(&|one| one.identification = 1 << bit);
    }
    for flag in [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK] {
        add(&|one| one.segment.flags = flag);
    }
    packets
}

#[test]
fn fingerprints_differ_in_each_bit_of_each_field() {
    let packets = packets_of_one_bit();
    let found: std::collections::HashSet<u64> = packets.iter().map(fingerprint).collect();
    assert_eq!(found.len(), packets.len());
}

/// Both halves are compared on their own.
#[test]
fn each_bit_of_a_fingerprint_is_set_in_half_of_the_packets() {
    let count = 4000;
    let mut set = [0_u32; 64];
    for seq in 0..count {
        let mut packet = packet(seq as u16, Flags::ACK);
        packet.segment.seq = seq * 1460;
        let found = fingerprint(&packet);
        set.iter_mut().enumerate().for_each(|(bit, sum)| *sum += u32::from(found >> bit & 1 == 1));
    }
    for (bit, sum) in set.into_iter().enumerate() {
        // Eight standard deviations of a fair coin are 250.
        assert!(sum.abs_diff(count / 2) < 250, "bit {bit}: {sum} of {count}");
    }
}
