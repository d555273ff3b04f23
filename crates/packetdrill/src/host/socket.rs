//! A socket and the results of its calls.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use core::ffi::c_int;

use rtolab_packet::Path;
use rtolab_tcp::Config;

/// The number of a connection. A connection may outlive its socket.
pub(super) type FlowId = usize;

/// A file descriptor.
pub type Descriptor = c_int;

/// The result of a call.
pub type CallResult<T> = Result<T, NoResult>;

/// Why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// It fails with this `errno`.
    Error(c_int),
    /// It would block: it waits for a packet or a timer.
    WouldBlock,
}

/// The half of a connection that is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// No more is read.
    Read,
    /// No more is written: a FIN follows the data.
    Write,
    /// Both.
    Both,
}

/// A socket, by its state.
#[derive(Debug)]
pub(super) enum Socket {
    /// Neither listening nor connected.
    Fresh { own: Option<SocketAddr>, config: Arc<Config> },
    /// A listening socket, with its accept queue.
    Listener { own: SocketAddr, queue: VecDeque<FlowId>, config: Arc<Config> },
    /// One end of a connection.
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
        let here = self.listens_at(path);
        match self {
            Self::Listener { queue, .. } if here => Some(queue),
            _ => None,
        }
    }

    /// The configuration of its future connections.
    pub(super) fn config(&self) -> Option<&Arc<Config>> {
        match self {
            Self::Fresh { config, .. } | Self::Listener { config, .. } => Some(config),
            Self::Connection { .. } => None,
        }
    }
}
