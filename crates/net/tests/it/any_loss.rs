//! A transfer through a middlebox ends for any losses and delays on both sides of the middlebox.

use crate::transfer::Transfer;
use proptest::prelude::*;
use rtolab_net::Middlebox;
use rtolab_scenario::MiddleboxKind;
use rtolab_tcp::{Config, Event, specification};
use rtolab_time::Duration;

/// The fate of a packet on one side of the middlebox: its delay in milliseconds, or `None` if it is
/// lost.
type Fate = Option<u64>;

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = |lost: u32, late: u32| {
        prop_oneof![
            20 => Just(Some(30_u64)),
            late => (0..500_u64).prop_map(Some),
            late / 4 + 1 => (0..30_000_u64).prop_map(Some),
            lost => Just(None),
        ]
    };
    // The packets of a run have the same fate, which gives bursts of losses.
    let runs = (fate(8, 8), 1..12_usize).prop_map(|(fate, times)| vec![fate; times]);
    prop_oneof![
        prop::collection::vec(fate(6, 2), 0..300),
        prop::collection::vec(fate(20, 20), 0..300),
        prop::collection::vec(runs, 0..60).prop_map(|runs| runs.concat()),
    ]
}

fn middlebox() -> impl Strategy<Value = MiddleboxKind> {
    let snoop = |(dupthresh, cache)| MiddleboxKind::Snoop { link: 0, dupthresh, cache };
    prop_oneof![Just(MiddleboxKind::Filter), (1..4_u32, 1..40_u32).prop_map(snoop)]
}

fn sender() -> impl Strategy<Value = Config> {
    let senders =
        vec!["newreno", "newreno+eifel", "newreno+frto", "sack", "sack+frto", "sack+eifel"];
    prop::sample::select(senders)
        .prop_map(|name| specification::sender(name, &Config::default()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_transfer_through_a_middlebox_ends(
        config in sender(),
        bytes in 0..80_000_u64,
        middlebox in middlebox(),
        fates in fates(),
    ) {
        let mut fates = fates.into_iter();
        let path = move |_: &_, _, _| {
            fates.next().unwrap_or(Some(30)).map(Duration::from_millis)
        };
        let mut transfer = Transfer::new(&config, bytes, Some(Middlebox::new(middlebox)), Box::new(path));
        prop_assert!(transfer.ends_within(20_000), "no end");
        prop_assert_eq!(transfer.read, bytes, "bytes delivered");
        let closed = transfer.events.iter().filter(|event| **event == Event::Closed).count();
        prop_assert_eq!(closed, 1);
    }
}
