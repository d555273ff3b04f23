//! The socket calls of an application.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use core::ffi::c_int;

use rtolab_packet::Path;
use rtolab_tcp::State;
use rtolab_time::Instant;

use super::Host;
use super::socket::{CallError, CallResult, Descriptor, FlowId, Shutdown, Socket};
use crate::flow::{BlockingMode, CloseReason, LinuxConnection, WriteCall};
use crate::info::TcpInfo;
use crate::timestamps::TimestampEntry;

impl Host {
    /// Creates a socket for a descriptor, for IPv6 or IPv4.
    pub fn socket(&mut self, descriptor: Descriptor, is_v6: bool) -> CallResult<()> {
        let mut config = self.config().map_err(|error| {
            eprintln!("rtolab: {error}");
            CallError::Error(libc::EINVAL)
        })?;
        let mss = self.settings.mss_for(config.mss, is_v6);
        if mss != config.mss {
            Arc::make_mut(&mut config).mss = mss;
        }
        if let Some(freebsd) = self.settings.freebsd() {
            let buffer = freebsd.connected_buffer(u32::from(mss));
            Arc::make_mut(&mut config).receiver.buffer = buffer;
        }
        self.sockets.insert(descriptor, Socket::Unconnected { own: None, config });
        Ok(())
    }

    /// Is the descriptor a socket of this host?
    pub fn has_socket(&self, descriptor: Descriptor) -> bool {
        self.sockets.contains_key(&descriptor)
    }

    fn socket_mut(&mut self, descriptor: Descriptor) -> CallResult<&mut Socket> {
        self.sockets.get_mut(&descriptor).ok_or(CallError::Error(libc::EBADF))
    }

    /// The connection of a descriptor; `None` if its socket has none.
    pub fn flow(&self, descriptor: Descriptor) -> Option<&LinuxConnection> {
        match self.sockets.get(&descriptor)? {
            Socket::Connection { id, .. } => Some(&self.flows[*id]),
            _ => None,
        }
    }

    fn flow_id(&mut self, descriptor: Descriptor) -> CallResult<FlowId> {
        match self.socket_mut(descriptor)? {
            Socket::Connection { id, .. } => Ok(*id),
            _ => Err(CallError::Error(libc::ENOTCONN)),
        }
    }

    /// Binds a socket to an address.
    pub fn bind(&mut self, descriptor: Descriptor, address: SocketAddr) -> CallResult<()> {
        match self.socket_mut(descriptor)? {
            Socket::Unconnected { own, .. } => {
                *own = Some(address);
                Ok(())
            }
            _ => Err(CallError::Error(libc::EINVAL)),
        }
    }

    /// Makes a socket listen.
    pub fn listen(&mut self, descriptor: Descriptor) -> CallResult<()> {
        let socket = self.socket_mut(descriptor)?;
        match socket {
            Socket::Unconnected { own: Some(own), config } => {
                let (own, config) = (*own, config.clone());
                *socket = Socket::Listener { own, queue: VecDeque::new(), config };
                Ok(())
            }
            Socket::Listener { .. } => Ok(()),
            _ => Err(CallError::Error(libc::EINVAL)),
        }
    }

    /// Succeeds if a connection waits in the accept queue, and would block otherwise.
    pub fn acceptable(&mut self, descriptor: Descriptor) -> CallResult<()> {
        match self.socket_mut(descriptor)? {
            Socket::Listener { queue, .. } if queue.is_empty() => Err(CallError::WouldBlock),
            Socket::Listener { .. } => Ok(()),
            _ => Err(CallError::Error(libc::EINVAL)),
        }
    }

    /// Accepts the oldest connection with the descriptor `new`. Returns the address of its peer.
    pub fn accept(&mut self, descriptor: Descriptor, new: Descriptor) -> CallResult<SocketAddr> {
        let Socket::Listener { queue, .. } = self.socket_mut(descriptor)? else {
            return Err(CallError::Error(libc::EINVAL));
        };
        let id = queue.pop_front().ok_or(CallError::WouldBlock)?;
        self.sockets.insert(new, Socket::Connection { id, reads: true, writes: true });
        let Path { addresses, ports } = self.flows[id].path;
        Ok(SocketAddr::new(addresses.to(), ports.to))
    }

