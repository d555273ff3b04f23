//! `diagnose` and the other functions that read captures.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor, Error as IoError, ErrorKind, Read, Result, stdin};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtolab_capture::unpacked;
use rtolab_diagnose::tables::{TABLES, timers as timers_table};
use rtolab_diagnose::{
    Assumptions, Document, Necessity, trace as diagnose_trace, what_if as diagnose_what_if,
};
use rtolab_qlog::{LogDocument, is_log};

use crate::error::{CaptureError, Error, guard, raise};
use crate::table::Table;

/// The number of bytes that show whether a file is a capture or a log.
const START: u64 = 16;
/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The diagnosis of a capture or of a QUIC log as a JSON document and as tables.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct Diagnosis(Diagnosed);

/// What was diagnosed.
enum Diagnosed {
    Capture(Box<Document>),
    Log(Box<LogDocument>),
}

#[pymethods]
impl Diagnosis {
    /// The diagnosis as a JSON document.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let json = || {
            let json = match &self.0 {
                Diagnosed::Capture(document) => serde_json::to_string(document),
                Diagnosed::Log(document) => serde_json::to_string(document),
            };
            json.map_err(|error| raise::<CaptureError>(&error))
        };
        guard(|| py.detach(json))
    }

    /// The tables, by name.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        let add = |name: &str, table: &(dyn Fn() -> rtolab_table::Table + Sync)| {
            let table = guard(|| Ok(Table::from(py.detach(table))))?;
            tables.set_item(name, table)
        };
        match &self.0 {
            Diagnosed::Capture(document) => {
                for (name, table) in TABLES {
                    add(name, &|| table(document))?;
                }
            }
            Diagnosed::Log(document) => {
                for (name, table) in rtolab_qlog::tables::TABLES {
                    add(name, &|| table(document))?;
                }
            }
        }
        Ok(tables)
    }

    /// The timeouts that other minimum RTOs would have caused, if the diagnosis replays timers;
    /// `None` for a log.
    fn timers(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Diagnosed::Capture(document) = &self.0 else { return Ok(None) };
        guard(|| Ok(Some(py.detach(|| timers_table(document)).into())))
    }
}

impl Diagnosis {
    /// The diagnosis of packets that were not read from a file.
    pub(crate) fn of_packets(document: Document) -> Self {
        Self(Diagnosed::Capture(Box::new(document)))
    }
}

/// Diagnoses the capture or the QUIC log at `path`; `-` is standard input. `progress` is called
/// repeatedly with the number of bytes read, after decompression, and the size of the file. With
/// `timers` the diagnosis of a capture replays the timers of other minimum RTOs.
#[pyfunction]
#[pyo3(signature = (path, *, progress=None, timers=false))]
pub(crate) fn diagnose(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
    timers: bool,
) -> PyResult<Diagnosis> {
    guard(|| {
        py.detach(|| {
            let (input, size, interrupt) = open(&path)?;
            let watch = |read: u64| {
                Python::attach(|py| {
                    py.check_signals()?;
                    let Some(progress) = &progress else { return Ok(()) };
                    progress.call1(py, (read.min(size), size)).map(drop)
                })
            };
            let (input, is_log) = with_kind(&path, input)?;
            let diagnosed = if is_log {
                Diagnosed::Log(Box::new(rtolab_qlog::diagnose(input, watch)?))
            } else if timers {
                Diagnosed::Capture(Box::new(rtolab_diagnose::diagnose_with_timers(input, watch)?))
            } else {
                Diagnosed::Capture(Box::new(rtolab_diagnose::diagnose(input, watch)?))
            };
            interrupt.check()?;
            Ok(Diagnosis(diagnosed))
        })
    })
}

/// Diagnoses two captures or two QUIC logs of the same transfers, one at each end, together.
#[pyfunction]
pub(crate) fn diagnose_pair(
    py: Python<'_>,
    first: PathBuf,
    second: PathBuf,
) -> PyResult<Diagnosis> {
    guard(|| {
        py.detach(|| {
            let paths = [first, second];
            let opened = |at: usize| open(&paths[at]).map(|(input, ..)| input);
            let watch = |_| -> PyResult<()> {
                Python::attach(|py| {
                    py.check_signals()?;
                    Ok(())
                })
            };
            let kind = |at: usize| opened(at).and_then(|input| with_kind(&paths[at], input));
            let [first, second] = paths.each_ref().map(|path| path.display());
            let ((one, is_log), (other, is_other_log)) = (kind(0)?, kind(1)?);
            if is_log != is_other_log {
                let message = format!("{first} and {second}: a pair is two captures or two logs");
                return Err(raise::<CaptureError>(&message));
            }
            if is_log {
                let document = rtolab_qlog::diagnose_pair([one, other], watch)?;
                let message = format!(
                    "{first} and {second} have no connection in common: the logs of the client and \
                     of the server of one connection are needed"
                );
                let found = document.map(|document| Diagnosis(Diagnosed::Log(Box::new(document))));
                return found.ok_or_else(|| raise::<CaptureError>(&message));
            }
            let document = rtolab_diagnose::diagnose_pair(opened, watch)?;
            let found = document.map(|document| Diagnosis(Diagnosed::Capture(Box::new(document))));
            found.map_err(|reason| raise::<CaptureError>(&format!("{first} and {second} {reason}")))
        })
    })
}

