//! A snapshot of results of several scenarios and senders. It is the same on all machines, in all
//! builds, and for any number of threads.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_time::Instant;

const SENDERS: [&str; 6] =
    ["sack+eifel", "sack+frto", "sack", "newreno", "newreno+frto", "newreno+eifel"];

fn scenario(name: &str) -> Scenario {
    let file: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/frto2002-{name}.toml"));
    Scenario::load(&file, &[]).unwrap()
}

fn grid() -> String {
    let mut text = String::from(
        "# scenario sender seed: end in ns, segments, retransmissions, unneeded, lost, timeouts\n",
    );
    for name in ["delays", "loss", "outages"] {
        let scenario = scenario(name);
        for sender in SENDERS {
            let lab = Lab::new(&scenario, Some(sender)).unwrap();
            for seed in 1..=4 {
                let recording = lab.run(0, seed, Observe::default());
                let row = &recording.connections[0];
                let end = row.end.map_or(0, Instant::nanos);
                let lost = row.lost.total();
                let (segments, retransmissions, unneeded) =
                    (row.segments, row.retransmissions, row.unneeded);
                writeln!(
                    text,
                    "{name} {sender} {seed}: {end} {segments} {retransmissions} {unneeded} {lost} {}",
                    row.timeouts
                )
                .unwrap();
            }
        }
    }
    text
}

/// `RTOLAB_UPDATE=1 cargo test -p rtolab-sim` rewrites the snapshot.
#[test]
fn the_grid_of_results_is_unchanged() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grid.txt");
    let now = grid();
    if std::env::var_os("RTOLAB_UPDATE").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let before = std::fs::read_to_string(&file).unwrap();
    for (before, now) in before.lines().zip(now.lines()) {
        assert_eq!(before, now);
    }
    assert_eq!(before.lines().count(), now.lines().count());
}

/// The recording of a traced run, as text.
fn trace(lab: &Lab, seed: u64) -> String {
    let recording = lab.run(0, seed, Observe { trace: true, windows: true });
    format!("{recording:?}")
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let lab = Lab::new(&scenario("delays"), Some("newreno+frto")).unwrap();
    assert!(trace(&lab, 7) == trace(&lab, 7));
    assert!(trace(&lab, 7) != trace(&lab, 8));
}

#[test]
fn recording_a_run_does_not_change_it() {
    let lab = Lab::new(&scenario("outages"), Some("sack+eifel")).unwrap();
    let mut traced = lab.run(0, 3, Observe { trace: true, windows: true });
    assert!(traced.timeouts.iter().all(|row| row.truth.is_some()));
    traced.timeouts.iter_mut().for_each(|row| row.truth = None);
    traced.connections.iter_mut().for_each(|row| row.truths = None);
    let untraced = lab.run(0, 3, Observe::default());
    assert_eq!(format!("{:?}", traced.connections), format!("{:?}", untraced.connections));
    assert_eq!(format!("{:?}", traced.timeouts), format!("{:?}", untraced.timeouts));
}

#[test]
fn a_fork_equals_its_original() {
    let lab = Lab::new(&scenario("delays"), Some("sack")).unwrap();
    for seconds in [1.0, 20.0, 60.0] {
        let mut original = lab.start(5, Observe::default());
        original.run_until(Instant::from_secs_f64(seconds));
        let mut fork = original.clone();
        fork.run_until(lab.end());
        original.run_until(lab.end());
        assert_eq!(original.now(), fork.now());
        let [original, fork] = [original, fork]
            .map(|sim| format!("{:?}", lab.record(sim, rtolab_record::Run::default()).connections));
        assert_eq!(original, fork);
    }
}

#[test]
fn an_undisturbed_transfer_takes_the_time_of_set_r() {
    // An independent simulation of the same set of assumptions gives 34.740, 34.902, 36.379 and
    // 36.551 s.
    let quiet = [("link.wireless.spikes.probability".to_owned(), "0".to_owned())];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/frto2002-delays.toml");
    let scenario = Scenario::load(&file, &quiet).unwrap();
    for (sender, expected) in
        [("sack", 34.740), ("newreno", 34.902), ("sack+eifel", 36.379), ("newreno+eifel", 36.551)]
    {
        let recording = Lab::new(&scenario, Some(sender)).unwrap().run(0, 1, Observe::default());
        let duration = recording.connections[0].end.unwrap().secs_f64();
        assert!((duration - expected).abs() < 0.010, "{sender}: {duration}");
    }
}
