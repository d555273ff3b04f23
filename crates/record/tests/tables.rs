//! The tables: which columns, of which type, with what in them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use rtolab_link::{Cause, Direction, Stats};
use rtolab_record::{
    Comparison, ConnectionRow, Delays, Disturbance, DisturbanceRow, Event, Fate, LinkRow, Losses,
    Measured, Place, Recording, Rest, Run, SegmentRow, TaskRow, TimeoutKind, TimeoutRow, Truth,
    WindowRow, tables,
};
use rtolab_tcp::{Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

/// One line a column: name, type, and `?` where it can be null.
fn columns(table: &RecordBatch) -> Vec<String> {
    let column = |field: &arrow_schema::FieldRef| {
        let nullable = if field.is_nullable() { "?" } else { "" };
        format!("{} {}{nullable}", field.name(), field.data_type())
    };
    table.schema().fields().iter().map(column).collect()
}

fn assert_columns(table: &RecordBatch, expected: &str) {
    let expected: Vec<&str> = ["run UInt32", "seed UInt64", "sender Utf8"]
        .into_iter()
        .chain(expected.lines().map(str::trim).filter(|line| !line.is_empty()))
        .collect();
    assert_eq!(columns(table), expected);
}

fn text<'a>(table: &'a RecordBatch, name: &str) -> Vec<Option<&'a str>> {
    table[name].as_string::<i32>().iter().collect()
}

fn real(table: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    table[name].as_primitive::<Float64Type>().iter().collect()
}

fn count(table: &RecordBatch, name: &str) -> Vec<Option<u64>> {
    table[name].as_primitive::<UInt64Type>().iter().collect()
}

