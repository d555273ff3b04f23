//! The scenarios in `scenarios/`.

use std::path::{Path, PathBuf};

use rtolab_link::{
    Distribution, Limit, Order, Outages, Probability, RenewalProcess, SpikeHolds, Spikes,
    StallHolds,
};
use rtolab_scenario::{Scenario, Workload};
use rtolab_tcp::config::{
    Bugfix, EchoRule, InitialWindow, Outstanding, PartialAckTimer, RecoverOnUndo, RtoFloor,
    SackRules,
};
use rtolab_time::{Duration, Instant, Rate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_scenario = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "toml");
    let mut paths: Vec<_> = entries.filter(is_scenario).collect();
    paths.sort();
    assert!(paths.len() >= 34, "{paths:?}");
    paths
}

fn load(name: &str) -> Scenario {
    Scenario::load(&folder().join(name), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn document(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

#[test]
fn each_scenario_has_a_title_of_one_line_and_names_its_source() {
    for path in shipped() {
        let name = path.display();
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let title = &scenario.title;
        assert!(title.chars().count() < 80 && title.lines().count() == 1, "{name}: {title:?}");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut above = text.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
        let source = above.find_map(|line| line.strip_prefix("# Source: "));
        assert!(source.is_some_and(|source| source.len() > 10), "{name}: {source:?}");
    }
}

/// The keys and values that comments of `text` suggest for --set, with or without shell quotes.
fn settings(text: &str) -> Vec<(String, String)> {
    let comments = text.lines().filter_map(|line| line.strip_prefix('#'));
    let given = comments.flat_map(|comment| comment.split("--set ").skip(1));
    let setting = |given: &str| {
        let pair = given.trim_start_matches('\'').split_once('=');
        let (key, rest) = pair.unwrap_or_else(|| panic!("--set {given}: no key and value"));
        let value = match (given.starts_with('\''), rest.strip_prefix('"')) {
            (true, _) => rest.split('\'').next(),
            (false, Some(quoted)) => quoted.split('"').next(),
            (false, None) => rest.split_whitespace().next(),
        };
        (key.to_string(), value.unwrap().to_string())
    };
    given.map(setting).collect()
}

/// The settings that comments suggest are valid and make a difference.
#[test]
fn settings_in_comments_are_valid() {
    let mut tried = 0;
    for path in shipped() {
        let name = path.display();
        let text = std::fs::read_to_string(&path).unwrap();
        let set = settings(&text);
        for (key, value) in set.into_iter().filter(|(_, value)| !value.starts_with("/path/to")) {
            tried += 1;
            let changed = Scenario::load(&path, &[(key.clone(), value.clone())]);
            let changed = changed.unwrap_or_else(|error| panic!("{error}"));
            assert_ne!(Scenario::load(&path, &[]).as_ref(), Ok(&changed), "{name}: {key}={value}");
        }
    }
    assert!(tried > 20, "{tried}");
}

/// No folder of traces has an unused file.
#[test]
fn each_trace_belongs_to_a_scenario() {
    let texts: String =
        shipped().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let traces = std::fs::read_dir(folder().join("traces")).unwrap();
    let names = traces.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<_> = names.collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(texts.contains(&format!("\"traces/{name}\"")), "{name}");
    }
}

/// A scenario that is written again from its keys and values is equal.
#[test]
fn each_scenario_survives_a_round_trip() {
    for path in shipped() {
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let text = toml::to_string(&document(&path)).unwrap();
        let beside = path.with_file_name("again").display().to_string();
        assert_eq!(Scenario::parse(&text, &beside, &[]), Ok(scenario), "{text}");
    }
}

/// The dotted key and the value of each leaf. Tables in lists go by their names; a list of tables
/// without names is one value.
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

/// Setting a key to its own value changes nothing, in any spelling of the value.
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
        length: exponential.clone(),
        holds: SpikeHolds::Delivery,
    };
    let channel = &delays.links[1].channel;
    for direction in [&channel.forward, &channel.backward] {
        assert_eq!(direction.spikes.as_ref(), Some(&spikes));
    }

    let loss = Probability::new(0.05).unwrap();
    let channel = &load("frto2002-loss.toml").links[1].channel;
    assert_eq!((channel.forward.loss, channel.backward.loss), (loss, loss));

    let good = Distribution::Uniform(Duration::from_millis(100), Duration::from_secs(20));
    let renewal = RenewalProcess { good, bad: exponential, stationary: true };
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
        (flow.from, flow.to, flow.workload.clone()),
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
    assert_eq!(receiver.timestamp.echo, EchoRule::Linux);
}

