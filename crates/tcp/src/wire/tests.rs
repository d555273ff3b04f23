use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

mod properties;

use super::*;

const ADDRESSES: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, 2) };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// A connection both of whose initial sequence numbers are about to wrap.
const MAPPING: WireMapping = WireMapping {
    from: Side { isn: 0xffff_fff0, shift: 7 },
    to: Side { isn: 0xffff_ffff, shift: 2 },
};
const START: SeqReference = SeqReference { seq: Seq::FIRST, ack: Seq::FIRST };

fn emit(segment: &Segment) -> Header {
    WireSegment::from_segment(segment, &MAPPING, PORTS).emit(ADDRESSES, Payload::Zeros)
}

fn parse(header: &[u8], len: u32) -> WireSegment {
    WireSegment::parse(header, header.len() + len as usize).expect("a whole header")
}

fn round_trip(segment: &Segment) -> Segment {
    let near = SeqReference { seq: segment.seq, ack: segment.ack };
    parse(&emit(segment), segment.len).to_segment(&MAPPING, near)
}

fn syn(options: SynOptions) -> Segment {
    let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    syn.set_syn_options(options);
    syn
}

fn ack(ack: Seq) -> Segment {
    let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    segment.ack = ack;
    segment
}

/// A header around `options`, in a segment without payload.
fn with_options(options: &[u8]) -> WireSegment {
    let mut bytes = vec![0; 20];
    bytes.extend(options);
    bytes[12] = ((bytes.len() / 4) as u8) << 4;
    bytes[13] = (Flags::SYN | Flags::ACK).bits() as u8;
    parse(&bytes, 0)
}

#[test]
fn a_syn_ack_byte_by_byte() {
    let mut segment = syn(SynOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..SynOptions::default()
    });
    segment.flags |= Flags::ACK;
    segment.ack = Seq::FIRST + 1;
    segment.window = 64_240;
    segment.set_timestamps(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });
    let expected = [
        0xc0, 0x00, 0x00, 0x50, // ports
        0xff, 0xff, 0xff, 0xf0, // sequence number
        0x00, 0x00, 0x00, 0x00, // acknowledgment number: just wrapped
        0xb0, 0x12, 0xfa, 0xf0, // 11 words, SA, window unscaled
        0x55, 0xa1, 0x00, 0x00, // checksum, urgent pointer
        0x02, 0x04, 0x05, 0xb4, // MSS
        0x01, 0x03, 0x03, 0x07, // NOP, window scale
        0x01, 0x01, 0x04, 0x02, // NOP, NOP, SACK permitted
        0x01, 0x01, 0x08, 0x0a, // NOP, NOP, timestamps
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
    ];
    assert_eq!(emit(&segment)[..], expected);
    assert_eq!(round_trip(&segment), segment);
}

#[test]
fn sack_blocks_across_the_wrap_byte_by_byte() {
    let mut segment = ack(Seq::FIRST + 1);
    segment.push_sack(Seq::FIRST - 15..Seq::FIRST + 17);
    let header = emit(&segment);
    assert_eq!(
        header[20..],
        [0x01, 0x01, 0x05, 0x0a, 0xff, 0xff, 0xff, 0xf0, 0x00, 0x00, 0x00, 0x10]
    );
    assert_eq!(round_trip(&segment), segment);
}

#[test]
fn rxt_and_its_echo_are_reserved_header_bits() {
    for (flag, byte, letters) in [(Flags::RXT, 0x52, "AX"), (Flags::RXT_ECHO, 0x54, "AY")] {
        let mut segment = ack(Seq::FIRST + 1);
        segment.flags |= flag;
        let header = emit(&segment);
        assert_eq!(header[12..14], [byte, 0x10]);
        assert_eq!(round_trip(&segment), segment);
        assert_eq!(segment.flags.to_string(), letters);
    }
}

#[test]
fn numbers_widen_past_every_wrap() {
    for offset in [0, 14, 15, 16, 17, 1 << 31, (1 << 32) - 1, 1 << 32, 5 << 32] {
        let mut segment = ack(Seq::new(Seq::FIRST.value() + offset));
        segment.seq = Seq::new(Seq::FIRST.value() + offset / 3);
        segment.push_sack(segment.ack + 1000..segment.ack + 2000);
        assert_eq!(round_trip(&segment), segment, "offset {offset}");
    }
}

#[test]
fn t_b_7_windows_are_shifted_except_in_a_syn() {
    let mut segment = ack(Seq::FIRST + 1);
    segment.window = 1000 << 7;
    let header = emit(&segment);
    assert_eq!(header[14..16], 1000_u16.to_be_bytes());
    assert_eq!(parse(&header, 0).to_segment(&MAPPING, START).window, 128_000);

    let mut opening = syn(SynOptions { window_scale: Some(7), ..SynOptions::default() });
    opening.window = 1000;
    let header = emit(&opening);
    assert_eq!(header[14..16], 1000_u16.to_be_bytes());
    assert_eq!(parse(&header, 0).to_segment(&MAPPING, START).window, 1000);
}

