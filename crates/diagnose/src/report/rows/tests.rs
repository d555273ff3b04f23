//! Tests of what rows imply.

use super::*;
use crate::report::samples::report;

/// The limit that a window sets which was full for so long, and small for a part of that.
fn limit(full: f64, small: f64, change: impl FnOnce(&mut ConnectionReport)) -> Option<(f64, bool)> {
    let mut report = report();
    report.full_window = [full, small];
    change(&mut report);
    report.window_limit()
}

/// The connection takes 10 s.
#[test]
fn a_window_is_the_limit_if_it_is_full_most_of_the_time() {
    assert_eq!(limit(5.0, 0.0, |_| {}), Some((5.0, false)));
    assert_eq!(limit(4.9, 0.0, |_| {}), None);
    assert_eq!(limit(6.0, 3.0, |_| {}), Some((6.0, true)), "half of it was small");
    assert_eq!(limit(6.0, 2.9, |_| {}), Some((6.0, false)));
    let late = |report: &mut ConnectionReport| report.time_lost = Some(1.0);
    assert_eq!(limit(6.0, 0.0, late), Some((5.0, false)));
    assert_eq!(limit(5.9, 0.0, late), None);
    let later = |report: &mut ConnectionReport| (report.start, report.end) = (50.0, 60.0);
    assert_eq!(limit(5.0, 0.0, later), Some((5.0, false)));
    let short = |report: &mut ConnectionReport| report.end = 0.6;
    assert_eq!(limit(0.5, 0.0, short), Some((0.5, false)));
    assert_eq!(limit(0.49, 0.0, short), None, "too short to matter");
}

/// A larger window would fill the queue.
#[test]
fn a_large_window_is_no_limit_if_data_waits_in_a_queue() {
    let queued = |median| {
        move |report: &mut ConnectionReport| {
            let (least, ninetieth) = (0.1, 0.2);
            report.round_trips = Some(RoundTrips { least, median, ninetieth, after_step: None });
        }
    };
    assert_eq!(limit(9.0, 0.0, queued(0.12)), None);
    assert_eq!(limit(9.0, 0.0, queued(0.105)), Some((9.0, false)));
    assert_eq!(limit(9.0, 9.0, queued(0.12)), Some((9.0, true)));
}
