//! What an application does with its sockets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use core::ffi::c_int;

use rtolab_packet::Path;
use rtolab_tcp::Config;
use rtolab_time::Instant;

use super::{FlowId, Host};
use crate::flow::{Call, End, Flow};
use crate::stamps::Stamp;

/// A file descriptor.
pub type Descriptor = c_int;

/// What a call comes to.
pub type Outcome<T> = Result<T, Stop>;

/// Why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It fails with this `errno`.
    Error(c_int),
    /// It waits: for a packet, or for a timer.
    Waits,
}

/// Which half of a connection is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// No more is read.
    Read,
    /// No more is written: a FIN follows the data.
    Write,
    /// Both.
    Both,
}

/// A socket, by what it has become.
#[derive(Debug)]
pub(super) enum Socket {
    /// Neither listening nor connected.
    Fresh { own: Option<SocketAddr>, config: Arc<Config> },
    /// Connections come in, and wait to be accepted.
    Listener { own: SocketAddr, queue: VecDeque<FlowId>, config: Arc<Config> },
    /// One end of a connection.
    Flow { id: FlowId, reads: bool, writes: bool },
}

impl Socket {
    /// Do connections along `path` come in here?
    pub(super) fn listens_at(&self, path: &Path) -> bool {
        let (ip, port) = (path.addresses.from(), path.ports.from);
        matches!(self, Self::Listener { own, .. }
            if own.port() == port && (own.ip().is_unspecified() || own.ip() == ip))
    }

    /// The connections that wait at it, if `path` leads to it.
    pub(super) fn queue_for(&mut self, path: &Path) -> Option<&mut VecDeque<FlowId>> {
        let here = self.listens_at(path);
        match self {
            Self::Listener { queue, .. } if here => Some(queue),
            _ => None,
        }
    }

    /// How the connections behave that will come of it.
    pub(super) fn config(&self) -> Option<&Arc<Config>> {
        match self {
            Self::Fresh { config, .. } | Self::Listener { config, .. } => Some(config),
            Self::Flow { .. } => None,
        }
    }
}

impl Host {
    /// Makes a socket of a descriptor.
    pub fn socket(&mut self, descriptor: Descriptor) -> Outcome<()> {
        let config = self.config().map_err(|error| {
            eprintln!("rtolab: {error}");
            Stop::Error(libc::EINVAL)
        })?;
        self.sockets.insert(descriptor, Socket::Fresh { own: None, config });
        Ok(())
    }

    /// Is it one of ours?
    pub fn knows(&self, descriptor: Descriptor) -> bool {
        self.sockets.contains_key(&descriptor)
    }

    fn at(&mut self, descriptor: Descriptor) -> Outcome<&mut Socket> {
        self.sockets.get_mut(&descriptor).ok_or(Stop::Error(libc::EBADF))
    }

    /// The connection behind a descriptor.
    pub fn flow(&self, descriptor: Descriptor) -> Option<&Flow> {
        match self.sockets.get(&descriptor)? {
            Socket::Flow { id, .. } => Some(&self.flows[*id]),
            _ => None,
        }
    }

    fn id(&mut self, descriptor: Descriptor) -> Outcome<FlowId> {
        match self.at(descriptor)? {
            Socket::Flow { id, .. } => Ok(*id),
            _ => Err(Stop::Error(libc::ENOTCONN)),
        }
    }

    /// Gives a socket its address.
    pub fn bind(&mut self, descriptor: Descriptor, address: SocketAddr) -> Outcome<()> {
        match self.at(descriptor)? {
            Socket::Fresh { own, .. } => {
                *own = Some(address);
                Ok(())
            }
            _ => Err(Stop::Error(libc::EINVAL)),
        }
    }

    /// Lets connections come in.
    pub fn listen(&mut self, descriptor: Descriptor) -> Outcome<()> {
        let socket = self.at(descriptor)?;
        match socket {
            Socket::Fresh { own: Some(own), config } => {
                let (own, config) = (*own, config.clone());
                *socket = Socket::Listener { own, queue: VecDeque::new(), config };
                Ok(())
            }
            Socket::Listener { .. } => Ok(()),
            _ => Err(Stop::Error(libc::EINVAL)),
        }
    }

