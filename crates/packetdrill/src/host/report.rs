//! The report of the states of all sockets, which the runner's `sockstat` prints in place of
//! FreeBSD's.

use std::fmt::Write as _;
use std::net::SocketAddr;

use rtolab_packet::Path;
use rtolab_tcp::State;

use super::Host;
use super::socket::{FlowId, Socket};

/// The report's file, beside the settings.
const FILE: &str = "sockets";

impl Host {
    /// Writes the states into the folder of FreeBSD's settings if they have changed.
    pub(crate) fn report_states(&mut self) {
        let folder = self.settings.sysctl.as_deref().filter(|_| self.settings.freebsd().is_some());
        let Some(file) = folder.map(|folder| folder.join(FILE)) else { return };
        let states = self.states();
        // `sockstat` then has nothing to print, and the script's command fails.
        if states != self.reported && std::fs::write(file, &states).is_ok() {
            self.reported = states;
        }
    }

    /// A line for each socket and for each connection without a socket, in the columns of
    /// `sockstat -s`.
    fn states(&self) -> String {
        let mut states = String::new();
        let mut owned = Vec::new();
        for (descriptor, socket) in &self.sockets {
            let owner = format!("root packetdrill {} {descriptor}", std::process::id());
            match socket {
                Socket::Unconnected { .. } => {}
                Socket::Listener { own, .. } => line(&mut states, &owner, *own, None, "LISTEN"),
                Socket::Connection { id, .. } => {
                    owned.push(*id);
                    self.flow_line(&mut states, &owner, *id);
                }
            }
        }
        for id in (0..self.flows.len()).filter(|id| !owned.contains(id)) {
            if self.flows[id].end.is_none() {
                self.flow_line(&mut states, "? ? ? ?", id);
            }
        }
        states
    }

    fn flow_line(&self, states: &mut String, owner: &str, id: FlowId) {
        let flow = &self.flows[id];
        let Path { addresses, ports } = flow.path;
        let own = SocketAddr::new(addresses.from(), ports.from);
        let peer = SocketAddr::new(addresses.to(), ports.to);
        let state = match flow.end {
            Some(_) => State::Closed,
            None => flow.socket.connection.state(),
        };
        line(states, owner, own, Some(peer), name(state));
    }
}

fn line(states: &mut String, owner: &str, own: SocketAddr, peer: Option<SocketAddr>, state: &str) {
    let family = if own.is_ipv6() { "tcp6" } else { "tcp4" };
    let peer = peer.map_or_else(|| "*:*".into(), |peer| peer.to_string());
    // Writing to a string cannot fail.
    let _ = writeln!(states, "{owner} {family} {own} {peer} {state}");
}

/// FreeBSD's name of a state (`tcpstates`).
const fn name(state: State) -> &'static str {
    match state {
        State::Closed => "CLOSED",
        State::SynSent => "SYN_SENT",
        State::SynReceived => "SYN_RCVD",
        State::Established => "ESTABLISHED",
        State::CloseWait => "CLOSE_WAIT",
        State::FinWait1 => "FIN_WAIT_1",
        State::FinWait2 => "FIN_WAIT_2",
        State::Closing => "CLOSING",
        State::LastAck => "LAST_ACK",
        State::TimeWait => "TIME_WAIT",
    }
}