#[test]
fn a_window_is_never_rounded_up() {
    for (flags, window, read) in [
        (Flags::ACK, 127, 0),
        (Flags::ACK, 65_535 << 7, 65_535 << 7),
        (Flags::ACK, u32::MAX, 65_535 << 7),
        (Flags::SYN, u32::MAX, 65_535),
    ] {
        let mut segment = Segment::new(Seq::FIRST, 0, flags);
        segment.window = window;
        assert_eq!(parse(&emit(&segment), 0).to_segment(&MAPPING, START).window, read);
    }
}

#[test]
fn t_b_8_one_side_alone_does_not_scale() {
    let scale = |window_scale| SynOptions { window_scale, ..SynOptions::default() };
    for (from, to, shifts) in [
        (Some(7), Some(2), (7, 2)),
        (Some(0), Some(14), (0, 14)),
        (Some(7), None, (0, 0)),
        (None, Some(2), (0, 0)),
        (None, None, (0, 0)),
    ] {
        let mut mapping = MAPPING;
        mapping.negotiate(scale(from), scale(to));
        assert_eq!((mapping.from.shift, mapping.to.shift), shifts, "{from:?} {to:?}");
    }
}

#[test]
fn t_b_9_a_shift_above_14_counts_as_14() {
    let received = with_options(&[1, 3, 3, 15]);
    assert_eq!(received.syn.window_scale, Some(15));
    let segment = received.to_segment(&MAPPING, START);
    assert_eq!(segment.syn_options().window_scale, Some(14));

    let sent = syn(SynOptions { window_scale: Some(15), ..SynOptions::default() });
    assert_eq!(emit(&sent)[20..], [1, 3, 3, 14]);

    let mut mapping = MAPPING;
    mapping.negotiate(sent.syn_options(), received.syn);
    assert_eq!((mapping.from.shift, mapping.to.shift), (14, 14));
}

#[test]
fn t_b_10_an_absent_mss_stays_absent() {
    let segment = with_options(&[]).to_segment(&MAPPING, START);
    assert_eq!(segment.syn_options(), SynOptions::default());
    let segment = with_options(&[2, 4, 0x02, 0x18]).to_segment(&MAPPING, START);
    assert_eq!(segment.syn_options().mss, Some(536));
}

#[test]
fn t_b_28_the_urgent_pointer_is_ignored() {
    let mut header = emit(&ack(Seq::FIRST + 1));
    header[13] |= Flags::URG.bits() as u8;
    header[18..20].copy_from_slice(&[0xff, 0xff]);
    let segment = parse(&header, 10);
    assert!(segment.flags.has(Flags::URG));
    assert_eq!((segment.len, segment.ack), (10, 0));
}

#[test]
fn t_b_29_a_wrong_option_length_ends_the_list() {
    let mss = [2, 4, 1, 0];
    let timestamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    for wrong in [
        [8, 0, 1, 1],   // no length has less than 2
        [8, 1, 1, 1],   //
        [77, 0, 1, 1],  // nor that of an unknown option
        [77, 1, 1, 1],  //
        [77, 40, 1, 1], // beyond the header
        [3, 4, 7, 1],   // not that of a window scale
        [4, 3, 1, 1],   // not that of SACK permitted
        [2, 2, 1, 1],   // not that of an MSS
        [5, 2, 1, 1],   // SACK without a block
        [5, 4, 1, 1],   // SACK with half a word
        [0, 1, 1, 1],   // the end
    ] {
        let segment = with_options(&[&mss[..], &wrong, &timestamps].concat());
        assert_eq!(segment.syn.mss, Some(256), "{wrong:?}: the option before it counts");
        assert_eq!(segment.timestamps, None, "{wrong:?}: the option after it is ignored");
        assert_eq!(segment.sack.len(), 0, "{wrong:?}");
    }
    let unknown = [77, 4, 0, 0];
    let segment = with_options(&[&mss[..], &unknown, &timestamps].concat());
    assert_eq!(segment.timestamps, Some(Timestamps { value: 1, echo: 2 }));
    assert_eq!(with_options(&[1, 1, 1, 8]).timestamps, None, "no room for a length");
}

#[test]
fn t_b_29_more_sack_blocks_than_fit_end_the_list() {
    let mut options = vec![5, 42];
    options.resize(40, 1);
    assert_eq!(with_options(&options).sack.len(), 0);
}

