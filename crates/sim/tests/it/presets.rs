//! Tests that shipped scenarios have the results in their descriptions.

use std::path::Path;

use rtolab_record::{Recording, TimeoutKind, Truth};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// A traced run of the shipped scenario `name` with `sender`.
fn run(name: &str, sender: &str) -> Recording {
    let file = format!("../../scenarios/{name}.toml");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let scenario = Scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
    let lab = Lab::new(&scenario, Some(sender)).unwrap();
    lab.run(0, 1, Observe { trace: true, windows: false })
}

/// The number of timeouts, or fast retransmits, with this ground truth.
fn count(recording: &Recording, kind: TimeoutKind, truth: Truth) -> usize {
    let rows = recording.timeouts.iter();
    rows.filter(|row| row.kind == kind && row.truth == Some(truth)).count()
}

#[test]
fn stalls_and_spikes_cause_spurious_timeouts() {
    for name in
        ["hold", "stall", "gprs-reselection", "delays2001-hold", "wifi-suspension", "syn-hold"]
    {
        let recording = run(name, "sack");
        assert!(count(&recording, TimeoutKind::Timeout, Truth::Spurious) > 0, "{name}");
        assert_eq!(count(&recording, TimeoutKind::Timeout, Truth::Genuine), 0, "{name}");
    }
}

#[test]
fn a_lost_tail_and_an_outage_cause_no_spurious_timeout() {
    for name in ["tail", "outage"] {
        let recording = run(name, "sack");
        assert!(!recording.timeouts.is_empty(), "{name}");
        assert_eq!(count(&recording, TimeoutKind::Timeout, Truth::Spurious), 0, "{name}");
    }
}

/// Figures 8 and 9 of "Effect of Delays on TCP Performance": nine more unneeded retransmissions and
/// one spurious fast retransmit with Linux 2.2, none with Linux 2.4; 115 and 114 s.
#[test]
fn the_delay_of_2001_costs_linux_2_2_nine_more_segments() {
    let linux_2_4 = run("delays2001-hold", "newreno:careful");
    let linux_2_2 = run("delays2001-hold", "newreno:less-careful");
    assert_eq!(count(&linux_2_4, TimeoutKind::FastRetransmit, Truth::Spurious), 0);
    assert_eq!(count(&linux_2_2, TimeoutKind::FastRetransmit, Truth::Spurious), 1);
    let unneeded = |recording: &Recording| recording.connections[0].unneeded;
    assert_eq!(unneeded(&linux_2_2), unneeded(&linux_2_4) + 9);
    let duration_s = |recording: &Recording| recording.connections[0].end.unwrap().secs_f64();
    assert!((duration_s(&linux_2_4) - 114.0).abs() < 1.5, "{}", duration_s(&linux_2_4));
    assert!((duration_s(&linux_2_2) - 115.0).abs() < 3.0, "{}", duration_s(&linux_2_2));
}
