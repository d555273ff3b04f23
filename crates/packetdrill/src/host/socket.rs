//! The states of a socket, and the results of its calls.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use core::ffi::c_int;

use rtolab_packet::Path;
use rtolab_tcp::Config;

/// The number of a connection. A connection may exist longer than its socket.
pub(super) type FlowId = usize;

/// A file descriptor.
pub type Descriptor = c_int;

/// The result of a call.
pub type CallResult<T> = Result<T, CallError>;

/// The reason why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The call fails with this `errno`.
    Error(c_int),
    /// The call would block until a packet arrives or a timer expires.
    WouldBlock,
}

/// The half of a connection that is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// The receiving half.
    Read,
    /// The sending half: a FIN follows the data.
    Write,
    /// Both.
    Both,
}

/// The state of a socket.
#[derive(Debug)]
pub(super) enum Socket {
    /// Neither listening nor connected.
    Unconnected { own: Option<SocketAddr>, config: Arc<Config> },
    /// A listening socket, with its accept queue.
    Listener { own: SocketAddr, queue: VecDeque<FlowId>, config: Arc<Config> },
    /// One end of a connection. `reads` and `writes` are whether its halves are open.
    Connection { id: FlowId, reads: bool, writes: bool },
}

impl Socket {
    /// Does it listen on `path`?
    pub(super) fn listens_at(&self, path: &Path) -> bool {
        let (ip, port) = (path.addresses.from(), path.ports.from);
        matches!(self, Self::Listener { own, .. }
            if own.port() == port && (own.ip().is_unspecified() || own.ip() == ip))
    }

    /// The accept queue, if it listens on `path`.
    pub(super) fn queue_for(&mut self, path: &Path) -> Option<&mut VecDeque<FlowId>> {
        let listens = self.listens_at(path);
        match self {
            Self::Listener { queue, .. } if listens => Some(queue),
            _ => None,
        }
    }

    /// The configuration of its future connections; `None` if it is connected.
    pub(super) fn config(&self) -> Option<&Arc<Config>> {
        match self {
            Self::Unconnected { config, .. } | Self::Listener { config, .. } => Some(config),
            Self::Connection { .. } => None,
        }
    }
}
