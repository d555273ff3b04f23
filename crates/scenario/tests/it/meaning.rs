//! The effect of keys on the resolved scenario.

use crate::noop_prototypes;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use rtolab_link::{DirectionConfig, Distribution, Limit, StallHolds};
use rtolab_scenario::{Scenario, Workload};
use rtolab_tcp::Config;
use rtolab_tcp::config::{AckDelay, EchoRule, RtoFloor, Threshold};
use rtolab_time::{Duration, Rate};
use serde_json::Value as Json;

mod keys;

use keys::{DIRECTION, KEYS, companions};

const MINIMAL: &str = r#"
title = "A minimal scenario"
duration = "60 s"
[[link]]
name = "link"
between = ["left", "right"]
[[flow]]
name = "flow"
from = "left"
to = "right"
"#;

fn parse(text: &str, set: &[(&str, &str)]) -> Scenario {
    let owned = |(key, value): &(&str, &str)| ((*key).to_string(), (*value).to_string());
    let set: Vec<_> = set.iter().map(owned).collect();
    let scenario = Scenario::parse_with(text, "x.toml", &set, &noop_prototypes::prototypes());
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

fn with(set: &[(&str, &str)]) -> Scenario {
    parse(MINIMAL, set)
}

#[test]
fn keys_that_are_not_written_have_the_engines_defaults() {
    let scenario = with(&[]);
    assert_eq!(scenario.links[0].channel.forward, DirectionConfig::default());
    assert_eq!(scenario.links[0].channel.backward, DirectionConfig::default());
    let flow = &scenario.flows[0];
    assert_eq!(*flow.tcp, Config::default());
    assert_eq!(
        (&flow.workload, flow.sender.as_str(), flow.own_sender),
        (&Workload::Bulk { bytes: None }, "sack", false)
    );
    let receiver =
        Config { timestamps: true, ecn: true, window_scale: Some(0), ..Config::default() };
    assert_eq!(*flow.receiver, receiver);
}

#[test]
fn keys_of_a_direction_override_those_of_its_link() {
    let text = MINIMAL.replace(
        "[[flow]]",
        r#"
        rate = "1 Mbit/s"
        delay = "10 ms"
        drops = [7, 3, 7]
        [link.stalls]
        scripted = [{ at = "1 s", for = "2 s" }]
        holds = "entry"
        [link.forward]
        rate = "2 Mbit/s"
        [link.backward]
        drops = []
        [link.backward.stalls]
        random = { good = { constant = "1 s" }, bad = { uniform = ["0 s", "1 s"] } }
        [[flow]]"#,
    );
    let channel = &parse(&text, &[]).links[0].channel;
    let (forward, backward) = (&channel.forward, &channel.backward);
    assert_eq!(forward.rate, Rate::from_bits_per_second(2_000_000));
    assert_eq!(backward.rate, Rate::from_bits_per_second(1_000_000));
    assert_eq!(forward.delay, backward.delay);
    assert_eq!((&forward.drops[..], &backward.drops[..]), (&[3, 7][..], &[][..]));
    assert_eq!(forward.stalls.scripted.len(), 1);
    assert_eq!(forward.stalls.holds, StallHolds::Entry);
    assert_eq!(backward.stalls.scripted, []);
    assert_eq!(backward.stalls.holds, StallHolds::Transmitter);
    assert!(backward.stalls.random.as_ref().is_some_and(|random| random.stationary));
}

#[test]
fn each_key_can_differ_by_direction() {
    for (key, value) in DIRECTION {
        let both = format!("link.link.{key}");
        let channel = |own: Option<&str>| {
            let mut set = companions(&both);
            set.extend(own.map(|key| (key, *value)));
            with(&set).links.remove(0).channel
        };
        let (none, both) = (channel(None), channel(Some(&both)));
        let forward = channel(Some(&format!("link.link.forward.{key}")));
        let backward = channel(Some(&format!("link.link.backward.{key}")));
        assert_ne!(both.forward, none.forward, "{key}");
        assert_eq!(both.forward, both.backward, "{key}");
        assert_eq!((&forward.forward, &backward.backward), (&both.forward, &both.backward));
        assert_eq!((&forward.backward, &backward.forward), (&none.backward, &none.forward));
    }
}

/// A hundred thousand configurations would take more memory than the rest.
#[test]
fn flows_of_one_table_share_their_configurations() {
    for profile in ["linux", "freebsd-14"] {
        let flows = with(&[("receiver.profile", profile), ("flow.flow.count", "3")]).flows;
        assert!(Arc::ptr_eq(&flows[0].receiver, &flows[2].receiver), "{profile}");
        assert!(Arc::ptr_eq(&flows[0].tcp, &flows[2].tcp), "{profile}");
    }
}

/// Borders that belong to what is valid.
#[test]
fn a_timeout_may_be_as_long_as_the_longest() {
    let scenario = with(&[
        ("tcp.rto.max", "2 s"),
        ("tcp.rto.min", "2 s"),
        ("tcp.rto.initial", "2 s"),
        ("tcp.rto.slop", "2 s"),
    ]);
    let rto = &scenario.flows[0].tcp.rto;
    let two = Duration::from_secs(2);
    assert_eq!([rto.max, rto.initial, rto.slop], [two; 3]);
}

#[test]
fn jitter_of_one_direction_can_be_correlated() {
    for direction in ["forward", "backward"] {
        let jitter = format!("link.link.{direction}.jitter");
        let correlation = ("link.link.jitter_correlation", "200 ms");
        let set = [(&jitter[..], r#"{ exponential = "30 ms" }"#), correlation];
        let channel = with(&set).links.remove(0).channel;
        let memory = Some(Duration::from_millis(200));
        assert_eq!(channel.forward.jitter_correlation, memory);
        assert_eq!(channel.backward.jitter_correlation, memory);
    }
}

#[test]
fn the_largest_packet_may_fill_a_queue() {
    // Headers take 40 B.
    let room = |access: &str, queue: &str| {
        let text = format!("{MINIMAL}mss = \"2000 B\"\naccess = {{ queue = \"{access}\" }}");
        let set = ("link.link.queue".to_string(), queue.to_string());
        Scenario::parse(&text, "x.toml", &[set]).map_err(|error| error.to_string())
    };
    room("2040 B", "2040 B").unwrap();
    let message = room("2039 B", "2040 B").unwrap_err();
    assert!(
        message.ends_with("at most 2039 B with their headers, the room in access"),
        "{message}"
    );
    let message = room("2040 B", "2039 B").unwrap_err();
    assert!(
        message.ends_with("at most 2039 B with their headers, the room in link link"),
        "{message}"
    );
}

#[test]
fn losses_of_one_direction_can_be_remembered() {
    for direction in ["forward", "backward"] {
        let loss = format!("link.link.{direction}.loss");
        let scenario = with(&[(&loss, "0.1"), ("link.link.loss_memory", "0.5")]);
        let channel = &scenario.links[0].channel;
        for one in [&channel.forward, &channel.backward] {
            assert_ne!(one.loss_memory, DirectionConfig::default().loss_memory);
        }
    }
}

/// The shortest path does not pass the gateway, but a configured route does.
#[test]
fn a_connection_can_be_split_on_a_route() {
    let text = r#"
title = "A detour"
duration = "60 s"
[[link]]
name = "direct"
between = ["left", "right"]
[[link]]
name = "in"
between = ["left", "gateway"]
[[link]]
name = "out"
between = ["gateway", "right"]
[[route]]
from = "left"
to = "right"
links = ["in", "out"]
[[flow]]
name = "flow"
from = "left"
to = "right"
split = ["gateway"]
"#;
    assert_eq!(parse(text, &[]).flows[0].split.len(), 1);
}

#[test]
fn several_flows_are_numbered_and_staggered() {
    let set = [("flow.flow.count", "3"), ("flow.flow.stagger", "2 ms"), ("flow.flow.start", "1 s")];
    let flows = with(&set).flows;
    let starts: Vec<_> = flows.iter().map(|f| (f.name.as_str(), f.start.nanos())).collect();
    let (first, second, third) = (1_000_000_000, 1_002_000_000, 1_004_000_000);
    assert_eq!(starts, [("flow-1", first), ("flow-2", second), ("flow-3", third)]);
    assert_eq!(with(&[("flow.flow.count", "1")]).flows[0].name, "flow");
}

#[test]
fn a_flow_that_has_a_sender_keeps_it() {
    let shared = with(&[("tcp.sender", "newreno")]).flows.remove(0);
    assert_eq!(shared.sender_name(None), "newreno");
    assert_eq!(shared.sender_name(Some("sack+frto")), "sack+frto");
    assert!(shared.sender_config(Some("sack+frto")).unwrap().frto.is_some());
    assert!(!shared.sender_config(None).unwrap().sack);
    assert!(shared.sender_config(Some("sack+frot")).is_err());

    let own = with(&[("flow.flow.sender", "newreno")]).flows.remove(0);
    assert_eq!(own.sender_name(Some("sack+frto")), "newreno");
    assert!(own.sender_config(Some("sack+frto")).unwrap().frto.is_none());
}

#[test]
fn an_access_link_is_a_link() {
    let keys = r#"rate = "1 Gbit/s", delay = "1 ms", backward.queue = "5 packets""#;
    let text = format!("{MINIMAL}access = {{ {keys} }}");
    let access = parse(&text, &[]).flows.remove(0).access.unwrap();
    assert_eq!(access.forward.rate, Rate::from_bits_per_second(1_000_000_000));
    assert_eq!(
        (access.forward.queue, access.backward.queue),
        (Limit::Unlimited, Limit::Packets(5))
    );
}

#[test]
fn the_receiver_has_the_senders_values_by_default() {
    let set = [
        ("tcp.mss", "512 B"),
        ("tcp.rto.initial", "3 s"),
        ("tcp.timestamp.echo", "linux"),
        ("tcp.window_scale", "3"),
        ("receiver.buffer", "300 kB"),
    ];
    let receiver = with(&set).flows.remove(0).receiver;
    assert_eq!(receiver.mss, 512);
    assert_eq!(receiver.rto.initial, Duration::from_secs(3));
    assert_eq!(receiver.timestamp, with(&set).flows[0].tcp.timestamp);
    assert_eq!(receiver.window_scale, Some(3), "the smallest that announces 300 kB");
}

#[test]
fn keys_of_the_receiver_override_its_profile() {
    let receiver = |set: &[_]| with(set).flows.remove(0).receiver;
    let (bsdi, shared) = (("receiver.profile", "bsdi-3.0"), ("tcp.timestamp.echo", "linux"));
    let plain = receiver(&[shared, bsdi]);
    assert_eq!(plain.timestamp.echo, EchoRule::Rfc1323);
    assert_eq!(plain.receiver.ack_delay, AckDelay::Heartbeat);
    assert!(!plain.sack && plain.timestamps && !plain.receiver.rxt_echo);

    let (phase, period) = (("receiver.heartbeat_phase", "50 ms"), ("receiver.delayed_ack", "1 s"));
    let (echo, sack) = (("receiver.echo", "ns2bis"), ("receiver.sack", "true"));
    let own = receiver(&[phase, period, echo, sack, bsdi]);
    assert_eq!(own.timestamp.echo, EchoRule::Ns2bis);
    assert_eq!(own.receiver.ack_delay, AckDelay::Heartbeat);
    assert_eq!(own.receiver.heartbeat_phase, Duration::from_millis(50));
    assert_eq!(own.receiver.delayed_ack, Duration::from_secs(1));
    assert!(own.sack && own.timestamps);
    assert_eq!(with(&[bsdi]).flows[0].tcp, with(&[]).flows[0].tcp, "the sender is unchanged");
}

/// Both ends are the same system, so this host's SYN-ACK and FIN are that system's, too.
#[test]
fn keys_of_the_receiver_override_its_senders_profile() {
    let set = [
        ("receiver.profile", "linux"),
        ("receiver.echo", "ns2bis"),
        ("receiver.sack", "false"),
        ("receiver.timestamps", "false"),
        ("receiver.dsack", "false"),
        ("receiver.ecn", "false"),
        ("receiver.mss", "536 B"),
        ("receiver.window_scale", "5"),
        ("receiver.ack_every", "3"),
    ];
    let flow = with(&set).flows.remove(0);
    let sender = flow.sender_config(Some("linux")).unwrap();
    let receiver = flow.receiver_with(Some("linux"), &sender);
    assert!(sender.sack && sender.timestamps && sender.dsack);
    assert!(!receiver.sack && !receiver.timestamps && !receiver.dsack && !receiver.ecn);
    assert_eq!(receiver.timestamp.echo, EchoRule::Ns2bis);
    assert_eq!((receiver.mss, receiver.window_scale), (536, Some(5)));
    assert_eq!(receiver.receiver.ack_every, 3);
    assert_eq!(receiver.rto, sender.rto);
}

#[test]
fn setting_a_key_removes_the_keys_that_it_excludes() {
    let floor = |set: &[_]| with(set).flows[0].tcp.rto.floor;
    let (min, variance) = (("tcp.rto.min", "2 s"), ("tcp.rto.min_on_variance", "200 ms"));
    assert_eq!(floor(&[min, variance]), RtoFloor::Variance(Duration::from_millis(200)));
    assert_eq!(floor(&[variance, min]), RtoFloor::Total(Duration::from_secs(2)));
    let delayed = ("tcp.rto.min_delayed_ack", "500 ms");
    assert_eq!(floor(&[min, delayed]), RtoFloor::DelayedAck(Duration::from_millis(500)));

    let pages = ("flow.flow.pages", r#"{ bytes = "1 kB", every = "1 s" }"#);
    let bulk = ("flow.flow.bytes", "2 kB");
    let workload = |set: &[_]| with(set).flows.remove(0).workload;
    assert!(matches!(workload(&[bulk, pages]), Workload::Pages { bytes: 1000, .. }));
    assert_eq!(workload(&[pages, bulk]), Workload::Bulk { bytes: Some(2000) });

    let threshold = |set: &[_]| with(set).flows[0].tcp.dualrtt.threshold;
    let (fixed, online) = (("tcp.dualrtt.threshold", "0.2"), ("tcp.dualrtt.model", "online"));
    assert_eq!(threshold(&[fixed, online]), Threshold::Online);
    assert_eq!(threshold(&[online, fixed]), Threshold::Fixed(200));

    let spikes = ("link.link.spikes", r#"{ probability = 0.5, length = { constant = "3 s" } }"#);
    let length = ("link.link.spikes.length.exponential", "1 s");
    let spikes = with(&[spikes, length]).links.remove(0).channel.forward.spikes.unwrap();
    assert_eq!(spikes.length, Distribution::Exponential(Duration::from_secs(1)));

    let median = ("link.link.jitter.lognormal.median", "1 s");
    let sigma = ("link.link.jitter.lognormal.sigma", "0.5");
    let jitter = [("link.link.jitter", r#"{ constant = "3 s" }"#), median, sigma];
    let jitter = with(&jitter).links.remove(0).channel.forward.jitter.unwrap();
    assert!(matches!(jitter, Distribution::LogNormal(_)));
}

/// A scenario in which each of [`KEYS`] makes a difference.
fn full() -> String {
    let random = r#"{ good = { exponential = "1 s" }, bad = { exponential = "1 s" } }"#;
    let link = format!(
        r#"
        [link.spikes]
        probability = 0.5
        length = {{ exponential = "1 s" }}
        [link.stalls]
        random = {random}
        [link.outages]
        random = {random}
        [[link]]
        name = "second"
        between = ["right", "middle"]
        [[link]]
        name = "twin"
        between = ["left", "right"]
        [[flow]]"#
    );
    let rto = "[tcp.rto]\ngranularity = \"10 ms\"\n";
    MINIMAL.replace("[[flow]]", &link) + "count = 3\n" + rto
}

/// Each value of a `{:#?}`, with its path.
fn flattened(scenario: &Scenario) -> Vec<String> {
    let (mut path, mut values) = (Vec::<String>::new(), Vec::new());
    for line in format!("{scenario:#?}").lines() {
        let depth = (line.len() - line.trim_start().len()) / 4;
        path.truncate(depth);
        path.push(line.trim().trim_end_matches([',', '(', '{', '[', ' ']).to_string());
        if line.ends_with(',') && !line.trim().starts_with(['}', ')', ']']) {
            values.push(path[1..].join("/"));
        }
    }
    values
}

/// The values of `one` that `other` lacks, without duplicates.
fn difference(one: &[String], other: &[String]) -> BTreeSet<String> {
    let other: HashSet<_> = other.iter().collect();
    one.iter().filter(|value| !other.contains(value)).cloned().collect()
}

#[test]
fn each_key_changes_its_own_value_only() {
    let (text, mut changes) = (full(), String::new());
    let mut without = HashMap::new();
    for (key, value) in KEYS {
        let mut set = companions(key);
        let before = without.entry(set.clone()).or_insert_with(|| flattened(&parse(&text, &set)));
        set.push((key, value));
        let after = flattened(&parse(&text, &set));
        assert_ne!(after, *before, "{key} = {value} changes nothing");
        writeln!(changes, "{key} = {value}").unwrap();
        for gone in difference(before, &after) {
            writeln!(changes, "  - {gone}").unwrap();
        }
        for new in difference(&after, before) {
            writeln!(changes, "  + {new}").unwrap();
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("keys", changes));
}

/// The dotted keys of a schema that are not tables.
fn leaves(schema: &Json, key: &str, found: &mut BTreeSet<String>) {
    let mut within = Vec::new();
    if schema["items"]["properties"].is_object() {
        leaves(&schema["items"], &format!("{key}.0"), found);
    }
    for choice in schema["oneOf"].as_array().into_iter().flatten().chain([schema]) {
        within.extend(choice["properties"].as_object().into_iter().flatten());
    }
    if within.is_empty() {
        found.insert(key.to_string());
    }
    for (step, schema) in within {
        match key {
            "" => match step.as_str() {
                "link" | "flow" => leaves(&schema["items"], &format!("{step}.{step}"), found),
                step => leaves(schema, step, found),
            },
            key => leaves(schema, &format!("{key}.{step}"), found),
        }
    }
}

/// A list without a bound says nothing about it, instead of the largest number of this machine.
#[test]
fn the_schema_bounds_the_lists_that_have_bounds() {
    let schema = Scenario::schema().to_string();
    assert!(schema.contains(r#""maxItems":2"#), "the nodes of a link");
    assert!(!schema.contains(&format!(r#""maxItems":{}"#, usize::MAX)));
}

#[test]
fn each_key_of_the_schema_is_tried() {
    let mut known = BTreeSet::new();
    leaves(&Scenario::schema(), "", &mut known);
    let layered = ["link.link.forward.", "link.link.backward.", "flow.flow.access."];
    known.retain(|key| !layered.iter().any(|layer| key.starts_with(layer)));
    // Laws are the same everywhere.
    let laws = ["lognormal", "gamma", "pareto", "empirical"];
    let is_law = |key: &str| key.split('.').any(|step| laws.contains(&step));
    known.retain(|key| key.starts_with("link.link.jitter.") || !is_law(key));
    // These have an effect only together with others.
    let bound = ["route.0.from", "route.0.to", "agent.0.kind", "kernel.host.0.name"];
    known.retain(|key| !bound.contains(&key.as_str()));
    // Hosts are addressed by name.
    let known: BTreeSet<_> =
        known.iter().map(|key| key.replace("kernel.host.0.", "kernel.host.left.")).collect();
    let tried: BTreeSet<_> = KEYS.iter().map(|(key, _)| (*key).to_string()).collect();
    assert_eq!(tried, known);
}
