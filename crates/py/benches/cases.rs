//! How fast whole runs are: `cargo bench -p rtolab-py --bench cases -- CASE` runs
//! `scenarios/bench-CASE.toml` once and prints
//! `set_up_s run_s data_packets_delivered peak_memory_kB events`.
//!
//! `... -- CASE judged` scores all passive detectors in that run, and `... -- CASE traced` records
//! it and builds all tables. Further words such as `duration="2 s"` change keys of the scenario.
//!
//! `... -- write FILE` writes the capture of `crates/diagnose/benches`, and `... -- diagnose FILE`
//! diagnoses a capture once and prints `0 run_s packets peak_memory_kB`.
//!
//! `... -- queue EVENTS ENTITIES` measures the upper bound: it takes EVENTS events from an event
//! queue, sets the next event of each one's entity, and prints the same line with events in place
//! of packets.

#[path = "../../diagnose/benches/capture/mod.rs"]
mod capture;
#[allow(dead_code, unused_imports, reason = "only a part of the file is measured")]
#[path = "../../sim/src/queue.rs"]
mod queue;

use std::convert::Infallible;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant as Wall;

use rtolab_diagnose::diagnose;
use rtolab_record::tables::TABLES;
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::specification::CustomPolicies;
use rtolab_tcp::spurious::DETECTORS;
use rtolab_time::{Duration, Instant};

use queue::Queue;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let args: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let line = match &args[..] {
        [] => return ExitCode::SUCCESS,
        [name, events, entities] if name == "queue" => queue_only(events, entities),
        [command, file] if command == "write" => write(Path::new(file)),
        [command, file] if command == "diagnose" => diagnosed(Path::new(file)),
        [case, words @ ..] => run(case, words),
    };
    match line {
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

fn run(case: &str, words: &[String]) -> Result<String, String> {
    let is_judged = words.iter().any(|word| word == "judged");
    let is_traced = words.iter().any(|word| word == "traced");
    let set: Vec<(String, String)> = words.iter().filter_map(|word| setting(word)).collect();
    if set.len() + usize::from(is_judged) + usize::from(is_traced) != words.len() {
        return Err(format!("`{}` has more than `judged`, `traced`, key=value", words.join(" ")));
    }
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = Scenario::load(&scenarios.join(format!("bench-{case}.toml")), &set)
        .map_err(|error| error.to_string())?;
    let detectors: Vec<String> = match is_judged {
        true => DETECTORS.iter().map(|detector| detector.name.to_owned()).collect(),
        false => Vec::new(),
    };

    let begin = Wall::now();
    let lab = Lab::evaluated((&scenario, None), &CustomPolicies::default(), (&detectors, &[]))
        .map_err(|error| error.to_string())?;
    drop(scenario);
    let mut sim = lab.start(1, Observe { trace: is_traced, ..Observe::default() });
    let set_up = begin.elapsed().as_secs_f64();
    let begin = Wall::now();
    sim.run_until(lab.end());
    let counters = sim.counters();
    if is_judged || is_traced {
        let recordings = [lab.record(sim, lab.named(0, 1))];
        for table in TABLES {
            black_box((table.make)(&recordings));
        }
    }
    let run = begin.elapsed().as_secs_f64();

    let (packets, events) = (counters.data_packets_delivered, counters.events);
    Ok(format!("{set_up:.6} {run:.6} {packets} {} {events}", peak_memory_kb()?))
}

/// The key and the value of `key=value`.
fn setting(word: &str) -> Option<(String, String)> {
    word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()))
}

fn write(file: &Path) -> Result<String, String> {
    let (content, packets) = capture::capture();
    std::fs::write(file, content).map_err(|error| error.to_string())?;
    Ok(format!("{packets} packets"))
}

fn diagnosed(file: &Path) -> Result<String, String> {
    let file = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let begin = Wall::now();
    let Ok(document) = diagnose::<_, Infallible>(file, |_| Ok(()));
    let run = begin.elapsed().as_secs_f64();
    Ok(format!("0 {run:.6} {} {}", document.summary.packets, peak_memory_kb()?))
}

fn queue_only(events: &str, entities: &str) -> Result<String, String> {
    let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is not a number"));
    let (events, entities): (u64, u64) = (number(events)?, number(entities)?);

    let begin = Wall::now();
    let mut generator = 1;
    let mut queue = Queue::new(entities as usize);
    for entity in 0..entities as usize {
        queue.set(entity, Instant::START + draw(&mut generator));
    }
    let set_up = begin.elapsed().as_secs_f64();
    let begin = Wall::now();
    for _ in 0..events {
        let (at, entity) = queue.first();
        queue.set(entity, at + draw(&mut generator));
    }
    black_box(queue.first());
    let run = begin.elapsed().as_secs_f64();
    Ok(format!("{set_up:.6} {run:.6} {events} {} {events}", peak_memory_kb()?))
}

/// A random time from 1 ns to 65.5 us. The generator takes three instructions.
fn draw(generator: &mut u64) -> Duration {
    *generator = generator.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    Duration::from_nanos(1 + (*generator >> 48))
}

/// The most memory that this process has had resident, in kB.
fn peak_memory_kb() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| "/proc/self/status has no VmHWM".to_owned())
}
