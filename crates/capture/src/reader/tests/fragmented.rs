//! Tests with segments in fragmented IP packets.

use super::*;

const LEN: u32 = 3000;

/// The fragments of an IPv4 packet, cut at these offsets of its payload.
fn v4(whole: &[u8], ends: &[usize]) -> Vec<Vec<u8>> {
    let (head, payload) = whole.split_at(20);
    split(payload, ends)
        .map(|(start, part, more)| {
            let mut head = head.to_vec();
            head[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
            let offset_field = (start / 8) as u16 | u16::from(more) << 13;
            head[6..8].copy_from_slice(&offset_field.to_be_bytes());
            [&head[..], part].concat()
        })
        .collect()
}

/// The fragments of an IPv6 packet, cut at these offsets of its payload. Destination options
/// precede TCP in the first.
fn v6(whole: &[u8], ends: &[usize]) -> Vec<Vec<u8>> {
    let (head, segment) = whole.split_at(40);
    let payload = [&[6, 0, 1, 4, 0, 0, 0, 0][..], segment].concat();
    split(&payload, ends)
        .map(|(start, part, more)| {
            let mut head = head.to_vec();
            head[4..6].copy_from_slice(&(8 + 8 + part.len() as u16).to_be_bytes());
            head[6] = 0;
            let offset_field = (start as u16 & !7) | u16::from(more);
            let [high, low] = offset_field.to_be_bytes();
            // Hop-by-hop options, then the fragment header.
            head.extend([44, 0, 1, 4, 0, 0, 0, 0]);
            head.extend([60, 0, high, low, 9, 9, 9, 9]);
            [&head[..], part].concat()
        })
        .collect()
}

/// The parts of a payload that end at these bytes and at its end: offset, bytes, and whether more
/// follow.
fn split<'a>(
    payload: &'a [u8],
    ends: &'a [usize],
) -> impl Iterator<Item = (usize, &'a [u8], bool)> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([payload.len()]);
    starts.zip(ends).map(|(start, end)| (start, &payload[start..end], end < payload.len()))
}

/// A capture of these packets, a second apart.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let order = ByteOrder::Little;
    let frames = frames.iter().zip(0..).map(|(frame, at)| order.frame(0, at * 1_000_000, frame));
    let head = [order.section(), order.interface(101, &[])];
    head.into_iter().chain(frames).collect::<Vec<_>>().concat()
}

fn both_versions() -> [(CapturedPacket, Vec<Vec<u8>>); 2] {
    let ends = [8, 1480, 2960];
    [
        (packet(0, V4, LEN), v4(&ip(&packet(0, V4, LEN)), &ends)),
        (packet(0, V6, LEN), v6(&ip(&packet(0, V6, LEN)), &ends)),
    ]
}

#[test]
fn the_last_fragment_completes_a_segment() {
    for (segment, fragments) in both_versions() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let file = capture(&order.map(|at| fragments[at].clone()));
            let (captured, error, skipped) = read(&file);
            assert!(error.is_none());
            assert_eq!(skipped, Skipped::default());
            let [one] = &captured[..] else { panic!("{} packets", captured.len()) };
            let at = Instant::from_nanos(3_000_000_000);
            assert_eq!(one.packet, CapturedPacket { at, ..segment.clone() });
            assert_eq!((one.number, one.checksum), (4, Checksum::Good));
        }
    }
}

#[test]
fn an_atomic_fragment_is_a_whole_packet() {
    let atomic = v6(&ip(&packet(0, V6, 10)), &[]);
    assert_eq!(read_whole(&capture(&atomic)), [packet(0, V6, 10)]);
}

#[test]
fn fragments_of_incomplete_packets_are_counted() {
    for (_, fragments) in both_versions() {
        let (captured, _, skipped) = read(&capture(&fragments[..3]));
        assert!(captured.is_empty());
        assert_eq!(skipped, Skipped { fragments: 3, ..Skipped::default() });
    }
}

#[test]
fn overlapping_fragments_are_discarded_and_counted() {
    let whole = ip(&packet(0, V4, LEN));
    let [honest, other] = [v4(&whole, &[1480, 2960]), v4(&whole, &[1472, 2952])];
    let file =
        capture(&[honest[0].clone(), other[1].clone(), honest[1].clone(), honest[2].clone()]);
    let (captured, _, skipped) = read(&file);
    assert!(captured.is_empty());
    assert_eq!(skipped, Skipped { overlapping: 4, ..Skipped::default() });
}

#[test]
fn extension_headers_are_skipped() {
    let whole = ip(&packet(0, V6, 10));
    let (head, segment) = whole.split_at(40);
    // Hop-by-hop, routing of 24 bytes, authentication of 16, destination options.
    let mut chain = vec![43, 0, 1, 4, 0, 0, 0, 0, 51, 2, 4, 0];
    chain.extend([0; 20]);
    chain.extend([60, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chain.extend([6, 0, 1, 4, 0, 0, 0, 0]);
    let mut bytes = [head, &chain, segment].concat();
    bytes[4..6].copy_from_slice(&((chain.len() + segment.len()) as u16).to_be_bytes());
    bytes[6] = 0;
    assert_eq!(read_whole(&capture(&[bytes])), [packet(0, V6, 10)]);
}