/// Writes a pcapng copy of the capture at `path` to `out`. `comments` are comments on packets, by
/// the numbers of the packets.
#[pyfunction]
pub(crate) fn annotate(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    comments: HashMap<u64, String>,
) -> PyResult<()> {
    guard(|| {
        py.detach(|| {
            let (input, _, interrupt) = open(&path)?;
            let out = BufWriter::new(File::create(&out).map_err(|error| named(&out, &error))?);
            let comment = |number: u64| comments.get(&number).cloned();
            let done = rtolab_capture::annotate(input, out, comment);
            interrupt.check()?;
            done.map(drop).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// The packets of the connections with these numbers, at most `limit` each, as a JSON document.
#[pyfunction]
pub(crate) fn trace(
    py: Python<'_>,
    path: PathBuf,
    numbers: Vec<u64>,
    limit: usize,
) -> PyResult<String> {
    guard(|| {
        py.detach(|| {
            let (input, _, interrupt) = open(&path)?;
            let rows = diagnose_trace(input, &numbers, limit);
            interrupt.check()?;
            serde_json::to_string(&rows).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// The results of other senders on the path of the connection with this number, or the reason why
/// the path cannot be inferred, as a JSON document.
#[pyfunction]
pub(crate) fn what_if(py: Python<'_>, path: PathBuf, number: u64) -> PyResult<String> {
    guard(|| {
        py.detach(|| {
            let (input, _, interrupt) = open(&path)?;
            let mut signals = Ok(());
            let results = diagnose_what_if(input, number, &mut || {
                #[allow(clippy::redundant_closure_for_method_calls, reason = "its lifetime is any")]
                let checked = Python::attach(|py| py.check_signals());
                signals = checked;
                signals.is_ok()
            });
            signals.and(interrupt.check())?;
            let results = results.map_err(|error| raise::<Error>(&error))?;
            serde_json::to_string(&results).map_err(|error| raise::<CaptureError>(&error))
        })
    })
}

/// The path and the transfer of the connection with this number as a TOML scenario.
#[pyfunction]
#[pyo3(signature = (path, number, *, steady=true))]
pub(crate) fn infer_scenario(
    py: Python<'_>,
    path: PathBuf,
    number: u64,
    steady: bool,
) -> PyResult<String> {
    guard(|| {
        py.detach(|| {
            let (input, _, interrupt) = open(&path)?;
            let assumptions = Assumptions {
                unknown: Necessity::Needed,
                constant_rate: steady,
                queue_overflows: true,
            };
            let scenario = rtolab_diagnose::infer_scenario(input, number, assumptions);
            interrupt.check()?;
            scenario.map_err(|error| raise::<Error>(&error))
        })
    })
}

/// The decompressed capture, the size of its file (0 for standard input), and the exception that
/// ended its reading, if any.
fn open(path: &Path) -> PyResult<(Box<dyn Read + Send>, u64, Interrupt)> {
    let interrupt = Interrupt::default();
    let (input, size): (Box<dyn Read + Send>, u64) = if path == Path::new(STANDARD_INPUT) {
        (Box::new(stdin()), 0)
    } else {
        let file = File::open(path).map_err(|error| named(path, &error))?;
        let size = file.metadata().map_or(0, |data| data.len());
        (Box::new(file), size)
    };
    let unpacked = unpacked(Interruptible { input, interrupt: interrupt.clone() });
    interrupt.check()?;
    Ok((unpacked.map_err(|error| named(path, &error))?, size, interrupt))
}

/// The input, and whether it is a QUIC log.
fn with_kind(
    path: &Path,
    mut input: Box<dyn Read + Send>,
) -> PyResult<(Box<dyn Read + Send>, bool)> {
    let mut start = Vec::new();
    let read = input.by_ref().take(START).read_to_end(&mut start);
    read.map_err(|error| named(path, &error))?;
    let is_log = is_log(&start);
    Ok((Box::new(Cursor::new(start).chain(input)), is_log))
}

/// The exception that a signal handler, usually that of Ctrl-C, raised during a read.
#[derive(Clone, Default)]
struct Interrupt(Arc<Mutex<Option<PyErr>>>);

impl Interrupt {
    /// Raises the exception, if there is one.
    fn check(&self) -> PyResult<()> {
        self.0.lock().ok().and_then(|mut raised| raised.take()).map_or(Ok(()), Err)
    }
}

/// A reader that handles signals, because a pipe may be idle for long.
struct Interruptible {
    input: Box<dyn Read + Send>,
    interrupt: Interrupt,
}

impl Read for Interruptible {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.input.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
            if let Some(raised) = Python::attach(|py| py.check_signals().err()) {
                if let Ok(mut slot) = self.interrupt.0.lock() {
                    *slot = Some(raised);
                }
                return Err(IoError::other("interrupted"));
            }
        }
    }
}

fn named(path: &Path, error: &std::io::Error) -> PyErr {
    raise::<CaptureError>(&format!("{}: {error}", path.display()))
}
