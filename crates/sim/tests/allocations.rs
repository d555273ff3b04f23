//! Tests that packets allocate no memory in the steady state.
#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "it/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use common::{at, millis, scenario};
use rtolab_sim::{Lab, Observe};

/// The system's allocator with a count of allocations per thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts allocations and delivered data packets between two seconds of a run.
fn count(lab: &Lab, from: u64, to: u64) -> (u64, u64) {
    let mut sim = lab.start(1, Observe::default());
    sim.run_until(at(1000 * from));
    let before = (allocations(), sim.counters().data_packets_delivered);
    sim.run_until(at(1000 * to));
    let after = (allocations(), sim.counters().data_packets_delivered);
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn no_packet_allocates_in_the_steady_state() {
    // The receive window limits the flows, so that no packet is lost. The first run is over pipes,
    // the second over a general link.
    let lines = "delay = \"20 ms\"; queue = \"200 packets\"";
    for (what, lifetime) in [("pipes", None), ("a channel", Some(millis(60_000)))] {
        let near = format!("near left mid; rate = \"20 Mbit/s\"; {lines}");
        let far = format!("far mid right; rate = \"10 Mbit/s\"; {lines}");
        let mut scenario = scenario("60 s", &[&near, &far]);
        scenario.links[1].channel.forward.lifetime = lifetime;
        Arc::make_mut(&mut scenario.flows[0].receiver).receiver.buffer = 100_000;
        let lab = Lab::new(&scenario, None).unwrap();
        let (allocations, packets) = count(&lab, 5, 50);
        assert!(packets > 40_000, "{what}: {packets}");
        assert_eq!(allocations, 0, "{what}: in {packets} packets");
    }
}

#[test]
fn losses_allocate_less_often_than_they_happen() {
    let links = ["far left right; rate = \"10 Mbit/s\"; delay = \"20 ms\"; queue = \"20 packets\""];
    let lab = Lab::new(&scenario("60 s", &links), None).unwrap();
    let (allocations, packets) = count(&lab, 5, 50);
    assert!(packets > 40_000 && allocations < 20, "{allocations} in {packets} packets");
}
