//! The scenarios in `scenarios/`.

use std::path::{Path, PathBuf};

use rtolab_link::{
    Distribution, Limit, Outages, Probability, Renewal, SpikeHolds, Spikes, StallHolds,
};
use rtolab_scenario::{Scenario, Workload};
use rtolab_tcp::config::{
    Bugfix, EchoRule, InitialWindow, Outstanding, PartialAckTimer, RecoverOnUndo, RtoFloor,
    SackRules,
};
use rtolab_time::{Duration, Rate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_scenario = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "toml");
    let mut paths: Vec<_> = entries.filter(is_scenario).collect();
    paths.sort();
    assert!(paths.len() >= 5, "{paths:?}");
    paths
}

fn load(name: &str) -> Scenario {
    Scenario::load(&folder().join(name), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn document(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// Written anew from its keys and values alone, a scenario still means the same.
#[test]
fn each_survives_a_round_trip() {
    for path in shipped() {
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let text = toml::to_string(&document(&path)).unwrap();
        let beside = path.with_file_name("again").display().to_string();
        assert_eq!(Scenario::parse(&text, &beside, &[]), Ok(scenario), "{text}");
    }
}

/// The dotted key and the value of each leaf; tables in lists go by their name, and a list whose
/// tables have none is one value.
fn leaves(value: &toml::Value, key: &str, found: &mut Vec<(String, String)>) {
    let dotted =
        |step: &str| if key.is_empty() { step.to_string() } else { format!("{key}.{step}") };
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(step, value)| leaves(value, &dotted(step), found));
        }
        toml::Value::Array(values) if values.iter().all(|value| value.get("name").is_some()) => {
            for value in values {
                leaves(value, &dotted(value["name"].as_str().unwrap()), found);
            }
        }
        value => found.push((key.to_string(), value.to_string())),
    }
}

/// What is set to what it is stays the same, however the value is written.
#[test]
fn setting_each_key_to_its_value_changes_nothing() {
    for path in shipped() {
        let scenario = Scenario::load(&path, &[]).unwrap();
        let mut set = Vec::new();
        leaves(&toml::Value::Table(document(&path)), "", &mut set);
        assert!(set.len() > 10, "{set:?}");
        assert_eq!(Scenario::load(&path, &set).as_ref(), Ok(&scenario));
        let bare = |(key, value): (String, String)| (key, value.trim_matches('"').to_string());
        let set: Vec<_> = set.into_iter().map(bare).collect();
        assert_eq!(Scenario::load(&path, &set), Ok(scenario));
    }
}

#[test]
fn the_schema_accepts_each() {
    let schema = jsonschema::draft7::new(&Scenario::schema()).unwrap();
    for path in shipped() {
        let document = serde_json::to_value(document(&path)).unwrap();
        let faults: Vec<_> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", path.display());
    }
}

#[test]
fn the_frto_report_has_one_set_up_and_three_disturbances() {
    let delays = load("frto2002-delays.toml");
    let without = |name| {
        let mut scenario = load(name);
        let channel = &mut scenario.links[1].channel;
        for direction in [&mut channel.forward, &mut channel.backward] {
            direction.spikes = None;
            direction.loss = Probability::ZERO;
        }
        channel.outages = Outages::default();
        (scenario.nodes, scenario.links, scenario.flows)
    };
    assert_eq!(without("frto2002-delays.toml"), without("frto2002-loss.toml"));
    assert_eq!(without("frto2002-delays.toml"), without("frto2002-outages.toml"));

    let exponential = Distribution::Exponential(Duration::from_millis(3_500));
    let spikes = Spikes {
        probability: Probability::new(0.02).unwrap(),
        length: exponential,
        holds: SpikeHolds::Delivery,
    };
    let channel = &delays.links[1].channel;
    assert_eq!((channel.forward.spikes, channel.backward.spikes), (Some(spikes), Some(spikes)));

    let loss = Probability::new(0.05).unwrap();
    let channel = &load("frto2002-loss.toml").links[1].channel;
    assert_eq!((channel.forward.loss, channel.backward.loss), (loss, loss));

    let good = Distribution::Uniform(Duration::from_millis(100), Duration::from_secs(20));
    let renewal = Renewal { good, bad: exponential, stationary: true };
    let outages = Outages { scripted: Vec::new(), random: Some(renewal) };
    assert_eq!(load("frto2002-outages.toml").links[1].channel.outages, outages);
}