#[test]
fn t_b_30_an_empty_sack_block_is_ignored() {
    let isn = MAPPING.to.isn;
    let block = |start, end| SackBlock {
        start: (Seq::FIRST + start).narrow(isn),
        end: (Seq::FIRST + end).narrow(isn),
    };
    let mut segment = WireSegment::from_segment(&ack(Seq::FIRST + 100), &MAPPING, PORTS);
    segment.sack =
        [block(200, 200), block(300, 200), block(400, 500), block(600, 600 + (1 << 31))].into();
    let widened = segment.to_segment(&MAPPING, START);
    let blocks: Vec<_> = widened.sack_blocks().collect();
    assert_eq!(blocks, [Seq::FIRST + 400..Seq::FIRST + 500]);
}

#[test]
fn fields_without_meaning_are_left_out() {
    let mut segment = WireSegment::from_segment(&ack(Seq::FIRST + 100), &MAPPING, PORTS);
    segment.syn = SynOptions {
        mss: Some(9),
        window_scale: Some(9),
        sack_permitted: true,
        ..SynOptions::default()
    };
    segment.sack.push(SackBlock { start: 200, end: 300 });
    let read = |flags| WireSegment { flags, ..segment.clone() }.to_segment(&MAPPING, START);

    let data = read(Flags::ACK);
    assert_eq!((data.syn_options(), data.sack_count()), (SynOptions::default(), 1));
    let syn_ack = read(Flags::SYN | Flags::ACK);
    assert_eq!((syn_ack.syn_options(), syn_ack.sack_count()), (segment.syn, 0));
    let reset = read(Flags::RST);
    assert_eq!((reset.ack, reset.sack_count()), (Seq::new(0), 0));
}

#[test]
fn a_reset_from_closed_has_no_connection_and_needs_none() {
    let reset = WireSegment {
        ports: PORTS.reversed(),
        seq: 0,
        ack: 0xffff_fff1,
        len: 0,
        window: 0,
        flags: Flags::RST | Flags::ACK,
        syn: SynOptions::default(),
        timestamps: None,
        sack: ArrayVec::new(),
    };
    assert_eq!(parse(&reset.emit(ADDRESSES.reversed(), Payload::Zeros), 0), reset);
}

#[test]
fn bytes_that_are_no_segment_give_an_error_with_the_reason() {
    let header = emit(&ack(Seq::FIRST + 1));
    assert_eq!(WireSegment::parse(&header[..19], 20), Err(WireError::Short { found: 19 }));
    for (words, length) in [(4, 40), (0, 40), (6, 20)] {
        let mut header = header.clone();
        header[12] = words << 4;
        let found = usize::from(words) * 4;
        assert_eq!(
            WireSegment::parse(&header, length),
            Err(WireError::HeaderLength { found, length })
        );
    }
}

#[test]
fn a_truncated_header_yields_its_whole_options() {
    let mut segment = syn(SynOptions { mss: Some(1460), ..SynOptions::default() });
    segment.set_timestamps(Timestamps { value: 1, echo: 0 });
    let header = emit(&segment);
    for captured in 20..header.len() {
        let cut = WireSegment::parse(&header[..captured], header.len()).expect("20 bytes do");
        assert_eq!(cut.syn.mss.is_some(), captured >= 24);
        assert_eq!(cut.timestamps, None);
    }
}

#[test]
fn sack_blocks_that_do_not_fit_are_left_out() {
    let block = SackBlock { start: 1, end: 2 };
    let crowded = WireSegment {
        syn: SynOptions {
            mss: Some(1),
            window_scale: Some(1),
            sack_permitted: true,
            ..SynOptions::default()
        },
        timestamps: Some(Timestamps::default()),
        sack: [block; 4].into(),
        ..WireSegment::from_segment(&ack(Seq::FIRST), &MAPPING, PORTS)
    };
    let read = parse(&crowded.emit(ADDRESSES, Payload::Zeros), 0);
    assert_eq!(read, WireSegment { sack: [block].into_iter().collect(), ..crowded });
}

#[test]
fn the_checksum_covers_addresses_header_and_payload() {
    let v6 = Addresses::V6 { from: Ipv6Addr::LOCALHOST, to: Ipv6Addr::new(1, 2, 3, 4, 5, 6, 7, 8) };
    for addresses in [ADDRESSES, v6] {
        let mut segment = ack(Seq::FIRST + 1);
        segment.len = 3;
        let wire = WireSegment::from_segment(&segment, &MAPPING, PORTS);
        let mut bytes = wire.emit(addresses, Payload::Bytes(b"odd")).to_vec();
        bytes.extend(b"odd");
        assert!(checksum_holds(&bytes, addresses));
        assert!(checksum_holds(&bytes, addresses.reversed()), "the sum is commutative");
        for at in 0..bytes.len() {
            bytes[at] ^= 0x10;
            assert!(!checksum_holds(&bytes, addresses), "byte {at}");
            bytes[at] ^= 0x10;
        }
        let other = Addresses::V4 { from: Ipv4Addr::LOCALHOST, to: Ipv4Addr::new(10, 0, 1, 2) };
        assert!(!checksum_holds(&bytes, other));
    }
}
