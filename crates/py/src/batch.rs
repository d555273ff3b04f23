//! Many pieces of work side by side, with results that do not depend on how many at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

/// How often the caller is told how far the work is.
const INTERVAL: Duration = Duration::from_millis(50);

/// The results of `work(0)` .. `work(total - 1)` in this order, or the first error in this order.
///
/// Meanwhile the calling thread hands `watch` the count of what is done; an error from there ends
/// the whole, as soon as what has begun is done.
pub(crate) fn batch<T: Send, E: Send>(
    pool: &ThreadPool,
    total: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    mut watch: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let done = AtomicUsize::new(0);
    // What has not begun and has an index from here on need not begin any more.
    let end = AtomicUsize::new(total);
    let one = &|index| {
        if index >= end.load(Ordering::Relaxed) {
            return None;
        }
        let result = work(index);
        if result.is_err() {
            end.fetch_min(index, Ordering::Relaxed);
        }
        done.fetch_add(1, Ordering::Relaxed);
        Some(result)
    };
    let (sender, receiver) = mpsc::channel();
    let mut watched = Ok(());
    let results: Vec<Option<Result<T, E>>> = pool.in_place_scope(|scope| {
        scope.spawn(move |_| {
            let results = (0..total).into_par_iter().with_max_len(1).map(one).collect();
            sender.send(results).expect("the receiver waits for it");
        });
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(results) => return results,
                // The work panicked, and so will the end of this scope.
                Err(RecvTimeoutError::Disconnected) => return Vec::new(),
                Err(RecvTimeoutError::Timeout) if watched.is_err() => {}
                Err(RecvTimeoutError::Timeout) => {
                    watched = watch(done.load(Ordering::Relaxed));
                    if watched.is_err() {
                        end.store(0, Ordering::Relaxed);
                    }
                }
            }
        }
    });
    watched?;
    results.into_iter().flatten().collect()
}

/// The same on the calling thread, which asks `watch` between two pieces of work.
///
/// A thread that is one of many callers, each with a batch of its own, needs no more threads.
pub(crate) fn one_by_one<T, E>(
    total: usize,
    work: impl Fn(usize) -> Result<T, E>,
    mut watch: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let mut watched = Instant::now();
    let one = |index| {
        if watched.elapsed() >= INTERVAL {
            watch(index)?;
            watched = Instant::now();
        }
        work(index)
    };
    (0..total).map(one).collect()
}
