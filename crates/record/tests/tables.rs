//! The contents of the tables. `tables/columns.rs` tests their columns.

#[path = "tables/columns.rs"]
mod columns;

use rtolab_link::{Direction, DisturbanceKind, DropCause, Stats};
use rtolab_record::{
    Comparison, ConnectionRow, Delays, DisturbanceRow, Fate, LinkRow, Losses, Measured,
    PacketEvent, Place, Recording, Run, SegmentRow, TaskRow, TimeoutKind, TimeoutRow,
    TransferOutcome, Truth, WindowRow, tables,
};
use rtolab_table::{Array, Table, Values};
use rtolab_tcp::spurious::DetectorId;
use rtolab_tcp::{Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

/// The cells of a column; `get` has the value of a cell that is not null.
fn cells<V>(cells: &Array, get: impl Fn(usize) -> V) -> Vec<Option<V>> {
    (0..cells.len()).map(|row| cells.is_valid(row).then(|| get(row))).collect()
}

fn text<'a>(table: &'a Table, name: &str) -> Vec<Option<&'a str>> {
    let column = &table[name].cells;
    let Values::Text(texts) = column.values() else { panic!("{name}: {}", column.values()) };
    cells(column, |row| texts.get(row))
}

/// A function that reads a column of numbers.
macro_rules! numbers {
    ($function:ident, $kind:ident, $number:ty) => {
        fn $function(table: &Table, name: &str) -> Vec<Option<$number>> {
            let column = &table[name].cells;
            let Values::$kind(numbers) = column.values() else {
                panic!("{name}: {}", column.values())
            };
            cells(column, |row| numbers[row])
        }
    };
}

numbers!(real, Float64, f64);
numbers!(count, UInt64, u64);
numbers!(integer, Int64, i64);
numbers!(small, UInt32, u32);

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn recording(run: u32) -> Recording {
    let run = Run { run, seed: 100 + u64::from(run), sender: "sack+frto".into() };
    Recording { run, ..Recording::default() }
}

#[test]
fn every_row_has_the_columns_of_its_run() {
    let row = ConnectionRow { flow: "transfer".into(), ..ConnectionRow::default() };
    let rows =
        |run: u32, count| Recording { connections: vec![row.clone(); count], ..recording(run) };
    let table = tables::connections(&[rows(0, 2), rows(1, 0), rows(2, 1)]);
    assert_eq!(small(&table, "run"), [Some(0), Some(0), Some(2)]);
    assert_eq!(count(&table, "seed"), [Some(100), Some(100), Some(102)]);
    assert_eq!(text(&table, "sender"), [Some("sack+frto"); 3]);
    assert_eq!(text(&table, "flow"), [Some("transfer"); 3]);
}

#[test]
fn a_connection_that_did_not_end_has_no_goodput() {
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
    let Values::Boolean(completed) = table["completed"].cells.values() else { panic!("bits") };
    assert_eq!([0, 1, 2].map(|row| completed.get(row)), [true, false, true]);
}

