//! A host shared by two threads of the tool: the main thread, whose calls advance the time, and the
//! thread that makes the blocking calls.

use core::ffi::c_int;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration as RealDuration;

use rtolab_time::{Duration, Instant};

use crate::host::{CallError, CallResult, Descriptor, Host};

/// The real time for which a jump of the virtual time waits, so that the thread of blocking calls
/// can make its next call.
const GRACE: RealDuration = RealDuration::from_micros(300);

/// The maximum number of such waits if only a blocking call can make progress.
const MAX_CALL_WAITS: u32 = 100;

/// The maximum number of timers that expire while the tool waits for a packet, and of waits for a
/// thread to catch up.
const MAX_ITERATIONS: u32 = 10_000;

/// The stack under test, which [`getsockopt`](crate::preload) queries. A process tests one stack at
/// a time.
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
    /// The number of blocked calls that have not been retried since the last change.
    stale: u32,
    /// Has a blocked call returned whose thread has not read the clock yet?
    returning: bool,
}

impl Shared {
    /// Shares `host`. Calls of the current thread advance the time.
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

    /// Ends the test of the stack.
    pub fn retire(&self) {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|shared| std::ptr::eq(Arc::as_ptr(shared), self)) {
            *current = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_driver(&self) -> bool {
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
        inner.host.report_states();
        inner.stale = inner.waiting;
        self.wake.notify_all();
    }

    /// Makes calls on `descriptor` non-blocking or blocking.
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

    /// Makes a call, and repeats it as long as it would block. If `would_block_error` is set, the
    /// call is non-blocking and fails with this `errno` instead.
    pub fn call<T>(
        &self,
        would_block_error: Option<c_int>,
        mut attempt: impl FnMut(&mut Host) -> CallResult<T>,
    ) -> Result<T, c_int> {
        let mut inner = self.lock();
        let mut waited = false;
        loop {
            let result = match (attempt(&mut inner.host), would_block_error) {
                (Ok(value), _) => Some(Ok(value)),
                (Err(CallError::Error(error)), _) | (Err(CallError::WouldBlock), Some(error)) => {
                    Some(Err(error))
                }
                (Err(CallError::WouldBlock), None) => None,
            };
            if let Some(result) = result {
                inner.returning = waited;
                self.notify(&mut inner);
                return result;
            }
            if self.is_driver() {
                // Only this thread advances the time.
                inner.host.advance_to_timer().ok_or(libc::EAGAIN)?;
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
        if !self.is_driver() {
            inner.returning = false;
        }
        let now = inner.host.read_clock();
        self.notify(&mut inner);
        now
    }

    /// Advances the time.
    pub fn sleep(&self, time: Duration) {
        let mut inner = self.settle(self.lock());
        inner.host.advance(time);
        self.notify(&mut inner);
    }

    /// The next packet sent, with the time of its transmission. Advances the time until there is
    /// one; `None` if no timer and no call sends one.
    pub fn receive(&self) -> Option<(Vec<u8>, Instant)> {
        let mut inner = self.lock();
        for _ in 0..MAX_ITERATIONS {
            if let Some(sent) = inner.host.next_packet() {
                return Some(sent);
            }
            inner = self.settle(inner);
            if inner.host.has_packets() {
                continue;
            }
            if inner.host.advance_to_timer().is_none() {
                inner = self.await_call(inner);
                if !inner.host.has_packets() && inner.host.next_timer().is_none() {
                    return None;
                }
            }
            self.notify(&mut inner);
        }
        None
    }

    /// Waits until a blocking call sends a packet or starts a timer.
    fn await_call<'a>(&'a self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let mut inner = inner;
        for _ in 0..MAX_CALL_WAITS {
            if inner.host.has_packets() || inner.host.next_timer().is_some() {
                break;
            }
            drop(inner);
            thread::sleep(GRACE);
            inner = self.lock();
        }
        inner
    }

    /// Waits until the thread of blocking calls has caught up. Call this before the time jumps.
    fn settle<'a>(&'a self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let mut inner = inner;
        for _ in 0..MAX_ITERATIONS {
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
