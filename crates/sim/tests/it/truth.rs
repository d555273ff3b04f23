//! The ground truth about timeouts, on links where it is obvious.

use std::path::Path;

use rtolab_record::{Recording, TimeoutKind, Truth};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// Runs the transfer of the F-RTO report without random disturbances, with these settings.
fn run(sender: &str, set: &[(&str, &str)]) -> Recording {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/frto2002-delays.toml");
    let quiet = [("link.wireless.spikes.probability", "0")];
    let set = quiet.iter().chain(set).map(|(key, value)| ((*key).into(), (*value).into()));
    let scenario = Scenario::load(&file, &set.collect::<Vec<_>>()).unwrap();
    Lab::new(&scenario, Some(sender)).unwrap().run(0, 1, Observe { trace: true, windows: false })
}

fn timeouts(recording: &Recording) -> Vec<Truth> {
    let timeouts = recording.timeouts.iter().filter(|row| row.kind == TimeoutKind::Timeout);
    timeouts.map(|row| row.truth.unwrap()).collect()
}

#[test]
fn a_timeout_in_a_stall_is_spurious_and_f_rto_finds_it() {
    let stall = ("link.wireless.stalls.scripted", r#"[{ at = "20 s", for = "3 s" }]"#);
    for sender in ["sack", "newreno", "sack+frto", "newreno+eifel"] {
        let recording = run(sender, &[stall]);
        assert_eq!(timeouts(&recording)[0], Truth::Spurious, "{sender}");
        let verdict = recording.timeouts.iter().find_map(|row| row.verdict);
        assert_eq!(verdict, sender.contains('+').then_some("spurious"), "{sender}");
    }
}

#[test]
fn a_timeout_after_a_window_of_data_is_lost_is_genuine() {
    let drops: Vec<String> = (230..=260).map(|frame| frame.to_string()).collect();
    let drops = format!("[{}]", drops.join(", "));
    let recording = run("sack", &[("link.wireless.forward.drops", &drops)]);
    let truth = timeouts(&recording);
    assert!(!truth.is_empty() && truth.iter().all(|truth| *truth == Truth::Genuine), "{truth:?}");
}

#[test]
fn a_timeout_after_lost_acknowledgments_is_neither_spurious_nor_genuine() {
    // All acknowledgments of a small window at the end of the transfer are lost.
    let drops: Vec<String> = (150..=400).map(|frame| frame.to_string()).collect();
    let drops = format!("[{}]", drops.join(", "));
    let recording = run("sack", &[("link.wireless.backward.drops", &drops)]);
    let first = recording.timeouts.iter().find(|row| row.kind == TimeoutKind::Timeout).unwrap();
    assert_eq!((first.truth, first.needed), (Some(Truth::AckLost), false));
}

#[test]
fn the_overflow_of_slow_start_is_genuine() {
    let recording = run("sack", &[]);
    let decisions: Vec<_> = recording.timeouts.iter().map(|row| (row.kind, row.truth)).collect();
    assert_eq!(decisions, [(TimeoutKind::FastRetransmit, Some(Truth::Genuine)); 2]);
}
