//! The measurement of how connections resume after outages.

use rtolab_link::Direction;
use rtolab_record::{OutageRow, Recording};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_time::Duration;

/// A transfer over 1 Mbit/s and a round trip of 200 ms, without queueing delay beyond 20 packets.
const PATH: &str = r#"
title = "A path with an outage"
duration = "300 s"
[[link]]
name = "radio"
between = ["server", "phone"]
rate = "1 Mbit/s"
delay = "100 ms"
queue = "20 packets"
[tcp]
timestamps = true
[receiver]
buffer = "32 kB"
[[flow]]
name = "transfer"
from = "server"
to = "phone"
"#;

fn recording(sender: &str, set: &[(&str, &str)], observe: Observe) -> Recording {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::parse(PATH, "path.toml", &set).unwrap();
    Lab::new(&scenario, Some(sender)).unwrap().run(0, 1, observe)
}

fn outages(sender: &str, set: &[(&str, &str)]) -> Vec<OutageRow> {
    recording(sender, set, Observe::default()).outages
}

fn one(sender: &str, outage: (&str, &str)) -> OutageRow {
    let scripted = format!("[{{ at = {:?}, for = {:?} }}]", outage.0, outage.1);
    let rows = outages(sender, &[("link.radio.outages.scripted", &scripted)]);
    let [row] = rows.try_into().expect("there is one outage");
    row
}

#[test]
fn a_path_without_outages_has_no_rows() {
    assert!(outages("sack", &[]).is_empty());
}

/// The timer expires at 1, 3, 7, 15 and 31 s after the last ACK, which arrives about 0.1 s after
/// the outage begins.
#[test]
fn the_back_off_shows_in_probes_and_resume_delay() {
    let row = one("sack", ("20 s", "10 s"));
    assert_eq!((row.probes, row.timeouts), (3, 3));
    let wait = row.wait.unwrap().secs_f64();
    assert!(wait > 4.9 && wait < 5.6, "{wait}");
    // The ACK of the retransmitted segment was lost, not the segment. So new data arrive after a
    // retransmission and a new segment of 112 ms each, with an ACK of 100 ms between them.
    let resume = row.resume.unwrap().secs_f64();
    assert!((resume - wait - 0.324).abs() < 0.01, "{resume} after {wait}");
    assert!(row.full_rate.unwrap() >= row.resume.unwrap());
    let rate = 8.0 * row.former_rate;
    assert!(rate > 0.8e6 && rate < 1e6, "{rate}");
}

#[test]
fn a_cap_trades_probes_for_resume_delay() {
    let (doubling, capped) =
        (one("sack", ("20 s", "60 s")), one("sack+backoff:2s", ("20 s", "60 s")));
    assert!(capped.probes > 4 * doubling.probes, "{} {}", capped.probes, doubling.probes);
    assert!(capped.resume < Some(Duration::from_secs(3)), "{:?}", capped.resume);
    assert!(doubling.resume > Some(Duration::from_secs(3)), "{:?}", doubling.resume);
}

#[test]
fn an_outage_of_one_direction_is_its_own() {
    let scripted = r#"[{ at = "20 s", for = "3 s" }]"#;
    let rows = outages("sack", &[("link.radio.backward.outages.scripted", scripted)]);
    let [row] = rows.try_into().expect("there is one outage");
    assert_eq!(row.direction, Some(Direction::Backward));
    assert!(row.resume.is_some());
}

#[test]
fn random_outages_have_a_row_each_and_a_trace_changes_none() {
    let random = r#"{ good = { exponential = "10 s" }, bad = { uniform = ["1 s", "4 s"] } }"#;
    let set = [("link.radio.outages.random", random)];
    let plain = recording("sack", &set, Observe::default());
    let traced = recording("sack", &set, Observe { trace: true, windows: false });
    let spans = |rows: &[OutageRow]| rows.iter().map(|row| (row.from, row.to)).collect::<Vec<_>>();
    let known: Vec<_> = traced.disturbances.iter().map(|known| (known.from, known.to)).collect();
    assert_eq!(spans(&plain.outages), spans(&traced.outages));
    assert!(known.starts_with(&spans(&plain.outages)) && plain.outages.len() > 10);
    let resumes = |recording: &Recording| {
        recording.outages.iter().map(|row| (row.resume, row.probes)).collect::<Vec<_>>()
    };
    assert_eq!(resumes(&plain), resumes(&traced));
}

#[test]
fn a_connection_that_was_given_up_does_not_resume() {
    let scripted = r#"[{ at = "20 s", for = "60 s" }]"#;
    let set = [("link.radio.outages.scripted", scripted), ("tcp.give_up.user_timeout", "30 s")];
    let rows = outages("sack", &set);
    assert_eq!((rows.len(), rows[0].resume, rows[0].wait), (1, None, None));
}
