//! Parallel work whose results do not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

/// The interval of progress reports.
const INTERVAL: Duration = Duration::from_millis(50);

/// Whether a piece of work is to continue; if not, it may return `None`.
pub(crate) type GoesOn<'a> = &'a mut dyn FnMut() -> bool;

/// The results of `work(0)` .. `work(total - 1)` in this order, or the first error in this order.
///
/// Meanwhile the calling thread passes the number of finished pieces to `watch`. If that returns an
/// error, no piece begins any more, and running ones are asked to stop.
pub(crate) fn batch<T: Send, E: Send>(
    pool: &ThreadPool,
    total: usize,
    work: impl Fn(usize, GoesOn<'_>) -> Result<Option<T>, E> + Sync,
    mut watch: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let done = AtomicUsize::new(0);
    // Pieces from this index on need not begin or continue.
    let end = AtomicUsize::new(total);
    let one = &|index| {
        let is_wanted = || index < end.load(Ordering::Relaxed);
        if !is_wanted() {
            return None;
        }
        let result = work(index, &mut { is_wanted });
        if result.is_err() {
            end.fetch_min(index, Ordering::Relaxed);
        }
        done.fetch_add(1, Ordering::Relaxed);
        result.transpose()
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

/// [`run`] on the calling thread, which calls `watch` whenever a piece of work asks whether to
/// continue.
///
/// A thread that is one of many callers, each with its own batch, needs no more threads.
pub(crate) fn one_by_one<T, E>(
    total: usize,
    work: impl Fn(usize, GoesOn<'_>) -> Result<Option<T>, E>,
    mut watch: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let mut asked = Instant::now();
    let mut results = Vec::with_capacity(total);
    for index in 0..total {
        let mut watched = Ok(());
        let mut goes_on = || {
            if watched.is_ok() && asked.elapsed() >= INTERVAL {
                watched = watch(index);
                asked = Instant::now();
            }
            watched.is_ok()
        };
        let result = match goes_on() {
            true => work(index, &mut goes_on)?,
            false => None,
        };
        watched?;
        results.extend(result);
    }
    Ok(results)
}
