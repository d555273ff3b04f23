//! How fast whole runs are: `cargo bench -p rtolab-sim -- CASE` runs `scenarios/bench-CASE.toml`
//! once and prints `set_up_s run_s data_packets_delivered events`.

use std::path::Path;
use std::time::Instant;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

fn main() {
    let cases: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for case in cases {
        let path = scenarios.join(format!("bench-{case}.toml"));
        let scenario = match Scenario::load(&path, &[]) {
            Ok(scenario) => scenario,
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(2);
            }
        };
        let begin = Instant::now();
        let lab = Lab::new(&scenario, None).expect("a shipped scenario runs");
        let mut sim = lab.start(1, Observe::default());
        let set_up = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        sim.run_until(lab.end());
        let run = begin.elapsed().as_secs_f64();
        let counters = sim.counters();
        println!("{set_up:.6} {run:.6} {} {}", counters.data_packets_delivered, counters.events);
    }
}
