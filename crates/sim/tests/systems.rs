//! Systems of today transfer what they have to, whatever the path does.

use std::path::Path;

use rtolab_record::{ConnectionRow, TimeoutKind, Truth};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// What the only connection of the shipped scenario came to, and how many of its timeouts were
/// spurious; both hosts are `system`.
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
fn they_outlast_what_holds_stalls_fails_and_loses() {
    for name in ["stall", "hold", "outage", "frto2002-loss"] {
        for system in SYSTEMS {
            let (connection, _) = run(name, system);
            assert!(connection.end.is_some(), "{name} {system}");
        }
    }
}

#[test]
fn who_takes_a_spurious_timeout_back_sends_less_in_vain() {
    let unneeded = |system| {
        let (connection, spurious) = run("stall", system);
        assert!(spurious > 0, "{system}");
        connection.unneeded
    };
    let [linux, freebsd, gvisor, smoltcp] = SYSTEMS.map(unneeded);
    assert!(linux < gvisor && freebsd < gvisor, "{linux} {freebsd} {gvisor}");
    assert!(gvisor < smoltcp, "all of the window again at once: {gvisor} {smoltcp}");
}
