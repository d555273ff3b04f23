//! Tests that links simulated as pipes have the same results as general channels.

use std::path::Path;
use std::sync::Arc;

use crate::common::{at, scenario};
use rtolab_link::Limit;
use rtolab_record::Run;
use rtolab_scenario::{Flow, Scenario, Workload};
use rtolab_sim::{Counters, Lab, Observe};
use rtolab_time::Duration;

/// The recording of a run as text, and its counters.
fn outcome(lab: &Lab, observe: Observe) -> (String, Counters) {
    let mut sim = lab.start(7, observe);
    sim.run_until(lab.end());
    let counters = sim.counters();
    (format!("{:#?}", lab.record(sim, Run::default())), counters)
}

/// Compares both kinds of links, traced and not, scored and not.
#[track_caller]
fn assert_same_results(name: &str, scenario: &Scenario) {
    let lab = |scored: bool| {
        let lab = Lab::new(scenario, None).unwrap();
        let detectors = ["eifel".to_owned(), "dsack".to_owned()];
        if scored { lab.scored(scenario, &detectors, &[]).unwrap() } else { lab }
    };
    for (trace, scored) in [(false, false), (true, false), (false, true)] {
        let observe = Observe { trace, windows: trace };
        let (with_pipes, counters) = outcome(&lab(scored), observe);
        let (with_channels, channel_counters) = outcome(&lab(scored).without_pipes(), observe);
        let differs = with_pipes
            .lines()
            .zip(with_channels.lines())
            .find(|(with_pipes, with_channels)| with_pipes != with_channels);
        assert_eq!(differs, None, "{name}");
        assert_eq!(with_pipes.len(), with_channels.len(), "{name}");
        assert_eq!(counters.data_packets_delivered, channel_counters.data_packets_delivered);
        assert!(
            counters.events <= channel_counters.events,
            "{name}: {counters:?} {channel_counters:?}"
        );
    }
}

/// Bulk transfers in both directions. Each of the `extra` flows begins a little later than the
/// previous one.
fn both_ways(mut scenario: Scenario, extra: u32) -> Scenario {
    let first = Flow { workload: Workload::Bulk { bytes: None }, ..scenario.flows[0].clone() };
    for number in 0..extra {
        let (from, to) = match number % 3 {
            0 => (first.to, first.from),
            _ => (first.from, first.to),
        };
        let start = first.start + Duration::from_millis(3) * u64::from(number);
        scenario.flows.push(Flow { name: format!("{number}"), from, to, start, ..first.clone() });
    }
    scenario
}

#[test]
fn a_chain_of_links_whose_queues_overflow() {
    let links = [
        "near left mid; rate = \"20 Mbit/s\"; delay = \"3 ms\"",
        "far mid end; rate = \"2 Mbit/s\"; delay = \"20 ms\"; queue = \"9 packets\"",
        "last end right; rate = \"2.01 Mbit/s\"; delay = \"1 us\"; queue = \"4000 B\"",
    ];
    for extra in [0, 4] {
        let mut scenario = both_ways(scenario("9.0105 s", &links), extra);
        scenario.measured = (at(2000), at(7003));
        assert_same_results("row", &scenario);
    }
}

#[test]
fn access_links_of_one_delay_and_of_many() {
    let links =
        ["bottleneck left right; rate = \"5 Mbit/s\"; delay = \"9 ms\"; queue = \"40 packets\""];
    for same in [true, false] {
        let mut scenario = both_ways(scenario("5 s", &links), 12);
        for (number, flow) in (0_u64..).zip(&mut scenario.flows) {
            let mut access = scenario.links[0].channel.clone();
            let delay = Duration::from_millis(if same { 1 } else { 1 + number * number });
            for direction in [&mut access.forward, &mut access.backward] {
                (direction.queue, direction.delay) = (Limit::Unlimited, delay);
            }
            flow.access = Some(Arc::new(access));
        }
        assert_same_results("access", &scenario);
    }
}

#[test]
fn pipes_next_to_other_links() {
    let links = [
        "near left mid; rate = \"4 Mbit/s\"; delay = \"5 ms\"; queue = \"20 packets\"",
        "lossy mid end; rate = \"3 Mbit/s\"; delay = \"5 ms\"; loss = 0.01; queue = \"20 packets\"",
        "last end right; rate = \"3 Mbit/s\"; delay = \"5 ms\"; queue = \"20 packets\"",
    ];
    assert_same_results("beside", &both_ways(scenario("10 s", &links), 4));
}

#[test]
fn included_scenarios() {
    let names = ["dumbbell", "single-link", "dualrtt2004-parking-lot", "snoop", "split-gateway"];
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let path = path.join(format!("{name}.toml"));
        let mut scenario = Scenario::load(&path, &[]).unwrap();
        scenario.duration = scenario.duration.min(Duration::from_secs(20));
        assert_same_results(name, &scenario);
    }
}
