//! Short measuring times for criterion, because `make bench` measures many parts.

use std::time::Duration;

use criterion::Criterion;

/// About a second for each part, unless the command line sets other times.
pub fn brief() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20)
        .configure_from_args()
}