#[test]
fn the_frto_report_is_set_up_as_agreed() {
    let Scenario { nodes, links, flows, .. } = load("frto2002-delays.toml");
    assert_eq!(nodes, ["remote", "router", "mobile"]);
    assert_eq!(links.iter().map(|link| link.ends).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    for wireless in [&links[1].channel.forward, &links[1].channel.backward] {
        assert_eq!(wireless.rate, Rate::from_bits_per_second(28_800));
        assert_eq!(wireless.delay, Duration::from_millis(200));
        assert_eq!(wireless.queue, Limit::Packets(7));
        assert_eq!(wireless.send_buffer, Limit::Bytes(1_776));
        assert_eq!(wireless.receive_buffer, Limit::Bytes(1_776));
        assert_eq!(wireless.stalls.holds, StallHolds::Transmitter);
    }
    let [flow] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!(
        (flow.from, flow.to, flow.workload),
        (0, 2, Workload::Bulk { bytes: Some(102_400) })
    );
    assert!(!flow.own_sender && flow.access.is_none());
    let tcp = &flow.tcp;
    assert_eq!((tcp.mss, tcp.timestamps, tcp.timestamp.in_mss), (256, false, true));
    assert_eq!(tcp.rto.floor, RtoFloor::Total(Duration::from_secs(1)));
    assert_eq!(tcp.rto.initial, Duration::from_secs(3));
    assert_eq!(tcp.rto.granularity, Duration::from_millis(10));
    assert_eq!(tcp.window.initial, InitialWindow::Segments(2));
    assert_eq!((tcp.window.initial_ssthresh, tcp.window.max_burst), (None, Some(3)));
    assert_eq!(tcp.recovery.sack.rules, SackRules::Rfc3517);
    assert_eq!(tcp.recovery.sack.outstanding, Outstanding::Classic);
    assert_eq!(tcp.recovery.bugfix, Bugfix::Careful);
    assert_eq!(tcp.recovery.newreno.timer, PartialAckTimer::SlowButSteady);
    assert_eq!(tcp.recover_on_undo, RecoverOnUndo::Reset);
    assert!(tcp.recovery.limited_transmit);
    let receiver = &flow.receiver;
    assert!(receiver.sack && receiver.timestamps && !receiver.dsack);
    assert_eq!((receiver.receiver.buffer, receiver.receiver.ack_every), (32_000, 2));
    assert_eq!(receiver.timestamp.echo, EchoRule::Rfc1323);
}

#[test]
fn the_benches_hold_a_bandwidth_delay_product() {
    for (name, flows, round_trip) in [("bench-a.toml", 1, 100), ("bench-b.toml", 50, 60)] {
        let scenario = load(name);
        assert_eq!(scenario.flows.len(), flows);
        let bottleneck = &scenario.links[0].channel.forward;
        let access = scenario.flows[0].access.as_ref().unwrap();
        let delays = (bottleneck.delay + access.forward.delay) * 2;
        assert_eq!(delays, Duration::from_millis(round_trip));
        let packets = bottleneck.rate.unwrap().bits_per_second() * round_trip / 8_000 / 1_040;
        assert_eq!(bottleneck.queue, Limit::Packets(packets as u32));
        let last = &scenario.flows[flows - 1];
        assert_eq!(last.start.nanos(), (flows as u64 - 1) * 2_000_000);
        let windows: u64 =
            scenario.flows.iter().map(|f| u64::from(f.receiver.receiver.buffer)).sum();
        assert!(windows > 10 * packets * 1_040);
    }
}
