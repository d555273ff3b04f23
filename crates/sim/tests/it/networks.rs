//! Tests of routes, split connections and middleboxes.

use std::sync::Arc;

use crate::common::{
    at, connection, journeys, millis, node, rate, scenario, traced, untraced, with,
};
use rtolab_link::{ChannelConfig, Direction, DirectionConfig, Interval, Limit, Probability};
use rtolab_record::{Fate, Recording, TimeoutKind, Truth};
use rtolab_scenario::{MiddleboxConfig, MiddleboxKind, Route, Scenario, Workload};
use rtolab_sim::{Lab, Observe};
use rtolab_time::Duration;

const FORWARD: Direction = Direction::Forward;
const BACKWARD: Direction = Direction::Backward;

/// Two paths from `left` to `right`: `short` with 10 ms, or `out` and `home` with 30 ms each.
fn triangle(duration: &str) -> Scenario {
    let links = [
        "out left mid; rate = \"10 Mbit/s\"; delay = \"30 ms\"",
        "home mid right; rate = \"10 Mbit/s\"; delay = \"30 ms\"",
        "short left right; rate = \"10 Mbit/s\"; delay = \"10 ms\"",
    ];
    scenario(duration, &links)
}

fn route(
    scenario: &Scenario,
    [from, to]: [&str; 2],
    when: u64,
    hops: &[(usize, Direction)],
) -> Route {
    let (from, to) = (node(scenario, from), node(scenario, to));
    Route { from, to, at: at(when), hops: hops.to_vec() }
}

/// The number of frames that each direction of each link delivered.
fn delivered(recording: &Recording) -> Vec<u64> {
    recording.links.iter().map(|row| row.stats.delivered).collect()
}

#[test]
fn packets_take_a_new_route_when_they_leave_after_its_start() {
    let datagrams = Workload::Datagrams { rate: rate(100), packet: 125 };
    let mut scenario = with(triangle("3 s"), datagrams);
    let long = [(0, FORWARD), (1, FORWARD)];
    scenario.routes = vec![
        route(&scenario, ["left", "right"], 2000, &[(2, FORWARD)]),
        route(&scenario, ["left", "right"], 1000, &long),
        route(&scenario, ["right", "left"], 0, &[(1, BACKWARD), (0, BACKWARD)]),
    ];
    let journeys = journeys(&traced(&scenario));
    // One packet every 10 ms, which takes 0.1 ms on each link.
    let hop = |delay| millis(delay) + Duration::from_micros(100);
    for (sent, arrived) in &journeys {
        let delay = match (at(1000) <= *sent, at(2000) <= *sent) {
            (true, false) => hop(30) * 2,
            _ => hop(10),
        };
        assert_eq!(arrived.since(*sent), delay, "{sent}");
    }
    assert!(journeys.iter().any(|(sent, _)| *sent == at(1000)));
    // Packets sent before 2 s arrive after packets sent later on the short path.
    assert!(journeys.windows(2).any(|pair| pair[0].1 > pair[1].1));
}

#[test]
fn data_and_acks_may_take_different_paths() {
    let mut scenario = with(triangle("20 s"), Workload::Bulk { bytes: Some(100_000) });
    scenario.routes = vec![route(&scenario, ["left", "right"], 0, &[(0, FORWARD), (1, FORWARD)])];
    // The access link is the first and the last hop of all routes.
    let slow = DirectionConfig { delay: millis(5), ..DirectionConfig::default() };
    let access =
        ChannelConfig { forward: slow.clone(), backward: slow, ..ChannelConfig::default() };
    scenario.flows[0].access = Some(Arc::new(access));
    let recording = traced(&scenario);
    let row = connection(&recording, "flow");
    assert!(row.end.is_some() && row.bytes == 100_000);
    let [data, acks] = [1 + 100, 1 + row.acks - 1];
    assert_eq!(delivered(&recording), [data + 1, 0, data + 1, 0, 0, acks, data + 1, acks]);
}

#[test]
fn both_legs_of_a_split_connection_carry_all_data_and_end() {
    let links = [
        "near left gateway; rate = \"1 Mbit/s\"; delay = \"20 ms\"",
        "far gateway right; rate = \"10 Mbit/s\"; delay = \"5 ms\"",
    ];
    let mut scenario = with(scenario("60 s", &links), Workload::Bulk { bytes: Some(300_000) });
    scenario.flows[0].split = vec![node(&scenario, "gateway")];
    let recording = traced(&scenario);
    let (near, far) = (connection(&recording, "flow/1"), connection(&recording, "flow/2"));
    assert_eq!(recording.connections.len(), 2);
    assert_eq!((near.bytes, far.bytes), (300_000, 300_000));
    assert_eq!((near.segments, far.segments), (300, 300));
    let (near_end, far_end) = (near.end.unwrap(), far.end.unwrap());
    // The far leg begins when the SYN of the near leg arrives. It ends when its FIN is
    // acknowledged, before the near leg ends.
    assert_eq!(far.start, at(20) + rate(1000).time_for(52));
    assert!(near_end > at(2496) && far_end < near_end);
    assert_eq!(recording.segments.iter().filter(|row| row.fate != Fate::Delivered).count(), 0);
}

