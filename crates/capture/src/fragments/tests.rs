use rtolab_packet::NoSegment;
use rtolab_packet::protocol::EXTENSIONS;

use super::*;

const LATER: Instant = Instant::from_nanos(61_000_000_000);

/// A fragment of a packet with this identification. `more` is whether further fragments follow.
fn fragment(identification: u16, offset: usize, length: usize, more: bool) -> Vec<u8> {
    let total = (20 + length) as u16;
    let offset_field = (offset / 8) as u16 | u16::from(more) << 13;
    let mut bytes = vec![0x45, 0];
    bytes.extend([total, identification, offset_field].map(u16::to_be_bytes).concat());
    bytes.extend([64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend((offset..offset + length).map(|at| at as u8));
    bytes
}

fn add(fragments: &mut Fragments, bytes: &[u8], at: Instant) -> Result<Option<Vec<u8>>, NoSegment> {
    let ip = Ip::parse(bytes, bytes.len(), EXTENSIONS)?;
    let fragment = ip.fragment.ok_or(NoSegment::Other)?;
    match fragments.add(&ip, fragment, at) {
        Reassembly::Incomplete => Ok(None),
        Reassembly::Complete => {
            Ok(fragments.complete_packet(&ip, fragment).map(|whole| whole.payload.to_vec()))
        }
    }
}

/// The packets that these fragments complete, in this order.
fn reassemble(fragments_of_packet: &[Vec<u8>]) -> (Vec<Vec<u8>>, Fragments) {
    let mut fragments = Fragments::default();
    let completed =
        |fragment: &Vec<u8>| add(&mut fragments, fragment, Instant::START).expect("a fragment");
    (fragments_of_packet.iter().filter_map(completed).collect(), fragments)
}

fn numbers(length: usize) -> Vec<u8> {
    (0..length).map(|at| at as u8).collect()
}

#[test]
fn fragments_in_any_order_and_with_duplicates_make_one_packet() {
    let [a, b, c] =
        [fragment(1, 0, 16, true), fragment(1, 16, 24, true), fragment(1, 40, 5, false)];
    for order in
        [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]]
    {
        let twice: Vec<Vec<u8>> =
            order[..2].iter().flat_map(|one| [*one; 2]).chain([order[2]]).cloned().collect();
        let (whole, mut fragments) = reassemble(&twice);
        assert_eq!(whole, [numbers(45)]);
        fragments.finish();
        assert_eq!((fragments.incomplete, fragments.overlapping, fragments.bytes), (0, 0, 0));
    }
}

#[test]
fn packets_are_distinguished_by_their_identification() {
    let fragments_of_packet =
        [fragment(1, 0, 8, true), fragment(2, 0, 8, true), fragment(2, 8, 1, false)];
    let (whole, mut fragments) = reassemble(&fragments_of_packet);
    assert_eq!(whole, [numbers(9)]);
    fragments.finish();
    assert_eq!(fragments.incomplete, 1);
}

#[test]
fn a_packet_with_overlapping_fragments_is_discarded() {
    for (offset, length, more) in [
        (8, 16, true),  // its beginning overlaps
        (0, 24, true),  // it contains another
        (16, 16, true), // it overlaps the next one
        (24, 16, true), // the same offset with another length
        (40, 8, true),  // after the last one
        (32, 8, false), // another end
        (16, 7, true),  // not a multiple of eight
        (16, 0, true),  // empty
    ] {
        let known = [fragment(1, 0, 16, true), fragment(1, 24, 8, true), fragment(1, 32, 4, false)];
        let late = fragment(1, 16, 8, true);
        let (whole, mut fragments) =
            reassemble(&[&known[..], &[fragment(1, offset, length, more), late]].concat());
        assert!(whole.is_empty(), "{offset} {length} {more}");
        fragments.finish();
        assert_eq!(
            (fragments.overlapping, fragments.incomplete),
            (5, 0),
            "{offset} {length} {more}"
        );
    }
}

#[test]
fn an_incomplete_packet_is_discarded_after_a_minute() {
    let mut fragments = Fragments::default();
    let [first, last] = [fragment(1, 0, 8, true), fragment(1, 8, 1, false)];
    assert_eq!(add(&mut fragments, &first, Instant::START), Ok(None));
    assert_eq!(add(&mut fragments, &last, LATER), Ok(None));
    assert_eq!(fragments.incomplete, 1);
    assert_eq!(add(&mut fragments, &first, LATER), Ok(Some(numbers(9))));
}

#[test]
fn memory_is_bounded_for_any_fragments() {
    let mut fragments = Fragments::default();
    for number in 0..40_000_u32 {
        let fragment = fragment(number as u16, 8 * (number >> 10 & 0xfff) as usize, 1400, true);
        let _ = add(&mut fragments, &fragment, Instant::from_nanos(u64::from(number) * 1000));
        assert!(fragments.bytes <= MAX_BYTES && fragments.open.len() <= MAX_PACKETS);
        assert!(fragments.order.len() <= 2 * MAX_PACKETS);
    }
    fragments.finish();
    assert_eq!(fragments.incomplete + fragments.overlapping, 40_000);
}

#[test]
fn the_payload_ends_at_the_first_cut_fragment() {
    let mut fragments = Fragments::default();
    let [first, last] = [fragment(1, 0, 16, true), fragment(1, 16, 8, false)];
    let ip = Ip::parse(&first[..30], first.len(), EXTENSIONS).expect("a packet");
    let fragment = ip.fragment.expect("a fragment");
    assert_eq!(fragments.add(&ip, fragment, Instant::START), Reassembly::Incomplete);
    let ip = Ip::parse(&last, last.len(), EXTENSIONS).expect("a packet");
    let fragment = ip.fragment.expect("a fragment");
    assert_eq!(fragments.add(&ip, fragment, Instant::START), Reassembly::Complete);
    let whole = fragments.complete_packet(&ip, fragment).expect("all are there");
    assert_eq!((whole.payload, whole.length), (&numbers(10)[..], 24));
}
