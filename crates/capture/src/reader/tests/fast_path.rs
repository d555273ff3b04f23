//! The fast path has the results of the general one. Input that comes byte by byte cannot take it,
//! because the buffer never contains a whole record beforehand.

use arrayvec::ArrayVec;
use proptest::collection::vec;
use proptest::option;
use rtolab_tcp::wire::SackBlock;

use super::*;

/// Input that comes byte by byte.
struct Bytewise<'a>(&'a [u8]);

impl io::Read for Bytewise<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(1);
        self.0.read(&mut into[..length])
    }
}

/// The results of reading a file without verification of checksums.
fn results(input: impl io::Read) -> String {
    let reader = match Reader::new(input) {
        Ok(reader) => reader,
        Err(error) => return format!("{error:?}"),
    };
    let mut reader = reader.without_checksums();
    let packets: Vec<_> = reader.by_ref().collect();
    let links: Vec<_> = reader.unknown_links().collect();
    format!("{packets:?} {:?} {links:?} {}", reader.skipped(), reader.offset())
}

fn any_packet() -> impl Strategy<Value = CapturedPacket> {
    let addresses = prop_oneof![4 => Just(V4), 1 => Just(V6)];
    let stamps = option::of((any::<u32>(), any::<u32>()));
    let sack = vec((any::<u32>(), any::<u32>()), 0..3);
    (addresses, 0..40_u32, any::<u16>(), stamps, sack, any::<u32>()).prop_map(
        |(addresses, len, flags, stamps, sack, number)| {
            let mut packet = packet(AT + u64::from(number), addresses, len);
            // Most segments are no SYNs.
            let is_syn = number % 8 == 0;
            let bits = if is_syn { flags } else { flags & !Flags::SYN.bits() };
            let segment = &mut packet.segment;
            segment.flags = Flags::from_bits(bits);
            segment.timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let blocks = sack.into_iter().map(|(start, end)| SackBlock { start, end });
            segment.sack = blocks.collect::<ArrayVec<_, 4>>();
            if number % 16 == 0 {
                packet.comment = Some("a comment".into());
            }
            packet
        },
    )
}

/// Bytes of a file, by their position in thousandths of it, that are replaced.
fn changes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    vec((0..1000_usize, any::<u8>()), 0..4)
}

fn change(file: &mut [u8], changes: &[(usize, u8)]) {
    let length = file.len();
    for &(thousandths, byte) in changes {
        file[thousandths * length / 1000] = byte;
    }
}

proptest! {
    #[test]
    fn pcapng_files_have_the_same_packets(
        packets in vec(any_packet(), 1..8), changes in changes(),
    ) {
        let mut file = write(&packets);
        change(&mut file, &changes);
        prop_assert_eq!(results(&file[..]), results(Bytewise(&file)));
    }

    #[test]
    fn pcap_files_have_the_same_packets(
        packets in vec(any_packet(), 1..8), changes in changes(),
        magic in prop_oneof![Just(0xa1b2_c3d4_u32), Just(0xa1b2_3c4d)], big_endian in any::<bool>(),
    ) {
        let order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
        let mut file = order.pcap(magic, 101, [7, 8], &ip(&packets[0]));
        for packet in &packets[1..] {
            let frame = ip(packet);
            let length = frame.len() as u32;
            file.extend(order.words(&[9, 10, length, length]));
            file.extend(frame);
        }
        change(&mut file, &changes);
        prop_assert_eq!(results(&file[..]), results(Bytewise(&file)));
    }
}

#[test]
fn plain_packets_take_the_fast_path() {
    let packet = packet(AT, V4, 10);
    let file = write(std::slice::from_ref(&packet));
    let mut reader = Reader::new(&file[..]).expect("a capture").without_checksums();
    let mut found = Captured::empty();
    // The section header and the interface.
    for _ in 0..2 {
        assert!(!reader.read_plain(&mut found));
        reader.record().expect("a block");
    }
    reader.source.next_record();
    assert!(reader.read_plain(&mut found));
    assert_eq!(found.packet, packet);
}
