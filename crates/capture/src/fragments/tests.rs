use rtolab_packet::NoSegment;
use rtolab_packet::protocol::EXTENSIONS;

use super::*;

const LATER: Instant = Instant::from_nanos(61_000_000_000);

/// A fragment of a packet with this identification: its offset, its length, and whether more
/// follow.
fn piece(identification: u16, offset: usize, length: usize, more: bool) -> Vec<u8> {
    let total = (20 + length) as u16;
    let place = (offset / 8) as u16 | u16::from(more) << 13;
    let mut bytes = vec![0x45, 0];
    bytes.extend([total, identification, place].map(u16::to_be_bytes).concat());
    bytes.extend([64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend((offset..offset + length).map(|at| at as u8));
    bytes
}

fn take(
    fragments: &mut Fragments,
    bytes: &[u8],
    at: Instant,
) -> Result<Option<Vec<u8>>, NoSegment> {
    let ip = Ip::parse(bytes, bytes.len(), EXTENSIONS)?;
    let fragment = ip.fragment.ok_or(NoSegment::Other)?;
    match fragments.take(&ip, fragment, at) {
        Taken::Kept => Ok(None),
        Taken::Whole => Ok(fragments.whole(&ip, fragment).map(|whole| whole.payload.to_vec())),
    }
}

/// The packets completed by these fragments, in this order.
fn put_together(pieces: &[Vec<u8>]) -> (Vec<Vec<u8>>, Fragments) {
    let mut fragments = Fragments::default();
    let took = |piece: &Vec<u8>| take(&mut fragments, piece, Instant::START).expect("a fragment");
    (pieces.iter().filter_map(took).collect(), fragments)
}

fn numbers(length: usize) -> Vec<u8> {
    (0..length).map(|at| at as u8).collect()
}

#[test]
fn in_any_order_and_twice_they_make_one_packet() {
    let [a, b, c] = [piece(1, 0, 16, true), piece(1, 16, 24, true), piece(1, 40, 5, false)];
    for order in
        [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]]
    {
        let twice: Vec<Vec<u8>> =
            order[..2].iter().flat_map(|one| [*one; 2]).chain([order[2]]).cloned().collect();
        let (whole, mut fragments) = put_together(&twice);
        assert_eq!(whole, [numbers(45)]);
        fragments.finish();
        assert_eq!((fragments.given_up, fragments.overlapping, fragments.bytes), (0, 0, 0));
    }
}

#[test]
fn packets_are_told_apart_by_identification() {
    let pieces = [piece(1, 0, 8, true), piece(2, 0, 8, true), piece(2, 8, 1, false)];
    let (whole, mut fragments) = put_together(&pieces);
    assert_eq!(whole, [numbers(9)]);
    fragments.finish();
    assert_eq!(fragments.given_up, 1);
}

#[test]
fn what_overlaps_is_refused_with_all_of_its_packet() {
    for (offset, length, more) in [
        (8, 16, true),  // its beginning is known
        (0, 24, true),  // all of another is in it
        (16, 16, true), // it reaches into the next
        (24, 16, true), // the same place, another length
        (40, 8, true),  // behind the last
        (32, 8, false), // another end
        (16, 7, true),  // no multiple of eight
        (16, 0, true),  // nothing
    ] {
        let known = [piece(1, 0, 16, true), piece(1, 24, 8, true), piece(1, 32, 4, false)];
        let late = piece(1, 16, 8, true);
        let (whole, mut fragments) =
            put_together(&[&known[..], &[piece(1, offset, length, more), late]].concat());
        assert!(whole.is_empty(), "{offset} {length} {more}");
        fragments.finish();
        assert_eq!((fragments.overlapping, fragments.given_up), (5, 0), "{offset} {length} {more}");
    }
}

#[test]
fn what_never_becomes_whole_is_given_up_after_a_minute() {
    let mut fragments = Fragments::default();
    let [first, last] = [piece(1, 0, 8, true), piece(1, 8, 1, false)];
    assert_eq!(take(&mut fragments, &first, Instant::START), Ok(None));
    assert_eq!(take(&mut fragments, &last, LATER), Ok(None));
    assert_eq!(fragments.given_up, 1);
    assert_eq!(take(&mut fragments, &first, LATER), Ok(Some(numbers(9))));
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut fragments = Fragments::default();
    for number in 0..40_000_u32 {
        let piece = piece(number as u16, 8 * (number >> 10 & 0xfff) as usize, 1400, true);
        let _ = take(&mut fragments, &piece, Instant::from_nanos(u64::from(number) * 1000));
        assert!(fragments.bytes <= MOST_BYTES && fragments.open.len() <= MOST_PACKETS);
        assert!(fragments.order.len() <= 2 * MOST_PACKETS);
    }
    fragments.finish();
    assert_eq!(fragments.given_up + fragments.overlapping, 40_000);
}

#[test]
fn a_cut_fragment_ends_what_is_known_of_the_packet() {
    let mut fragments = Fragments::default();
    let [first, last] = [piece(1, 0, 16, true), piece(1, 16, 8, false)];
    let ip = Ip::parse(&first[..30], first.len(), EXTENSIONS).expect("a packet");
    let fragment = ip.fragment.expect("a fragment");
    assert_eq!(fragments.take(&ip, fragment, Instant::START), Taken::Kept);
    let ip = Ip::parse(&last, last.len(), EXTENSIONS).expect("a packet");
    let fragment = ip.fragment.expect("a fragment");
    assert_eq!(fragments.take(&ip, fragment, Instant::START), Taken::Whole);
    let whole = fragments.whole(&ip, fragment).expect("all are there");
    assert_eq!((whole.payload, whole.length), (&numbers(10)[..], 24));
}