    /// Opens a connection.
    pub fn connect(&mut self, descriptor: Descriptor, peer: SocketAddr) -> CallResult<()> {
        let (own, config) = match self.socket_mut(descriptor)? {
            Socket::Unconnected { own, config } => (*own, config.clone()),
            Socket::Connection { .. } => return self.connected(descriptor),
            Socket::Listener { .. } => return Err(CallError::Error(libc::EISCONN)),
        };
        let path = self.path_to(own, peer).ok_or(CallError::Error(libc::EAFNOSUPPORT))?;
        let mut config = config;
        if self.settings.is_ecn_passive() {
            Arc::make_mut(&mut config).ecn = false;
        }
        let isn = self.isn();
        let mut flow = LinuxConnection::open(config, path, isn);
        flow.queued = true;
        let id = self.begin(flow);
        self.sockets.insert(descriptor, Socket::Connection { id, reads: true, writes: true });
        Err(CallError::WouldBlock)
    }

    /// The result of `connect`, which would block until the handshake is complete.
    pub fn connected(&mut self, descriptor: Descriptor) -> CallResult<()> {
        let id = self.flow_id(descriptor)?;
        let flow = &mut self.flows[id];
        match (flow.connected, flow.take_error()) {
            (_, Some(error)) => Err(CallError::Error(error)),
            (true, None) => Ok(()),
            (false, None) => Err(CallError::WouldBlock),
        }
    }

    /// Writes the `bytes` of `call`. A blocking call would block if the send buffer becomes full.
    /// It continues when at least a third is free (`sk_stream_write_space`). A non-blocking call
    /// writes only as many as the send buffer has room for. Returns their number.
    pub fn write(
        &mut self,
        descriptor: Descriptor,
        bytes: &[u8],
        call: &mut WriteCall,
    ) -> CallResult<usize> {
        let Socket::Connection { id, writes, .. } = *self.socket_mut(descriptor)? else {
            return Err(CallError::Error(libc::EPIPE));
        };
        let flow = &mut self.flows[id];
        if call.written > 0 && (flow.end.is_some() || !writes) {
            return Ok(call.written);
        }
        if let Some(error) = flow.take_error() {
            return Err(CallError::Error(error));
        }
        if flow.end.is_some() || !writes {
            return Err(CallError::Error(libc::EPIPE));
        }
        if !flow.connected || (call.waits && !flow.send_buffer.is_writable(flow.unacknowledged())) {
            return Err(CallError::WouldBlock);
        }
        while call.written < bytes.len() {
            if !self.flows[id].has_room() {
                return self.wait_for_room(id, call);
            }
            call.written += self.flows[id].write(&bytes[call.written..], call);
            self.drain(id);
        }
        Ok(call.written)
    }

    /// The send buffer is full: pushes what `call` has written (`wait_for_space` in
    /// `tcp_sendmsg_locked`).
    fn wait_for_room(&mut self, id: FlowId, call: &mut WriteCall) -> CallResult<usize> {
        let flow = &mut self.flows[id];
        let is_partial = call.written > 0 && call.mode == BlockingMode::NonBlocking;
        if is_partial {
            flow.end_partial_write();
        }
        if call.written > 0 {
            flow.push_all();
            self.drain(id);
        }
        call.waits = true;
        if is_partial { Ok(call.written) } else { Err(CallError::WouldBlock) }
    }

    /// Returns at most `max_bytes`, which stay readable (`MSG_PEEK`). The result is empty at the
    /// end of the stream.
    pub fn peek(&mut self, descriptor: Descriptor, max_bytes: usize) -> CallResult<Vec<u8>> {
        match self.flow(descriptor).map(|flow| flow.socket.peek(max_bytes)) {
            Some(bytes) if !bytes.is_empty() => Ok(bytes),
            _ => self.read(descriptor, 0),
        }
    }

