//! `emulate`: a scenario on real kernels, with a command or with its own flows.

mod report;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use rtolab_live::{Emulator, GuestKernel, Keep, Ran};
use rtolab_record::Run;
use rtolab_scenario::Scenario;
use rtolab_sim::Counters;

use crate::batch::{GoesOn, batch};
use crate::effort::Effort;
use crate::error::{EmulationError, Error, ScenarioError, guard, raise};
use crate::outcome::Outcome;
use report::EmulationReport;

/// Keys and their values.
type Set = Vec<(String, String)>;

fn load(path: &std::path::Path, set: &Set) -> PyResult<Scenario> {
    Scenario::load(path, set).map_err(|error| raise::<ScenarioError>(&error))
}

/// Runs `command` at the first host of the scenario's first link, in real time; with `keep` the
/// tables hold its TCP connections.
///
/// Ctrl-C ends the command and returns the report; an exception of another signal's handler is
/// raised after everything is taken down.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), seed=1, command, keep=false))]
pub(crate) fn emulate(
    py: Python<'_>,
    path: PathBuf,
    set: Set,
    seed: u64,
    command: Vec<String>,
    keep: bool,
) -> PyResult<(Outcome, EmulationReport)> {
    guard(|| {
        let scenario = load(&path, &set)?;
        let emulation = Emulator { scenario: &scenario, seed };
        let mut signals = Signals::default();
        let wanted = if keep { Keep::Packets } else { Keep::Nothing };
        let done = py.detach(|| {
            let mut came = || Python::attach(|py| signals.came(py));
            emulation.command(&command, wanted, &mut came)
        });
        // Ctrl-C also reaches `ip` and the command, and either may have ended because of it.
        signals.came(py);
        let interrupted = signals.interrupted(py)?;
        match done {
            Ok(ran) => {
                let report = EmulationReport::new(&ran.report, interrupted);
                Ok((Outcome::new(vec![ran.recording], keep, Effort::default()), report))
            }
            Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Err(error) => Err(raise::<EmulationError>(&error)),
        }
    })
}

/// Runs the scenario's flows on the kernels' own sockets: with each of the `variants` and each
/// seed, all seeds of the first variant first, `jobs` at a time.
///
/// A variant is the sender's name in tables, and its settings. With `guest`, the folder of a kernel
/// and its description, every host is such a kernel on a virtual clock. `progress` is called now
/// and then with the numbers of finished runs and of all runs.
#[pyfunction]
#[pyo3(signature = (
    path, *, variants, seeds, parallel=1, guest=None, progress=None
))]
pub(crate) fn emulate_flows(
    py: Python<'_>,
    path: PathBuf,
    variants: Vec<(String, Set)>,
    seeds: Vec<u64>,
    parallel: usize,
    guest: Option<(PathBuf, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Outcome, Vec<EmulationReport>)> {
    guard(|| {
        let guest = guest.map(|(folder, title)| GuestKernel::new(folder, title));
        let scenarios = variants.iter().map(|(name, set)| Ok((name, load(&path, set)?)));
        let scenarios: Vec<_> = scenarios.collect::<PyResult<_>>()?;
        let total = scenarios.len() * seeds.len();
        let interrupted = AtomicBool::new(false);
        let one = |number: usize, _: GoesOn<'_>| {
            let ((name, scenario), seed) =
                (&scenarios[number / seeds.len()], seeds[number % seeds.len()]);
            let run = Run { run: number as u32, seed, sender: name.as_str().into() };
            let emulation = Emulator { scenario, seed };
            let began = Instant::now();
            let mut asked = || interrupted.load(Ordering::Relaxed);
            let ran = match &guest {
                Some(kernel) => emulation.run_virtual(kernel, run, &mut asked),
                None => emulation.run(run, &mut asked),
            };
            ran.map(|ran| Some((ran, began.elapsed())))
                .map_err(|error| raise::<EmulationError>(&error))
        };
        let watch = |done| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                let progress = progress.as_ref();
                progress.map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
            });
            interrupted.store(told.is_err(), Ordering::Relaxed);
            told
        };
        let ran = py.detach(|| {
            let threads = parallel.clamp(1, total.max(1));
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            batch(&pool.map_err(|error| raise::<Error>(&error))?, total, one, watch)
        })?;
        let effort = ran.iter().fold(Effort::default(), |effort, (ran, took)| {
            effort.with(Effort { run: *took, counters: counters(ran), ..Effort::default() })
        });
        let reports = ran.iter().map(|(ran, _)| EmulationReport::new(&ran.report, false));
        let reports = reports.collect();
        let recordings = ran.into_iter().map(|(ran, _)| ran.recording).collect();
        Ok((Outcome::new(recordings, true, effort), reports))
    })
}

/// Data packets that reached their receivers; a run in real time has no events.
fn counters(ran: &Ran) -> Counters {
    let data = ran.recording.connections.iter().map(|row| row.delay.packets).sum();
    Counters { events: 0, data_packets_delivered: data }
}

/// Takes down what killed processes left behind; returns the names of their namespaces.
#[pyfunction]
pub(crate) fn clean_up() -> PyResult<Vec<String>> {
    guard(|| rtolab_live::clean().map_err(|error| raise::<EmulationError>(&error)))
}

/// The exceptions of Python's signal handlers.
#[derive(Default)]
pub(crate) struct Signals(Option<PyErr>);

impl Signals {
    /// Has a handler raised an exception, now or before?
    pub(crate) fn came(&mut self, py: Python<'_>) -> bool {
        if self.0.is_none() {
            self.0 = py.check_signals().err();
        }
        self.0.is_some()
    }

    /// Was it Ctrl-C? Anything else is raised.
    pub(crate) fn interrupted(self, py: Python<'_>) -> PyResult<bool> {
        match self.0 {
            None => Ok(false),
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
            Some(error) => Err(error),
        }
    }
}
