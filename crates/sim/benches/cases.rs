//! How fast whole runs are: `cargo bench -p rtolab-sim --bench cases -- CASE` runs
//! `scenarios/bench-CASE.toml` once and prints
//! `set_up_s run_s data_packets_delivered peak_memory_kB events`. `benches/run` compares that with
//! a rival.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let Some(case) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        return ExitCode::SUCCESS;
    };
    match run(&case) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(case: &str) -> Result<String, String> {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = Scenario::load(&scenarios.join(format!("bench-{case}.toml")), &[])
        .map_err(|error| error.to_string())?;

    let begin = Instant::now();
    let lab = Lab::new(&scenario, None).map_err(|error| error.to_string())?;
    drop(scenario);
    let mut sim = lab.start(1, Observe::default());
    let set_up = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    sim.run_until(lab.end());
    let run = begin.elapsed().as_secs_f64();

    let counters = sim.counters();
    let (packets, events) = (counters.data_packets_delivered, counters.events);
    Ok(format!("{set_up:.6} {run:.6} {packets} {} {events}", peak_memory_kb()?))
}

/// The most memory that this process has had resident, in kB.
fn peak_memory_kb() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| "/proc/self/status has no VmHWM".to_owned())
}
