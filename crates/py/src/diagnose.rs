//! `diagnose`: what each retransmission in a capture was.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, stdin};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use rtolab_capture::{annotated, unpacked};
use rtolab_diagnose::trace as diagnose_trace;

use crate::error::{CaptureError, guard, raise};

/// What `-` names.
const STANDARD_INPUT: &str = "-";

/// Diagnoses the capture at `path`, `-` for standard input: one JSON document. `progress` is called
/// now and then with the bytes read, unpacked, and of the file.
#[pyfunction]
#[pyo3(signature = (path, *, progress=None))]
pub(crate) fn diagnose(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    guard(|| {
        py.detach(|| {
            let (input, size) = open(&path)?;
            let watch = |read: u64| {
                Python::attach(|py| {
                    py.check_signals()?;
                    let told = progress.as_ref();
                    told.map_or(Ok(()), |told| told.call1(py, (read.min(size), size)).map(drop))
                })
            };
            let document = rtolab_diagnose::diagnose(input, watch)?;
            serde_json::to_string(&document).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// Writes a pcapng copy of the capture at `path` to `out` with these comments on its packets, by
/// number.
#[pyfunction]
pub(crate) fn annotate(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    comments: HashMap<u64, String>,
) -> PyResult<()> {
    guard(|| {
        py.detach(|| {
            let (input, _) = open(&path)?;
            let out = BufWriter::new(File::create(&out).map_err(|error| named(&out, &error))?);
            let comment = |number: u64| comments.get(&number).cloned();
            annotated(input, out, comment).map(drop).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// The packets of the connections with these numbers, at most `limit` of each, as one JSON document.
#[pyfunction]
pub(crate) fn trace(
    py: Python<'_>,
    path: PathBuf,
    numbers: Vec<u64>,
    limit: usize,
) -> PyResult<String> {
    guard(|| {
        py.detach(|| {
            let (input, _) = open(&path)?;
            let rows = diagnose_trace(input, &numbers, limit);
            serde_json::to_string(&rows).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// The capture, and how many bytes it has where that is known.
fn open(path: &Path) -> PyResult<(Box<dyn Read + Send>, u64)> {
    if path == Path::new(STANDARD_INPUT) {
        let input = unpacked(stdin()).map_err(|error| named(path, &error))?;
        return Ok((input, 0));
    }
    let file = File::open(path).map_err(|error| named(path, &error))?;
    let size = file.metadata().map_or(0, |data| data.len());
    Ok((unpacked(file).map_err(|error| named(path, &error))?, size))
}

fn named(path: &Path, error: &std::io::Error) -> PyErr {
    raise::<CaptureError>(&format!("{}: {error}", path.display()))
}
