//! Tests of RACK-TLP: all data arrive, with fewer timeouts if the tail is lost.

use std::path::Path;

use rtolab_record::{Recording, TimeoutKind, Truth};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

const SENDERS: [&str; 6] = [
    "sack",
    "sack+prr",
    "rack",
    "rack:no-tlp",
    "rack+frto:linux+dsack:linux",
    "rack+eifel:rfc3522",
];

fn run(name: &str, sender: &str, set: &[(&str, &str)]) -> Recording {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::load(&file, &set).unwrap_or_else(|error| panic!("{error}"));
    let lab = Lab::new(&scenario, Some(sender)).unwrap();
    lab.run(0, 1, Observe { trace: true, windows: false })
}

fn truths(recording: &Recording, kind: TimeoutKind) -> Vec<Truth> {
    let of_kind = recording.timeouts.iter().filter(|row| row.kind == kind);
    of_kind.map(|row| row.truth.unwrap()).collect()
}

fn duration_s(recording: &Recording) -> f64 {
    recording.connections[0].end.expect("the transfer ends").secs_f64()
}

#[test]
fn all_data_arrive_despite_all_impairments() {
    let dsack = ("receiver.dsack", "true");
    let bytes = |name| match name {
        "tail" => 20_000,
        "stall" => 5_000_000,
        _ => 1_000_000,
    };
    for name in ["tail", "stall", "outage"] {
        for sender in SENDERS {
            let recording = run(name, sender, &[dsack]);
            assert_eq!(recording.connections[0].bytes, bytes(name), "{name} {sender}");
            assert!(duration_s(&recording) < 290.0, "{name} {sender}");
        }
    }
    // If every fifth frame is lost in both directions, back-off reaches a minute.
    for (loss, duration) in [("0.01", "60 s"), ("0.05", "60 s"), ("0.2", "3000 s")] {
        for sender in SENDERS {
            let lossy = [dsack, ("link.path.loss", loss), ("duration", duration)];
            let long = [("flow.page.bytes", "200 kB"), ("link.path.forward.drops", "[]")];
            let recording = run("tail", sender, &[&lossy[..], &long].concat());
            assert_eq!(recording.connections[0].bytes, 200_000, "{loss} {sender}");
        }
    }
}

#[test]
fn a_probe_replaces_the_timeout_of_a_lost_tail() {
    let without = run("tail", "rack:no-tlp", &[]);
    assert_eq!(truths(&without, TimeoutKind::Timeout), [Truth::Genuine]);
    assert!(truths(&without, TimeoutKind::Probe).is_empty());
    let with = run("tail", "rack", &[]);
    assert!(truths(&with, TimeoutKind::Timeout).is_empty());
    assert_eq!(truths(&with, TimeoutKind::Probe), [Truth::Genuine]);
    assert_eq!(truths(&with, TimeoutKind::FastRetransmit), [Truth::Genuine]);
    // The RTO is at least a second, the probe timeout two round trips of 50 ms.
    assert!(
        duration_s(&without) - duration_s(&with) > 0.8,
        "{} {}",
        duration_s(&without),
        duration_s(&with)
    );
}

#[test]
fn in_a_stall_the_probe_comes_first_and_neither_was_needed() {
    // All of a page has arrived except the held packets.
    let set = [
        ("flow.page.bytes", "20 kB"),
        ("link.path.forward.drops", "[]"),
        ("link.path.forward.stalls.scripted", r#"[{ at = "0.1 s", for = "2 s" }]"#),
    ];
    let recording = run("tail", "rack", &set);
    let kinds: Vec<_> = recording.timeouts.iter().map(|row| (row.kind, row.truth)).collect();
    let spurious = Some(Truth::Spurious);
    assert_eq!(kinds, [(TimeoutKind::Probe, spurious), (TimeoutKind::Timeout, spurious)]);
}

#[test]
fn pages_over_a_lossy_path_time_out_less_with_probes() {
    let lossy = [
        ("link.path.forward.loss", "0.03"),
        ("link.path.forward.drops", "[]"),
        ("duration", "600 s"),
        ("flow.page.pages", r#"{ bytes = "10 kB", every = "1 s" }"#),
    ];
    let timeouts = |sender| truths(&run("tail", sender, &lossy), TimeoutKind::Timeout).len();
    let (sack, without, with) = (timeouts("sack"), timeouts("rack:no-tlp"), timeouts("rack"));
    assert!(with * 3 < without && with * 3 < sack, "{sack} {without} {with}");
    assert!(without <= sack, "{sack} {without}");
}
