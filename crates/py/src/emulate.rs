//! `emulate`: a scenario's link in real time, and a command over it.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rtolab_link::{Direction, Stats};
use rtolab_live::{Emulation, Ended, Report};
use rtolab_scenario::{Link, Scenario};
use rtolab_time::Duration;

use crate::error::{EmulationError, ScenarioError, guard, raise};

/// Runs `command` at the first host of the scenario's one link, in real time.
///
/// Ctrl-C ends the command and gives the report; what another signal's handler raises is raised
/// when all is taken down.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), seed=1, command))]
pub(crate) fn emulate(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    seed: u64,
    command: Vec<String>,
) -> PyResult<EmulationReport> {
    guard(|| {
        let scenario =
            Scenario::load(&path, &set).map_err(|error| raise::<ScenarioError>(&error))?;
        let link = only_link(&scenario, &path)?;
        let hosts = [link.ends.0, link.ends.1].map(|node| scenario.nodes[node].as_str());
        let Link { name, channel, .. } = link;
        let emulation = Emulation { link: name, channel, seed, hosts, command: &command };
        let mut signals = Signals::default();
        let done = py.detach(|| emulation.run(&mut || Python::attach(|py| signals.came(py))));
        // Ctrl-C reaches `ip` and the command, too, and either may have ended of it first.
        signals.came(py);
        let interrupted = signals.interrupted(py)?;
        match done {
            Ok(report) => Ok(EmulationReport::new(&emulation, &report, interrupted)),
            Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Err(error) => Err(raise::<EmulationError>(&error)),
        }
    })
}

/// The link to emulate: there must be one, and no more to a path than that.
fn only_link<'a>(scenario: &'a Scenario, path: &Path) -> PyResult<&'a Link> {
    let wrong = |found: String| {
        let path = path.display();
        Err(EmulationError::new_err(format!(
            "{path}: found {found}; `emulate` expects exactly one link between two hosts"
        )))
    };
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.access.is_some()) {
        return wrong(format!("a link of its own (access) for flow `{}`", flow.name));
    }
    match scenario.links.as_slice() {
        [link] => Ok(link),
        links => {
            let names: Vec<_> = links.iter().map(|link| format!("`{}`", link.name)).collect();
            wrong(format!("{} links ({})", links.len(), names.join(", ")))
        }
    }
}

/// What Python's signal handlers raised.
#[derive(Default)]
struct Signals(Option<PyErr>);

impl Signals {
    /// Did one of them raise something, now or before?
    fn came(&mut self, py: Python<'_>) -> bool {
        if self.0.is_none() {
            self.0 = py.check_signals().err();
        }
        self.0.is_some()
    }

    /// Was it Ctrl-C? Anything else is raised.
    fn interrupted(self, py: Python<'_>) -> PyResult<bool> {
        match self.0 {
            None => Ok(false),
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
            Some(error) => Err(error),
        }
    }
}

/// A [`Report`] as a dictionary.
#[derive(IntoPyObject)]
pub(crate) struct EmulationReport {
    link: String,
    round_trip_s: f64,
    returncode: Option<i32>,
    interrupted: bool,
    elapsed_s: f64,
    forward: Carried,
    backward: Carried,
    refused: u64,
    lateness: Lateness,
}

impl EmulationReport {
    fn new(emulation: &Emulation<'_>, report: &Report, interrupted: bool) -> Self {
        let channel = emulation.channel;
        Self {
            link: emulation.link.into(),
            round_trip_s: channel.forward.delay.secs_f64() + channel.backward.delay.secs_f64(),
            returncode: match report.ended {
                Ended::Exited(status) => returncode(status),
                Ended::Interrupted => None,
            },
            interrupted,
            elapsed_s: report.elapsed.secs_f64(),
            forward: Carried::new(emulation.hosts, report, Direction::Forward),
            backward: Carried::new(emulation.hosts, report, Direction::Backward),
            refused: report.refused,
            lateness: Lateness::new(&report.lateness),
        }
    }
}

/// As Python's `subprocess` has it: a signal is a negative number.
#[cfg(unix)]
fn returncode(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| -signal))
}

#[cfg(not(unix))]
fn returncode(status: ExitStatus) -> Option<i32> {
    status.code()
}

/// One direction's packets, as in the table `links`.
#[derive(IntoPyObject)]
struct Carried {
    from_host: String,
    to_host: String,
    offered: u64,
    delivered: u64,
    delivered_bytes: u64,
    dropped_queue: u64,
    dropped_error: u64,
    dropped_outage: u64,
    dropped_script: u64,
    inside: usize,
    mean_delay_s: Option<f64>,
    max_delay_s: Option<f64>,
    max_queue: u32,
}

impl Carried {
    fn new(hosts: [&str; 2], report: &Report, direction: Direction) -> Self {
        let Stats {
            offered, delivered, bytes, drops, total_delay: _, max_delay, max_queue, ..
        } = *report.stats(direction);
        Self {
            from_host: hosts[direction.index()].into(),
            to_host: hosts[direction.reverse().index()].into(),
            offered,
            delivered,
            delivered_bytes: bytes,
            dropped_queue: drops.queue,
            dropped_error: drops.error,
            dropped_outage: drops.outage,
            dropped_script: drops.script,
            inside: report.inside[direction.index()],
            mean_delay_s: report.stats(direction).mean_delay().map(Duration::secs_f64),
            max_delay_s: (delivered > 0).then(|| max_delay.secs_f64()),
            max_queue,
        }
    }
}

/// How much later than the link said packets came out.
#[derive(IntoPyObject)]
struct Lateness {
    packets: u64,
    p50_s: f64,
    p99_s: f64,
    max_s: f64,
}

impl Lateness {
    fn new(late: &rtolab_live::Lateness) -> Self {
        Self {
            packets: late.packets,
            p50_s: late.p50.secs_f64(),
            p99_s: late.p99.secs_f64(),
            max_s: late.max.secs_f64(),
        }
    }
}
