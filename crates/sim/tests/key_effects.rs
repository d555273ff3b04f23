//! Tests that each key of an endpoint and of a link has an effect. There must be a test network in
//! which the key changes the packets or their times.

#[path = "it/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "this test uses its part")]
#[path = "../../scenario/tests/it/meaning/keys.rs"]
mod keys;

use std::collections::BTreeMap;

use common::test_networks::{Key, Sent, TEST_NETWORKS, TestNetwork, run};
use keys::{KEYS, companions};

const SENDERS: [&str; 5] = ["sack", "newreno", "sack+frto", "newreno+eifel", "sack+dualrtt"];

/// Keys that are not tested here: each run sets its sender, and a stage is user-defined.
const EXCLUDED: [&str; 2] = ["tcp.sender", "link.link.stage"];

/// The keys that other keys of a link need, and a transfer that is long enough.
const LINK: &[Key] = &[
    ("link.link.spikes", r#"{ probability = 0.01, length = { exponential = "1 s" } }"#),
    ("link.link.stalls.random", RANDOM),
    ("link.link.outages.random", RANDOM),
    ("flow.flow.bytes", "2 MB"),
];
const RANDOM: &str = r#"{ good = { exponential = "3 s" }, bad = { exponential = "1 s" } }"#;
const FOUR_MINUTES: &str = r#"[{ at = "2 s", for = "240 s" }]"#;
const TEN_SECONDS: &str = r#"[{ at = "1.5 s", for = "10 s" }]"#;
const INITIAL_OUTAGE: &str = r#"[{ at = "0 s", for = "20 s" }]"#;
/// A page, and an outage while no packet is in flight.
const IDLE: &[Key] = &[
    ("flow.flow.pages", RARE_PAGES),
    ("link.link.outages.scripted", r#"[{ at = "6 s", for = "15 s" }]"#),
    ("tcp.keep_alive.idle", "3 s"),
];
const IDLE_PROBED: &[Key] = &[
    ("flow.flow.pages", RARE_PAGES),
    ("link.link.outages.scripted", r#"[{ at = "6 s", for = "15 s" }]"#),
    ("tcp.keep_alive.idle", "3 s"),
    ("tcp.keep_alive.interval", "2 s"),
];
const RARE_PAGES: &str = r#"{ bytes = "3 kB", every = "25 s" }"#;
const PAGES: &str = r#"{ bytes = "30 kB", every = "8 s" }"#;
const ODD_PAGES: &str = r#"{ bytes = "1.5 kB", every = "0.1 s" }"#;
const SHORT_STALLS: &str =
    r#"{ good = { exponential = "1 s" }, bad = { uniform = ["0.8 s", "1.2 s"] } }"#;

const FAST: &[Key] = &[
    ("link.link.rate", "2 Mbit/s"),
    ("receiver.ack_every", "1"),
    ("link.link.stalls.random", SHORT_STALLS),
    ("flow.flow.bytes", "2 MB"),
];
const REORDERED: &[Key] = &[
    ("receiver.dsack", "true"),
    ("link.link.jitter", r#"{ uniform = ["0 s", "0.6 s"] }"#),
    ("link.link.order", "free"),
];

/// The SYN-ACK is lost, and no timestamp tells which SYN the second one answers.
const SYN_ACK_LOST: &[Key] =
    &[("receiver.timestamps", "false"), ("link.link.backward.drops", "[1]"), ONE_SEGMENT];
const ONE_SEGMENT: Key = ("flow.flow.bytes", "1 kB");

/// The sender and the other keys with which a key has an effect.
const NEEDS: &[(&str, &str, &[Key])] = &[
    ("link.link.red.gentle", "sack", &[("link.link.red.weight", "0.5")]),
    ("link.link.codel.target", "sack", &[("link.link.rate", "2 Mbit/s")]),
    ("link.link.red.ecn", "sack+ecn", &[]),
    ("link.link.codel.ecn", "sack+ecn", &[]),
    ("tcp.rto.max", "sack", &[("duration", "300 s"), ("link.link.outages.scripted", FOUR_MINUTES)]),
    (
        "tcp.window.repeated_timeout",
        "sack",
        &[("tcp.window.halves", "window"), ("link.link.outages.scripted", TEN_SECONDS)],
    ),
    ("tcp.window.idle_restart", "sack", &[("flow.flow.pages", PAGES)]),
    ("tcp.nagle", "sack", &[("flow.flow.pages", ODD_PAGES)]),
    ("tcp.keep_alive.idle", "sack", &[("flow.flow.pages", RARE_PAGES)]),
    ("tcp.keep_alive.interval", "sack", IDLE),
    ("tcp.keep_alive.probes", "sack", IDLE_PROBED),
    ("tcp.give_up.retransmissions", "sack", &[("link.link.outages.scripted", TEN_SECONDS)]),
    ("tcp.give_up.syn_retransmissions", "sack", &[("link.link.outages.scripted", INITIAL_OUTAGE)]),
    ("tcp.congestion.slow_start_exit", "sack", &[("receiver.ack_every", "1")]),
    ("tcp.recovery.dupthresh_increment", "sack+dsack", REORDERED),
    ("tcp.cubic.beta", "sack+cubic", &[]),
    ("tcp.cubic.fast_convergence", "sack+cubic", FAST),
    ("tcp.cubic.reno_friendly", "sack+cubic", FAST),
    ("tcp.cubic.undo", "sack+cubic+frto:linux", FAST),
    ("tcp.cubic.growth", "sack+cubic", FAST),
    ("tcp.dualrtt.threshold", "sack+dualrtt", FAST),
    ("tcp.dualrtt.first", "sack+dualrtt", FAST),
    ("tcp.dualrtt.model", "sack+dualrtt", FAST),
    ("tcp.dualrtt.path_rate", "sack+dualrtt:table", FAST),
    ("tcp.dualrtt.path_delay", "sack+dualrtt:paper-ln", FAST),
    ("tcp.rack.reordering_window", "rack", &[]),
    ("tcp.rack.threshold", "rack", &[]),
    ("tcp.rack.min_rtt_window", "rack", &[]),
    ("tcp.rack.tail_loss_probe", "rack", &[]),
    ("tcp.rack.max_ack_delay", "rack", &[]),
    ("tcp.rack.timer_slack", "rack", &[]),
    ("tcp.backoff.linear_for", "sack", &[("tcp.backoff.linear", "6")]),
    ("tcp.eln", "sack", &[]),
    ("tcp.pacing.ss_ratio", "sack+pacing", &[]),
    ("tcp.pacing.ca_ratio", "sack+pacing", &[]),
    ("tcp.pacing.unpaced", "sack+pacing", &[]),
    ("tcp.pacing.quantum", "sack+pacing", &[]),
    ("tcp.rfc9002.packet_threshold", "rfc9002", &[]),
    ("tcp.rfc9002.time_threshold", "rfc9002", &[]),
    ("tcp.rfc9002.thresholds", "rfc9002", REORDERED),
    ("tcp.rfc9002.granularity", "rfc9002", &[]),
    ("tcp.rfc9002.max_ack_delay", "rfc9002", &[]),
    ("tcp.rfc9002.initial_rtt", "rfc9002", SYN_ACK_LOST),
    ("tcp.rfc9002.undo", "rfc9002", REORDERED),
    ("receiver.window_scale", "sack", &[("tcp.window_scale", "7")]),
    ("receiver.ecn", "sack+ecn", &[]),
    ("receiver.rxt_echo", "sack+eifel:rxt", &[]),
    ("receiver.rxt_answer", "sack+eifel:two-bits", &[]),
    ("receiver.ack_counts", "sack", &[("flow.flow.pages", ODD_PAGES)]),
    ("receiver.memory", "sack", &[("receiver.profile", "linux")]),
    (
        "receiver.ack_pushed_at_once",
        "sack",
        &[("tcp.push", "true"), ("flow.flow.pages", ODD_PAGES)],
    ),
    ("receiver.dsack_old", "sack", REORDERED),
];

/// The packets in test networks without the tested key. Several keys share them.
type Baselines = BTreeMap<(&'static str, Vec<Key>, &'static str), Option<[Sent; 2]>>;

/// Does the key have an effect in the test network?
fn differs(baselines: &mut Baselines, network: &TestNetwork, key: Key) -> bool {
    let mut without = companions(key.0);
    if key.0.starts_with("link.") {
        without.splice(0..0, LINK.iter().copied());
    }
    let needs = NEEDS.iter().find(|(name, ..)| *name == key.0);
    without.extend(needs.into_iter().flat_map(|(.., keys)| keys.iter().copied()));
    let with: Vec<_> = without.iter().copied().chain([key]).collect();
    let senders = needs.map_or(&SENDERS[..], |(_, sender, _)| std::slice::from_ref(sender));
    senders.iter().any(|sender| {
        let before = baselines.entry((network.name, without.clone(), sender));
        *before.or_insert_with(|| run(network, &without, sender)) != run(network, &with, sender)
    })
}

#[test]
fn each_key_has_an_effect() {
    // Trace files are relative to this folder, which is the process's: no other test runs in it.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenario")).unwrap();
    let starts = ["tcp.", "receiver.", "link.link."];
    let tested = KEYS.iter().filter(|(key, _)| starts.iter().any(|start| key.starts_with(start)));
    let tested = tested.filter(|(key, _)| !EXCLUDED.contains(key));
    let mut baselines = Baselines::new();
    let mut without_effect =
        |key: &&Key| !TEST_NETWORKS.iter().any(|network| differs(&mut baselines, network, **key));
    let without_effect: Vec<_> = tested.filter(|key| without_effect(key)).collect();
    assert!(without_effect.is_empty(), "without effect in any test network: {without_effect:#?}");
}
