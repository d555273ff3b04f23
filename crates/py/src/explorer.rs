//! `Explorer`: the answers of the explorer's server.

use std::fs::File;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtolab_explorer::{Query, RequestError, Texts};

use crate::budget::MemoryBudget;
use crate::error::{Error, guard};

/// The answers of the explorer.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct Explorer {
    texts: Texts,
}

#[pymethods]
impl Explorer {
    /// Answers about the included scenarios, whose `texts` are given by file name, with the files
    /// that they name.
    #[new]
    const fn new(texts: Texts) -> Self {
        Self { texts }
    }

    /// Whether there is an answer, and the answer or else the JSON of the error. `question` is one
    /// of `scenario`, `check`, `run`, `what-if` and `branch`; `request` is a JSON object.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        question: &str,
        request: &str,
    ) -> PyResult<(bool, Bound<'py, PyBytes>)> {
        let asked = Query::ALL.into_iter().find(|one| one.name() == question);
        let asked = asked.ok_or_else(|| Error::new_err(format!("no question `{question}`")))?;
        let answer = || {
            py.detach(|| {
                let budget = MemoryBudget::of_this_process();
                let mut recording = budget.recording();
                let mut keep_running = |bytes: usize| recording.fits(bytes);
                let texts = &self.texts;
                let explorer = rtolab_explorer::Explorer { texts, keep_running: &mut keep_running };
                let answer = { explorer }.answer(asked, request);
                recording.check()?;
                Ok(answer)
            })
        };
        guard(answer).map(|answer| document(py, answer))
    }

    /// Likewise about a capture, which is called `name` in the answer. At most `packets` of a
    /// connection are drawn.
    #[staticmethod]
    fn diagnose<'py>(
        py: Python<'py>,
        path: PathBuf,
        name: &str,
        packets: usize,
    ) -> PyResult<(bool, Bound<'py, PyBytes>)> {
        let answer = || {
            py.detach(|| {
                let open = || File::open(&path);
                Ok(rtolab_explorer::diagnose(open, (name, packets), &mut || true))
            })
        };
        guard(answer).map(|answer| document(py, answer))
    }

    /// The scenarios and the terms of sender specifications on offer, as JSON.
    fn index(&self) -> String {
        rtolab_explorer::index(&self.texts).to_string()
    }
}

fn document(py: Python<'_>, answer: Result<Vec<u8>, RequestError>) -> (bool, Bound<'_, PyBytes>) {
    let is_answer = answer.is_ok();
    let bytes = answer.unwrap_or_else(|failure| failure.encoded());
    (is_answer, PyBytes::new(py, &bytes))
}