    /// Is there a connection to accept?
    pub fn acceptable(&mut self, descriptor: Descriptor) -> Outcome<()> {
        match self.at(descriptor)? {
            Socket::Listener { queue, .. } if queue.is_empty() => Err(Stop::Waits),
            Socket::Listener { .. } => Ok(()),
            _ => Err(Stop::Error(libc::EINVAL)),
        }
    }

    /// Gives the connection that came in first the descriptor `new`; returns who its peer is.
    pub fn accept(&mut self, descriptor: Descriptor, new: Descriptor) -> Outcome<SocketAddr> {
        let Socket::Listener { queue, .. } = self.at(descriptor)? else {
            return Err(Stop::Error(libc::EINVAL));
        };
        let id = queue.pop_front().ok_or(Stop::Waits)?;
        self.sockets.insert(new, Socket::Flow { id, reads: true, writes: true });
        let Path { addresses, ports } = self.flows[id].path;
        Ok(SocketAddr::new(addresses.to(), ports.to))
    }

    /// Opens a connection.
    pub fn connect(&mut self, descriptor: Descriptor, peer: SocketAddr) -> Outcome<()> {
        let (own, config) = match self.at(descriptor)? {
            Socket::Fresh { own, config } => (*own, config.clone()),
            Socket::Flow { .. } => return self.connected(descriptor),
            Socket::Listener { .. } => return Err(Stop::Error(libc::EISCONN)),
        };
        let path = self.path_to(own, peer).ok_or(Stop::Error(libc::EAFNOSUPPORT))?;
        let mut config = config;
        if self.settings.grants_ecn_only() {
            Arc::make_mut(&mut config).ecn = false;
        }
        let isn = self.isn();
        let mut flow = Flow::open(config, path, isn);
        flow.announced = true;
        let id = self.begin(flow);
        self.sockets.insert(descriptor, Socket::Flow { id, reads: true, writes: true });
        Err(Stop::Waits)
    }

    /// Is the connection open that was asked for?
    pub fn connected(&mut self, descriptor: Descriptor) -> Outcome<()> {
        let id = self.id(descriptor)?;
        let flow = &mut self.flows[id];
        match (flow.connected, flow.take_error()) {
            (_, Some(error)) => Err(Stop::Error(error)),
            (true, None) => Ok(()),
            (false, None) => Err(Stop::Waits),
        }
    }

    /// Sends `bytes`: all of them at once where the call may wait, and what the send buffer has room for
    /// where it may not.
    pub fn write(&mut self, descriptor: Descriptor, bytes: &[u8], call: Call) -> Outcome<usize> {
        let Socket::Flow { id, writes, .. } = *self.at(descriptor)? else {
            return Err(Stop::Error(libc::EPIPE));
        };
        let flow = &mut self.flows[id];
        if let Some(error) = flow.take_error() {
            return Err(Stop::Error(error));
        }
        if flow.end.is_some() || !writes {
            return Err(Stop::Error(libc::EPIPE));
        }
        if !flow.connected {
            return Err(Stop::Waits);
        }
        let mut written = 0;
        while written < bytes.len() && (call == Call::Blocking || self.flows[id].has_room()) {
            written += self.flows[id].write(&bytes[written..], written > 0, call);
            self.drain(id);
        }
        if written == 0 && !bytes.is_empty() { Err(Stop::Waits) } else { Ok(written) }
    }

    /// Reads up to `most` bytes; none at the end of the stream.
    pub fn read(&mut self, descriptor: Descriptor, most: usize) -> Outcome<Vec<u8>> {
        let Socket::Flow { id, reads, .. } = *self.at(descriptor)? else {
            return Err(Stop::Error(libc::ENOTCONN));
        };
        let flow = &mut self.flows[id];
        if flow.socket.connection.receiver().available() > 0 {
            let bytes = flow.read(most);
            self.drain(id);
            return Ok(bytes);
        }
        if let Some(error) = flow.take_error() {
            return Err(Stop::Error(error));
        }
        match flow.socket.connection.receiver().finished() || flow.end.is_some() || !reads {
            true => Ok(Vec::new()),
            false => Err(Stop::Waits),
        }
    }

