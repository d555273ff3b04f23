//! Tests of a scenario with all kinds of flows: its runs are reproducible, and a fork equals its
//! original.

use crate::common::{at, millis, node, rate, scenario};
use rtolab_link::{Direction, Distribution, Probability};
use rtolab_record::{Recording, Run};
use rtolab_scenario::{Flow, MiddleboxConfig, MiddleboxKind, Route, Scenario, Workload};
use rtolab_sim::{Lab, Observe};

/// Every workload, with a split connection, middleboxes, a change of routes, loss, duplication and
/// corruption.
fn everything() -> Scenario {
    let links = [
        "wired left base; rate = \"10 Mbit/s\"; delay = \"20 ms\"; queue = \"30 packets\"",
        "radio base right; rate = \"1 Mbit/s\"; delay = \"50 ms\"; queue = \"20 packets\"; loss = 0.03",
        "other base right; rate = \"2 Mbit/s\"; delay = \"80 ms\"; queue = \"20 packets\"",
    ];
    let mut scenario = scenario("60 s", &links);
    let base = node(&scenario, "base");
    let (left, right) = (node(&scenario, "left"), node(&scenario, "right"));
    let snoop = MiddleboxKind::Snoop { link: 1, dupthresh: 1, cache: 50 };
    scenario.middleboxes = vec![
        MiddleboxConfig { node: base, kind: snoop },
        MiddleboxConfig { node: base, kind: MiddleboxKind::Filter },
    ];
    let hops = vec![(0, Direction::Forward), (2, Direction::Forward)];
    scenario.routes = vec![Route { from: left, to: right, at: at(30_000), hops }];
    for link in &mut scenario.links {
        let channel = &mut link.channel;
        for direction in [&mut channel.forward, &mut channel.backward] {
            direction.duplication = Probability::new(0.01).unwrap();
            direction.corruption = Probability::new(0.01).unwrap();
        }
    }
    scenario.measured = (at(10_000), at(50_000));
    let (on, off) =
        (Distribution::Exponential(millis(500)), Distribution::Exponential(millis(700)));
    let think = Distribution::Exponential(millis(300));
    let flow = |name: &str, workload| Flow {
        name: name.into(),
        workload,
        start_jitter: millis(1000),
        ..scenario.flows[0].clone()
    };
    let mut flows = vec![
        flow("bulk", Workload::Bulk { bytes: Some(500_000) }),
        flow("pages", Workload::Pages { bytes: 30_000, every: millis(2000), count: None }),
        flow("talk", Workload::Requests { request: 300, response: 9000, think, count: Some(9) }),
        flow("on-off", Workload::OnOff { on, off, rate: rate(200) }),
        flow("udp", Workload::Datagrams { rate: rate(100), packet: 200 }),
        flow("split", Workload::Bulk { bytes: Some(200_000) }),
    ];
    flows[5].split = vec![base];
    flows[2].set = Some("a".into());
    scenario.flows = flows;
    scenario
}

fn text(recording: &Recording) -> String {
    format!("{recording:?}")
}

#[test]
fn the_same_seed_gives_the_same_tables() {
    let lab = Lab::new(&everything(), Some("sack+frto")).unwrap();
    let run = |seed| text(&lab.run(0, seed, Observe { trace: true, windows: true }));
    assert!(run(7) == run(7));
    assert!(run(7) != run(8));
}

#[test]
fn every_flow_makes_progress() {
    let recording = Lab::new(&everything(), None).unwrap().run(0, 1, Observe::default());
    let flows: Vec<_> = recording.connections.iter().map(|row| &*row.flow).collect();
    assert_eq!(flows, ["bulk", "pages", "talk", "on-off", "udp", "split/1", "split/2"]);
    for row in &recording.connections {
        assert!(row.bytes > 0 && row.measured.span == millis(40_000), "{row:?}");
        assert!(row.end.is_some() || row.measured.bytes > 0, "{row:?}");
    }
    let tasks = |flow: &str| recording.tasks.iter().filter(|task| &*task.flow == flow).count();
    assert!(tasks("pages") > 5 && tasks("talk") > 5);
    assert_eq!(tasks("bulk") + tasks("on-off") + tasks("udp") + tasks("split"), 0);
    assert!(recording.links.iter().all(|row| row.stats.delivered > 0 || &*row.link == "other"));
}

#[test]
fn recording_changes_nothing() {
    let lab = Lab::new(&everything(), Some("newreno+frto")).unwrap();
    let mut traced = lab.run(0, 3, Observe { trace: true, windows: true });
    let untraced = lab.run(0, 3, Observe::default());
    assert!(traced.timeouts.iter().all(|row| row.truth.is_some()));
    traced.connections.iter_mut().for_each(|row| row.truths = None);
    assert!(format!("{:?}", traced.connections) == format!("{:?}", untraced.connections));
    assert_eq!(format!("{:?}", traced.tasks), format!("{:?}", untraced.tasks));
}

#[test]
fn a_fork_of_everything_equals_its_original() {
    let lab = Lab::new(&everything(), None).unwrap();
    for seconds in [0, 5, 31, 55] {
        let mut original = lab.start(5, Observe::default());
        original.run_until(at(1000 * seconds));
        let mut fork = original.clone();
        fork.run_until(lab.end());
        original.run_until(lab.end());
        let [original, fork] = [original, fork].map(|sim| text(&lab.record(sim, Run::default())));
        assert_eq!(original, fork);
        assert_eq!(
            original,
            text(&Recording { run: Run::default(), ..lab.run(0, 5, Observe::default()) })
        );
    }
}
