//! How long criterion measures a part: `make bench` has many of them.

use std::time::Duration;

use criterion::Criterion;

/// About a second for each, with what the command line says.
pub fn brief() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20)
        .configure_from_args()
}