    /// The next entry of the error queue.
    pub fn stamp(&mut self, descriptor: Descriptor) -> Outcome<Stamp> {
        let id = self.id(descriptor)?;
        self.flows[id].stamps.take().ok_or(Stop::Error(libc::EAGAIN))
    }

    /// What a read would give, in bytes.
    pub fn readable(&self, descriptor: Descriptor) -> u64 {
        self.flow(descriptor).map_or(0, |flow| flow.socket.connection.receiver().available())
    }

    /// The error that waits to be told, as `SO_ERROR` does.
    pub fn error(&mut self, descriptor: Descriptor) -> c_int {
        let Ok(id) = self.id(descriptor) else { return 0 };
        self.flows[id].take_error().unwrap_or(0)
    }

    /// Shuts one half of a connection down, or both.
    pub fn shutdown(&mut self, descriptor: Descriptor, how: How) -> Outcome<()> {
        let Socket::Flow { id, reads, writes } = self.at(descriptor)? else {
            return Err(Stop::Error(libc::ENOTCONN));
        };
        let id = *id;
        *reads &= how == How::Write;
        let closes = how != How::Read && *writes;
        *writes &= how == How::Read;
        if self.flows[id].end.is_some() {
            return Err(Stop::Error(libc::ENOTCONN));
        }
        if closes {
            self.flows[id].socket.connection.close();
            self.drain(id);
        }
        Ok(())
    }

    /// Closes a socket. What was not read is lost, which the peer is told by a reset (RFC 2525
    /// section 2.17).
    pub fn close(&mut self, descriptor: Descriptor) -> Outcome<()> {
        match self.sockets.remove(&descriptor).ok_or(Stop::Error(libc::EBADF))? {
            Socket::Fresh { .. } => {}
            Socket::Listener { queue, .. } => {
                for id in queue {
                    self.flows[id].socket.connection.abort();
                    self.drain(id);
                }
            }
            Socket::Flow { id, writes, .. } => {
                let flow = &mut self.flows[id];
                match flow.socket.connection.receiver().available() {
                    _ if flow.end.is_some() => {}
                    0 if writes => flow.socket.connection.close(),
                    0 => {}
                    _ => flow.socket.connection.abort(),
                }
                self.drain(id);
            }
        }
        Ok(())
    }

    /// Payload in a full segment, in bytes.
    pub fn segment_size(&self, descriptor: Descriptor) -> c_int {
        self.flow(descriptor)
            .map_or(536, |flow| flow.socket.connection.sender().window().smss as c_int)
    }

    /// Says of each descriptor what it is ready for; waits until one is, or until `until`.
    pub fn poll(&mut self, polled: &mut [libc::pollfd], until: Option<Instant>) -> Outcome<usize> {
        for entry in polled.iter_mut() {
            let always = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
            entry.revents = self.events(entry.fd) & (entry.events | always);
        }
        match polled.iter().filter(|entry| entry.revents != 0).count() {
            0 if until.is_none_or(|until| self.now < until) => Err(Stop::Waits),
            ready => Ok(ready),
        }
    }

    /// What `poll` says of a socket.
    pub fn events(&mut self, descriptor: Descriptor) -> i16 {
        let Some(socket) = self.sockets.get(&descriptor) else { return libc::POLLNVAL };
        match socket {
            Socket::Fresh { .. } => libc::POLLOUT | libc::POLLHUP,
            Socket::Listener { queue, .. } if queue.is_empty() => 0,
            Socket::Listener { .. } => libc::POLLIN | libc::POLLRDNORM,
            Socket::Flow { id, .. } => poll_flow(&self.flows[*id]),
        }
    }
}

fn poll_flow(flow: &Flow) -> i16 {
    let receiver = flow.socket.connection.receiver();
    let mut events = 0;
    if receiver.available() > 0 || receiver.finished() || flow.end.is_some() {
        events |= libc::POLLIN | libc::POLLRDNORM;
    }
    let writable = flow.send_buffer.is_writable(flow.unacknowledged());
    if flow.connected && flow.end.is_none() && writable {
        events |= libc::POLLOUT | libc::POLLWRNORM;
    }
    match flow.end {
        None => {}
        Some(End::Closed) => events |= libc::POLLHUP,
        Some(End::Reset | End::Refused | End::TimedOut) => events |= libc::POLLHUP | libc::POLLERR,
    }
    events
}
