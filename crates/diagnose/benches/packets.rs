//! Packets diagnosed per second: parallel transfers, each data segment acknowledged, one in a
//! hundred retransmitted.

mod capture;

use std::convert::Infallible;

use criterion::{Criterion, Throughput};
use rtolab_diagnose::diagnose;

use capture::capture;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let (file, count) = capture();
    let mut group = criterion.benchmark_group("diagnose");
    group.throughput(Throughput::Elements(count)).sample_size(10);
    group.bench_function("packets", |bencher| {
        bencher.iter(|| {
            let Ok(document) = diagnose::<_, Infallible>(&file[..], |_| Ok(()));
            assert_eq!(document.summary.packets, count);
            document
        });
    });
    group.finish();
    criterion.final_summary();
}
