//! `gateway`: a split-connection proxy on a TUN device.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtolab_live::{
    AddressFamilies, Device, Gateway, GatewayCounts, GatewayLimits, Ipv6Fallback, Refusal,
    SynAnswer, behaviour,
};
use rtolab_scenario::Scenario;
use rtolab_time::Duration;

use crate::emulate::Signals;
use crate::error::{GatewayError, ScenarioError, SenderError, guard, raise};

/// The arguments of `gateway`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GatewayArguments {
    scenario: Option<PathBuf>,
    set: Vec<(String, String)>,
    sender: Option<String>,
    device: String,
    addresses: Vec<(IpAddr, u8)>,
    needs_ipv6: bool,
    routes: Vec<(IpAddr, u8)>,
    namespace: Option<String>,
    mtu: u16,
    to: Option<(IpAddr, u16)>,
    answers_at_once: bool,
    refuses_silently: bool,
    buffer: Option<u32>,
    send_buffer: u32,
    max_connections: usize,
    max_half_open: usize,
    max_time_wait: usize,
    max_memory: u64,
    idle_s: f64,
    give_up_s: f64,
    pcap: Option<PathBuf>,
    duration_s: Option<f64>,
}

impl GatewayArguments {
    fn gateway(self) -> PyResult<Gateway> {
        let scenario = self.scenario.map(|path| Scenario::load(&path, &self.set));
        let scenario = scenario.transpose().map_err(|error| raise::<ScenarioError>(&error))?;
        let config = behaviour(scenario.as_ref(), self.sender.as_deref(), self.buffer)
            .map_err(|error| raise::<SenderError>(&error))?;
        Ok(Gateway {
            config,
            device: Device {
                name: self.device,
                addresses: self.addresses,
                routes: self.routes,
                ipv6_fallback: match self.needs_ipv6 {
                    true => Ipv6Fallback::Fail,
                    false => Ipv6Fallback::Ignore,
                },
                mtu: self.mtu,
                namespace: self.namespace,
            },
            to: self.to.map(|(address, port)| SocketAddr::new(address, port)),
            handshake: match self.answers_at_once {
                true => SynAnswer::BeforeServer,
                false => SynAnswer::AfterServer,
            },
            refusal: if self.refuses_silently { Refusal::Silence } else { Refusal::Reset },
            limits: GatewayLimits {
                connections: self.max_connections,
                half_open: self.max_half_open,
                time_wait: self.max_time_wait,
                memory: self.max_memory,
                send_buffer: self.send_buffer,
                idle: seconds(self.idle_s),
                give_up: seconds(self.give_up_s),
            },
            pcap: self.pcap,
            duration: self.duration_s.map(seconds),
        })
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}

/// Runs a gateway until a signal arrives or its duration is over. `ready` is called when the
/// gateway accepts connections. Its argument is whether only IPv4 is supported, because IPv6 is
/// disabled.
///
/// Ctrl-C ends the gateway, which returns its counts. An exception of another signal's handler is
/// raised after the gateway is removed.
#[pyfunction]
#[pyo3(signature = (asked, *, ready=None))]
pub(crate) fn gateway(
    py: Python<'_>,
    asked: Bound<'_, PyAny>,
    ready: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    guard(|| {
        let gateway = asked.extract::<GatewayArguments>()?.gateway()?;
        let mut signals = Signals::default();
        let mut reported = Ok(());
        let result = py.detach(|| {
            let mut report_ready = |families| {
                let Some(ready) = &ready else { return };
                let ipv4_only = families == AddressFamilies::Ipv4Only;
                reported = Python::attach(|py| ready.call1(py, (ipv4_only,)).map(drop));
            };
            let mut is_interrupted = || Python::attach(|py| signals.check(py, None));
            gateway.run(&mut report_ready, &mut is_interrupted)
        });
        reported?;
        let interrupted = signals.interrupted(py)?;
        match result {
            Ok(counts) => Ok(document(py, &counts, interrupted)?.unbind()),
            Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Err(error) => Err(raise::<GatewayError>(&error)),
        }
    })
}

fn document<'py>(
    py: Python<'py>,
    counts: &GatewayCounts,
    interrupted: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let document = PyDict::new(py);
    for (name, count) in counts.named() {
        document.set_item(name, count)?;
    }
    document.set_item("interrupted", interrupted)?;
    Ok(document)
}
