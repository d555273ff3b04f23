//! The signal that ends the forwarding loop.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// The state of the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    Run,
    /// Stop when the links are empty, or after a grace period.
    Drain,
    /// Stop at once.
    Stop,
}

/// A signal, with a file descriptor that becomes readable when the signal changes.
pub(crate) struct Stop {
    signal: AtomicU8,
    event: OwnedFd,
}

impl Stop {
    pub(crate) fn new() -> Result<Self, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::system("make an event"))?;
        Ok(Self { signal: AtomicU8::new(StopSignal::Run as u8), event })
    }

    pub(crate) fn signal(&self) -> StopSignal {
        match self.signal.load(Ordering::Relaxed) {
            0 => StopSignal::Run,
            1 => StopSignal::Drain,
            _ => StopSignal::Stop,
        }
    }

    /// Sets the signal.
    pub(crate) fn set(&self, signal: StopSignal) {
        self.signal.store(signal as u8, Ordering::Relaxed);
        // The write cannot fail, because the counter never reaches 2^64.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
