//! Events that lack what they need, and files that are no logs.

use std::convert::Infallible;

use rtolab_diagnose::NetworkVerdict;
use rtolab_qlog::{LogDocument, diagnose};
use serde_json::{Value, json};

fn diagnosed(log: &str) -> LogDocument {
    let Ok(found) = diagnose(log.as_bytes(), |_| Ok::<(), Infallible>(()));
    found
}

fn packet(ms: u32, name: &str, number: u64, frame: &Value) -> Value {
    let header = json!({"packet_type": "1RTT", "packet_number": number});
    json!({"time": ms, "name": name, "data": {"header": header, "frames": [frame]}})
}

/// Five packets, of which packet 1 is lost.
fn events() -> Vec<Value> {
    let stream = |at| json!({"frame_type": "stream", "stream_id": 0, "offset": at, "length": 1});
    let ack = |ranges| json!({"frame_type": "ack", "acked_ranges": ranges});
    let mut events: Vec<_> = (0..5)
        .map(|number| packet(number as u32, "transport:packet_sent", number, &stream(number)))
        .collect();
    events.push(packet(50, "transport:packet_received", 0, &ack(json!([[0, 0], [2, 4]]))));
    events.push(packet(50, "recovery:packet_lost", 1, &json!({})));
    events.push(packet(400, "transport:packet_received", 1, &ack(json!([[0, 0], [2, 4]]))));
    events
}

fn log(events: &[Value]) -> String {
    json!({"qlog_version": "0.3", "traces": [{"events": events}]}).to_string()
}

/// The first reason to skip an event, after this change to the event with this index.
fn skipped(index: usize, change: impl Fn(&mut Value)) -> String {
    let mut events = events();
    change(&mut events[index]);
    let summary = diagnosed(&log(&events)).summary;
    assert_eq!((summary.events, summary.malformed), (8, 1), "{}", events[index]);
    summary.first_malformed.unwrap()
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().unwrap().remove(key);
}

#[test]
fn nothing_is_wrong_with_the_events_that_the_tests_change() {
    let found = diagnosed(&log(&events()));
    assert_eq!((found.summary.malformed, found.summary.totals.lost), (0, 1));
}

#[test]
fn an_event_without_a_packet_number_is_malformed() {
    let expected = "event 3: expected a packet number from 0 to 2^62 - 1, found none";
    assert_eq!(skipped(2, |event| remove(&mut event["data"]["header"], "packet_number")), expected);
    for number in [json!(-4), json!("x"), json!(1_u64 << 62)] {
        let change = |event: &mut Value| event["data"]["header"]["packet_number"] = number.clone();
        assert_eq!(skipped(2, change), expected);
    }
    assert!(skipped(6, |event| remove(&mut event["data"], "header")).contains("packet type"));
}

#[test]
fn an_event_without_a_packet_type_is_malformed() {
    let first = skipped(2, |event| remove(&mut event["data"]["header"], "packet_type"));
    assert_eq!(first, "event 3: expected a packet type, such as `1RTT`, found none");
}

#[test]
fn packets_of_a_type_without_numbers_are_not_malformed() {
    let mut events = events();
    for name in ["retry", "version_negotiation", "stateless_reset"] {
        let data = json!({"header": {"packet_type": name}});
        events.insert(0, json!({"time": 0, "name": "transport:packet_received", "data": data}));
    }
    assert_eq!(diagnosed(&log(&events)).summary.malformed, 0);
}

#[test]
fn an_event_without_a_time_is_malformed_if_it_matters() {
    let expected = "event 4: expected a time, found no number";
    assert_eq!(skipped(3, |event| event["time"] = json!("abc")), expected);
    assert_eq!(skipped(3, |event| remove(event, "time")), expected);
    let mut events = events();
    events.insert(3, json!({"name": "http:frame_created", "data": {}}));
    assert_eq!(diagnosed(&log(&events)).summary.malformed, 0);
}

#[test]
fn a_range_that_ends_before_it_begins_is_malformed() {
    for ranges in [json!([[7, 3]]), json!([{"start": 7, "end": 3}]), json!([["a", 3]])] {
        let change =
            |event: &mut Value| event["data"]["frames"][0]["acked_ranges"] = ranges.clone();
        let first = skipped(5, change);
        assert!(first.contains("packet range"), "{first}");
    }
}

#[test]
fn a_packet_that_was_never_sent_is_not_lost() {
    let first = skipped(6, |event| event["data"]["header"]["packet_number"] = json!(999));
    assert!(first.starts_with("event 7: a packet was declared lost whose number is "), "{first}");
    // A log that begins later lacks packets with smaller numbers.
    let found = diagnosed(&log(&events()[2..]));
    assert_eq!((found.summary.malformed, found.summary.totals.losses), (0, 1));
}

#[test]
fn an_object_that_is_no_log_is_refused() {
    for text in ["{}", r#"{"name":"package","version":1}"#, r#"{"traces":[]}"#] {
        let error = diagnosed(text).error.unwrap();
        assert!(
            error.starts_with("not a qlog file: expected a JSON object with `qlog_version` or")
        );
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_log_without_packets_is_not_healthy() {
    let other = json!({"time": 1, "name": "http:frame_created", "data": {}});
    for events in [vec![], vec![other]] {
        let found = diagnosed(&log(&events));
        assert!(found.error.is_none());
        assert_eq!(found.answer.network, NetworkVerdict::Unknown);
    }
}