#[test]
fn every_cause_counts_as_lost_and_delays_without_packets_are_unknown() {
    let mut lost = Losses { corrupt: 1, ..Losses::default() };
    let causes = [
        DropCause::Queue,
        DropCause::Error,
        DropCause::Script,
        DropCause::Outage,
        DropCause::Early,
    ];
    for cause in causes.into_iter().chain([DropCause::Lifetime, DropCause::Retries]) {
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
fn measured_counts_are_the_difference_of_two_counts() {
    let mut delay = Delays::default();
    delay.count(Duration::from_millis(100));
    let before = Measured { bytes: 10, segments: 3, delay, ..Measured::default() };
    delay.count(Duration::from_millis(50));
    let after = Measured { bytes: 25, segments: 7, delay, ..Measured::default() };
    let measured = after.since(&before, Duration::from_secs(2));
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
    let scored = TimeoutRow {
        end: Place::Receiver,
        kind: TimeoutKind::FastRetransmit,
        truth: Some(Truth::AckLost),
        cost: Some(Comparison {
            original: TransferOutcome { end: Some(at(60.0)), segments: 110, bytes: 100_000 },
            other: TransferOutcome { end: Some(at(52.5)), segments: 100, bytes: 100_000 },
        }),
        verdict: Some("spurious"),
        detector: Some(DetectorId::named("frto")),
        verdict_at: Some(at(30.0)),
        ..open.clone()
    };
    let table = tables::timeouts(&[Recording { timeouts: vec![open, scored], ..recording(0) }]);
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
        at: at(0.25),
        place: Place::Receiver,
        event: PacketEvent::Sent,
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
        row(syn, Fate::Dropped(DropCause::Outage), Some(at(0.5))),
        row(ack, Fate::Delivered, Some(at(0.75))),
        row(ack, Fate::Underway, None),
    ];
    let flows = vec!["transfer".into()];
    let table = tables::segments(&[Recording { segments, flows, ..recording(0) }]);
    assert_eq!(text(&table, "flow"), [Some("transfer"); 3]);
    assert_eq!(integer(&table, "seq"), [Some(0), Some(1), Some(1)]);
    assert_eq!(integer(&table, "ack"), [None, Some(513), Some(513)]);
    assert_eq!(integer(&table, "window_edge"), [None, Some(4609), Some(4609)]);
    assert_eq!(text(&table, "flags"), [Some("S"), Some("A"), Some("A")]);
    assert_eq!(integer(&table, "sack_1_start")[..2], [None, Some(1025)]);
    assert_eq!(integer(&table, "sack_1_end")[..2], [None, Some(1281)]);
    assert_eq!(table["sack_2_start"].cells.null_count(), 3);
    assert_eq!(small(&table, "ts_value"), [None, Some(7), Some(7)]);
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
fn long_tables_have_the_cells_of_every_row_in_its_place() {
    // Texts that a view holds itself, and longer ones.
    let names = ["short", "a name of many letters", "another name of many letters"];
    let known = |index: usize| (500..1500).contains(&index) && index % 3 > 0 || index > 3000;
    let row = |index: usize| WindowRow {
        flow: names[index % 3].into(),
        at: at(index as f64),
        cwnd: index as u64,
        ssthresh: known(index).then_some(2 * index as u64),
        flight: 0,
        srtt: None,
        rttvar: Some(Duration::from_secs(index as u64)),
        rto: Duration::from_secs(3),
    };
    let rows: Vec<WindowRow> = (0..5000).map(row).collect();
    let (first, second) = rows.split_at(700);
    let recording =
        |run, windows: &[WindowRow]| Recording { windows: windows.to_vec(), ..recording(run) };
    let table = tables::windows(&[recording(0, first), recording(1, &[]), recording(2, second)]);
    let expected = |cell: fn(&WindowRow) -> Option<u64>| rows.iter().map(cell).collect::<Vec<_>>();
    assert_eq!(count(&table, "cwnd"), expected(|row| Some(row.cwnd)));
    assert_eq!(count(&table, "ssthresh"), expected(|row| row.ssthresh));
    assert!(real(&table, "srtt_s").iter().all(Option::is_none));
    assert_eq!(real(&table, "rttvar_s"), real(&table, "at_s"));
    let flows: Vec<_> = rows.iter().map(|row| Some(&*row.flow)).collect();
    assert_eq!(text(&table, "flow"), flows);
    let seeds: Vec<_> = (0..5000).map(|index| Some(if index < 700 { 100 } else { 102 })).collect();
    assert_eq!(count(&table, "seed"), seeds);
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
fn a_disturbance_of_both_directions_has_no_direction() {
    let outage = DisturbanceRow {
        link: "wireless".into(),
        direction: None,
        kind: DisturbanceKind::Outage,
        from: at(2.0),
        to: at(5.5),
    };
    let direction = Some(Direction::Forward);
    let stall = DisturbanceRow { direction, kind: DisturbanceKind::Stall, ..outage.clone() };
    let recording = Recording { disturbances: vec![outage, stall], ..recording(0) };
    let table = tables::disturbances(&[recording]);
    assert_eq!(text(&table, "direction"), [None, Some("forward")]);
    assert_eq!(text(&table, "kind"), [Some("outage"), Some("stall")]);
    assert_eq!(real(&table, "to_s"), [Some(5.5); 2]);
}
