//! `emulate`: runs a command or the flows of a scenario on real kernels.

mod report;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use rtolab_live::{
    EmulationResult, Emulator, GuestKernel, Output, PacketLogging, Programs, VirtualHosts,
};
use rtolab_record::Run;
use rtolab_scenario::Scenario;
use rtolab_sim::Counters;
use rtolab_time::Duration;

use crate::batch::{KeepRunning, batch};
use crate::effort::Effort;
use crate::error::{DetectorError, EmulationError, Error, ScenarioError, guard, raise};
use crate::outcome::Outcome;
use crate::prototype::{PrototypeClass, unless_raised};
use report::EmulationReport;

/// Keys of a scenario with their values.
type Set = Vec<(String, String)>;

fn load(path: &std::path::Path, set: &Set) -> PyResult<Scenario> {
    Scenario::load(path, set).map_err(|error| raise::<ScenarioError>(&error))
}

/// Runs `command` at the first host of the scenario's first link in real time. With `keep` the
/// tables have its TCP connections.
///
/// Ctrl-C ends the command, and the report is returned. An exception of another signal's handler is
/// raised after the emulated network is removed.
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
        let emulation = Emulator { scenario: &scenario, seed, judges: &[] };
        let mut signals = Signals::default();
        let logging = packet_logging(keep);
        let result = py.detach(|| {
            let mut interrupted = || Python::attach(|py| signals.check(py, None));
            emulation.command(&command, logging, &mut interrupted)
        });
        // `ip` and the command also receive Ctrl-C, and either may have ended because of it.
        signals.check(py, None);
        let interrupted = signals.interrupted(py)?;
        match result {
            Ok(EmulationResult { report, recording, .. }) => {
                let report = EmulationReport::new(&report, interrupted);
                Ok((Outcome::new(vec![recording], keep, Effort::default()), report))
            }
            Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Err(error) => Err(raise::<EmulationError>(&error)),
        }
    })
}

/// Runs the scenario's flows on sockets of the kernel with each of the `variants` and each seed,
/// `parallel` at a time. All seeds of the first variant come first.
///
/// A variant is the name of the sender in tables, with its settings. `guest` is the folder of a
/// kernel with its description: every host is a guest with this kernel and a virtual clock, except
/// those of `others`, which have another kernel, and those of `engine`, which are the engine with
/// this sender. With `withhold` the truth about a guest's retransmission is that of a repeated run
/// without it. `judges` are passive detectors at every sender, by name; `prototypes` are detectors
/// that they may name. `progress` is called repeatedly with the numbers of finished runs and of all
/// runs.
#[pyfunction]
#[pyo3(signature = (
    path, *, variants, seeds, parallel=1, guest=None, others=Vec::new(),
    engine=(Vec::new(), String::new()), withhold=false, judges=Vec::new(), prototypes=Vec::new(),
    progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn emulate_flows(
    py: Python<'_>,
    path: PathBuf,
    variants: Vec<(String, Set)>,
    seeds: Vec<u64>,
    parallel: usize,
    guest: Option<(PathBuf, String)>,
    others: Vec<OtherKernel>,
    engine: (Vec<String>, String),
    withhold: bool,
    judges: Vec<String>,
    prototypes: Vec<PrototypeClass>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Outcome, Vec<EmulationReport>)> {
    guard(|| {
        let policies = PrototypeClass::all(prototypes)?.policies;
        let judges = judges.iter().map(|name| policies.passive_detector(name));
        let judges = judges.collect::<Result<Vec<_>, _>>();
        let judges = judges.map_err(|error| raise::<DetectorError>(&error))?;
        let guest = guest.map(|(folder, title)| GuestKernel::new(folder, title));
        let others = other_kernels(others);
        let scenarios = variants.iter().map(|(name, set)| Ok((name, load(&path, set)?)));
        let scenarios: Vec<_> = scenarios.collect::<PyResult<_>>()?;
        let total = scenarios.len() * seeds.len();
        let interrupted = AtomicBool::new(false);
        let run_one = |number: usize, _: KeepRunning<'_>| {
            let ((name, scenario), seed) =
                (&scenarios[number / seeds.len()], seeds[number % seeds.len()]);
            let run = Run { run: number as u32, seed, sender: name.as_str().into() };
            let emulation = Emulator { scenario, seed, judges: &judges };
            let start = Instant::now();
            let mut is_interrupted = || interrupted.load(Ordering::Relaxed);
            let result = unless_raised(|| match &guest {
                Some(kernel) => {
                    let (engine, sender) = (engine.0.as_slice(), engine.1.as_str());
                    let others = others.as_slice();
                    let hosts = VirtualHosts { kernel, others, engine, sender, withhold };
                    emulation.run_virtual(&hosts, run, &mut is_interrupted)
                }
                None => emulation.run(run, &mut is_interrupted),
            })?;
            result
                .map(|result| Some((result, start.elapsed())))
                .map_err(|error| raise::<EmulationError>(&error))
        };
        let watch = |done| {
            let reported = Python::attach(|py| {
                py.check_signals()?;
                let progress = progress.as_ref();
                progress.map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
            });
            interrupted.store(reported.is_err(), Ordering::Relaxed);
            reported
        };
        let results = py.detach(|| {
            let threads = parallel.clamp(1, total.max(1));
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            batch(&pool.map_err(|error| raise::<Error>(&error))?, total, run_one, watch)
        })?;
        let effort = results.iter().fold(Effort::default(), |effort, (result, time)| {
            effort.with(Effort { run: *time, counters: counters(result), ..Effort::default() })
        });
        let reports = results.iter().map(|(result, _)| EmulationReport::new(&result.report, false));
        let reports = reports.collect();
        let recordings = results.into_iter().map(|(result, _)| result.recording).collect();
        Ok((Outcome::new(recordings, true, effort), reports))
    })
}