    /// Reads at most `max_bytes`. The result is empty at the end of the stream.
    pub fn read(&mut self, descriptor: Descriptor, max_bytes: usize) -> CallResult<Vec<u8>> {
        let Socket::Connection { id, reads, .. } = *self.socket_mut(descriptor)? else {
            return Err(CallError::Error(libc::ENOTCONN));
        };
        let flow = &mut self.flows[id];
        if flow.socket.connection.receiver().available() > 0 {
            let bytes = flow.read(max_bytes);
            self.drain(id);
            return Ok(bytes);
        }
        if let Some(error) = flow.take_error() {
            return Err(CallError::Error(error));
        }
        match flow.socket.connection.receiver().has_received_fin() || flow.end.is_some() || !reads {
            true => Ok(Vec::new()),
            false => Err(CallError::WouldBlock),
        }
    }

    /// The next entry of the error queue.
    pub fn next_timestamp(&mut self, descriptor: Descriptor) -> CallResult<TimestampEntry> {
        let id = self.flow_id(descriptor)?;
        self.flows[id].timestamps.take().ok_or(CallError::Error(libc::EAGAIN))
    }

    /// The result of `getsockopt(TCP_INFO)`; zeros if the socket has no connection.
    pub fn info(&self, descriptor: Descriptor) -> TcpInfo {
        self.flow(descriptor).map(|flow| TcpInfo::of(flow, self.now)).unwrap_or_default()
    }

    /// The number of readable bytes.
    pub fn readable(&self, descriptor: Descriptor) -> u64 {
        self.flow(descriptor).map_or(0, |flow| flow.socket.connection.receiver().available())
    }

    /// The pending error (`SO_ERROR`).
    pub fn error(&mut self, descriptor: Descriptor) -> c_int {
        let Ok(id) = self.flow_id(descriptor) else { return 0 };
        self.flows[id].take_error().unwrap_or(0)
    }

    /// Shuts down one half or both halves of a connection.
    pub fn shutdown(&mut self, descriptor: Descriptor, how: Shutdown) -> CallResult<()> {
        let Socket::Connection { id, reads, writes } = self.socket_mut(descriptor)? else {
            return Err(CallError::Error(libc::ENOTCONN));
        };
        let id = *id;
        *reads &= how == Shutdown::Write;
        let closes = how != Shutdown::Read && *writes;
        *writes &= how == Shutdown::Read;
        if self.flows[id].end.is_some() {
            return Err(CallError::Error(libc::ENOTCONN));
        }
        if closes {
            self.flows[id].release_all();
            let connection = &mut self.flows[id].socket.connection;
            match how {
                Shutdown::Both => connection.close(),
                Shutdown::Read | Shutdown::Write => connection.shutdown(),
            }
            self.drain(id);
        }
        Ok(())
    }

    /// Closes a socket. If data are unread, the peer receives a reset (RFC 2525 section 2.17).
    pub fn close(&mut self, descriptor: Descriptor) -> CallResult<()> {
        match self.sockets.remove(&descriptor).ok_or(CallError::Error(libc::EBADF))? {
            Socket::Unconnected { .. } => {}
            Socket::Listener { queue, .. } => {
                for id in queue {
                    self.flows[id].socket.connection.abort();
                    self.drain(id);
                }
            }
            Socket::Connection { id, .. } => {
                let flow = &mut self.flows[id];
                flow.release_all();
                match flow.socket.connection.receiver().available() {
                    _ if flow.end.is_some() => {}
                    // It is forgotten (RFC 9293 section 3.10.4).
                    _ if flow.socket.connection.state() == State::SynSent => {
                        flow.end = Some(CloseReason::Closed);
                        flow.socket.connection.abort();
                    }
                    0 => flow.socket.connection.close(),
                    _ => flow.socket.connection.abort(),
                }
                self.drain(id);
            }
        }
        Ok(())
    }

