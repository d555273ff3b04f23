//! Tests of batches. They include the module, because linking the bindings needs Python.

#[path = "../src/batch.rs"]
mod batch;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use batch::{KeepRunning, batch, one_by_one};
use rayon::{ThreadPool, ThreadPoolBuilder};

fn threads(count: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(count).build().unwrap()
}

#[test]
fn results_are_in_order_for_any_number_of_threads() {
    for count in [1, 2, 7] {
        let work = |index: usize, _: KeepRunning<'_>| {
            sleep(Duration::from_micros((index as u64 * 37) % 200));
            Ok::<_, String>(Some(index * index))
        };
        let results = batch(&threads(count), 100, work, |_| Ok(())).unwrap();
        assert!(results.into_iter().eq((0..100).map(|index| index * index)));
    }
}

#[test]
fn the_error_is_that_of_the_lowest_index_even_if_others_fail_earlier() {
    let work = |index: usize, _: KeepRunning<'_>| match index {
        40 => {
            sleep(Duration::from_millis(20));
            Err("forty".to_string())
        }
        41..100 => Err(index.to_string()),
        _ => Ok(Some(())),
    };
    for _ in 0..5 {
        assert_eq!(batch(&threads(4), 100, work, |_| Ok(())).unwrap_err(), "forty");
    }
}

/// Runs a thousand jobs with a watcher that stops them at its third call. Returns the number of
/// jobs that had begun, and the arguments of the watcher.
fn stopped_by_the_watcher(
    run: impl FnOnce(Job<'_>, Watch<'_>) -> Result<Vec<()>, String>,
) -> (usize, Vec<usize>) {
    let begun = AtomicUsize::new(0);
    let work = |_, keep_running: KeepRunning<'_>| {
        begun.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(20));
        Ok(keep_running().then_some(()))
    };
    let mut seen = Vec::new();
    let mut watch = |done| {
        seen.push(done);
        if seen.len() < 3 { Ok(()) } else { Err("interrupted".to_string()) }
    };
    assert_eq!(run(&work, &mut watch).unwrap_err(), "interrupted");
    assert!(seen.is_sorted());
    (begun.into_inner(), seen)
}

type Job<'a> = &'a (dyn Fn(usize, KeepRunning<'_>) -> Result<Option<()>, String> + Sync);
type Watch<'a> = &'a mut (dyn FnMut(usize) -> Result<(), String> + Send);

#[test]
fn an_error_of_the_watcher_stops_the_batch() {
    let (begun, seen) = stopped_by_the_watcher(|work, watch| batch(&threads(2), 1000, work, watch));
    assert!(begun < 100);
    assert!(seen[2] > 0);
}

#[test]
fn an_empty_batch_has_no_results() {
    assert!(
        batch(&threads(1), 0, |_, _| Ok::<_, String>(Some(())), |_| Ok(())).unwrap().is_empty()
    );
}

#[test]
#[should_panic(expected = "in a job")]
fn a_panic_in_a_job_ends_the_batch() {
    let work = |_, _: KeepRunning<'_>| -> Result<Option<()>, String> { panic!("in a job") };
    let _ = batch(&threads(2), 10, work, |_| Ok(()));
}

#[test]
fn one_by_one_runs_in_order_until_the_first_error() {
    let square = |index: usize, _: KeepRunning<'_>| Ok::<_, String>(Some(index * index));
    assert_eq!(one_by_one(4, square, |_| Ok(())).unwrap(), [0, 1, 4, 9]);
    let begun = AtomicUsize::new(0);
    let work = |index: usize, _: KeepRunning<'_>| {
        begun.fetch_add(1, Ordering::Relaxed);
        if index < 2 { Ok(Some(())) } else { Err(index) }
    };
    assert_eq!(one_by_one(10, work, |_| Ok(())).unwrap_err(), 2);
    assert_eq!(begun.into_inner(), 3);
}

#[test]
fn an_error_of_the_watcher_stops_one_by_one() {
    let (begun, seen) = stopped_by_the_watcher(|work, watch| one_by_one(1000, work, watch));
    // The watcher is called before a job or in it.
    assert!(begun == seen[2] || begun == seen[2] + 1, "{begun} begun, {seen:?} seen");
    // At most twice for each job, however slow the machine is.
    assert!(seen[2] > 0);
}

/// A job that runs until it is stopped.
#[expect(clippy::unnecessary_wraps, reason = "the type of all jobs")]
fn endless(_: usize, keep_running: KeepRunning<'_>) -> Result<Option<()>, String> {
    while keep_running() {
        sleep(Duration::from_millis(1));
    }
    Ok(None)
}

#[test]
fn running_jobs_are_requested_to_stop() {
    let interrupted = |_| Err("interrupted".to_string());
    assert_eq!(batch(&threads(2), 10, endless, interrupted).unwrap_err(), "interrupted");
    assert_eq!(one_by_one(10, endless, interrupted).unwrap_err(), "interrupted");
}

#[test]
fn an_error_stops_later_jobs() {
    let work = |index: usize, keep_running: KeepRunning<'_>| match index {
        0 => Err("the first".to_string()),
        _ => endless(index, keep_running),
    };
    assert_eq!(batch(&threads(2), 10, work, |_| Ok(())).unwrap_err(), "the first");
}
