//! What Sack1 of ns-2.35 does, act by act, against `ns2-2006` with `sack:ns2`: the simulator itself
//! runs over the same network, with the same packets lost.

mod history;

use std::env;
use std::process::Command;

use rtolab_scenario::Scenario;
use rtolab_tcp::sum;

use history::{Act, BEGINS, History, history, near, run};

/// How much the engine's times may differ from ns-2's, in seconds: it prints microseconds.
const TOLERANCE: f64 = 0.000_002;

/// The network of `ns2/sack1.tcl` with its defaults.
const NETWORK: &str = r#"
title = "A link that loses what the script says"

[[link]]
name = "path"
between = ["sender", "receiver"]
delay = "100 ms"

[link.forward]
rate = "1 Mbit/s"

[link.backward]
rate = "1 Gbit/s"

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

/// When the first data leave, in seconds; the clock of ns-2 has a phase, as `oracle.rs` says.
const FIRST: f64 = BEGINS + 0.005_558_807;

/// How long both run from then on, in seconds.
const DURATION: u32 = 30;

/// ns-2, if it is installed; in continuous integration it must be.
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

/// What ns-2 does where those data packets are lost, counted from 0.
fn simulated(mut ns: Command, drops: &[u32]) -> History {
    let drops: Vec<_> = drops.iter().map(ToString::to_string).collect();
    ns.arg(near("tests/ns2/sack1.tcl")).args(["duration", &DURATION.to_string()]);
    let output = ns.args(["drops", &drops.join(" ")]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut highest = -1;
    let text = String::from_utf8(output.stdout).unwrap();
    let acts = text.lines().filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let act = match (fields[0], fields.get(5)) {
            ("+", _) => {
                let segment: i64 = fields[10].parse().unwrap();
                let again = segment <= highest;
                highest = highest.max(segment);
                if again { Act::Retransmit(segment) } else { Act::Send(segment) }
            }
            ("E", Some(&"TIMEOUT")) => Act::Timeout,
            ("E", Some(&"FAST_RECOVERY")) => Act::FastRetransmit,
            _ => return None,
        };
        Some((fields[1].parse().unwrap(), act))
    });
    acts.collect()
}

/// What the engine does there.
fn engine(drops: &[u32]) -> History {
    // A SYN with SACK-permitted goes first, there and back.
    let bits = f64::from(8 * 48);
    let handshake = 0.2 + bits / 1e6 + bits / 1e9;
    let frames: Vec<_> = drops.iter().map(|packet| packet + 2).collect();
    let set = [
        ("duration", format!("{:.9} s", FIRST + f64::from(DURATION))),
        ("flow.transfer.start", format!("{:.9} s", FIRST - handshake)),
        ("link.path.forward.drops", format!("{frames:?}")),
    ];
    let set: Vec<_> = set.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let scenario = Scenario::parse(NETWORK, "network.toml", &set);
    let mut scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let tcp = &mut scenario.flows[0].tcp;
    *tcp = sum::sender("ns2-2006", tcp).unwrap();
    history(&run(&scenario, "sack:ns2"), FIRST)
}

/// Both do the same where those packets are lost; there are so many timeouts and fast retransmits.
fn alike(drops: &[u32], timeouts: usize, fast_retransmits: usize) {
    let Some(ns) = ns() else { return };
    let (engine, ns2) = (engine(drops), simulated(ns, drops));
    if env::var_os("SHOW").is_some() {
        for (a, b) in engine.iter().zip(&ns2) {
            println!("{a:?} {b:?}");
        }
    }
    for (index, ((at, act), (ns2_at, ns2_act))) in engine.iter().zip(&ns2).enumerate() {
        assert_eq!(act, ns2_act, "{drops:?}: act {index}, at {at:.6} s and {ns2_at:.6} s");
        assert!((at - ns2_at).abs() < TOLERANCE, "{act:?} at {at:.6} s, not {ns2_at:.6} s");
    }
    assert_eq!(engine.len(), ns2.len());
    let count = |wanted| ns2.iter().filter(|(_, act)| *act == wanted).count();
    let counted = (count(Act::Timeout), count(Act::FastRetransmit));
    assert_eq!(counted, (timeouts, fast_retransmits), "{drops:?}");
}

#[test]
fn without_losses() {
    alike(&[], 0, 0);
}

#[test]
fn one_loss() {
    alike(&[30], 0, 1);
}

#[test]
fn three_losses_in_a_window() {
    alike(&[30, 33, 40], 0, 1);
}

#[test]
fn zz_fuzz() {
    let mut x: u64 = env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let (mut good, mut bad) = (0, 0);
    for _ in 0..200 {
        let per = 2 + next() % 60;
        let drops: Vec<u32> = (20..2000).filter(|_| next() % 1000 < per).collect();
        let (engine, ns2) = (engine(&drops), simulated(ns().unwrap(), &drops));
        let first = engine.iter().zip(&ns2).position(|((at, act), (ns2_at, ns2_act))| {
            act != ns2_act || (at - ns2_at).abs() > TOLERANCE
        });
        match first {
            None => good += 1,
            Some(i) => {
                bad += 1;
                let last = drops.iter().filter(|d| (**d as usize) < i + 30).collect::<Vec<_>>();
                println!("FUZZ {i} of {} {:?} {:?} drops {last:?}", ns2.len(), engine[i], ns2[i]);
            }
        }
    }
    println!("FUZZ good {good} bad {bad}");
}

#[test]
fn zz_one() {
    let drops: Vec<u32> =
        env::var("DROPS").unwrap().split(", ").map(|d| d.parse().unwrap()).collect();
    let (engine, ns2) = (engine(&drops), simulated(ns().unwrap(), &drops));
    let i = engine
        .iter()
        .zip(&ns2)
        .position(|((at, act), (ns2_at, ns2_act))| {
            act != ns2_act || (at - ns2_at).abs() > TOLERANCE
        })
        .unwrap();
    for j in i - 40..i + 10 {
        println!("ONE {} {:?} {:?}", if j == i { "*" } else { " " }, engine[j], ns2[j]);
    }
}
