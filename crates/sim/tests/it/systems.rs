//! The profiles of current systems complete their transfers on disturbed paths.

use std::path::Path;

use rtolab_record::{ConnectionRow, TimeoutKind, Truth};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// Runs the shipped scenario with `system` at both hosts. Returns its only connection and the
/// number of spurious timeouts.
fn run(name: &str, system: &str) -> (ConnectionRow, usize) {
    let file = format!("../../scenarios/{name}.toml");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let set = [("receiver.profile".to_string(), system.to_string())];
    let scenario = Scenario::load(&file, &set).unwrap_or_else(|error| panic!("{error}"));
    let lab = Lab::new(&scenario, Some(system)).unwrap();
    let mut recording = lab.run(0, 1, Observe { trace: true, windows: false });
    let rows = recording.timeouts.iter().filter(|row| row.kind == TimeoutKind::Timeout);
    let spurious = rows.filter(|row| row.truth == Some(Truth::Spurious)).count();
    (recording.connections.remove(0), spurious)
}

const SYSTEMS: [&str; 4] = ["linux", "freebsd-14", "gvisor", "smoltcp"];

#[test]
fn every_system_completes_its_transfer_over_stalls_outages_and_losses() {
    for name in ["stall", "hold", "outage", "frto2002-loss"] {
        for system in SYSTEMS {
            let (connection, _) = run(name, system);
            assert!(connection.end.is_some(), "{name} {system}");
        }
    }
}

#[test]
fn systems_that_undo_spurious_timeouts_send_fewer_unneeded_segments() {
    let unneeded = |system| {
        let (connection, spurious) = run("stall", system);
        assert!(spurious > 0, "{system}");
        connection.unneeded
    };
    let [linux, freebsd, gvisor, smoltcp] = SYSTEMS.map(unneeded);
    assert!(linux < gvisor && freebsd < gvisor, "{linux} {freebsd} {gvisor}");
    assert!(gvisor < smoltcp, "smoltcp retransmits the whole window at once: {gvisor} {smoltcp}");
}