#[test]
fn a_gateway_whose_window_updates_are_lost_is_probed() {
    let links = [
        "near left gateway; rate = \"10 Mbit/s\"; delay = \"5 ms\"",
        "far gateway right; rate = \"100 kbit/s\"; delay = \"5 ms\"; queue = \"5 packets\"",
    ];
    let mut scenario = with(scenario("600 s", &links), Workload::Bulk { bytes: Some(300_000) });
    scenario.flows[0].split = vec![node(&scenario, "gateway")];
    Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 5000;
    scenario.links[0].channel.backward.loss = Probability::new(0.1).unwrap();
    let lab = Lab::new(&scenario, None).unwrap();
    for seed in 0..20 {
        let recording = lab.run(0, seed, Observe::default());
        let far = connection(&recording, "flow/2");
        assert!(far.end.is_some() && far.bytes == 300_000, "seed {seed}: {} B", far.bytes);
    }
}

#[test]
fn a_gateway_does_not_accept_more_than_its_buffer() {
    let links = [
        "near left gateway; rate = \"10 Mbit/s\"; delay = \"5 ms\"",
        "far gateway right; rate = \"100 kbit/s\"; delay = \"5 ms\"; queue = \"5 packets\"",
    ];
    let mut scenario = with(scenario("120 s", &links), Workload::Bulk { bytes: Some(300_000) });
    scenario.flows[0].split = vec![node(&scenario, "gateway")];
    Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 20_000;
    let lab = Lab::new(&scenario, None).unwrap();
    for seconds in 2..=24 {
        let mut sim = lab.start(1, Observe::default());
        sim.run_until(at(1000 * seconds));
        let recording = lab.record(sim, rtolab_record::Run::default());
        let (near, far) = (connection(&recording, "flow/1"), connection(&recording, "flow/2"));
        // At most 20,000 bytes are unsent, the size of the gateway's buffer. At most 20,000 bytes
        // are in flight, the size of the far receiver's buffer.
        let held = near.bytes - far.bytes;
        assert!((1000..=40_000).contains(&held), "{held} at {seconds} s");
        // Acknowledged data that the gateway has not read are in its receive buffer.
        let waiting = near.acked_segments * 1000 - near.bytes;
        assert!(waiting <= 20_000, "{waiting} at {seconds} s");
    }
    let recording = untraced(&scenario);
    let [near, far] = ["flow/1", "flow/2"].map(|leg| connection(&recording, leg));
    assert_eq!((near.bytes, far.bytes), (300_000, 300_000));
    assert!(near.end.is_some() && far.end.is_some());
}

#[test]
fn requests_and_responses_pass_two_gateways() {
    let links = [
        "one left a; rate = \"1 Mbit/s\"; delay = \"20 ms\"",
        "two a b; rate = \"1 Mbit/s\"; delay = \"20 ms\"; loss = 0.05",
        "three b right; rate = \"1 Mbit/s\"; delay = \"20 ms\"",
    ];
    let think = rtolab_link::Distribution::Exponential(millis(100));
    let requests = Workload::Requests { request: 3000, response: 20_000, think, count: Some(10) };
    let mut scenario = with(scenario("300 s", &links), requests);
    scenario.flows[0].split = vec![node(&scenario, "a"), node(&scenario, "b")];
    let recording = untraced(&scenario);
    let tasks: Vec<_> = recording.tasks.iter().map(|task| &*task.flow).collect();
    assert_eq!(tasks, ["flow"; 10]);
    assert!(recording.tasks.iter().all(|task| task.end.is_some()));
    for leg in ["flow/1", "flow/2", "flow/3"] {
        let row = connection(&recording, leg);
        assert!(row.end.is_some() && row.bytes == 200_000, "{leg}: {row:?}");
    }
}

#[test]
fn a_leg_that_is_not_opened_has_no_row() {
    let links =
        ["near left gateway; delay = \"20 ms\"; loss = 1", "far gateway right; delay = \"5 ms\""];
    let mut scenario = scenario("10 s", &links);
    scenario.flows[0].split = vec![node(&scenario, "gateway")];
    let flows: Vec<_> =
        untraced(&scenario).connections.iter().map(|row| row.flow.to_string()).collect();
    assert_eq!(flows, ["flow/1"]);
}

