//! Parallel work whose results do not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

/// The interval of progress reports.
const INTERVAL: Duration = Duration::from_millis(50);

/// Returns whether a job is to continue. If not, the job may return `None`.
pub(crate) type KeepRunning<'a> = &'a mut (dyn FnMut() -> bool + Send);

/// The results of `work(0)` to `work(total - 1)` in this order, or the first error in this order.
///
/// Meanwhile the calling thread passes the number of finished jobs to `watch`. If `watch` returns
/// an error, no further job begins, and running jobs are requested to stop.
pub(crate) fn batch<T: Send, E: Send>(
    pool: &ThreadPool,
    total: usize,
    work: impl Fn(usize, KeepRunning<'_>) -> Result<Option<T>, E> + Sync,
    mut watch: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let done = AtomicUsize::new(0);
    // The results of jobs from this index on are not needed.
    let end = AtomicUsize::new(total);
    let run_job = &|index| {
        let is_needed = || index < end.load(Ordering::Relaxed);
        if !is_needed() {
            return None;
        }
        let result = work(index, &mut { is_needed });
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
            let results = (0..total).into_par_iter().with_max_len(1).map(run_job).collect();
            sender.send(results).expect("the receiver waits for it");
        });
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(results) => return results,
                // A job panicked. The end of this scope panics, too.
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

/// [`batch`] on the calling thread. `watch` is called when a job checks whether to continue.
///
/// It starts no threads, so several threads can each run a batch at the same time.
pub(crate) fn one_by_one<T, E: Send>(
    total: usize,
    work: impl Fn(usize, KeepRunning<'_>) -> Result<Option<T>, E>,
    mut watch: impl FnMut(usize) -> Result<(), E> + Send,
) -> Result<Vec<T>, E> {
    let mut last_watch = Instant::now();
    let mut results = Vec::with_capacity(total);
    for index in 0..total {
        let mut watched = Ok(());
        let mut keep_running = || {
            if watched.is_ok() && last_watch.elapsed() >= INTERVAL {
                watched = watch(index);
                last_watch = Instant::now();
            }
            watched.is_ok()
        };
        let result = match keep_running() {
            true => work(index, &mut keep_running)?,
            false => None,
        };
        watched?;
        results.extend(result);
    }
    Ok(results)
}
