//! Whatever a channel does to the bytes of segments, every byte of the stream arrives once, in
//! order and unchanged, and both ends close.
//!
//! The engine itself has no payload. Here every segment becomes the bytes of a header and its
//! payload, and the other end parses these bytes.

use crate::script::any;
use proptest::prelude::*;
use proptest::sample::select;
use rtolab_tcp::config::SackRules;
use rtolab_tcp::{Config, Event, specification};

use crate::bytes::{ByteTransfer, Fate, Plan, Reader};

fn fate(harm: u32) -> impl Strategy<Value = Fate> {
    let delay = prop_oneof![3 => Just(50_u64), 2 => 0..500_u64, 1 => 0..30_000_u64];
    prop_oneof![
        20 => Just(Fate::Delivered(50)),
        harm => delay.clone().prop_map(Fate::Delivered),
        harm => Just(Fate::Lost),
        harm / 2 + 1 => (delay.clone(), delay).prop_map(|(one, other)| Fate::Duplicated(one, other)),
        harm / 2 + 1 => (any::<u32>(), 1..=255_u8).prop_map(|(at, bits)| Fate::Damaged(at, bits)),
    ]
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let runs = (fate(10), 1..10_usize).prop_map(|(fate, times)| vec![fate; times]);
    prop_oneof![
        prop::collection::vec(fate(3), 0..150),
        prop::collection::vec(fate(20), 0..100),
        prop::collection::vec(runs, 0..30).prop_map(|runs| runs.concat()),
    ]
}

fn reader() -> impl Strategy<Value = Reader> {
    prop_oneof![
        2 => Just(Reader::AtOnce),
        1 => (1..3_000_u64, 500..5_000_u64)
            .prop_map(|(every, bytes)| Reader::Slow { every, bytes }),
    ]
}

fn isn() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), u32::MAX - 20_000..=u32::MAX]
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), 1..3_000_usize, 1..25_000_usize]
}

prop_compose! {
    fn plan()(
        isns in (isn(), isn()),
        lengths in (length(), length()),
        readers in (reader(), reader()),
        fates in fates(),
    ) -> Plan {
        Plan { isns: isns.into(), lengths: lengths.into(), readers: readers.into(), fates }
    }
}

/// Runs a transfer to its end. The hosts compare the bytes that they read.
fn delivers(configs: [Config; 2], plan: Plan) -> Result<(), TestCaseError> {
    let lengths = plan.lengths;
    let mut transfer = ByteTransfer::new(configs, plan);
    let mut steps = 0;
    while !transfer.is_over() {
        transfer.step();
        steps += 1;
        prop_assert!(steps < 20_000, "no end after {}: {:?}", transfer.at(), transfer.states());
    }
    prop_assert_eq!(transfer.read(), [lengths[1], lengths[0]], "bytes read");
    for events in transfer.events() {
        let count = |event| events.iter().filter(|other| **other == event).count();
        prop_assert_eq!((count(Event::Connected), count(Event::Closed)), (1, 1));
        prop_assert_eq!(count(Event::Reset), 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_over_any_channel(
        (name, mut sender) in (select(any::specs()), any::sender()),
        receiver in any::receiver(),
        plan in plan(),
    ) {
        // PRR excludes the SACK recovery of ns-2. The specifications that mean that recovery name
        // it.
        sender.recovery.sack.rules = SackRules::default();
        let sender = Config { push: receiver.push, ..specification::sender(&name, &sender).unwrap() };
        delivers([sender, receiver], plan)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// Every sender transfers over every drawn channel, so that chance leaves none out.
    #[test]
    fn every_specification_delivers_over_one_channel(
        receiver in any::receiver(),
        options in any::options(),
        plan in plan(),
    ) {
        for name in any::specs() {
            let sender = specification::sender(&name, &options).unwrap();
            delivers([sender, receiver.clone()], plan.clone())
                .map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        }
    }
}
