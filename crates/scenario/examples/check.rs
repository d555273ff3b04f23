//! Checks a scenario and prints its contents:
//! `cargo run -p rtolab-scenario --example check -- FILE`.

use std::path::Path;
use std::process::ExitCode;

use rtolab_scenario::Scenario;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("expected the path of a scenario");
        return ExitCode::from(2);
    };
    match Scenario::load(Path::new(&file), &[]) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Ok(scenario) => {
            println!("{}: at most {}", scenario.title, scenario.duration);
            for flow in &scenario.flows {
                let [from, to] = [flow.from, flow.to].map(|node| &scenario.nodes[node]);
                println!("flow {} from {from} to {to}: {:?}", flow.name, flow.workload);
            }
            ExitCode::SUCCESS
        }
    }
}
