//! A test of the memory of a flow, which limits the speed of runs with many flows.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// The system's allocator with the current and the peak size of each thread's memory.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn note(bytes: isize) {
    let now = NOW.get() + bytes;
    NOW.set(now);
    PEAK.set(PEAK.get().max(now));
}

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size as isize - layout.size() as isize);
        // SAFETY: by the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak memory of a run with `flows` flows, in bytes. The scenario is like
/// `scenarios/bench-d.toml`, but each flow has `window` of data in flight.
fn peak_memory(flows: u32, window: &str) -> isize {
    let text = format!(
        r#"
        title = "Many flows"
        duration = "1 s"
        [[link]]
        name = "bottleneck"
        between = ["router", "sink"]
        rate = "10 Gbit/s"
        delay = "29 ms"
        queue = "72115 packets"
        [tcp]
        sender = "sack"
        mss = "1000 B"
        [receiver]
        buffer = "{window}"
        ack_every = 1
        [[flow]]
        name = "bulk"
        from = "router"
        to = "sink"
        access = {{ rate = "1 Gbit/s", delay = "1 ms" }}
        count = {flows}
        stagger = "10 us"
        "#
    );
    let scenario = Scenario::parse(&text, "many.toml", &[]).unwrap();
    let before = NOW.get();
    PEAK.set(before);
    let lab = Lab::new(&scenario, None).unwrap();
    let mut sim = lab.start(1, Observe::default());
    sim.run_until(lab.end());
    assert!(sim.counters().data_packets_delivered > 10 * u64::from(flows));
    PEAK.get() - before
}

/// The memory per additional flow, in bytes. Between the two numbers of flows the capacity of all
/// vectors doubles once.
fn memory_per_flow(window: &str) -> isize {
    (peak_memory(2048, window) - peak_memory(1024, window)) / 1024
}

#[test]
fn a_flow_takes_less_than_4_kb_without_its_packets_in_flight() {
    let (one, sixteen) = (memory_per_flow("1 kB"), memory_per_flow("16 kB"));
    // The sender and a pipe each store a packet in flight.
    let packet = (sixteen - one) / 15;
    assert!(packet < 300, "{packet} B per packet in flight");
    assert!(one - packet < 4096, "{} B per flow", one - packet);
}
