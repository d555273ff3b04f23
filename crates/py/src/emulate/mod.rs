//! `emulate`: a scenario on real kernels, with a command or with its own flows.

mod report;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use rtolab_live::{Emulator, GuestKernel, Keep, Output, Programs, Ran};
use rtolab_record::Run;
use rtolab_scenario::Scenario;
use rtolab_sim::Counters;
use rtolab_time::Duration;

use crate::batch::{KeepRunning, batch};
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
            let mut came = || Python::attach(|py| signals.came(py, None));
            emulation.command(&command, wanted, &mut came)
        });
        // Ctrl-C also reaches `ip` and the command, and either may have ended because of it.
        signals.came(py, None);
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
        let one = |number: usize, _: KeepRunning<'_>| {
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

/// Runs `client` at the first host of the scenario's first link and `server` at its other end, in
/// guests on a virtual clock: a kernel of this folder and description each. What they write goes to
/// `log`, or to this process's standard streams. `goes_on` is called now and then; its exception
/// ends the run.
#[pyfunction]
#[pyo3(signature = (
    path, *, guest, client, server=None, set=Vec::new(), seed=1, lead_s=10.0, limit_s=None,
    keep=false, log=None, patience_s=None, goes_on=None
))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn emulate_programs(
    py: Python<'_>,
    path: PathBuf,
    guest: (PathBuf, String),
    client: Vec<String>,
    server: Option<String>,
    set: Set,
    seed: u64,
    lead_s: f64,
    limit_s: Option<f64>,
    keep: bool,
    log: Option<PathBuf>,
    patience_s: Option<f64>,
    goes_on: Option<Py<PyAny>>,
) -> PyResult<(Outcome, EmulationReport)> {
    guard(|| {
        let scenario = load(&path, &set)?;
        let mut kernel = GuestKernel::new(guest.0, guest.1);
        kernel.patience = patience_s.map_or(kernel.patience, |patience| span(patience).into());
        let emulation = Emulator { scenario: &scenario, seed };
        let programs = Programs {
            client: &client,
            server: server.as_deref(),
            lead: span(lead_s),
            limit: limit_s.map(span),
            keep: if keep { Keep::Packets } else { Keep::Nothing },
        };
        let mut log = log.map(File::create).transpose()?;
        // Nobody may read what a program writes.
        let mut output = |output: Output, bytes: &[u8]| {
            let _: io::Result<()> = match (&mut log, output) {
                (Some(log), _) => log.write_all(bytes),
                (None, Output::Standard) => {
                    let mut to = io::stdout().lock();
                    to.write_all(bytes).and_then(|()| to.flush())
                }
                (None, Output::Error) => io::stderr().write_all(bytes),
            };
        };
        let mut signals = Signals::default();
        let done = py.detach(|| {
            let mut came = || Python::attach(|py| signals.came(py, goes_on.as_ref()));
            emulation.run_programs(&kernel, &programs, &mut output, &mut came)
        });
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

fn span(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
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
    /// Has a handler raised an exception, now or before, or `goes_on`?
    pub(crate) fn came(&mut self, py: Python<'_>, goes_on: Option<&Py<PyAny>>) -> bool {
        if self.0.is_none() {
            let asked = || goes_on.map_or(Ok(()), |goes_on| goes_on.call0(py).map(drop));
            self.0 = py.check_signals().and_then(|()| asked()).err();
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
