//! `rare`: the chance of a rare event, by importance splitting.

use std::path::PathBuf;

use pyo3::prelude::*;
use rtolab_link::Stream;
use rtolab_scenario::FileAccess;
use rtolab_sim::{RareEvent, RareQuantity};

use crate::batch::{KeepRunning, batch};
use crate::error::{Error, guard, raise};
use crate::simulate::{Evaluation, lab, loaded, report_progress, threads};

/// The quantities whose large values may be rare, each with its value at the first timeout.
#[pyfunction]
pub(crate) fn rare_quantities() -> Vec<(&'static str, u32)> {
    RareQuantity::ALL.iter().map(|quantity| (quantity.name(), quantity.first())).collect()
}

/// Estimates the chance that `quantity` reaches `at_least` in a run, `repeats` times. Each estimate
/// is a list with the number of runs, of `runs`, that reached each level. It ends at the first
/// level that none reached.
///
/// `jobs` is the number of threads, 0 for one per core. The results do not depend on it. `progress`
/// is called repeatedly with the numbers of finished estimates and of all.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), sender=None, quantity, at_least, runs, repeats, seed=1,
                    jobs=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords with defaults in Python")]
pub(crate) fn rare(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    sender: Option<String>,
    quantity: String,
    at_least: u32,
    runs: usize,
    repeats: usize,
    seed: u64,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Vec<usize>>> {
    guard(|| {
        py.detach(|| {
            let evaluation = Evaluation::default();
            let file = (&*path, FileAccess::Anywhere);
            let scenario = loaded(file, &set, &evaluation.prototypes)?;
            let lab = lab(&scenario, sender.as_deref(), &evaluation)?;
            let known = RareQuantity::ALL.into_iter().find(|known| known.name() == quantity);
            let quantity = known.ok_or_else(|| raise::<Error>(&format!("no `{quantity}`")))?;
            let lab = match quantity {
                RareQuantity::SpuriousTimeouts => lab.with_truth(),
                RareQuantity::Backoff | RareQuantity::Timeouts => lab,
            };
            let event = RareEvent { quantity, at_least, runs };
            let stream = Stream::new(seed);
            let estimate = |number: usize, keep_running: KeepRunning<'_>| {
                let seed = stream.child(&number.to_string()).rng().bits();
                guard(|| Ok(lab.split(&event, seed, keep_running)))
            };
            let watch =
                |done| Python::attach(|py| report_progress(py, progress.as_ref(), (done, repeats)));
            batch(&threads(jobs)?, repeats, estimate, watch)
        })
    })
}
