//! A host that two threads ask: the tool's own, whose calls let time pass, and the one that makes its
//! blocking calls.

use core::ffi::c_int;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration as RealDuration;

use rtolab_time::{Duration, Instant};

use crate::host::{Descriptor, Host, Outcome, Stop};

/// How long, in real time, the thread of blocking calls is given to make the call that it was told to
/// make, before virtual time jumps.
const GRACE: RealDuration = RealDuration::from_micros(300);

/// How often it is given that time where nothing can happen but by such a call.
const LAST_CHANCES: u32 = 100;

/// How many timers may expire while the tool waits for a packet, and how often a call may be waited
/// for.
const MOST_TURNS: u32 = 10_000;

/// The stack that `getsockopt` asks: one is under test at a time.
static CURRENT: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// A host behind a lock.
#[derive(Debug)]
pub struct Shared {
    inner: Mutex<Inner>,
    wake: Condvar,
    /// The thread whose calls let time pass.
    driver: ThreadId,
}

#[derive(Debug)]
struct Inner {
    host: Host,
    nonblocking: BTreeSet<Descriptor>,
    /// How many calls wait.
    waiting: u32,
    /// How many of them have not looked yet at what happened last.
    stale: u32,
    /// A call has its result, and whoever made it has not read the clock yet.
    returning: bool,
}

impl Shared {
    /// Puts `host` behind a lock; the thread that does so is the one whose calls let time pass.
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

    /// The stack is under test no more.
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

    /// Does something that does not wait.
    pub fn with<T>(&self, act: impl FnOnce(&mut Host) -> T) -> T {
        let mut inner = self.lock();
        let result = act(&mut inner.host);
        self.tell(&mut inner);
        result
    }

    /// Something may have happened that a call waits for.
    fn tell(&self, inner: &mut Inner) {
        inner.stale = inner.waiting;
        self.wake.notify_all();
    }

    /// Shall calls on `descriptor` fail where they would wait?
    pub fn set_nonblocking(&self, descriptor: Descriptor, nonblocking: bool) {
        let mut inner = self.lock();
        match nonblocking {
            true => inner.nonblocking.insert(descriptor),
            false => inner.nonblocking.remove(&descriptor),
        };
    }

    /// Do calls on `descriptor` fail where they would wait?
    pub fn is_nonblocking(&self, descriptor: Descriptor) -> bool {
        self.lock().nonblocking.contains(&descriptor)
    }

    /// Tries until it need not wait any more; where it may not wait, it fails with `unready`.
    pub fn call<T>(
        &self,
        unready: Option<c_int>,
        mut attempt: impl FnMut(&mut Host) -> Outcome<T>,
    ) -> Result<T, c_int> {
        let mut inner = self.lock();
        let mut waited = false;
        loop {
            let result = match (attempt(&mut inner.host), unready) {
                (Ok(value), _) => Some(Ok(value)),
                (Err(Stop::Error(error)), _) | (Err(Stop::Waits), Some(error)) => Some(Err(error)),
                (Err(Stop::Waits), None) => None,
            };
            if let Some(result) = result {
                inner.returning = waited;
                self.tell(&mut inner);
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

    /// What the clock says.
    pub fn read_clock(&self) -> Instant {
        let mut inner = self.lock();
        if !self.drives() {
            inner.returning = false;
        }
        let now = inner.host.read_clock();
        self.tell(&mut inner);
        now
    }

    /// Lets time pass.
    pub fn sleep(&self, time: Duration) {
        let mut inner = self.settle(self.lock());
        inner.host.pass(time);
        self.tell(&mut inner);
    }

    /// The next packet that leaves, and when; time passes until one does, if one can.
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
            self.tell(&mut inner);
        }
        None
    }

    /// Where nothing can happen but by a blocking call, it is waited for.
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

    /// Before time jumps, whoever makes blocking calls catches up with it.
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