/// A wired link, a node with a middlebox, and a wireless link that loses about every tenth frame.
fn wireless(kind: Option<MiddleboxKind>) -> Scenario {
    let links = [
        "wired left base; rate = \"10 Mbit/s\"; delay = \"50 ms\"",
        "radio base right; rate = \"1 Mbit/s\"; delay = \"10 ms\"; queue = \"50 packets\"",
    ];
    let mut scenario = with(scenario("200 s", &links), Workload::Bulk { bytes: Some(300_000) });
    let forward = &mut scenario.links[1].channel.forward;
    forward.drops = (1..=30).map(|n| 10 * n).collect();
    assert_eq!(forward.queue, Limit::Packets(50));
    let node = node(&scenario, "base");
    scenario.middleboxes = kind.into_iter().map(|kind| MiddleboxConfig { node, kind }).collect();
    scenario
}

#[test]
fn snoop_retransmits_the_losses_of_the_wireless_link() {
    let snoop = MiddleboxKind::Snoop { link: 1, dupthresh: 1, cache: 100 };
    let [plain, snooped] = [None, Some(snoop)].map(|kind| traced(&wireless(kind)));
    let [plain, snoop] = [&plain, &snooped].map(|recording| connection(recording, "flow"));
    assert!(plain.bytes == 300_000 && snoop.bytes == 300_000);
    assert_eq!((plain.absorbed, plain.local), (0, 0));
    assert!(plain.retransmissions >= 30 && snoop.retransmissions < 5, "{snoop:?}");
    assert!(snoop.local >= 25 && snoop.absorbed > 0, "{snoop:?}");
    assert!(snoop.end.unwrap() < plain.end.unwrap());
    // The absorbed packets did not arrive, and none is in flight at the end.
    let fates = snooped.segments.iter().map(|row| row.fate);
    let absorbed = fates.clone().filter(|fate| *fate == Fate::Absorbed).count();
    assert_eq!(absorbed as u64, snoop.absorbed);
    assert!(fates.into_iter().all(|fate| fate != Fate::Underway));
}

#[test]
fn snoop_ignores_data_from_its_link() {
    let mut scenario = wireless(Some(MiddleboxKind::Snoop { link: 1, dupthresh: 1, cache: 100 }));
    let flow = &mut scenario.flows[0];
    (flow.from, flow.to) = (flow.to, flow.from);
    let row = connection(&untraced(&scenario), "flow").clone();
    assert_eq!((row.bytes, row.absorbed, row.local), (300_000, 0, 0));
}

#[test]
fn a_timeout_is_spurious_if_snoop_would_have_caused_the_ack() {
    // In an outage the ACKs of earlier data and further data are lost. Snoop retransmits these
    // data, and the receiver then acknowledges all data.
    let snoop = MiddleboxKind::Snoop { link: 1, dupthresh: 1, cache: 100 };
    for (kind, expected) in [(None, Truth::AckLost), (Some(snoop), Truth::Spurious)] {
        let mut scenario = wireless(kind.clone());
        let radio = &mut scenario.links[1].channel;
        radio.forward.drops = vec![];
        radio.outages.scripted = vec![Interval { at: at(1000), length: millis(3000) }];
        let timeouts = traced(&scenario).timeouts;
        let first = timeouts.iter().find(|row| row.kind == TimeoutKind::Timeout).unwrap();
        assert_eq!((first.truth, first.needed), (Some(expected), false), "{kind:?}");
    }
}

#[test]
fn the_filter_absorbs_spurious_retransmissions() {
    let [plain, filtered] = [None, Some(MiddleboxKind::Filter)].map(|kind| {
        let mut scenario = wireless(kind);
        let forward = &mut scenario.links[1].channel.forward;
        (forward.drops, forward.queue) = (vec![], Limit::Unlimited);
        // After a stall the sender retransmits late data.
        forward.stalls.scripted = vec![Interval { at: at(1000), length: millis(5000) }];
        traced(&scenario)
    });
    let [plain, filter] = [&plain, &filtered].map(|recording| connection(recording, "flow"));
    assert!(plain.end.is_some() && filter.end.is_some());
    assert!(plain.timeouts > 0 && plain.unneeded > 0, "{plain:?}");
    // Every segment reaches the receiver, with fewer duplicates.
    assert!(filter.absorbed > 0, "{filter:?}");
    assert!((300..plain.delay.packets).contains(&filter.delay.packets), "{filter:?}");
    let absorbed = filtered.segments.iter().filter(|row| row.fate == Fate::Absorbed).count();
    assert_eq!(absorbed as u64, filter.absorbed);
}