/// Runs `client` at the first host of the scenario's first link and `server` at its other end, on
/// guest kernels with a virtual clock. `guest` is the folder of the kernel with its description,
/// `others` are hosts with another kernel. The output of both programs goes to the file `log`, or
/// to this process's standard streams. `kept` is a folder of the guests whose files are kept, and a
/// folder for their archives. `goes_on` is called repeatedly; an exception of it ends the run.
#[pyfunction]
#[pyo3(signature = (
    path, *, guest, client, others=Vec::new(), server=None, set=Vec::new(), seed=1, lead_s=10.0,
    limit_s=None,
    keep=false, log=None, kept=None, patience_s=None, goes_on=None
))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn emulate_programs(
    py: Python<'_>,
    path: PathBuf,
    guest: (PathBuf, String),
    client: Vec<String>,
    others: Vec<OtherKernel>,
    server: Option<String>,
    set: Set,
    seed: u64,
    lead_s: f64,
    limit_s: Option<f64>,
    keep: bool,
    log: Option<PathBuf>,
    kept: Option<(String, PathBuf)>,
    patience_s: Option<f64>,
    goes_on: Option<Py<PyAny>>,
) -> PyResult<(Outcome, EmulationReport)> {
    guard(|| {
        let scenario = load(&path, &set)?;
        let mut kernel = GuestKernel::new(guest.0, guest.1);
        let others = other_kernels(others);
        kernel.time_limit = patience_s.map_or(kernel.time_limit, |limit| span(limit).into());
        let emulation = Emulator { scenario: &scenario, seed, judges: &[] };
        let programs = Programs {
            client: &client,
            server: server.as_deref(),
            server_wait: span(lead_s),
            limit: limit_s.map(span),
            logging: packet_logging(keep),
            log_folder: kept.as_ref().map(|(folder, _)| folder.as_str()),
        };
        let mut archives = kept.as_ref().map_or_else(
            || Ok(Vec::new()),
            |(_, folder)| {
                let file = |name: &String| File::create(folder.join(format!("{name}.tar")));
                scenario.nodes.iter().map(file).collect::<io::Result<Vec<_>>>()
            },
        )?;
        let mut unwritten = None;
        let mut log = log.map(File::create).transpose()?;
        // The output of a program may have no reader.
        let mut output = |output: Output, bytes: &[u8]| {
            let _: io::Result<()> = match (&mut log, output) {
                (_, Output::Archive(host)) => {
                    let written = archives.get_mut(host).map(|file| file.write_all(bytes));
                    unwritten = unwritten.take().or(written.and_then(Result::err));
                    Ok(())
                }
                (Some(log), _) => log.write_all(bytes),
                (None, Output::Standard) => {
                    let mut to = io::stdout().lock();
                    to.write_all(bytes).and_then(|()| to.flush())
                }
                (None, Output::Error) => io::stderr().write_all(bytes),
            };
        };
        let mut signals = Signals::default();
        let result = py.detach(|| {
            let mut interrupted = || Python::attach(|py| signals.check(py, goes_on.as_ref()));
            let hosts = VirtualHosts { others: &others, ..VirtualHosts::guests(&kernel) };
            emulation.run_programs(&hosts, &programs, &mut output, &mut interrupted)
        });
        let interrupted = signals.interrupted(py)?;
        if let Some(error) = unwritten {
            return Err(error.into());
        }
        match result {
            Ok(EmulationResult { report, recording, .. }) => {
                let report = EmulationReport::new(&report, interrupted);
                Ok((Outcome::new(vec![recording], keep, Effort::default()), report))
            }
            Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Err(error) => Err(raise::<EmulationError>(&error)),
        }
    })
}

/// A host, and the folder and the description of its kernel.
type OtherKernel = (String, PathBuf, String);

fn other_kernels(others: Vec<OtherKernel>) -> Vec<(String, GuestKernel)> {
    let kernels =
        others.into_iter().map(|(host, folder, title)| (host, GuestKernel::new(folder, title)));
    kernels.collect()
}

fn packet_logging(keep: bool) -> PacketLogging {
    if keep { PacketLogging::Headers } else { PacketLogging::Off }
}

fn span(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The number of data packets delivered to receivers. A run in real time has no events.
fn counters(result: &EmulationResult) -> Counters {
    let data = result.recording.connections.iter().map(|row| row.delay.packets).sum();
    Counters { events: 0, data_packets_delivered: data }
}

/// Removes the emulated networks of killed processes. Returns the names of their namespaces.
#[pyfunction]
pub(crate) fn clean_up() -> PyResult<Vec<String>> {
    guard(|| rtolab_live::clean().map_err(|error| raise::<EmulationError>(&error)))
}

/// The exceptions of Python's signal handlers.
#[derive(Default)]
pub(crate) struct Signals(Option<PyErr>);

impl Signals {
    /// Runs the signal handlers, and calls `goes_on`. Has one raised an exception, now or before?
    pub(crate) fn check(&mut self, py: Python<'_>, goes_on: Option<&Py<PyAny>>) -> bool {
        if self.0.is_none() {
            let asked = || goes_on.map_or(Ok(()), |goes_on| goes_on.call0(py).map(drop));
            self.0 = py.check_signals().and_then(|()| asked()).err();
        }
        self.0.is_some()
    }

    /// Was it Ctrl-C? Raises another exception.
    pub(crate) fn interrupted(self, py: Python<'_>) -> PyResult<bool> {
        match self.0 {
            None => Ok(false),
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
            Some(error) => Err(error),
        }
    }
}
