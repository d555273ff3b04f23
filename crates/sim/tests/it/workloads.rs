//! The workloads of flows, end to end.

use std::sync::Arc;

use crate::common::{at, connection, millis, rate, scenario, traced, untraced, with};
use rtolab_link::Distribution;
use rtolab_record::PacketEvent;
use rtolab_scenario::Workload;
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::Flags;
use rtolab_tcp::config::InitialWindow;
use rtolab_time::{Duration, Instant};

/// A link of 1 Mbit/s and 100 ms.
const LINK: &str = "link sent_at right; rate = \"1 Mbit/s\"; delay = \"100 ms\"";

#[test]
fn the_time_of_a_page_on_an_idle_link_follows_its_formula() {
    let pages = Workload::Pages { bytes: 50_000, every: millis(3000), count: Some(4) };
    let mut scenario = with(scenario("20 s", &[LINK]), pages);
    // The initial window holds a whole page, so that later pages never wait for the window.
    Arc::make_mut(&mut scenario.flows[0].tcp).window.initial = InitialWindow::Segments(60);
    let recording = untraced(&scenario);
    let row = connection(&recording, "flow");
    assert_eq!((row.bytes, row.segments, row.acked_segments), (200_000, 200, 200));
    assert_eq!((row.header_bytes, row.dupacks, row.lost.total()), (200 * 20, 0, 0));
    assert!(row.end.is_some());
    // 50 packets of 1040 bytes, and the delay of the link.
    let took = rate(1000).time_for(1040) * 50 + millis(100);
    let expected = [3000, 6000, 9000].map(|due| (at(due), at(due), Some(at(due) + took)));
    let tasks = recording.tasks.iter().map(|task| (task.due, task.start, task.end));
    assert_eq!(tasks.skip(1).collect::<Vec<_>>(), expected);
    // The first page also waits for the handshake: a SYN (with its options) each way.
    let syn = rate(1000).time_for(20 + 20 + 4 + 4 + 4);
    let first = recording.tasks[0].end.unwrap().since(Instant::START);
    assert_eq!(first, took + (syn + millis(100)) * 2);
}

#[test]
fn pages_that_are_due_too_early_follow_each_other() {
    let pages = Workload::Pages { bytes: 50_000, every: millis(100), count: Some(5) };
    let recording = untraced(&with(scenario("60 s", &[LINK]), pages));
    assert_eq!(connection(&recording, "flow").bytes, 250_000);
    assert_eq!(recording.tasks.len(), 5);
    for pair in recording.tasks.windows(2) {
        // The acknowledgment of the last byte takes 100 ms and its transmission.
        let gap = pair[1].start.since(pair[0].end.unwrap());
        assert_eq!(gap, millis(100) + rate(1000).time_for(40));
        assert_eq!(pair[1].due.since(pair[0].due), millis(100));
    }
}

#[test]
fn requests_are_answered_one_after_the_other() {
    let think = Distribution::Constant(millis(500));
    let requests = Workload::Requests { request: 1500, response: 7300, think, count: Some(6) };
    let recording = traced(&with(scenario("60 s", &[LINK]), requests));
    let row = connection(&recording, "flow");
    assert_eq!(row.bytes, 6 * 7300);
    assert!(row.end.is_some(), "the connection ends");
    assert_eq!(recording.tasks.len(), 6);
    for pair in recording.tasks.windows(2) {
        assert_eq!(pair[1].start, pair[0].end.unwrap() + millis(500));
        assert_eq!((pair[1].bytes, pair[1].number), (8800, pair[0].number + 1));
    }
    let sent = |to_receiver: bool| -> u64 {
        let place = match to_receiver {
            true => rtolab_record::Place::Sender,
            false => rtolab_record::Place::Receiver,
        };
        let rows = recording.segments.iter();
        let rows = rows.filter(|row| row.place == place && row.event == PacketEvent::Sent);
        rows.map(|row| u64::from(row.segment.len)).sum()
    };
    assert_eq!((sent(true), sent(false)), (6 * 7300, 6 * 1500));
}

#[test]
fn a_lost_request_is_retransmitted_by_its_host() {
    let think = Distribution::Constant(millis(500));
    let requests = Workload::Requests { request: 200, response: 200, think, count: Some(3) };
    // The SYN-ACK is the first frame back, and the first request the second.
    let link = format!("{LINK}; [link.backward]; drops = [2]");
    let recording = traced(&with(scenario("60 s", &[&link]), requests));
    let row = connection(&recording, "flow");
    assert_eq!((row.bytes, row.timeouts, row.retransmissions), (600, 0, 0));
    let timeouts: Vec<_> =
        recording.timeouts.iter().map(|row| (row.end.name(), row.seq, row.truth)).collect();
    assert_eq!(timeouts, [("receiver", 1, Some(rtolab_record::Truth::Genuine))]);
    let retransmission = recording.segments.iter().find(|row| row.retransmission).unwrap();
    assert_eq!((retransmission.place.name(), retransmission.unneeded), ("receiver", false));
}

