//! `tune`: the timers that other minimum RTOs would give the senders of an interface.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant as Clock;

use pyo3::prelude::*;
use rtolab_diagnose::{Diagnosis, Document, SkippedPackets};
use rtolab_live::{PacketFilter, PacketSocket};
use rtolab_time::Duration;

use crate::diagnose;
use crate::error::{WatchError, guard, raise};

/// How often signals are handled.
const SIGNALS: Duration = Duration::from_millis(100);

/// Diagnoses the packets of an interface while they pass, and replays timers.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct TimerWatcher(Mutex<State>);

struct State {
    socket: PacketSocket,
    diagnosis: Diagnosis,
}

#[pymethods]
impl TimerWatcher {
    #[new]
    #[pyo3(signature = (interface, *, host=None, port=None, ring=32 << 20))]
    fn new(
        py: Python<'_>,
        interface: &str,
        host: Option<IpAddr>,
        port: Option<u16>,
        ring: usize,
    ) -> PyResult<Self> {
        guard(|| {
            let filter = PacketFilter { host, port };
            let socket = py.detach(|| PacketSocket::open(interface, filter, ring));
            let socket = socket.map_err(|error| raise::<WatchError>(&error))?;
            Ok(Self(Mutex::new(State { socket, diagnosis: Diagnosis::with_timers() })))
        })
    }

    /// Watches for this time in seconds.
    fn poll(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        guard(|| {
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                state.watch_for(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)))
            })
        })
    }

    /// Ends the watch. Returns the diagnosis and the number of packets that the kernel dropped.
    fn finish(&self, py: Python<'_>) -> PyResult<(diagnose::Diagnosis, u64)> {
        guard(|| {
            py.detach(|| {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let kernel = state.socket.counts().map_err(|error| raise::<WatchError>(&error))?;
                let diagnosis = std::mem::take(&mut state.diagnosis);
                let document = Document::of(diagnosis, SkippedPackets::default());
                Ok((diagnose::Diagnosis::of_packets(document), kernel.drops))
            })
        })
    }
}

impl State {
    fn watch_for(&mut self, time: Duration) -> PyResult<()> {
        let began = Clock::now();
        loop {
            let passed = Duration::from_nanos(began.elapsed().as_nanos() as u64);
            let wait = time.saturating_sub(passed).min(SIGNALS);
            let Self { socket, diagnosis } = self;
            let received = socket.receive(wait, |captured| {
                diagnosis.packet(captured);
            });
            received.map_err(|error| raise::<WatchError>(&error))?;
            #[allow(clippy::redundant_closure_for_method_calls, reason = "its lifetime is any")]
            Python::attach(|py| py.check_signals())?;
            if passed >= time {
                return Ok(());
            }
        }
    }
}