    /// The payload of a full segment, in bytes; before the handshake, `TCP_MAXSEG` if it was set.
    pub fn segment_size(&self, descriptor: Descriptor) -> c_int {
        let own = self.config.as_ref().map(|config| config.mss);
        let is_default = |mss| {
            own.is_some_and(|own| {
                [false, true].map(|v6| self.settings.mss_for(own, v6)).contains(&mss)
            })
        };
        match self.sockets.get(&descriptor) {
            Some(Socket::Connection { id, .. }) => {
                self.flows[*id].socket.connection.sender().window().smss() as c_int
            }
            Some(Socket::Unconnected { config, .. } | Socket::Listener { config, .. })
                if !is_default(config.mss) =>
            {
                c_int::from(config.mss)
            }
            _ => 536,
        }
    }

    /// The size of a connection's send buffer (`SO_SNDBUF`), in bytes; 0 if it is unlimited.
    pub fn send_buffer_size(&self, descriptor: Descriptor) -> c_int {
        let size = self.flow(descriptor).and_then(|flow| flow.send_buffer.size());
        size.map_or(0, |bytes| c_int::try_from(bytes).unwrap_or(c_int::MAX))
    }

    /// The size of the receive buffer (`SO_RCVBUF`), in bytes; 0 on Linux, because the accounting
    /// of its buffer is missing.
    pub fn receive_buffer_size(&self, descriptor: Descriptor) -> c_int {
        let Some(freebsd) = self.settings.freebsd() else { return 0 };
        let mss = self.flow(descriptor).and_then(LinuxConnection::negotiated_mss);
        let bytes = mss.map_or(freebsd.recvspace, |mss| freebsd.connected_buffer(mss.into()));
        c_int::try_from(bytes).unwrap_or(c_int::MAX)
    }

    /// Sets the events of each descriptor and returns the number of descriptors with events. The
    /// call would block as long as there are none, until the time `until`.
    pub fn poll(
        &mut self,
        polled: &mut [libc::pollfd],
        until: Option<Instant>,
    ) -> CallResult<usize> {
        for entry in polled.iter_mut() {
            let always = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
            entry.revents = self.events(entry.fd) & (entry.events | always);
        }
        match polled.iter().filter(|entry| entry.revents != 0).count() {
            0 if until.is_none_or(|until| self.now < until) => Err(CallError::WouldBlock),
            ready => Ok(ready),
        }
    }

    /// The events of a socket for `poll`.
    pub fn events(&mut self, descriptor: Descriptor) -> i16 {
        let Some(socket) = self.sockets.get(&descriptor) else { return libc::POLLNVAL };
        match socket {
            Socket::Unconnected { .. } => libc::POLLOUT | libc::POLLHUP,
            Socket::Listener { queue, .. } if queue.is_empty() => 0,
            Socket::Listener { .. } => libc::POLLIN | libc::POLLRDNORM,
            Socket::Connection { id, .. } => poll_flow(&self.flows[*id]),
        }
    }
}

fn poll_flow(flow: &LinuxConnection) -> i16 {
    let receiver = flow.socket.connection.receiver();
    let mut events = 0;
    if receiver.available() > 0 || receiver.has_received_fin() || flow.end.is_some() {
        events |= libc::POLLIN | libc::POLLRDNORM;
    }
    let writable = flow.send_buffer.is_writable(flow.unacknowledged());
    if flow.connected && flow.end.is_none() && writable {
        events |= libc::POLLOUT | libc::POLLWRNORM;
    }
    match flow.end {
        None => {}
        Some(CloseReason::Closed) => events |= libc::POLLHUP,
        Some(CloseReason::Reset | CloseReason::Refused | CloseReason::TimedOut) => {
            events |= libc::POLLHUP | libc::POLLERR;
        }
    }
    events
}
