//! `watch`: the verdicts on what an interface carries, while it does.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant as Clock, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use rtolab_diagnose::{Watch, WatchLimits};
use rtolab_live::{PacketFilter, PacketSocket};
use rtolab_time::{Duration, Instant};
use serde_json::json;

use crate::error::{WatchError, guard, raise};

/// How often signals are handled.
const SIGNALS: Duration = Duration::from_millis(100);
/// Packets of the latest time may still be in a block that the kernel keeps.
const IN_RING: Duration = Duration::from_millis(200);

/// Judges the packets of an interface while they pass.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct Watcher(Mutex<State>);

struct State {
    socket: PacketSocket,
    watch: Watch,
    is_over: bool,
}

#[pymethods]
impl Watcher {
    #[new]
    #[pyo3(signature = (
        interface, *, host=None, port=None, ring=32 << 20, connections=1 << 14, memory=512 << 20,
        idle_s=600.0
    ))]
    #[allow(clippy::too_many_arguments, reason = "Python's keywords")]
    fn new(
        py: Python<'_>,
        interface: &str,
        host: Option<IpAddr>,
        port: Option<u16>,
        ring: usize,
        connections: usize,
        memory: usize,
        idle_s: f64,
    ) -> PyResult<Self> {
        guard(|| {
            let filter = PacketFilter { host, port };
            let socket = py.detach(|| PacketSocket::open(interface, filter, ring));
            let socket = socket.map_err(|error| raise::<WatchError>(&error))?;
            let limits = WatchLimits { connections, memory, idle: Duration::from_secs_f64(idle_s) };
            let watch = Watch::new(limits);
            Ok(Self(Mutex::new(State { socket, watch, is_over: false })))
        })
    }

    /// Watches for this time, and returns the verdicts that have settled: each is a JSON object.
    fn poll(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<String>> {
        guard(|| {
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                state.watch_for(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)))?;
                state.settled()
            })
        })
    }

    /// Ends the watch; the verdicts on what was open, each as a JSON object.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        guard(|| {
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                state.is_over = true;
                state.watch.finish();
                state.settled()
            })
        })
    }

    /// The totals so far, as a JSON object.
    fn totals(&self, py: Python<'_>) -> PyResult<String> {
        guard(|| {
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let kernel = state.socket.counts().map_err(|error| raise::<WatchError>(&error))?;
                let mut totals = json!(state.watch.totals());
                totals["kernel_drops"] = json!(kernel.drops);
                Ok(totals.to_string())
            })
        })
    }
}

impl State {
    fn watch_for(&mut self, time: Duration) -> PyResult<()> {
        let began = Clock::now();
        let mut is_first = true;
        loop {
            let passed = Duration::from_nanos(began.elapsed().as_nanos() as u64);
            if self.is_over || !is_first && passed >= time {
                return Ok(());
            }
            is_first = false;
            let wait = time.saturating_sub(passed).min(SIGNALS);
            let Self { socket, watch, .. } = self;
            // Packets may come, and this thread may have to wait, before `receive` returns.
            let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let received = socket.receive(wait, |captured| watch.packet(captured));
            if received.map_err(|error| raise::<WatchError>(&error))? == 0 {
                let passed = Duration::from_nanos(before.as_nanos() as u64);
                watch.advance(Instant::START + passed.saturating_sub(IN_RING));
            }
            #[allow(clippy::redundant_closure_for_method_calls, reason = "its lifetime is any")]
            Python::attach(|py| py.check_signals())?;
        }
    }

    fn settled(&mut self) -> PyResult<Vec<String>> {
        let began = self.watch.totals().began;
        let mut lines = Vec::new();
        while let Some(report) = self.watch.poll() {
            for line in report.lines(began) {
                let text = serde_json::to_string(&line);
                lines.push(text.map_err(|error| raise::<WatchError>(&error))?);
            }
        }
        Ok(lines)
    }
}
