//! The time to take an event and set the next one: `cargo bench -p rtolab-sim --bench events`.

#[path = "../../../benches/brief.rs"]
mod brief;
#[allow(dead_code, unused_imports, reason = "only a part of the file is measured")]
#[path = "../src/prefetch.rs"]
mod prefetch;
#[allow(dead_code, unused_imports, reason = "only a part of the file is measured")]
#[path = "../src/queue.rs"]
mod queue;
#[allow(dead_code, unused_imports, reason = "only a part of the file is measured")]
#[path = "../src/transit.rs"]
mod transit;

use std::hint::black_box;

use brief::brief;
use criterion::{BenchmarkId, Throughput};
use rtolab_link::CopyId;
use rtolab_net::{Condition, Packet};
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use queue::Queue;
use transit::{PipeEvent, Transit};

/// A random time between two events of one entity, from 1 ns to 65.5 us.
fn draw(state: &mut u64) -> Duration {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    Duration::from_nanos(1 + (*state >> 48))
}

/// A queue in which every entity has an event.
fn full_queue(entities: usize, state: &mut u64) -> Queue {
    let mut queue = Queue::new(entities);
    (0..entities).for_each(|entity| queue.set(entity, Instant::START + draw(state)));
    queue
}

fn packet() -> Packet {
    Packet {
        segment: Segment::new(Seq::FIRST, 1000, Flags::ACK),
        copy: CopyId(1),
        sent: Instant::START,
        flow: 0,
        bytes: 1040,
        step: 0,
        order: 0,
        condition: Condition::Intact,
        to_receiver: true,
    }
}

fn main() {
    let mut criterion = brief();
    let mut group = criterion.benchmark_group("events");
    group.throughput(Throughput::Elements(1));

    for entities in [2, 256, 4096] {
        group.bench_function(BenchmarkId::new("queue", entities), |bencher| {
            let mut state = 1;
            let mut queue = full_queue(entities, &mut state);
            bencher.iter(|| {
                let (at, entity) = black_box(queue.first());
                queue.set(entity, at + draw(&mut state));
            });
        });
    }

    // Three runs with one delay each, filled as by 100 Mbit/s over 60 ms.
    group.bench_function("a packet through a run", |bencher| {
        let mut transit = Transit::new(3);
        let enter = |transit: &mut Transit, now: Instant, pipe: u32| {
            let slot = transit.put(&packet());
            let delay = Duration::from_millis(20 * u64::from(pipe) + 1);
            transit.push(pipe as usize, PipeEvent::exit(now + delay, pipe), slot);
        };
        let period = Duration::from_micros(28);
        (0..2163).for_each(|n| enter(&mut transit, Instant::START + period * n, n as u32 % 3));
        bencher.iter(|| {
            let due = transit.next();
            if let Some(slot) = transit.pop() {
                black_box(transit.take(slot));
            }
            enter(&mut transit, due.at(), due.pipe());
        });
    });
    group.finish();
    criterion.final_summary();
}
