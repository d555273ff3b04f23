//! The initial sequence numbers change nothing: the trace of a transfer is that of the same
//! transfer from 0, except for the offset. This holds for every specification, over channels that
//! lose, delay, duplicate and reorder.
//!
//! Where sequence numbers may wrap, and which test covers it:
//!
//! | place                                       | by itself, in `wrap.rs`            | here |
//! |---------------------------------------------|------------------------------------|------|
//! | handshake: the SYN is the last number       |                                    | yes  |
//! | a segment of data that spans the wrap       | `ISN`, in all                      | yes  |
//! | an acknowledgment number that is 0          |                                    | yes  |
//! | a SACK block that spans the wrap            | `t_fr_16_blocks_that_span_...`     | yes  |
//! | a D-SACK block that does                    |                                    | yes  |
//! | `recover`, above it, and SND.UNA, below     | `t_nr_5_...`                       | yes  |
//! | a timeout between the two, for F-RTO, Eifel | `t_fr_16_...`, `t_ei_8_...`        | yes  |
//! | a FIN on the last number, or on 0           |                                    | yes  |
//! | the right edge of the advertised window     |                                    | yes  |
//! | half of all numbers away: 2³¹               | `seq.rs`                           | yes  |
//! | timestamps                                  | `t_ei_8_..._wrap_of_timestamps`    | -    |

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::script::any;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Config, Event, Flags, SynOptions, Timestamps, specification};
use rtolab_time::Instant;

use crate::bytes::{ByteTransfer, Fate, Plan, Reader};

/// A segment on the wire, with sequence numbers relative to the initial ones.
#[derive(Debug, PartialEq)]
struct RelativeSegment {
    at: Instant,
    from: usize,
    numbers: (u32, u32, u32, u16),
    flags: Flags,
    syn: SynOptions,
    timestamps: Option<Timestamps>,
    sack: Vec<(u32, u32)>,
}

fn relative_segment(
    (at, from, bytes): &(Instant, usize, Vec<u8>),
    isns: [u32; 2],
) -> RelativeSegment {
    let wire = WireSegment::parse(bytes, bytes.len()).expect("a whole segment");
    let (own, other) = (isns[*from], isns[1 - *from]);
    let of_other = |number: u32| number.wrapping_sub(other);
    let ack = if wire.flags.has(Flags::ACK) { of_other(wire.ack) } else { 0 };
    let blocks = wire.sack.iter();
    RelativeSegment {
        at: *at,
        from: *from,
        numbers: (wire.seq.wrapping_sub(own), ack, wire.len, wire.window),
        flags: wire.flags,
        syn: wire.syn,
        timestamps: wire.timestamps,
        sack: blocks.map(|block| (of_other(block.start), of_other(block.end))).collect(),
    }
}

/// Runs the transfer to its end.
fn trace(configs: [Config; 2], plan: Plan) -> Result<ByteTransfer, TestCaseError> {
    let mut transfer = ByteTransfer::new(configs, plan);
    for _ in 0..20_000 {
        if transfer.is_over() {
            return Ok(transfer);
        }
        transfer.step();
    }
    Err(TestCaseError::fail("no end"))
}

/// The places of the table that a transfer covered.
fn places(transfer: &ByteTransfer) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let spans = |start: u32, end: u32| end < start && end > 0;
    // SND.UNA and SND.MAX of the first host, as the wire shows them.
    let (mut una, mut max) = (None, None);
    for (_, from, bytes) in transfer.trace() {
        let wire = WireSegment::parse(bytes, bytes.len()).expect("a whole segment");
        let end = wire.seq.wrapping_add(wire.len);
        let mut note = |holds: bool, place| holds.then(|| seen.insert(place));
        note(wire.flags.has(Flags::SYN) && wire.seq == u32::MAX, "SYN");
        note(wire.flags.has(Flags::FIN) && (end == u32::MAX || end == 0), "FIN");
        note(wire.len > 0 && spans(wire.seq, end), "data");
        note(wire.flags.has(Flags::ACK) && wire.ack == 0, "ACK");
        note(spans(wire.ack, wire.ack.wrapping_add(wire.window.into())), "window");
        note(wire.seq < 1 << 31 && end > 1 << 31, "half");
        for block in &wire.sack {
            let old = block.start.wrapping_sub(wire.ack) >= 1 << 31;
            note(spans(block.start, block.end), if old { "D-SACK" } else { "SACK" });
        }
        if *from == 1 && wire.flags.has(Flags::ACK) {
            una = Some(wire.ack);
        } else if *from == 0 && wire.len > 0 {
            let retransmitted = max.is_some_and(|max| end.wrapping_sub(max) as i32 <= 0);
            let across = una.zip(max).is_some_and(|(una, max)| spans(una, max));
            note(retransmitted && across, "rexmit");
            max = if retransmitted { max } else { Some(end) };
        }
    }
    let events = transfer.events()[0];
    let mut note = |holds: bool, place| holds.then(|| seen.insert(place));
    note(events.iter().any(|event| matches!(event, Event::Verdict { .. })), "verdict");
    seen
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        12 => Just(Fate::Delivered(50)),
        2 => (0..3_000_u64).prop_map(Fate::Delivered),
        2 => Just(Fate::Lost),
        1 => (0..500_u64, 0..3_000_u64).prop_map(|(one, other)| Fate::Duplicated(one, other)),
    ];
    prop::collection::vec(fate, 20..80)
}

/// Initial numbers that wrap at once, within the transfer or with its last byte, or that pass 2³¹.
fn isn(length: u32) -> impl Strategy<Value = u32> {
    let last = 0_u32.wrapping_sub(length);
    prop_oneof![
        1 => Just(u32::MAX),
        1 => select(vec![last, last - 1, last - 2]),
        4 => 1..length,
        1 => (1..length).prop_map(|behind| (1 << 31) - behind),
    ]
    .prop_map(move |isn| if isn < length { 0_u32.wrapping_sub(isn) } else { isn })
}

#[test]
fn a_transfer_is_the_same_from_any_initial_sequence_number() {
    let lengths = [12_000, 3_000];
    let inputs = (isn(12_000), isn(3_000), fates(), any::options(), any::receiver());
    let seen = RefCell::new(BTreeSet::new());
    let config = ProptestConfig { cases: 12, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&inputs, |(first, second, fates, options, other)| {
        for name in any::specs() {
            let plan = |isns| Plan {
                isns,
                lengths: lengths.map(|length| length as usize),
                readers: [Reader::AtOnce; 2],
                fates: fates.clone(),
            };
            let options = Config { sack: true, dsack: true, ..options.clone() };
            let configs = [specification::sender(&name, &options).unwrap(), other.clone()];
            let near = trace(configs.clone(), plan([first, second]))?;
            let zero = trace(configs, plan([0, 0]))?;
            for (here, there) in near.trace().iter().zip(zero.trace()) {
                prop_assert_eq!(
                    relative_segment(here, [first, second]),
                    relative_segment(there, [0, 0]),
                    "{}",
                    &name
                );
            }
            prop_assert_eq!(near.trace().len(), zero.trace().len(), "{}", &name);
            prop_assert_eq!(near.events(), zero.events(), "{}", &name);
            seen.borrow_mut().extend(places(&near));
        }
        Ok(())
    });
    result.unwrap();
    let all =
        ["SYN", "FIN", "data", "ACK", "window", "half", "SACK", "D-SACK", "rexmit", "verdict"];
    assert_eq!(seen.into_inner(), BTreeSet::from(all));
}
