//! A host shared by two threads of the tool: its main thread, whose calls advance the time, and the
//! thread that makes its blocking calls.

use core::ffi::c_int;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration as RealDuration;

use rtolab_time::{Duration, Instant};

use crate::host::{CallResult, Descriptor, Host, NoResult};

/// The real time that the thread of blocking calls has to make its next call before virtual time
/// jumps.
const GRACE: RealDuration = RealDuration::from_micros(300);

/// How often it has that time if only such a call can make progress.
const LAST_CHANCES: u32 = 100;

/// The most timers that may expire while the tool waits for a packet, and the most waits for a
/// call.
const MOST_TURNS: u32 = 10_000;

/// The stack that `getsockopt` asks: one is under test at a time.
static CURRENT: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// A host behind a lock.
#[derive(Debug)]
pub struct Shared {
    inner: Mutex<Inner>,
    wake: Condvar,
    /// The thread whose calls advance the time.
    driver: ThreadId,
}

#[derive(Debug)]
struct Inner {
    host: Host,
    nonblocking: BTreeSet<Descriptor>,
    /// The number of blocked calls.
    waiting: u32,
    /// The number of them that have not seen the last change.
    stale: u32,
    /// A call returned, and its thread has not read the clock yet.
    returning: bool,
}

impl Shared {
    /// Puts `host` behind a lock. Calls of the current thread advance the time.
    pub fn new(host: Host) -> Arc<Self> {
        let inner =
            Inner { host, nonblocking: BTreeSet::new(), waiting: 0, stale: 0, returning: false };
        let shared = Arc::new(Self {
            inner: Mutex::new(inner),
            wake: Condvar::new(),
            driver: thread::current().id(),
        });
        *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        shared
    }

    /// The stack under test, if there is one.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The test of the stack is over.
    pub fn retire(&self) {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|shared| std::ptr::eq(Arc::as_ptr(shared), self)) {
            *current = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drives(&self) -> bool {
        thread::current().id() == self.driver
    }

    /// Makes a call that cannot block.
    pub fn with<T>(&self, act: impl FnOnce(&mut Host) -> T) -> T {
        let mut inner = self.lock();
        let result = act(&mut inner.host);
        self.notify(&mut inner);
        result
    }

    /// Wakes the blocked calls after a change.
    fn notify(&self, inner: &mut Inner) {
        inner.stale = inner.waiting;
        self.wake.notify_all();
    }

    /// Makes calls on `descriptor` non-blocking, or blocking.
    pub fn set_nonblocking(&self, descriptor: Descriptor, nonblocking: bool) {
        let mut inner = self.lock();
        match nonblocking {
            true => inner.nonblocking.insert(descriptor),
            false => inner.nonblocking.remove(&descriptor),
        };
    }

    /// Are calls on `descriptor` non-blocking?
    pub fn is_nonblocking(&self, descriptor: Descriptor) -> bool {
        self.lock().nonblocking.contains(&descriptor)
    }

    /// Tries until it need not wait any more; where it may not wait, it fails with `unready`.
    pub fn call<T>(
        &self,
        unready: Option<c_int>,
        mut attempt: impl FnMut(&mut Host) -> CallResult<T>,
    ) -> Result<T, c_int> {
        let mut inner = self.lock();
        let mut waited = false;
        loop {
            let result = match (attempt(&mut inner.host), unready) {
                (Ok(value), _) => Some(Ok(value)),
                (Err(NoResult::Error(error)), _) | (Err(NoResult::WouldBlock), Some(error)) => {
                    Some(Err(error))
                }
                (Err(NoResult::WouldBlock), None) => None,
            };
            if let Some(result) = result {
                inner.returning = waited;
                self.notify(&mut inner);
                return result;
            }
            if self.drives() {
                // Nobody else lets time pass.
                inner.host.pass_to_timer().ok_or(libc::EAGAIN)?;
                continue;
            }
            inner.waiting += 1;
            inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.waiting -= 1;
            inner.stale = inner.stale.saturating_sub(1);
            waited = true;
        }
    }

    /// Reads the clock.
    pub fn read_clock(&self) -> Instant {
        let mut inner = self.lock();
        if !self.drives() {
            inner.returning = false;
        }
        let now = inner.host.read_clock();
        self.notify(&mut inner);
        now
    }

    /// Advances the time.
    pub fn sleep(&self, time: Duration) {
        let mut inner = self.settle(self.lock());
        inner.host.pass(time);
        self.notify(&mut inner);
    }

    /// The next packet sent, and when. Advances the time until there is one, if possible.
    pub fn receive(&self) -> Option<(Vec<u8>, Instant)> {
        let mut inner = self.lock();
        for _ in 0..MOST_TURNS {
            if let Some(departed) = inner.host.departed() {
                return Some(departed);
            }
            inner = self.settle(inner);
            if inner.host.has_departed() {
                continue;
            }
            if inner.host.pass_to_timer().is_none() {
                inner = self.await_call(inner);
                if !inner.host.has_departed() && inner.host.next_timer().is_none() {
                    return None;
                }
            }
            self.notify(&mut inner);
        }
        None
    }

    /// Waits for a blocking call, the only one that can make progress.
    fn await_call<'a>(&'a self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let mut inner = inner;
        for _ in 0..LAST_CHANCES {
            if inner.host.has_departed() || inner.host.next_timer().is_some() {
                break;
            }
            drop(inner);
            thread::sleep(GRACE);
            inner = self.lock();
        }
        inner
    }

    /// Before time jumps, lets the thread of blocking calls catch up.
    fn settle<'a>(&'a self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let mut inner = inner;
        for _ in 0..MOST_TURNS {
            drop(inner);
            thread::sleep(GRACE);
            inner = self.lock();
            let caught_up = inner.waiting == 0 || inner.stale == 0;
            if caught_up && !inner.returning {
                break;
            }
        }
        inner
    }
}