fn integer(table: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    table[name].as_primitive::<Int64Type>().iter().collect()
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn recording(run: u32) -> Recording {
    let run = Run { run, seed: 100 + u64::from(run), sender: "sack+frto".into() };
    Recording { run, ..Recording::default() }
}

#[test]
fn tables_of_connections_have_all_their_columns() {
    assert_columns(
        &tables::connections(&[]),
        "flow Utf8
         flow_sender Utf8
         set Utf8?
         start_s Float64
         end_s Float64?
         elapsed_s Float64?
         completed Boolean
         bytes UInt64
         segments UInt64
         header_bytes UInt64
         acked_segments UInt64
         retransmissions UInt64
         needed UInt64
         unneeded UInt64
         lost UInt64
         lost_queue UInt64
         lost_error UInt64
         lost_outage UInt64
         lost_early UInt64
         lost_lifetime UInt64
         lost_retries UInt64
         lost_corrupt UInt64
         absorbed UInt64
         local UInt64
         timeouts UInt64
         fast_retransmits UInt64
         spurious_timeouts UInt64?
         ack_lost_timeouts UInt64?
         genuine_timeouts UInt64?
         spurious_fast_retransmits UInt64?
         ack_lost_fast_retransmits UInt64?
         genuine_fast_retransmits UInt64?
         found_spurious UInt64
         acks UInt64
         dupacks UInt64
         goodput_bps Float64?
         delay_packets UInt64
         delay_mean_s Float64?
         delay_max_s Float64?
         measured_s Float64
         measured_bytes UInt64
         measured_acked_segments UInt64
         measured_segments UInt64
         measured_retransmissions UInt64
         measured_timeouts UInt64
         measured_fast_retransmits UInt64
         measured_delay_packets UInt64
         measured_delay_mean_s Float64?",
    );
    assert_columns(
        &tables::timeouts(&[]),
        "flow Utf8
         at_s Float64
         end Utf8
         kind Utf8
         seq Int64
         rto_s Float64
         backoff UInt32
         cwnd UInt64
         needed Boolean
         truth Utf8?
         cost_s Float64?
         cost_segments Int64?
         verdict Utf8?
         detector Utf8?
         verdict_at_s Float64?",
    );
}

#[test]
fn tables_of_judged_runs_have_all_their_columns() {
    assert_columns(
        &tables::verdicts(&[]),
        "flow Utf8
         at_s Float64
         end Utf8
         kind Utf8
         seq Int64
         truth Utf8?
         detector Utf8
         verdict Utf8
         why Utf8?
         verdict_s Float64?
         delay_s Float64?",
    );
    assert_columns(&tables::duplicates(&[]), "flow Utf8\nat_s Float64\nack Int64\ncause Utf8?");
    assert_columns(
        &tables::what_if(&[]),
        "flow Utf8
         at_s Float64
         seq Int64
         truth Utf8?
         what_if Utf8
         end_s Float64?
         original_end_s Float64?
         segments UInt64
         original_segments UInt64
         bytes UInt64
         original_bytes UInt64",
    );
}

#[test]
fn tables_of_links_and_samples_have_all_their_columns() {
    assert_columns(
        &tables::windows(&[]),
        "flow Utf8
         at_s Float64
         cwnd UInt64
         ssthresh UInt64?
         flight UInt64
         srtt_s Float64?
         rttvar_s Float64?
         rto_s Float64",
    );
    assert_columns(
        &tables::links(&[]),
        "link Utf8
         direction Utf8
         offered UInt64
         delivered UInt64
         delivered_bytes UInt64
         dropped_queue UInt64
         dropped_error UInt64
         dropped_outage UInt64
         dropped_early UInt64
         dropped_lifetime UInt64
         dropped_retries UInt64
         mean_delay_s Float64?
         max_delay_s Float64
         max_queue UInt32
         duplicates UInt64
         corrupted UInt64
         marked UInt64
         transmissions UInt64
         transmitted_bytes UInt64
         local_retransmissions UInt64
         reports UInt64
         measured_transmitted_bytes UInt64
         measured_delivered_bytes UInt64",
    );
    assert_columns(
        &tables::tasks(&[]),
        "flow Utf8
         number UInt32
         due_s Float64
         start_s Float64
         end_s Float64?
         bytes UInt64",
    );
    assert_columns(
        &tables::disturbances(&[]),
        "link Utf8
         direction Utf8?
         kind Utf8
         from_s Float64
         to_s Float64",
    );
    assert_columns(
        &tables::segments(&[]),
        "flow Utf8
         at_s Float64
         place Utf8
         event Utf8
         copy UInt64
         seq Int64
         len UInt32
         ack Int64?
         window UInt32
         window_edge Int64?
         flags Utf8
         sack_1_start Int64?
         sack_1_end Int64?
         sack_2_start Int64?
         sack_2_end Int64?
         sack_3_start Int64?
         sack_3_end Int64?
         sack_4_start Int64?
         sack_4_end Int64?
         ts_value UInt32?
         ts_echo UInt32?
         bytes UInt32
         retransmission Boolean
         unneeded Boolean
         fate Utf8
         fate_at_s Float64?
         held_s Float64",
    );
}

#[test]
fn every_row_says_which_run_it_belongs_to() {
    let row = ConnectionRow { flow: "transfer".into(), ..ConnectionRow::default() };
    let rows =
        |run: u32, count| Recording { connections: vec![row.clone(); count], ..recording(run) };
    let table = tables::connections(&[rows(0, 2), rows(1, 0), rows(2, 1)]);
    let runs: Vec<u32> = table["run"].as_primitive::<UInt32Type>().values().to_vec();
    assert_eq!(runs, [0, 0, 2]);
    assert_eq!(count(&table, "seed"), [Some(100), Some(100), Some(102)]);
    assert_eq!(text(&table, "sender"), [Some("sack+frto"); 3]);
    assert_eq!(text(&table, "flow"), [Some("transfer"); 3]);
}

#[test]
fn a_connection_adds_up_and_one_that_did_not_end_has_no_goodput() {
    let ended = ConnectionRow {
        start: at(1.0),
        end: Some(at(9.0)),
        bytes: 4000,
        retransmissions: 10,
        unneeded: 3,
        lost: Losses { queue: 4, error: 2, outage: 1, ..Losses::default() },
        ..ConnectionRow::default()
    };
    let open = ConnectionRow { end: None, ..ended.clone() };
    let at_once = ConnectionRow { end: Some(at(1.0)), ..ended.clone() };
    let connections = vec![ended, open, at_once];
    let table = tables::connections(&[Recording { connections, ..recording(0) }]);
    assert_eq!(count(&table, "needed"), [Some(7); 3]);
    assert_eq!(count(&table, "lost"), [Some(7); 3]);
    assert_eq!(real(&table, "end_s"), [Some(9.0), None, Some(1.0)]);
    assert_eq!(real(&table, "elapsed_s"), [Some(8.0), None, Some(0.0)]);
    assert_eq!(real(&table, "goodput_bps"), [Some(4000.0), None, None]);
    let completed: Vec<_> = table["completed"].as_boolean().iter().flatten().collect();
    assert_eq!(completed, [true, false, true]);
}

#[test]
fn every_cause_counts_as_lost_and_delays_without_packets_are_unknown() {
    let mut lost = Losses { corrupt: 1, ..Losses::default() };
    let causes = [Cause::Queue, Cause::Error, Cause::Script, Cause::Outage, Cause::Early];
    for cause in causes.into_iter().chain([Cause::Lifetime, Cause::Retries]) {
        lost.count(cause);
    }
    let mut delay = Delays::default();
    delay.count(Duration::from_millis(100));
    delay.count(Duration::from_millis(300));
    let busy = ConnectionRow { lost, delay, set: Some("a".into()), ..ConnectionRow::default() };
    let connections = vec![busy, ConnectionRow::default()];
    let table = tables::connections(&[Recording { connections, ..recording(0) }]);
    assert_eq!(count(&table, "lost"), [Some(8), Some(0)]);
    assert_eq!(count(&table, "lost_error"), [Some(2), Some(0)]);
    assert_eq!(real(&table, "delay_mean_s"), [Some(0.2), None]);
    assert_eq!(real(&table, "delay_max_s"), [Some(0.3), None]);
    assert_eq!(text(&table, "set"), [Some("a"), None]);
}

#[test]
fn what_is_measured_is_the_difference_of_two_counts() {
    let mut delay = Delays::default();
    delay.count(Duration::from_millis(100));
    let before = Measured { bytes: 10, segments: 3, delay, ..Measured::default() };
    delay.count(Duration::from_millis(50));
    let behind = Measured { bytes: 25, segments: 7, delay, ..Measured::default() };
    let measured = behind.since(&before, Duration::from_secs(2));
    let row = ConnectionRow { measured, ..ConnectionRow::default() };
    let table = tables::connections(&[Recording { connections: vec![row], ..recording(0) }]);
    assert_eq!(real(&table, "measured_s"), [Some(2.0)]);
    assert_eq!(count(&table, "measured_bytes"), [Some(15)]);
    assert_eq!(count(&table, "measured_segments"), [Some(4)]);
    assert_eq!(count(&table, "measured_delay_packets"), [Some(1)]);
    assert_eq!(real(&table, "measured_delay_mean_s"), [Some(0.05)]);
}

#[test]
fn a_task_that_is_not_complete_has_no_end() {
    let page = TaskRow {
        flow: "web".into(),
        number: 1,
        due: at(5.0),
        start: at(5.5),
        end: Some(at(7.0)),
        bytes: 100_000,
    };
    let tasks = vec![page.clone(), TaskRow { number: 2, end: None, ..page }];
    let table = tables::tasks(&[Recording { tasks, ..recording(0) }]);
    assert_eq!(real(&table, "due_s"), [Some(5.0); 2]);
    assert_eq!(real(&table, "end_s"), [Some(7.0), None]);
    assert_eq!(count(&table, "bytes"), [Some(100_000); 2]);
}

#[test]
fn a_timeout_without_a_verdict_has_none() {
    let open = TimeoutRow {
        flow: "transfer".into(),
        end: Place::Sender,
        at: at(28.5),
        kind: TimeoutKind::Timeout,
        seq: 2561,
        rto: Duration::from_millis(1500),
        backoff: 1,
        cwnd: 5120,
        needed: false,
        truth: None,
        cost: None,
        verdict: None,
        detector: None,
        verdict_at: None,
    };
    let judged = TimeoutRow {
        end: Place::Receiver,
        kind: TimeoutKind::FastRetransmit,
        truth: Some(Truth::AckLost),
        cost: Some(Comparison {
            original: Rest { end: Some(at(60.0)), segments: 110, bytes: 100_000 },
            other: Rest { end: Some(at(52.5)), segments: 100, bytes: 100_000 },
        }),
        verdict: Some("spurious"),
        detector: Some("frto"),
        verdict_at: Some(at(30.0)),
        ..open.clone()
    };
    let table = tables::timeouts(&[Recording { timeouts: vec![open, judged], ..recording(0) }]);
    assert_eq!(text(&table, "end"), [Some("sender"), Some("receiver")]);
    assert_eq!(text(&table, "kind"), [Some("timeout"), Some("fast_retransmit")]);
    assert_eq!(real(&table, "rto_s"), [Some(1.5); 2]);
    assert_eq!(integer(&table, "seq"), [Some(2561); 2]);
    assert_eq!(text(&table, "truth"), [None, Some("ack-lost")]);
    assert_eq!(real(&table, "cost_s"), [None, Some(7.5)]);
    assert_eq!(integer(&table, "cost_segments")[1], Some(10));
    assert_eq!(text(&table, "verdict"), [None, Some("spurious")]);
    assert_eq!(text(&table, "detector"), [None, Some("frto")]);
    assert_eq!(real(&table, "verdict_at_s"), [None, Some(30.0)]);
}

#[test]
fn sequence_numbers_are_relative_and_a_segment_without_ack_has_no_edge() {
    let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    ack.ack = Seq::FIRST + 513;
    ack.window = 4096;
    ack.set_timestamps(Timestamps { value: 7, echo: 3 });
    ack.push_sack(Seq::FIRST + 1025..Seq::FIRST + 1281);
    let row = |segment, fate, fate_at| SegmentRow {
        flow: 0,
        flow_name: "transfer".into(),
        at: at(0.25),
        place: Place::Receiver,
        event: Event::Sent,
        copy: 1 << 40,
        segment,
        bytes: 60,
        retransmission: false,
        unneeded: false,
        fate,
        fate_at,
        held: Duration::from_secs(3),
    };
    let segments = vec![
        row(syn, Fate::Dropped(Cause::Outage), Some(at(0.5))),
        row(ack, Fate::Delivered, Some(at(0.75))),
        row(ack, Fate::Underway, None),
    ];
    let table = tables::segments(&[Recording { segments, ..recording(0) }]);
    assert_eq!(integer(&table, "seq"), [Some(0), Some(1), Some(1)]);
    assert_eq!(integer(&table, "ack"), [None, Some(513), Some(513)]);
    assert_eq!(integer(&table, "window_edge"), [None, Some(4609), Some(4609)]);
    assert_eq!(text(&table, "flags"), [Some("S"), Some("A"), Some("A")]);
    assert_eq!(integer(&table, "sack_1_start")[..2], [None, Some(1025)]);
    assert_eq!(integer(&table, "sack_1_end")[..2], [None, Some(1281)]);
    assert_eq!(table["sack_2_start"].null_count(), 3);
    let ticks: Vec<_> = table["ts_value"].as_primitive::<UInt32Type>().iter().collect();
    assert_eq!(ticks, [None, Some(7), Some(7)]);
    assert_eq!(text(&table, "place"), [Some("receiver"); 3]);
    assert_eq!(text(&table, "event"), [Some("sent"); 3]);
    assert_eq!(count(&table, "copy"), [Some(1 << 40); 3]);
    assert_eq!(text(&table, "fate"), [Some("outage"), Some("delivered"), Some("underway")]);
    assert_eq!(real(&table, "fate_at_s"), [Some(0.5), Some(0.75), None]);
    assert_eq!(real(&table, "held_s"), [Some(3.0); 3]);
}

#[test]
fn a_window_before_the_first_sample_has_no_round_trip() {
    let first = WindowRow {
        flow: "transfer".into(),
        at: at(0.0),
        cwnd: 512,
        ssthresh: None,
        flight: 0,
        srtt: None,
        rttvar: None,
        rto: Duration::from_secs(3),
    };
    let srtt = Some(Duration::from_millis(400));
    let later = WindowRow { ssthresh: Some(1024), srtt, rttvar: srtt, ..first.clone() };
    let table = tables::windows(&[Recording { windows: vec![first, later], ..recording(0) }]);
    assert_eq!(count(&table, "ssthresh"), [None, Some(1024)]);
    assert_eq!(real(&table, "srtt_s"), [None, Some(0.4)]);
    assert_eq!(real(&table, "rttvar_s"), [None, Some(0.4)]);
    assert_eq!(real(&table, "rto_s"), [Some(3.0); 2]);
}

#[test]
fn a_link_that_delivered_nothing_has_no_mean_delay() {
    let stats = Stats {
        offered: 5,
        delivered: 4,
        total_delay: Duration::from_secs(2),
        max_delay: Duration::from_secs(1),
        ..Stats::default()
    };
    let busy = LinkRow {
        link: "wireless".into(),
        direction: Direction::Backward,
        stats,
        measured_transmitted_bytes: 900,
        measured_delivered_bytes: 800,
    };
    let stats = Stats::default();
    let idle = LinkRow { direction: Direction::Forward, stats, ..busy.clone() };
    let table = tables::links(&[Recording { links: vec![busy, idle], ..recording(0) }]);
    assert_eq!(text(&table, "direction"), [Some("backward"), Some("forward")]);
    assert_eq!(real(&table, "mean_delay_s"), [Some(0.5), None]);
    assert_eq!(count(&table, "measured_delivered_bytes"), [Some(800); 2]);
}

#[test]
fn what_disturbs_both_directions_names_neither() {
    let outage = DisturbanceRow {
        link: "wireless".into(),
        direction: None,
        kind: Disturbance::Outage,
        from: at(2.0),
        to: at(5.5),
    };
    let direction = Some(Direction::Forward);
    let stall = DisturbanceRow { direction, kind: Disturbance::Stall, ..outage.clone() };
    let recording = Recording { disturbances: vec![outage, stall], ..recording(0) };
    let table = tables::disturbances(&[recording]);
    assert_eq!(text(&table, "direction"), [None, Some("forward")]);
    assert_eq!(text(&table, "kind"), [Some("outage"), Some("stall")]);
    assert_eq!(real(&table, "to_s"), [Some(5.5); 2]);
}
