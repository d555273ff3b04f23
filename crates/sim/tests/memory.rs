//! A test of the memory of a flow, which limits the speed of runs with many flows.

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

#[path = "it/common/peak_memory.rs"]
mod peak_memory;
use peak_memory::with_peak_memory;

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
    let run = || {
        let lab = Lab::new(&scenario, None).unwrap();
        let mut sim = lab.start(1, Observe::default());
        sim.run_until(lab.end());
        assert!(sim.counters().data_packets_delivered > 10 * u64::from(flows));
    };
    with_peak_memory(run).1
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
