//! Tests of header compression: the effect of one lost packet on a transfer.

use std::sync::Arc;

use crate::common::{connection, scenario, traced, with};
use rtolab_link::HeaderCompression;
use rtolab_record::ConnectionRow;
use rtolab_scenario::{Scenario, Workload};

/// A transfer of 100 kB over 28.8 kbit/s. The link loses the packets `data` and `acks` of its two
/// directions.
fn transfer(kind: HeaderCompression, data: &[u32], acks: &[u32]) -> ConnectionRow {
    let link = "modem left right; rate = \"28.8 kbit/s\"; delay = \"100 ms\"";
    let bytes = Workload::Bulk { bytes: Some(100_000) };
    let mut scenario: Scenario = with(scenario("300 s", &[link]), bytes);
    if !acks.is_empty() {
        // The window is ten segments, so that the sender soon waits for an ACK.
        Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 10_000;
    }
    let channel = &mut scenario.links[0].channel;
    for one in [&mut channel.forward, &mut channel.backward] {
        one.header_compression = kind;
    }
    channel.forward.drops = data.to_vec();
    channel.backward.drops = acks.to_vec();
    connection(&traced(&scenario), "flow").clone()
}

#[test]
fn a_lost_acknowledgment_costs_a_timeout_and_nothing_else() {
    use HeaderCompression::{None, Rfc1144, Rfc2507};
    let [plain, old, new] = [None, Rfc1144, Rfc2507].map(|kind| transfer(kind, &[], &[60]));
    assert_eq!([plain.timeouts, old.timeouts, new.timeouts], [0, 1, 0]);
    // The data arrived, so the retransmission is unneeded. It causes a duplicate ACK.
    assert_eq!([plain.unneeded, old.unneeded, new.unneeded], [0, 1, 0]);
    assert!(old.lost.corrupt > 3, "{:?}", old.lost);
}

#[test]
fn after_a_lost_data_packet_the_next_ones_cannot_be_decompressed() {
    use HeaderCompression::{None, Rfc1144, Rfc2507};
    let [plain, old, new] = [None, Rfc1144, Rfc2507].map(|kind| transfer(kind, &[60], &[]));
    // The receiver drops them without duplicate ACKs, so there is no fast retransmit.
    assert_eq!([plain.timeouts, old.timeouts, new.timeouts], [0, 1, 0]);
    assert_eq!([plain.lost.corrupt, new.lost.corrupt], [0, 0]);
    assert!(old.lost.corrupt >= 3, "{:?}", old.lost);
    assert!(old.retransmissions > 3);
}

#[test]
fn without_losses_compression_only_saves_time() {
    use HeaderCompression::{None, Rfc1144, Rfc2507};
    let [plain, old, new] = [None, Rfc1144, Rfc2507].map(|kind| transfer(kind, &[], &[]));
    for one in [&old, &new] {
        assert_eq!((one.retransmissions, one.lost.corrupt), (0, 0));
        assert!(one.end < plain.end);
    }
}
