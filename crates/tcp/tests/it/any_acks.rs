//! Invariants of a sender that receives arbitrary acknowledgments, valid or not.

mod acks;
use acks::{TestedSender, op};
use proptest::prelude::*;
use rtolab_tcp::{Config, specification};

use crate::script::any;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn a_sender_stays_within_its_bounds(
        config in any::sender(),
        ops in prop::collection::vec(op(), 1..120),
    ) {
        TestedSender::run(config, &ops)?;
    }

    #[test]
    fn a_sender_with_rfc_9002_stays_within_its_bounds(
        config in any::sender_of_quic(),
        ops in prop::collection::vec(op(), 1..120),
    ) {
        TestedSender::run(config, &ops)?;
    }

    #[test]
    fn a_sender_with_rack_stays_within_its_bounds(
        config in any::sender_by_time(),
        ops in prop::collection::vec(op(), 1..120),
    ) {
        TestedSender::run(config, &ops)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Every sender receives every drawn sequence, so that chance leaves none out.
    #[test]
    fn every_specification_stays_within_its_bounds(
        options in any::options(),
        ops in prop::collection::vec(op(), 1..120),
    ) {
        let base = Config { ecn: true, ..options };
        for name in any::specs() {
            TestedSender::run(specification::sender(&name, &base).unwrap(), &ops)
                .map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        }
    }
}