#[test]
fn an_application_that_writes_slowly_transfers_all_its_data() {
    let second = Distribution::Constant(millis(1000));
    let on_off = Workload::OnOff { on: second.clone(), off: second, rate: rate(80) };
    let recording = traced(&with(scenario("9500 ms", &[LINK]), on_off));
    // 10 segments in each of five on periods; the last period ends at 9 s.
    let row = connection(&recording, "flow");
    assert_eq!((row.bytes, row.segments, row.end), (50_000, 50, None));
    let sent_at: Vec<_> = recording
        .segments
        .iter()
        .filter(|row| row.event == PacketEvent::Sent && row.segment.len > 0)
        .map(|row| row.at)
        .collect();
    assert_eq!(sent_at[10..13], [at(2100), at(2200), at(2300)]);
}

#[test]
fn datagrams_arrive_exactly_at_their_rate() {
    let datagrams = Workload::Datagrams { rate: rate(64), packet: 200 };
    let mut scenario = with(scenario("10 s", &[LINK]), datagrams);
    scenario.flows[0].start = at(1000);
    scenario.measured = (at(2000), at(9999));
    let recording = traced(&scenario);
    let row = connection(&recording, "flow");
    // One every 25 ms from 1 s to 10 s; it arrives 100 + 1.6 ms later.
    assert_eq!((row.segments, row.bytes), (361, 356 * 172));
    assert_eq!((&*row.flow_sender, row.header_bytes, row.end), ("udp", 361 * 8, None));
    let delay = millis(100) + Duration::from_micros(1600);
    assert_eq!((row.delay.packets, row.delay.max), (356, delay));
    assert_eq!(row.delay.total, delay * 356);
    assert_eq!((row.measured.span, row.measured.segments), (millis(7999), 320));
    let sent: Vec<_> =
        recording.segments.iter().filter(|row| row.event == PacketEvent::Sent).collect();
    assert!(sent.iter().all(|row| row.bytes == 200 && row.segment.flags == Flags::NONE));
    assert!(sent.windows(2).all(|pair| pair[1].at == pair[0].at + millis(25)));
    assert_eq!((sent[0].at, sent[0].segment.seq.relative()), (at(1000), 1));
    assert_eq!(sent[2].segment.seq.relative(), 1 + 2 * 172);
}

#[test]
fn the_counts_of_the_measurement_interval_are_measured() {
    let mut scenario = scenario("30 s", &[LINK]);
    let whole = untraced(&scenario);
    let row = connection(&whole, "flow");
    assert_eq!((row.measured.bytes, row.measured.segments), (row.bytes, row.segments));
    assert_eq!(row.measured.span, millis(30_000));
    assert_eq!(whole.links[0].measured_delivered_bytes, whole.links[0].stats.bytes);
    scenario.measured = (at(10_000), at(20_000));
    let part = untraced(&scenario);
    assert_eq!(connection(&part, "flow").bytes, row.bytes, "measuring changes nothing");
    // The link is never idle then: a packet every 8.32 ms.
    let measured = connection(&part, "flow").measured;
    assert!((1201..=1202).contains(&measured.delay.packets), "{measured:?}");
    assert_eq!(measured.bytes, measured.delay.packets * 1000);
    assert_eq!(part.links[0].measured_delivered_bytes, measured.delay.packets * 1040);
    scenario.measured = (at(20_000), at(30_000));
    let rest = untraced(&scenario);
    let parts = measured.bytes + connection(&rest, "flow").measured.bytes;
    scenario.measured = (at(10_000), at(30_000));
    assert_eq!(connection(&untraced(&scenario), "flow").measured.bytes, parts);
}

#[test]
fn writes_beyond_the_windows_take_no_events_and_change_nothing() {
    let [on, off] = [1000, 50].map(|ms| Distribution::Constant(millis(ms)));
    let on_off = Workload::OnOff { on, off, rate: rate(4000) };
    for queue in ["5 packets", "1000 packets"] {
        let scenario = scenario("60 s", &[&format!("{LINK}; queue = \"{queue}\"")]);
        let lab = Lab::new(&with(scenario, on_off.clone()), None).unwrap();
        let run = |windows| {
            let mut sim = lab.start(1, Observe { trace: false, windows });
            sim.run_until(lab.end());
            let events = sim.counters().events;
            (format!("{:?}", lab.record(sim, lab.named(0, 1)).connections), events)
        };
        // A run that records windows defers no writes.
        let ((deferred, fewer), (plain, events)) = (run(false), run(true));
        assert_eq!(deferred, plain);
        assert!(5 * fewer < 4 * events, "{fewer} and {events} events");
    }
}
