//! Comparison of the profile `ns2-2006` with `sack:ns2` and Sack1 of ns-2.35, event by event. ns-2
//! has the same network and loses the same packets.

#[allow(dead_code, reason = "this test uses its part")]
use std::env;
use std::process::Command;
use std::sync::Arc;

use rtolab_link::Stream;
use rtolab_scenario::Scenario;
use rtolab_tcp::config::Bugfix;
use rtolab_tcp::specification;

use crate::sender_events::{
    FIRST_DATA_S, SenderEvent, SenderEvents, crate_path, run, sender_events,
};

/// The tolerance of times, in seconds: ns-2 prints microseconds.
const TOLERANCE: f64 = 0.000_001;

/// The network of `ns2/sack1.tcl` with its defaults.
const NETWORK: &str = r#"
title = "A link that loses scripted packets"

[[link]]
name = "path"
between = ["sender", "receiver"]
delay = "100 ms"

[link.forward]
rate = "1 Mbit/s"

[link.backward]
rate = "100 Gbit/s"                  # ns-2 does not count the bytes of SACK options

[tcp]
mss = "536 B"

[tcp.window]
initial_ssthresh = "64 segments"     # ns-2: the window

[receiver]
buffer = "34304 B"
ack_every = 1

[[flow]]
name = "transfer"
from = "sender"
to = "receiver"
"#;

/// The time at which the first data are sent, in seconds. It includes the phase of ns-2's clock
/// (see `oracle.rs`).
const FIRST: f64 = FIRST_DATA_S + 0.005_558_807;

/// The length of both runs from then on, in seconds.
const DURATION: u32 = 30;

/// ns-2, if it is installed. With `CI=true` it must be.
fn ns() -> Option<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join("ns").is_file()) {
        return Some(Command::new("ns"));
    }
    let missing = "ns is missing: apt-get install ns2";
    assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{missing}");
    eprintln!("skipped: {missing}");
    None
}

/// The difference from ns-2's defaults.
#[derive(Clone, Copy)]
enum Without {
    Nothing,
    Bugfix,
    LimitedTransmit,
}

/// The events of ns-2 if these data packets, counted from 0, are lost.
fn ns2_events(mut ns: Command, drops: &[u32], without: Without) -> SenderEvents {
    let drops: Vec<_> = drops.iter().map(ToString::to_string).collect();
    ns.arg(crate_path("tests/ns2/sack1.tcl")).args(["duration", &DURATION.to_string()]);
    match without {
        Without::Nothing => {}
        Without::Bugfix => {
            ns.args(["bugfix", "false"]);
        }
        Without::LimitedTransmit => {
            ns.args(["limited", "0"]);
        }
    }
    let output = ns.args(["drops", &drops.join(" ")]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut highest = -1;
    let text = String::from_utf8(output.stdout).unwrap();
    let events = text.lines().filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let event = match (fields[0], fields.get(5)) {
            ("+", _) => {
                let segment: i64 = fields[10].parse().unwrap();
                let retransmitted = segment <= highest;
                highest = highest.max(segment);
                if retransmitted {
                    SenderEvent::Retransmit(segment)
                } else {
                    SenderEvent::Send(segment)
                }
            }
            ("E", Some(&"TIMEOUT")) => SenderEvent::Timeout,
            ("E", Some(&"FAST_RECOVERY")) => SenderEvent::FastRetransmit,
            _ => return None,
        };
        Some((fields[1].parse().unwrap(), event))
    });
    events.collect()
}

