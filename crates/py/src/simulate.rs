//! `simulate`: a scenario with many senders and seeds, on all cores.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rtolab_record::Recording;
use rtolab_scenario::{FileAccess, Prototypes, Scenario};
use rtolab_sim::{Lab, Observe, RunStatus, Sim};
use rtolab_tcp::profile::Sysctl;
use rtolab_tcp::{Config, specification};

use crate::batch::{GoesOn, batch, one_by_one};
use crate::budget::MemoryBudget;
use crate::effort::Effort;
use crate::error::{DetectorError, Error, ScenarioError, SenderError, guard, raise};
use crate::outcome::Outcome;
use crate::prototype::{Class, unless_raised};

/// Runs the scenario with each sender and each seed, all seeds of the first sender first.
///
/// Without `senders`, the scenario's own are used. `jobs` is the number of threads, 0 for one per
/// core; the results do not depend on it. `progress` is called now and then with the numbers of
/// finished runs and of all runs.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), senders=Vec::new(), seeds, trace=false, windows=false,
                    judges=Vec::new(), what_if=Vec::new(), prototypes=Vec::new(), jobs=0,
                    progress=None, confined=false))]
#[expect(clippy::too_many_arguments, reason = "they are keywords with defaults in Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    senders: Vec<String>,
    seeds: Vec<u64>,
    trace: bool,
    windows: bool,
    judges: Vec<String>,
    what_if: Vec<String>,
    prototypes: Vec<Class>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
    confined: bool,
) -> PyResult<Outcome> {
    guard(|| {
        let prototypes = Class::all(prototypes)?;
        py.detach(|| {
            let began = Instant::now();
            let asked = Asked { judges, what_if, prototypes };
            let labs = labs((&path, reach(confined)), &set, &senders, &asked)?;
            let ready = Effort { set_up: began.elapsed(), ..Effort::default() };
            let observe = Observe { trace, windows };
            let budget = MemoryBudget::of_this_process();
            let one = |run: usize, goes_on: GoesOn<'_>| {
                let (lab, seed) = (&labs[run / seeds.len()], seeds[run % seeds.len()]);
                let mut recorded = budget.recording();
                let mut goes_on = |sim: &Sim| recorded.fits(sim.recorded_bytes()) && goes_on();
                let named = (lab, run as u32, seed);
                let ran = guard(|| unless_raised(|| timed(named, observe, &mut goes_on)))?;
                recorded.check()?;
                Ok(ran)
            };
            let total = labs.len() * seeds.len();
            let watch = |done| Python::attach(|py| tell(py, progress.as_ref(), (done, total)));
            let runs = match jobs.min(total) {
                1 => one_by_one(total, one, watch)?,
                jobs => batch(&threads(jobs)?, total, one, watch)?,
            };
            let (recordings, efforts): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
            let effort = efforts.into_iter().fold(ready, Effort::with);
            Ok(Outcome::new(recordings, trace, effort))
        })
    })
}

/// A complete run and its cost; `None` if it was stopped.
fn timed(
    (lab, run, seed): (&Lab, u32, u64),
    observe: Observe,
    goes_on: rtolab_sim::KeepRunning<'_>,
) -> Option<(Recording, Effort)> {
    let began = Instant::now();
    let mut sim = lab.start(seed, observe);
    let set_up = began.elapsed();
    let began = Instant::now();
    if sim.run_while(lab.end(), goes_on) == RunStatus::Stopped {
        return None;
    }
    let effort = Effort { set_up, run: began.elapsed(), counters: sim.counters() };
    Some((lab.record(sim, lab.named(run, seed)), effort))
}

/// The additional evaluation of runs; empty for none.
#[derive(Default)]
pub(crate) struct Asked {
    /// Passive detectors.
    pub judges: Vec<String>,
    /// Senders that continue from each timeout.
    pub what_if: Vec<String>,
    /// Python prototypes that may be named.
    pub prototypes: Prototypes,
}

/// The files that a scenario may name.
pub(crate) const fn reach(confined: bool) -> FileAccess {
    match confined {
        true => FileAccess::WithinFolder,
        false => FileAccess::Anywhere,
    }
}

/// The scenario prepared for each sender, or for its own if there are none.
pub(crate) fn labs(
    file: (&Path, FileAccess),
    set: &[(String, String)],
    senders: &[String],
    asked: &Asked,
) -> PyResult<Vec<Lab>> {
    let scenario = loaded(file, set, &asked.prototypes)?;
    if senders.is_empty() {
        return Ok(vec![lab(&scenario, None, asked)?]);
    }
    senders.iter().map(|sender| lab(&scenario, Some(sender), asked)).collect()
}

/// The scenario of a file, which may name `prototypes`.
pub(crate) fn loaded(
    (path, reach): (&Path, FileAccess),
    set: &[(String, String)],
    prototypes: &Prototypes,
) -> PyResult<Scenario> {
    let scenario = Scenario::load_with(path, set, (reach, prototypes));
    scenario.map_err(|error| raise::<ScenarioError>(&error))
}

/// The sender must be valid even if every flow has its own.
pub(crate) fn lab(scenario: &Scenario, sender: Option<&str>, asked: &Asked) -> PyResult<Lab> {
    let base = scenario.flows.first().map_or_else(Config::default, |flow| flow.tcp.clone());
    for name in sender.into_iter().chain(asked.what_if.iter().map(String::as_str)) {
        specification::sender_with(name, &base, &Sysctl::default(), &asked.prototypes.policies)
            .map_err(|error| raise::<SenderError>(&error))?;
    }
    let Asked { judges, what_if, prototypes } = asked;
    let lab = Lab::with(scenario, sender, &prototypes.policies);
    let lab = lab.and_then(|lab| match judges.is_empty() && what_if.is_empty() {
        true => Ok(lab),
        false => lab.scored(scenario, judges, what_if),
    });
    lab.map_err(|error| match error {
        error @ rtolab_sim::SimError::NoRoute { .. } => raise::<ScenarioError>(&error),
        error @ rtolab_sim::SimError::Detector(_) => raise::<DetectorError>(&error),
        error => raise::<SenderError>(&error),
    })
}

fn threads(count: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(count).build().map_err(|error| raise::<Error>(&error))
}

/// Raises on Ctrl-C, and what `progress` raises.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, runs: (usize, usize)) -> PyResult<()> {
    py.check_signals()?;
    progress.map_or(Ok(()), |progress| progress.call1(py, runs).map(drop))
}
