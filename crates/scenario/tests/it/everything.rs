//! A scenario with every key of links, networks and workloads.

use std::path::Path;

use rtolab_link::{
    Arq, BlockLossDetection, CoDel, Direction, Discipline, Distribution, Order, Outages,
    RateChange, Red,
};
use rtolab_scenario::{MiddleboxConfig, MiddleboxKind, Route, Scenario, Workload};
use rtolab_time::{Duration, Instant, Rate};

/// The scenario with keys set to values.
fn with(set: &[(&str, &str)]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everything.toml");
    let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::load(&file, &set).unwrap_or_else(|error| panic!("{error}"))
}

fn at(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rate(bits: u64) -> Option<Rate> {
    Rate::from_bits_per_second(bits)
}

/// The nodes are base, mobile, base-2, server and museum; the links radio, radio-2, wan and wan-2.
#[test]
fn routes_are_in_the_order_of_their_times() {
    let scenario = with(&[]);
    assert_eq!(scenario.nodes, ["base", "mobile", "base-2", "server", "museum"]);
    let hops = |links: [usize; 2]| links.map(|link| (link, Direction::Forward)).to_vec();
    assert_eq!(
        scenario.routes,
        [
            Route { from: 3, to: 1, at: at(0), hops: hops([2, 0]) },
            Route { from: 3, to: 1, at: at(10), hops: hops([3, 1]) },
        ]
    );
    let back = r#"[{ from = "mobile", to = "server", links = ["radio-2", "wan-2"] }]"#;
    let hops = vec![(1, Direction::Backward), (3, Direction::Backward)];
    assert_eq!(with(&[("route", back)]).routes, [Route { from: 1, to: 3, at: at(0), hops }]);
}

#[test]
fn middleboxes_are_at_nodes() {
    let snoop = MiddleboxKind::Snoop { link: 0, dupthresh: 2, cache: 100 };
    let filter = MiddleboxConfig { node: 2, kind: MiddleboxKind::Filter };
    assert_eq!(with(&[]).middleboxes, [MiddleboxConfig { node: 0, kind: snoop }, filter]);
    let least = r#"[{ at = "base", kind = "snoop", link = "radio" }]"#;
    let snoop = MiddleboxKind::Snoop { link: 0, dupthresh: 1, cache: 1_000 };
    assert_eq!(with(&[("agent", least)]).middleboxes, [MiddleboxConfig { node: 0, kind: snoop }]);
}

#[test]
fn the_measurement_interval_is_as_configured() {
    assert_eq!(with(&[]).measured, (at(5), at(105)));
    assert_eq!(with(&[("measure", "{}")]).measured, (at(0), at(120)));
}

#[test]
fn flows_have_workloads() {
    let flows =
        with(&[("flow.requests.requests", r#"{ request = "1 B", response = "2 B" }"#)]).flows;
    let workloads: Vec<_> = flows.iter().map(|flow| flow.workload.clone()).collect();
    assert_eq!(
        workloads,
        [
            Workload::Pages { bytes: 100_000, every: millis(5_000), count: Some(20) },
            Workload::Requests {
                request: 1,
                response: 2,
                think: Distribution::Constant(Duration::ZERO),
                count: None,
            },
            Workload::OnOff {
                on: Distribution::Exponential(millis(1_500)),
                off: Distribution::Exponential(millis(50)),
                rate: rate(4_000_000).unwrap(),
            },
            Workload::Datagrams { rate: rate(64_000).unwrap(), packet: 200 },
        ]
    );
    let sets: Vec<_> = flows.iter().map(|flow| flow.set.as_deref()).collect();
    assert_eq!(sets, [Some("a"), Some("b"), None, None]);
    assert_eq!((&flows[2].split[..], &flows[3].split[..]), (&[0][..], &[][..]));
    let bulk = with(&[("flow.pages.bytes", "1 kB")]).flows.remove(0).workload;
    assert_eq!(bulk, Workload::Bulk { bytes: Some(1_000) });
}

/// The replies of three pings, sent at 0 s, 1 s and 2 s, arrived within 0.94 s.
#[test]
fn delays_come_from_a_file_next_to_the_scenario() {
    let delays = |set: &[_]| with(set).links[1].channel.backward.delays.clone().unwrap();
    let steps = |delays: [u64; 3]| {
        let steps = [0, 1_000, 2_000].map(millis).into_iter().zip(delays.map(millis));
        steps.collect::<Vec<_>>()
    };
    assert_eq!(delays(&[]).steps, steps([650, 250, 120]));
    assert_eq!(
        delays(&[]).period,
        Some(millis(3_000)),
        "the last delay holds as long as the one before"
    );
    let once = delays(&[("link.radio-2.delay_trace", r#"{ file = "traces/ping.txt" }"#)]);
    assert_eq!((once.steps.clone(), once.period), (steps([1_300, 500, 240]), None));
}

#[test]
fn opportunities_come_from_a_file_next_to_the_scenario() {
    let trace = with(&[]).links[1].channel.forward.opportunities.clone().unwrap();
    assert_eq!((trace.at.len(), trace.period), (6, millis(40)));
    assert_eq!(with(&[]).links[1].channel.forward.rate, None);
}

#[test]
fn rates_come_from_a_file_next_to_the_scenario() {
    let set = [("link.radio-2.rate_trace", "traces/rates.txt")];
    let direction = with(&set).links[1].channel.forward.clone();
    assert_eq!((direction.rate, direction.opportunities), (rate(400_000), None));
    let changes = [(0, 400_000), (1_500, 9_600), (2_000, 1_000_000)];
    let changes =
        changes.map(|(at, bits)| RateChange { at: Instant::START + millis(at), rate: rate(bits) });
    assert_eq!(
        (&direction.rate_changes[..], direction.rate_period),
        (&changes[..], Some(millis(2_500)))
    );
}

/// A key of a direction replaces the alternatives to it in the link.
#[test]
fn a_direction_may_use_another_alternative_than_its_link() {
    let radio = |set: &[_]| with(set).links[0].channel.forward.clone();
    let set = [
        ("link.radio.bad", "{ loss = 0.1 }"),
        (
            "link.radio.forward",
            r#"{
                rate_trace = "traces/cellular.up", codel = {},
                delay_trace = { file = "traces/delays.txt" }
            }"#,
        ),
    ];
    let traced = radio(&set);
    assert_eq!((traced.rate, &traced.rate_changes[..], traced.delay), (None, &[][..], millis(0)));
    assert!(traced.opportunities.is_some() && traced.delays.is_some());
    let codel = CoDel { target: millis(5), interval: millis(100), ecn: false };
    assert_eq!(traced.discipline, Discipline::CoDel(codel));

    let given = with(&[
        ("link.radio-2.forward", r#"{ rate = "1 Mbit/s", delay = "7 ms", queue = "9 packets" }"#),
        ("link.radio-2.forward.red", "{ min = 1, max = 2 }"),
    ]);
    let given = given.links[1].channel.forward.clone();
    assert_eq!((given.rate, given.delay), (rate(1_000_000), millis(7)));
    assert!(given.opportunities.is_none() && given.delays.is_none());
    assert!(matches!(given.discipline, Discipline::Red(_)));
}

/// A full segment is 296 B here, with headers.
#[test]
fn red_has_the_defaults_of_its_authors() {
    let red = Red {
        min: 2_000.0,
        max: 6_000.0,
        max_p: 0.1,
        weight: 0.002,
        gentle: true,
        adaptive: false,
        ecn: true,
        packet_time: Duration::from_nanos(236_800),
    };
    assert_eq!(with(&[]).links[3].channel.backward.discipline, Discipline::Red(red));
}

#[test]
fn arq_has_defaults() {
    let arq = with(&[("link.radio.arq", r#"[{ retries = 0, timeout = "1 s" }]"#)]);
    assert_eq!(
        arq.links[0].channel.arq,
        [Arq {
            retries: 0,
            order: Order::Free,
            fragment: None,
            header: 0,
            report: 0,
            notices: BlockLossDetection::Damage,
            timeout: millis(1_000),
        }]
    );
}

#[test]
fn states_change_together_by_default() {
    let states = r#"{ good = { constant = "1 s" }, bad = { constant = "2 s" } }"#;
    let states = with(&[("link.radio.states", states)]).links.remove(0).channel.states.unwrap();
    assert!(states.shared && states.residence.stationary);
}

#[test]
fn outages_of_a_direction_do_not_affect_the_other() {
    let radio = with(&[]).links.remove(0).channel;
    assert_eq!(radio.forward.outages.scripted[0].at, at(40));
    assert_eq!((radio.backward.outages, radio.outages), (Outages::default(), Outages::default()));
}

/// Setting one of several keys that exclude each other removes the others.
#[test]
fn setting_a_key_removes_those_that_it_excludes() {
    let radio = |key, value| with(&[("link.radio.bad.rate", "1 kbit/s"), (key, value)]);
    let codel = radio("link.radio.codel", "{}").links.remove(0).channel.forward.discipline;
    assert!(matches!(codel, Discipline::CoDel(_)));
    let slow = with(&[("link.radio-2.rate", "1 kbit/s"), ("link.radio-2.delay", "1 s")]);
    let slow = slow.links[1].channel.forward.clone();
    assert_eq!((slow.rate, slow.delay), (rate(1_000), millis(1_000)));
    assert!(slow.opportunities.is_none() && slow.delays.is_none());
    let changed = with(&[("link.radio.rate", "1 Mbit/s")]).links.remove(0).channel.forward;
    assert_eq!((changed.rate, changed.rate_changes.len()), (rate(1_000_000), 2));
}