#[test]
fn a_notified_sender_does_not_time_out_during_a_stall() {
    let stall = Interval { at: at(1000), length: millis(5000) };
    let interval = millis(200);
    let ebsn = MiddleboxKind::Ebsn { disconnections: [stall].into(), interval };
    let [plain, notified] = [None, Some(ebsn)].map(|kind| {
        let mut scenario = wireless(kind);
        let forward = &mut scenario.links[1].channel.forward;
        (forward.drops, forward.queue) = (vec![], Limit::Unlimited);
        forward.stalls.scripted = vec![stall];
        traced(&scenario)
    });
    let [plain, notified] = [&plain, &notified].map(|recording| connection(recording, "flow"));
    assert!(plain.timeouts > 0 && plain.unneeded > 0, "{plain:?}");
    assert_eq!((notified.timeouts, notified.retransmissions), (0, 0), "{notified:?}");
    assert_eq!((notified.local, notified.absorbed), (25, 0));
    assert!(notified.end.unwrap() < plain.end.unwrap(), "{notified:?} {plain:?}");
}

#[test]
fn a_sender_that_knows_the_losses_of_the_radio_keeps_its_window() {
    let [plain, notified, deaf] = [(None, "sack+eln"), (Some(1), "sack+eln"), (Some(1), "sack")]
        .map(|(link, sender)| {
            let mut scenario = wireless(link.map(|link| MiddleboxKind::Eln { link }));
            scenario.flows[0].sender = sender.into();
            connection(&traced(&scenario), "flow").clone()
        });
    assert!(plain.fast_retransmits > 0 && notified.fast_retransmits > 0, "{plain:?} {notified:?}");
    assert!(notified.end.unwrap() < plain.end.unwrap(), "{notified:?} {plain:?}");
    assert_eq!((deaf.end, deaf.retransmissions), (plain.end, plain.retransmissions));
    assert_eq!((notified.local, notified.absorbed), (0, 0));
}

#[test]
fn losses_before_the_base_station_are_not_those_of_its_radio() {
    let [plain, notified] = [None, Some(MiddleboxKind::Eln { link: 1 })].map(|kind| {
        let mut scenario = wireless(kind);
        scenario.flows[0].sender = "sack+eln".into();
        let drops = std::mem::take(&mut scenario.links[1].channel.forward.drops);
        scenario.links[0].channel.forward.drops = drops;
        connection(&traced(&scenario), "flow").clone()
    });
    assert!(plain.fast_retransmits > 0, "{plain:?}");
    assert_eq!((notified.end, notified.segments), (plain.end, plain.segments));
}

#[test]
fn a_sender_retransmits_when_it_learns_that_a_handover_is_over() {
    let handover = Interval { at: at(1500), length: millis(400) };
    let middlebox = MiddleboxKind::Handover { disconnections: [handover].into() };
    let [plain, notified] = [None, Some(middlebox)].map(|kind| {
        let mut scenario = wireless(kind);
        scenario.flows[0].sender = "newreno".into();
        // NewReno repairs one loss per round trip, so few segments may be in flight.
        Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 4_000;
        let radio = &mut scenario.links[1].channel;
        (radio.forward.drops, radio.outages.scripted) = (vec![], vec![handover]);
        connection(&traced(&scenario), "flow").clone()
    });
    assert_eq!((plain.timeouts, notified.timeouts, notified.local), (1, 0, 3), "{notified:?}");
    assert!(notified.end.unwrap() < plain.end.unwrap(), "{notified:?} {plain:?}");
}

#[test]
fn a_window_closed_before_an_outage_prevents_losses() {
    let outage = Interval { at: at(3000), length: millis(4000) };
    let freeze = MiddleboxKind::Freeze { disconnections: [outage].into(), warning: millis(1000) };
    let [plain, frozen] = [None, Some(freeze)].map(|kind| {
        let mut scenario = wireless(kind);
        let radio = &mut scenario.links[1].channel;
        (radio.forward.drops, radio.forward.queue) = (vec![], Limit::Packets(30));
        radio.outages.scripted = vec![outage];
        Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 20_000;
        scenario.flows[0].workload = Workload::Bulk { bytes: Some(600_000) };
        traced(&scenario)
    });
    let [plain, freeze] = [&plain, &frozen].map(|recording| connection(recording, "flow"));
    assert!(plain.timeouts > 0 && plain.retransmissions > 0, "{plain:?}");
    assert_eq!((freeze.timeouts, freeze.retransmissions), (0, 0), "{freeze:?}");
    // The window closes with one ACK and opens with three.
    assert_eq!(freeze.local, 4);
    // The frozen sender continues immediately, although its window was closed for a second longer.
    assert!(freeze.end.unwrap() < plain.end.unwrap(), "{freeze:?} {plain:?}");
}
