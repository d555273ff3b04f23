//! `simulate`: runs a scenario with several senders and seeds on all cores.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rtolab_record::Recording;
use rtolab_scenario::{FileAccess, Prototypes, Scenario};
use rtolab_sim::{Lab, Observe, RunStatus, Sim};

use crate::batch::{KeepRunning, batch, one_by_one};
use crate::budget::MemoryBudget;
use crate::effort::Effort;
use crate::error::{DetectorError, Error, ScenarioError, SenderError, guard, raise};
use crate::outcome::Outcome;
use crate::prototype::calls::interrupt_prototypes;
use crate::prototype::{PrototypeClass, unless_raised};

/// Runs the scenario with each sender and each seed. All seeds of the first sender come first.
///
/// Without `senders`, the flows have the senders of the scenario. `jobs` is the number of threads,
/// 0 for one per core. The results do not depend on it. `progress` is called repeatedly with the
/// numbers of finished runs and of all runs.
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
    prototypes: Vec<PrototypeClass>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
    confined: bool,
) -> PyResult<Outcome> {
    guard(|| {
        let prototypes = PrototypeClass::all(prototypes)?;
        py.detach(|| {
            let start = Instant::now();
            let evaluation = Evaluation { judges, what_if, prototypes };
            let file = (&*path, file_access(confined));
            let labs = labs(file, &set, &senders, &evaluation)?;
            let preparation = Effort { set_up: start.elapsed(), ..Effort::default() };
            let observe = Observe { trace, windows };
            let budget = MemoryBudget::of_this_process();
            let run_one = |number: usize, keep_running: KeepRunning<'_>| {
                let (lab, seed) = (&labs[number / seeds.len()], seeds[number % seeds.len()]);
                let mut memory = budget.recording();
                let mut keep_running =
                    |sim: &Sim| memory.fits(sim.recorded_bytes()) && keep_running();
                let run = (lab, number as u32, seed);
                let result = guard(|| unless_raised(|| timed(run, observe, &mut keep_running)))?;
                memory.check()?;
                Ok(result)
            };
            let total = labs.len() * seeds.len();
            let watch =
                |done| Python::attach(|py| report_progress(py, progress.as_ref(), (done, total)));
            let runs = match jobs.min(total) {
                1 => one_by_one(total, run_one, watch)?,
                jobs => batch(&threads(jobs)?, total, run_one, watch)?,
            };
            let (recordings, efforts): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
            let effort = efforts.into_iter().fold(preparation, Effort::with);
            Ok(Outcome::new(recordings, trace, effort))
        })
    })
}

/// The recording of a complete run, with its cost; `None` if the run was stopped.
fn timed(
    (lab, run, seed): (&Lab, u32, u64),
    observe: Observe,
    keep_running: rtolab_sim::KeepRunning<'_>,
) -> Option<(Recording, Effort)> {
    let start = Instant::now();
    let mut sim = lab.start(seed, observe);
    let set_up = start.elapsed();
    let start = Instant::now();
    if sim.run_while(lab.end(), keep_running) == RunStatus::Stopped {
        return None;
    }
    let effort = Effort { set_up, run: start.elapsed(), counters: sim.counters() };
    Some((lab.record(sim, lab.named(run, seed)), effort))
}

/// The additional evaluation of runs. The default is none.
#[derive(Default)]
pub(crate) struct Evaluation {
    /// Passive detectors.
    pub judges: Vec<String>,
    /// Senders that continue from each timeout.
    pub what_if: Vec<String>,
    /// The prototypes in Python that the scenario and the senders may name.
    pub prototypes: Prototypes,
}

/// The files that a scenario may name.
pub(crate) const fn file_access(confined: bool) -> FileAccess {
    match confined {
        true => FileAccess::WithinFolder,
        false => FileAccess::Anywhere,
    }
}

/// The scenario prepared for each of `senders`. If `senders` is empty, the flows have the senders
/// of the scenario.
pub(crate) fn labs(
    file: (&Path, FileAccess),
    set: &[(String, String)],
    senders: &[String],
    evaluation: &Evaluation,
) -> PyResult<Vec<Lab>> {
    let scenario = loaded(file, set, &evaluation.prototypes)?;
    if senders.is_empty() {
        return Ok(vec![lab(&scenario, None, evaluation)?]);
    }
    senders.iter().map(|sender| lab(&scenario, Some(sender), evaluation)).collect()
}

/// The scenario of a file, which may name `prototypes`.
pub(crate) fn loaded(
    (path, access): (&Path, FileAccess),
    set: &[(String, String)],
    prototypes: &Prototypes,
) -> PyResult<Scenario> {
    let scenario = Scenario::load_with(path, set, (access, prototypes));
    scenario.map_err(|error| raise::<ScenarioError>(&error))
}

/// The scenario prepared for `sender`, which must be valid even if every flow has its own sender.
pub(crate) fn lab(
    scenario: &Scenario,
    sender: Option<&str>,
    evaluation: &Evaluation,
) -> PyResult<Lab> {
    let Evaluation { judges, what_if, prototypes } = evaluation;
    let lab = Lab::evaluated((scenario, sender), &prototypes.policies, (judges, what_if));
    lab.map_err(|error| match error {
        error @ rtolab_sim::SimError::NoRoute { .. } => raise::<ScenarioError>(&error),
        error @ rtolab_sim::SimError::Detector(_) => raise::<DetectorError>(&error),
        error => raise::<SenderError>(&error),
    })
}

pub(crate) fn threads(count: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(count).build().map_err(|error| raise::<Error>(&error))
}

/// Calls `progress`, if any. Raises the exceptions of signal handlers and of `progress`.
pub(crate) fn report_progress(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    runs: (usize, usize),
) -> PyResult<()> {
    if let Err(interrupt) = py.check_signals() {
        interrupt_prototypes(py)?;
        return Err(interrupt);
    }
    progress.map_or(Ok(()), |progress| progress.call1(py, runs).map(drop))
}