/// The one-way propagation delay of a flow, with its access link.
fn one_way(scenario: &Scenario, flow: usize, links: &[&str]) -> Duration {
    let access = scenario.flows[flow].access.as_ref();
    let delay = |name: &&str| {
        let link = scenario.links.iter().find(|link| link.name == *name);
        link.unwrap_or_else(|| panic!("{name}")).channel.forward.delay
    };
    let own = access.map_or(Duration::ZERO, |access| access.forward.delay);
    links.iter().map(delay).fold(own, |sum, delay| sum + delay)
}

#[test]
fn local_retransmissions_have_one_link_in_four_settings() {
    let wireless = |name: &str| {
        let scenario = load(name);
        let link = scenario.links.into_iter().find(|link| link.name == "wireless").unwrap();
        let second = |seconds| Instant::START + Duration::from_secs(seconds);
        assert_eq!(scenario.measured, (second(5), second(105)), "{name}");
        link.channel
    };
    let one = wireless("arq2002-wan.toml");
    for other in ["arq2002-lan.toml", "arq2002-link.toml", "arq2002-upload.toml"] {
        assert_eq!(wireless(other), one, "{other}");
    }
    let (down, up) = (&one.forward, &one.backward);
    assert_eq!(
        up.rate.unwrap().bits_per_second() * 4,
        down.rate.unwrap().bits_per_second(),
        "4:1 down to up"
    );
    assert_eq!(up.delay, down.delay * 2);
    let residence = one.states.unwrap().residence;
    let means = (residence.good, residence.bad);
    let mean_of = |millis| Distribution::Exponential(Duration::from_millis(millis));
    assert_eq!(means, (mean_of(10), mean_of(1)));
    let mean = (10.0 * down.loss.value() + down.bad.loss.unwrap().value()) / 11.0;
    assert!((mean - 0.01).abs() < 1e-6, "{mean}");
    assert_eq!(one.arq.len(), 1);
    assert_eq!((one.arq[0].retries, one.arq[0].order), (3, Order::Free));
}

#[test]
fn the_minimum_rto_has_round_trips_of_10_and_42_ms() {
    for (name, round_trip) in [("minrto2007-a.toml", 10), ("minrto2007-b.toml", 42)] {
        let scenario = load(name);
        let way = one_way(&scenario, 0, &["backbone", "wireless"]);
        assert_eq!(way * 2, Duration::from_millis(round_trip), "{name}");
        assert_eq!(scenario.flows.len(), 3);
        let wireless = &scenario.links[1].channel;
        assert_eq!(wireless.backward.loss, Probability::ZERO);
        let tcp = &scenario.flows[0].tcp;
        assert!(tcp.timestamps && !tcp.timestamp.in_mss);
        assert_eq!(tcp.rto.floor, RtoFloor::Total(Duration::from_millis(200)));
    }
}

#[test]
fn the_parking_lot_takes_a_segment_1400_ms() {
    let scenario = load("dualrtt2004-parking-lot.toml");
    let way = one_way(&scenario, 0, &["W0-W3", "W3-W4", "W4-W5", "W5-W6", "W6-W9"]);
    assert_eq!(way, Duration::from_millis(1_400));
    let uplink = &scenario.flows[0].access.as_ref().unwrap().forward;
    let seconds =
        |low, high| Distribution::Uniform(Duration::from_secs(low), Duration::from_secs(high));
    let spikes = RenewalProcess { good: seconds(20, 40), bad: seconds(3, 15), stationary: false };
    assert_eq!(uplink.stalls.random, Some(spikes));
    assert_eq!(uplink.stalls.holds, StallHolds::Entry);
}

#[test]
fn the_benches_hold_a_bandwidth_delay_product() {
    let benches =
        [("a", 1, 100, 2000), ("b", 50, 60, 2000), ("c", 500, 60, 2000), ("d", 100_000, 60, 10)];
    for (name, flows, round_trip, stagger) in benches {
        let scenario = load(&format!("bench-{name}.toml"));
        assert_eq!(scenario.flows.len(), flows);
        let bottleneck = &scenario.links[0].channel.forward;
        let access = scenario.flows[0].access.as_ref().unwrap();
        let delays = (bottleneck.delay + access.forward.delay) * 2;
        assert_eq!(delays, Duration::from_millis(round_trip));
        let packets = bottleneck.rate.unwrap().bits_per_second() * round_trip / 8_000 / 1_040;
        assert_eq!(bottleneck.queue, Limit::Packets(packets as u32));
        let last = &scenario.flows[flows - 1];
        assert_eq!(last.start.nanos(), (flows as u64 - 1) * stagger * 1000);
        let windows: u64 =
            scenario.flows.iter().map(|f| u64::from(f.receiver.receiver.buffer)).sum();
        assert!(windows > 10 * packets * 1_040);
    }
}
