use rtolab_link::DisturbanceKind;

use super::*;

fn at(ms: u64) -> Instant {
    Instant::START + Duration::from_millis(ms)
}

fn outage(from: u64, to: u64) -> Disturbance {
    let kind = DisturbanceKind::Outage;
    Disturbance { kind, direction: None, from: at(from), to: at(to) }
}

/// A flow that has sent 1000 bytes each 10 ms, 50 ms to its receiver, for 10 s.
fn meter() -> OutageMeter {
    let mut meter = OutageMeter::new("flow".into(), "link".into());
    for sent in (0..10_000).step_by(10) {
        meter.on_departure(Departure { at: at(sent), is_probe: false });
        arrive(&mut meter, sent + 50);
    }
    meter
}

fn arrive(meter: &mut OutageMeter, ms: u64) {
    meter.on_new_data(NewData { at: at(ms), sent: at(ms - 50), bytes: 1000 });
}

fn only_row(meter: OutageMeter) -> OutageRow {
    let [row] = meter.into_rows().try_into().expect("there is one outage");
    row
}

#[test]
fn the_former_rate_is_that_of_the_last_five_seconds() {
    let mut meter = meter();
    meter.on_outage(outage(10_000, 12_000), Duration::ZERO);
    let row = only_row(meter);
    assert!((row.former_rate - 100_000.0).abs() < 1_000.0, "{}", row.former_rate);
    assert_eq!((row.resume, row.full_rate, row.wait), (None, None, None));
}

#[test]
fn packets_in_flight_after_the_link_are_no_resumption() {
    let mut meter = meter();
    meter.on_outage(outage(10_000, 10_020), Duration::from_millis(50));
    arrive(&mut meter, 10_040);
    arrive(&mut meter, 10_075);
    assert_eq!(only_row(meter).resume, Some(Duration::from_millis(55)));
}

#[test]
fn probes_and_the_wait_are_those_of_the_sender() {
    let mut meter = meter();
    meter.on_outage(outage(10_000, 12_000), Duration::ZERO);
    for (ms, is_probe) in [(10_010, false), (10_500, true), (11_500, true), (13_500, true)] {
        meter.on_departure(Departure { at: at(ms), is_probe });
    }
    let row = only_row(meter);
    assert_eq!((row.packets, row.probes), (3, 2));
    assert_eq!(row.wait, Some(Duration::from_millis(1_500)));
}

#[test]
fn the_rate_is_full_from_the_first_span_that_has_nine_tenths_of_it() {
    let mut meter = meter();
    meter.on_outage(outage(10_000, 12_000), Duration::ZERO);
    // A packet each 20 ms from 13 s on, and each 10 ms from 15 s on.
    (13_000..15_000).step_by(20).for_each(|ms| arrive(&mut meter, ms));
    (15_000..18_000).step_by(10).for_each(|ms| arrive(&mut meter, ms));
    let row = only_row(meter);
    assert_eq!(row.resume, Some(Duration::from_secs(1)));
    // From 14.81 s to 15.81 s there are 9 packets before 15 s and 82 after it.
    let full = row.full_rate.expect("it reaches the former rate");
    assert!(full.secs_f64() > 2.75 && full.secs_f64() < 2.85, "{full}");
}

#[test]
fn a_later_outage_ends_the_measurement_of_the_one_before() {
    let mut meter = meter();
    meter.on_outage(outage(10_000, 12_000), Duration::ZERO);
    meter.on_outage(outage(13_000, 14_000), Duration::ZERO);
    arrive(&mut meter, 14_100);
    let rows = meter.into_rows();
    let resumes: Vec<_> = rows.iter().map(|row| row.resume).collect();
    assert_eq!(resumes, [None, Some(Duration::from_millis(100))]);
    assert!(rows[1].former_rate == 0.0, "nothing arrived between the two");
}
