//! Properties of every segment and of any bytes.

use alloc::vec;

use proptest::collection::vec as vec_of;
use proptest::prelude::*;

use super::*;

fn isn() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(u32::MAX), u32::MAX - 70_000..=u32::MAX, any::<u32>()]
}

fn mapping() -> impl Strategy<Value = WireMapping> {
    (isn(), isn(), 0..=MAX_WINDOW_SHIFT, 0..=MAX_WINDOW_SHIFT).prop_map(|(from, to, one, other)| {
        WireMapping { from: Side { isn: from, shift: one }, to: Side { isn: to, shift: other } }
    })
}

fn seq() -> impl Strategy<Value = Seq> {
    prop_oneof![0..200_000_u64, 0..1_u64 << 40]
        .prop_map(|offset| Seq::new(Seq::FIRST.value() + offset))
}

fn timestamps() -> impl Strategy<Value = Option<Timestamps>> {
    proptest::option::of(any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo }))
}

fn syn_options() -> impl Strategy<Value = SynOptions> {
    let scale = proptest::option::of(0..=MAX_WINDOW_SHIFT);
    (any::<Option<u16>>(), scale, any::<[bool; 2]>()).prop_map(
        |(mss, window_scale, [sack_permitted, compact])| SynOptions {
            mss,
            window_scale,
            sack_permitted,
            compact: compact && sack_permitted,
        },
    )
}

prop_compose! {
    /// A segment that a connection with this mapping may send; its window is a multiple of the
    /// unit of its shift.
    fn sent(mapping: WireMapping)(
        (seq, ack, len, bits) in (seq(), seq(), 0..65_000_u32, any::<u16>()),
        window in any::<u16>(),
        timestamps in timestamps(),
        options in syn_options(),
        blocks in vec_of((-1_000_000_i64..1_000_000, 1..100_000_u32), 0..=4),
    ) -> Segment {
        let flags = Flags::from_bits(bits);
        let mut segment = Segment::new(seq, len, flags);
        segment.window = u32::from(window) << window_shift(flags, &mapping);
        if let Some(timestamps) = timestamps {
            segment.set_timestamps(timestamps);
        }
        if flags.has(Flags::SYN) {
            let compact = options.compact && timestamps.is_some();
            segment.set_syn_options(SynOptions { compact, ..options });
        }
        if flags.has(Flags::ACK) {
            segment.ack = ack;
            for (offset, len) in blocks.into_iter().filter(|_| !flags.has(Flags::SYN)) {
                let start = Seq::new(ack.value().wrapping_add_signed(offset));
                segment.push_sack(start..start + len);
            }
        }
        segment
    }
}

proptest! {
    #[test]
    fn an_emitted_segment_parses_to_itself(
        (mapping, segment) in mapping().prop_flat_map(|n| (Just(n), sent(n))),
        (off_seq, off_ack) in (-1_000_000_000_i64..1_000_000_000, -1_000_000_000_i64..1_000_000_000),
    ) {
        let wire = WireSegment::from_segment(&segment, &mapping, PORTS);
        let header = wire.emit(ADDRESSES, Payload::Zeros);
        prop_assert_eq!(header.len(), segment.header_bytes() as usize);

        let mut whole = header.to_vec();
        whole.resize(header.len() + segment.len as usize, 0);
        prop_assert!(checksum_holds(&whole, ADDRESSES));

        let read = WireSegment::parse(&header, whole.len()).expect("emitted");
        prop_assert_eq!(&read, &wire);
        let near = SeqReference {
            seq: Seq::new(segment.seq.value().wrapping_add_signed(off_seq)),
            ack: Seq::new(segment.ack.value().wrapping_add_signed(off_ack)),
        };
        prop_assert_eq!(read.to_segment(&mapping, near), segment);
    }

    #[test]
    fn no_bytes_cause_a_panic(
        bytes in vec_of(any::<u8>(), 0..80),
        length in 0..70_000_usize,
        mapping in mapping(),
        near in (any::<u64>(), any::<u64>()),
    ) {
        if let Ok(segment) = WireSegment::parse(&bytes, length) {
            let near = SeqReference { seq: Seq::new(near.0), ack: Seq::new(near.1) };
            segment.to_segment(&mapping, near);
            let header = segment.emit(ADDRESSES, Payload::Zeros);
            let again = WireSegment::parse(&header, header.len() + segment.len as usize);
            let again = again.expect("emitted");
            prop_assert!(segment.sack.starts_with(&again.sack));
            prop_assert_eq!(again, WireSegment { sack: segment.sack, ..segment });
        }
        let _ = checksum_holds(&bytes, ADDRESSES);
    }

    #[test]
    fn no_options_cause_a_panic(options in vec_of(0..=12_u8, 0..=40)) {
        let mut bytes = vec![0; 20];
        bytes.extend(&options);
        bytes[12] = (bytes.len().div_ceil(4) as u8) << 4;
        let length = bytes.len().next_multiple_of(4);
        let segment = WireSegment::parse(&bytes, length).expect("a whole header");
        segment.to_segment(&MAPPING, START);
    }
}
