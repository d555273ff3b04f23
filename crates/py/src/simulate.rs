//! `simulate`: a scenario with many senders and seeds, on all cores.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use rtolab_record::Recording;
use rtolab_scenario::Scenario;
use rtolab_sim::{Observe, run};
use rtolab_tcp::{Config, sum};

use crate::batch::batch;
use crate::error::{Error, ScenarioError, SenderError, guard};
use crate::outcome::Outcome;

/// Runs the scenario with each sender and each seed, all seeds of the first sender first.
///
/// Without `senders` the scenario's own. On `jobs` threads, 0 for one a core; the outcome does not
/// depend on how many. `progress` is called now and then with the counts of runs done and of all.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), senders=Vec::new(), seeds, trace=false, windows=false,
                    jobs=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords with defaults in Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    senders: Vec<String>,
    seeds: Vec<u64>,
    trace: bool,
    windows: bool,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let plan = Plan { senders, seeds, observe: Observe { trace, windows } };
    let watch = |done| {
        Python::attach(|py| {
            py.check_signals()?;
            let tell = |progress: &Py<PyAny>| progress.call1(py, (done, plan.runs()));
            progress.as_ref().map_or(Ok(()), |progress| tell(progress).map(drop))
        })
    };
    guard(|| {
        py.detach(|| {
            let scenario = load(&path, &set, &plan.senders)?;
            plan.run(&scenario, jobs, watch).map(|runs| Outcome::new(runs, trace))
        })
    })
}

/// The scenario, with senders that fit it.
pub(crate) fn load(
    path: &Path,
    set: &[(String, String)],
    senders: &[String],
) -> PyResult<Scenario> {
    for sender in senders {
        sum::sender(sender, &Config::default())
            .map_err(|error| SenderError::new_err(error.to_string()))?;
    }
    Scenario::load(path, set).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Which runs there are, sender by sender, and what is observed of them.
struct Plan {
    senders: Vec<String>,
    seeds: Vec<u64>,
    observe: Observe,
}

impl Plan {
    fn runs(&self) -> usize {
        self.senders.len().max(1) * self.seeds.len()
    }

    fn run(
        &self,
        scenario: &Scenario,
        jobs: usize,
        watch: impl FnMut(usize) -> PyResult<()>,
    ) -> PyResult<Vec<Recording>> {
        let pool = ThreadPoolBuilder::new().num_threads(jobs.min(self.runs())).build();
        let pool = pool.map_err(|error| Error::new_err(format!("no threads: {error}")))?;
        batch(&pool, self.runs(), |index| guard(|| self.one(scenario, index)), watch)
    }

    fn one(&self, scenario: &Scenario, index: usize) -> PyResult<Recording> {
        let sender = self.senders.get(index / self.seeds.len()).map(String::as_str);
        let seed = self.seeds[index % self.seeds.len()];
        let mut recording = run(scenario, sender, seed, self.observe)
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        recording.run.run = index as u32;
        Ok(recording)
    }
}
