//! Operations on a flight and on a receiver, generated with weights. Without weights most
//! operations acknowledge nothing.

use proptest::prelude::*;
use rtolab_fuzz_models::{FlightOp, ReceiverOp, ReceiverSetup, flight_ops, receiver_ops};

fn flight_op() -> impl Strategy<Value = FlightOp> {
    let back = prop_oneof![8 => Just(0_u8), 3 => 0..60_u8];
    let advance = prop_oneof![12 => Just(0), 4 => 1..6_i8, 1 => -3..60_i8];
    let block = prop_oneof![
        8 => (0..50_i8, 1..12_i8).prop_map(|(start, len)| (start, start + len)),
        1 => (-20..80_i8, -20..80_i8),
    ];
    let blocks = prop::collection::vec(block, 0..4);
    prop_oneof![
        10 => (back, 0..6_u8).prop_map(|(back, len)| FlightOp::Send { back, len }),
        8 => (advance, 0..2_u8, 0..2_u8, blocks)
            .prop_map(|(advance, window, len, blocks)| FlightOp::Ack { advance, window, len, blocks }),
        2 => Just(FlightOp::MarkLost),
        2 => (0..60_u8).prop_map(FlightOp::MarkRetransmitted),
        1 => prop_oneof![Just(FlightOp::ClearLosses), Just(FlightOp::ClearScoreboard)],
    ]
}

fn receiver_op() -> impl Strategy<Value = ReceiverOp> {
    let offset = prop_oneof![5 => Just(0), 5 => 0..30_i8, 2 => -30..60_i8];
    prop_oneof![
        8 => (offset, 0..9_u8, any::<bool>())
            .prop_map(|(offset, len, fin)| ReceiverOp::Segment { offset, len, fin }),
        3 => prop_oneof![Just(None), (0..8_u8).prop_map(Some)].prop_map(ReceiverOp::Read),
        1 => (0..300_u16).prop_map(ReceiverOp::Wait),
        1 => Just(ReceiverOp::Piggyback),
    ]
}

fn setup() -> impl Strategy<Value = ReceiverSetup> {
    (6..60_u8, any::<[u8; 2]>(), any::<u8>(), any::<[bool; 2]>(), any::<bool>()).prop_map(
        |(buffer, counts, delay, sack, timestamps)| ReceiverSetup {
            buffer,
            counts,
            delay,
            sack,
            timestamps,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_flight_agrees_with_its_model(ops in prop::collection::vec(flight_op(), 1..100)) {
        flight_ops(&ops);
    }

    #[test]
    fn a_receiver_agrees_with_its_model(
        setup in setup(),
        ops in prop::collection::vec(receiver_op(), 1..100),
    ) {
        receiver_ops(setup, &ops);
    }
}
