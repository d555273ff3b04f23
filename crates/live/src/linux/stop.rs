//! How the loop that carries packets is told to end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// What is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Go,
    /// To end when the links are empty, or soon.
    Drain,
    /// To end at once.
    Stop,
}

/// A wish, and something to wait for that is readable once it changes.
pub(crate) struct Stop {
    wish: AtomicU8,
    event: OwnedFd,
}

impl Stop {
    pub(crate) fn new() -> Result<Self, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::system("make an event"))?;
        Ok(Self { wish: AtomicU8::new(Wish::Go as u8), event })
    }

    pub(crate) fn wish(&self) -> Wish {
        match self.wish.load(Ordering::Relaxed) {
            0 => Wish::Go,
            1 => Wish::Drain,
            _ => Wish::Stop,
        }
    }

    pub(crate) fn tell(&self, wish: Wish) {
        self.wish.store(wish as u8, Ordering::Relaxed);
        // It cannot fail: nobody adds up to 2^64.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