/// The events of the engine if these data packets are lost.
fn engine_events(drops: &[u32], without: Without) -> SenderEvents {
    // The handshake comes first: a SYN and a SYN-ACK, both with SACK-permitted.
    let bits = f64::from(8 * 48);
    let handshake = 0.2 + bits / 1e6 + bits / 1e11;
    let frames: Vec<_> = drops.iter().map(|packet| packet + 2).collect();
    let set = [
        ("duration", format!("{:.9} s", FIRST + f64::from(DURATION))),
        ("flow.transfer.start", format!("{:.9} s", FIRST - handshake)),
        ("link.path.forward.drops", format!("{frames:?}")),
    ];
    let set: Vec<_> = set.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let scenario = Scenario::parse(NETWORK, "network.toml", &set);
    let mut scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let tcp = Arc::make_mut(&mut scenario.flows[0].tcp);
    *tcp = specification::sender("ns2-2006", tcp).unwrap();
    match without {
        Without::Nothing => {}
        Without::Bugfix => tcp.recovery.bugfix = Bugfix::None,
        Without::LimitedTransmit => tcp.recovery.limited_transmit = false,
    }
    sender_events(&run(&scenario, "sack:ns2"), FIRST)
}

/// Checks that both have the same events if these packets are lost. Returns the numbers of timeouts
/// and fast retransmits in ns-2.
fn assert_same_events(drops: &[u32], without: Without) -> (usize, usize) {
    let Some(ns) = ns() else { return (0, 0) };
    let (engine, ns2) = (engine_events(drops, without), ns2_events(ns, drops, without));
    for (index, ((at, event), (ns2_at, ns2_act))) in engine.iter().zip(&ns2).enumerate() {
        assert_eq!(event, ns2_act, "{drops:?}: event {index}, at {at:.6} s and {ns2_at:.6} s");
        let difference = (at - ns2_at).abs();
        assert!(difference < TOLERANCE, "{drops:?}: {event:?} at {at:.6} s, not {ns2_at:.6} s");
    }
    assert_eq!(engine.len(), ns2.len(), "{drops:?}");
    let count = |wanted| ns2.iter().filter(|(_, event)| *event == wanted).count();
    (count(SenderEvent::Timeout), count(SenderEvent::FastRetransmit))
}

/// [`assert_same_events`] with this number of timeouts and fast retransmits.
fn assert_recovery(drops: &[u32], timeouts: usize, fast_retransmits: usize) {
    if ns().is_some() {
        assert_eq!(assert_same_events(drops, Without::Nothing), (timeouts, fast_retransmits));
    }
}

#[test]
fn without_losses() {
    assert_recovery(&[], 0, 0);
}

#[test]
fn one_loss() {
    assert_recovery(&[30], 0, 1);
}

#[test]
fn three_losses_in_a_window() {
    assert_recovery(&[30, 33, 40], 0, 1);
}

/// 64 is the fast retransmit of 30, 66 fills the last hole.
#[test]
fn a_retransmission_is_lost_too() {
    assert_recovery(&[30, 33, 40, 64], 1, 1);
    assert_recovery(&[30, 33, 40, 66], 1, 1);
}

/// A random selection of one in `one_in` of the first 2000 packets. The first five arrive, because
/// ns-2 treats the loss of its first segment like that of a SYN.
fn random_drops(seed: u64, one_in: u64) -> Vec<u32> {
    let mut rng = Stream::new(seed).rng();
    (5..2000).filter(|_| rng.bits() % one_in == 0).collect()
}

/// From 0.5 to 12 % lost: recoveries with many holes, lost retransmissions, go-back-N with
/// duplicate acknowledgments, timeouts in recovery.
fn random_losses(without: Without) {
    let (mut timeouts, mut fast_retransmits) = (0, 0);
    for (seed, one_in) in (0..).zip([200, 100, 50, 35, 25, 18, 12, 8].into_iter().cycle()).take(40)
    {
        let (timed_out, fast) = assert_same_events(&random_drops(seed, one_in), without);
        timeouts += timed_out;
        fast_retransmits += fast;
    }
    assert!(ns().is_none() || (timeouts > 100 && fast_retransmits > 100));
}

#[test]
fn losses_at_random() {
    random_losses(Without::Nothing);
}

#[test]
fn losses_at_random_without_bugfix() {
    random_losses(Without::Bugfix);
}

/// A loss in a window of two segments, where the retransmission is alone in flight.
#[test]
fn a_loss_in_a_small_window() {
    assert_same_events(&[2], Without::LimitedTransmit);
}

#[test]
fn losses_at_random_without_limited_transmit() {
    random_losses(Without::LimitedTransmit);
}
