//! `gateway`: a split-connection proxy on a TUN device.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtolab_live::{
    Device, Gateway, GatewayCounts, GatewayLimits, Refusal, SynAnswer, Takes, WithoutIpv6,
    behaviour,
};
use rtolab_scenario::Scenario;
use rtolab_time::Duration;

use crate::emulate::Signals;
use crate::error::{GatewayError, ScenarioError, SenderError, guard, raise};

/// The arguments of `gateway`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
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

impl Asked {
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
                without_ipv6: match self.needs_ipv6 {
                    true => WithoutIpv6::Refused,
                    false => WithoutIpv6::LeftOut,
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

/// Runs a gateway until a signal comes or its time is over. `ready` is called once it is there,
/// with whether it takes IPv4 only because IPv6 is disabled.
///
/// Ctrl-C ends it and returns its counts; an exception of another signal's handler is raised after
/// everything is taken down.
#[pyfunction]
#[pyo3(signature = (asked, *, ready=None))]
pub(crate) fn gateway(
    py: Python<'_>,
    asked: Bound<'_, PyAny>,
    ready: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    guard(|| {
        let gateway = asked.extract::<Asked>()?.gateway()?;
        let mut signals = Signals::default();
        let mut told = Ok(());
        let done = py.detach(|| {
            let mut tell = |takes| {
                let Some(ready) = &ready else { return };
                let ipv4_alone = takes == Takes::Ipv4Alone;
                told = Python::attach(|py| ready.call1(py, (ipv4_alone,)).map(drop));
            };
            gateway.run(&mut tell, &mut || Python::attach(|py| signals.came(py, None)))
        });
        told?;
        let interrupted = signals.interrupted(py)?;
        match done {
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
