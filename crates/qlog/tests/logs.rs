//! Logs of every form, whole and damaged, and the verdicts on them.

use std::convert::Infallible;
use std::fmt::Write;
use std::io::{self, Read};

use rtolab_diagnose::{NetworkVerdict, TimeoutClass};
use rtolab_qlog::{LogDocument, LossClass, diagnose, diagnose_pair, is_log};

const SEQ: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"server"},"common_fields":{"ODCID":"ab"}}}"#;

fn diagnosed(log: &str) -> LogDocument {
    diagnose(log.as_bytes(), |_| Ok::<(), Infallible>(())).unwrap()
}

fn sent(ms: u32, number: u64) -> String {
    let offset = number * 1000;
    format!(
        r#"{{"time":{ms},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1040}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1000}}]}}}}"#
    )
}

fn acked(ms: u32, number: u64, ranges: &str) -> String {
    format!(
        r#"{{"time":{ms},"name":"transport:packet_received","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}}}"#
    )
}

fn lost(ms: u32, number: u64) -> String {
    format!(
        r#"{{"time":{ms},"name":"recovery:packet_lost","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"trigger":"reordering_threshold"}}}}"#
    )
}

fn cwnd(ms: u32, bytes: u32) -> String {
    format!(
        r#"{{"time":{ms},"name":"recovery:metrics_updated","data":{{"congestion_window":{bytes}}}}}"#
    )
}

fn expired(ms: u32) -> String {
    format!(
        r#"{{"time":{ms},"name":"recovery:loss_timer_updated","data":{{"event_type":"expired","timer_type":"pto","packet_number_space":"application_data"}}}}"#
    )
}

fn lines(events: &[String]) -> String {
    let mut log = format!("\u{1e}{SEQ}\n");
    for event in events {
        let _ = writeln!(log, "\u{1e}{event}");
    }
    log
}

/// Packet 1 comes late: it is declared lost, and acknowledged 10 ms later. Packet 2 is lost.
fn reordered() -> Vec<String> {
    let mut events: Vec<String> = (0..8).map(|number| sent(number as u32, number)).collect();
    events.extend([cwnd(9, 12_000), acked(50, 0, "[[0],[3,5]]"), lost(50, 1), lost(50, 2)]);
    events.extend([cwnd(50, 6000), acked(60, 1, "[[0,1],[3,7]]"), sent(61, 8)]);
    events.extend([acked(120, 2, "[[0,1],[3,8]]"), acked(400, 3, "[[0,1],[3,8]]")]);
    events
}

#[test]
fn an_acknowledgment_counts_for_the_first_declaration_of_a_loss() {
    let mut events: Vec<String> = (0..8).map(|number| sent(number as u32, number)).collect();
    events.extend([acked(50, 0, "[[0],[3,5]]"), lost(50, 1), lost(50, 2), lost(51, 1)]);
    events.extend([acked(60, 1, "[[0,1],[3,7]]"), sent(61, 8), acked(120, 2, "[[0,1],[3,8]]")]);
    events.push(acked(400, 3, "[[0,1],[3,8]]"));
    let found = diagnosed(&lines(&events));
    let losses = &found.connections[0].losses;
    let verdicts: Vec<(u64, LossClass)> =
        losses.iter().map(|loss| (loss.packet_number, loss.verdict)).collect();
    assert_eq!(verdicts, [(1, LossClass::Spurious), (2, LossClass::Genuine)]);
}

/// The path takes 1 s, and from then on 20 ms. A packet on the slow path can still arrive.
#[test]
fn a_loss_is_genuine_a_round_trip_of_its_own_time_later() {
    let verdict = |last: u32| {
        let mut events: Vec<String> = (0..8).map(|number| sent(number as u32, number)).collect();
        events.extend([acked(1000, 0, "[[0,1],[3,7]]"), lost(1000, 2)]);
        for number in 8..40 {
            let (at, ranges) = (1000 + 10 * number as u32, format!("[[0,1],[3,{number}]]"));
            events.extend([sent(at, number), acked(at + 9, number, &ranges)]);
        }
        events.push(sent(last - 20, 40));
        events.push(acked(last, 40, "[[0,1],[3,40]]"));
        let found = diagnosed(&lines(&events));
        let loss = &found.connections[0].losses[0];
        (loss.verdict, loss.confidence)
    };
    assert_eq!(verdict(1500).0, LossClass::Unknown);
    assert_eq!(verdict(2100), (LossClass::Genuine, 0.9));
    assert_eq!(verdict(4100), (LossClass::Genuine, 0.99));
}

#[test]
fn a_loss_that_is_acknowledged_later_is_spurious_and_the_other_genuine() {
    let found = diagnosed(&lines(&reordered()));
    assert!(found.error.is_none(), "{:?}", found.error);
    let [one] = &found.connections[..] else { panic!("{}", found.connections.len()) };
    let verdicts: Vec<(u64, LossClass)> =
        one.losses.iter().map(|loss| (loss.packet_number, loss.verdict)).collect();
    assert_eq!(verdicts, [(1, LossClass::Spurious), (2, LossClass::Genuine)]);
    assert_eq!(one.losses[0].evidence[0].kind, "acknowledged-later");
    assert!((one.losses[0].late.unwrap() - 0.010).abs() < 1e-9);
    assert_eq!(found.answer.network, NetworkVerdict::LossyAndDelayed);
    let [episode] = &one.episodes[..] else { panic!("{:?}", one.episodes) };
    assert_eq!(episode.cwnd, [Some(12_000.0), Some(6000.0)]);
    assert_eq!((episode.start, episode.end), (0.05, Some(0.12)));
    assert_eq!((one.vantage, one.group.as_deref()), ("server", Some("ab")));
}

#[test]
fn a_loss_at_the_end_of_a_log_is_unknown() {
    let events = &reordered()[..11];
    let found = diagnosed(&lines(events));
    assert_eq!(found.summary.totals.unknown, 1);
    assert_eq!(found.connections[0].losses[0].verdict, LossClass::Unknown);
}

#[test]
fn retransmitted_bytes_count_by_the_fate_of_the_first_copy() {
    let mut events = reordered();
    for number in [1, 2] {
        let copy = sent(70, 20 + number).replace(
            &format!("\"offset\":{}", 20_000 + number * 1000),
            &format!("\"offset\":{}", number * 1000),
        );
        events.insert(15, copy);
    }
    let one = &diagnosed(&lines(&events)).connections[0];
    assert_eq!((one.retransmitted_bytes, one.unneeded_bytes, one.needed_bytes), (2000, 1000, 1000));
}

#[test]
fn a_probe_timeout_is_spurious_if_the_next_acknowledgment_is_of_originals_alone() {
    let start = [sent(0, 0), acked(50, 0, "[[0]]"), sent(50, 1), sent(51, 2), expired(200)];
    let classes = |rest: &[String]| {
        let found = diagnosed(&lines(&[&start, rest].concat()));
        let rows = &found.connections[0].timeouts;
        rows.iter().map(|row| (row.class, row.evidence[0].kind)).collect::<Vec<_>>()
    };
    let spurious = [sent(200, 3), acked(210, 1, "[[0,2]]")];
    assert_eq!(classes(&spurious), [(TimeoutClass::Spurious, "originals-alone")]);
    let genuine = [sent(200, 3), acked(251, 1, "[[0],[3]]")];
    assert_eq!(classes(&genuine), [(TimeoutClass::Genuine, "probe-alone")]);
    let ack_lost = [sent(200, 3), acked(251, 1, "[[0,3]]")];
    assert_eq!(classes(&ack_lost), [(TimeoutClass::AckLost, "probe-answered")]);
    let held = [sent(200, 3), acked(900, 1, "[[0,3]]")];
    assert_eq!(classes(&held), [(TimeoutClass::Unknown, "late-together")]);
}

/// The acknowledgment was due 50 ms after packet 1, and came 8 s later. Its own round trip must not
/// count for when it was due.
#[test]
fn the_time_lost_to_a_timeout_ends_with_the_late_acknowledgment() {
    let start = [sent(0, 0), acked(50, 0, "[[0]]"), sent(100, 1), expired(300), sent(300, 2)];
    let found = diagnosed(&lines(&[&start[..], &[acked(8150, 1, "[[0,1]]")]].concat()));
    let one = &found.connections[0];
    assert_eq!(one.timeouts[0].class, TimeoutClass::Spurious);
    assert!((one.time_lost - 8.0).abs() < 1e-9, "{}", one.time_lost);
}

#[test]
fn a_recovery_that_left_the_window_alone_reduced_nothing() {
    let says = |events: &[String], words: &str| {
        let answer = serde_json::to_string(&diagnosed(&lines(events)).answer).unwrap();
        assert!(answer.contains(words), "{answer}");
    };
    let mut events = reordered();
    events.retain(|event| !event.contains("packet_lost") || event.contains("\"packet_number\":1}"));
    says(&events, "The sender reduced cwnd spuriously once");
    events.retain(|event| !event.contains("congestion_window"));
    says(&events, "The sender entered recovery spuriously once");
}

/// RFC 9000 section 14.4: the loss of such a packet is no reason for a congestion response.
#[test]
fn a_lost_probe_of_the_path_mtu_is_no_loss() {
    let events = reordered();
    let of_probe =
        |event: &String| event.replace(r#""trigger""#, r#""is_mtu_probe_packet":true,"trigger""#);
    let [before, after] = [events.clone(), events.iter().map(of_probe).collect()]
        .map(|events: Vec<String>| diagnosed(&lines(&events)).connections[0].losses.len());
    assert_eq!((before, after), (2, 0));
}

#[test]
fn a_trace_whose_units_of_time_come_after_its_events_is_rejected() {
    let events = reordered().join(",");
    let of = |before: &str, after: &str| {
        format!(r#"{{"qlog_version":"0.3","traces":[{{{before}"events":[{events}]{after}}}]}}"#)
    };
    for (name, value) in [
        ("configuration", r#"{"time_units":"us"}"#),
        ("common_fields", r#"{"time_format":"relative_to_previous_event"}"#),
    ] {
        let member = format!("\"{name}\":{value}");
        let first = diagnosed(&of(&format!("{member},"), ""));
        assert_eq!((first.connections.len(), first.error), (1, None));
        let last = diagnosed(&of("", &format!(",{member}")));
        assert!(last.connections.is_empty());
        let error = last.error.unwrap();
        assert!(error.starts_with(&format!("`{name}`, which ends at byte ")), "{error}");
    }
}

/// The same events as one JSON document, as JSON lines, and as lists of draft 01 in microseconds
/// and with deltas.
#[test]
fn every_form_of_a_log_has_the_same_verdicts() {
    let expected = [LossClass::Spurious, LossClass::Genuine];
    let verdicts = |log: &str| {
        let found = diagnosed(log);
        assert!(found.error.is_none(), "{:?} of {log}", found.error);
        let losses = &found.connections[0].losses;
        losses.iter().map(|loss| loss.verdict).collect::<Vec<_>>()
    };
    let events = reordered();
    let json = format!(
        r#"{{"qlog_version":"0.3","traces":[{{"events":[{}],"vantage_point":{{"type":"server"}}}}]}}"#,
        events.join(",")
    );
    assert_eq!(verdicts(&json), expected);
    assert_eq!(verdicts(&json.replace("transport:", "quic:").replace(",\"", ",\n \"")), expected);
    let by_line = format!("{SEQ}\n{}\n", events.join("\n"));
    assert_eq!(verdicts(&by_line), expected);
    // Draft 01: [time, category, event, data].
    let mut before = 0;
    let mut lists: [Vec<String>; 2] = [vec![], vec![]];
    for event in &events {
        let event: serde_json::Value = serde_json::from_str(event).unwrap();
        let (category, name) = event["name"].as_str().unwrap().split_once(':').unwrap();
        let time = event["time"].as_u64().unwrap();
        let data =
            event["data"].to_string().replace("\"packet_number\":1}", "\"packet_number\":\"1\"}");
        lists[0].push(format!(r#"["{}","{category}","{name}",{data}]"#, time * 1000));
        lists[1].push(format!(r#"[{},"{category}","{name}",{data}]"#, (time - before) * 1000));
        before = time;
    }
    for (list, field) in lists.iter().zip(["relative_time", "delta_time"]) {
        let log = format!(
            r#"{{"qlog_version":"draft-01","traces":[{{"configuration":{{"time_units":"us"}},"event_fields":["{field}","category","event","data"],"events":[{}]}}]}}"#,
            list.join(",")
        );
        assert_eq!(verdicts(&log), expected, "{field}");
        assert!((diagnosed(&log).summary.ended - 0.4).abs() < 1e-9, "{field}");
    }
}

#[test]
fn events_before_the_damage_are_diagnosed() {
    let whole = lines(&reordered());
    let cut = &whole[..whole.len() - 30];
    let found = diagnosed(cut);
    let error = found.error.unwrap();
    assert_eq!(error, format!("the log ends at byte {}, inside a value", cut.len()));
    assert_eq!(found.summary.totals.spurious_losses, 1);
    let damaged = format!("{whole}oops\n");
    let error = diagnosed(&damaged).error.unwrap();
    let at = whole.len();
    assert_eq!(error, format!("invalid at byte {at}: expected a record, found `oops\\n`"));
}

#[test]
fn a_malformed_event_is_skipped_and_counted() {
    let mut events = reordered();
    events.insert(3, r#"{"time":2,"name":"transport:packet_sent","data":{"frames":7}}"#.into());
    events.insert(4, r#"{"time":2,"name":"http:frame_created","data":{"frames":7}}"#.into());
    let found = diagnosed(&lines(&events));
    assert_eq!(found.summary.malformed, 1);
    let at = lines(&events[..3]).len() + 1;
    let first = found.summary.first_malformed.unwrap();
    assert!(first.starts_with(&format!("event 4 at byte {at}: ")), "{first}");
    assert_eq!(found.summary.totals.spurious_losses, 1);
}

/// Returns one byte at a time, so that no event is ever complete in the buffer.
struct OneByOne<'a>(&'a [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn events_are_the_same_wherever_the_buffer_ends() {
    let mut events = reordered();
    events.insert(3, r#"{"time":2,"name":"transport:packet_sent","data":{"frames":7}}"#.into());
    events.insert(
        5,
        r#"{ "time": 3, "name": "a:b", "data": {"c": "}{\"\\", "d": [{}, []]} }"#.into(),
    );
    events.insert(6, r#"{"time":3,"name":"a:b","data":{"c":"\u007d"}} "#.into());
    let seq = lines(&events);
    let json = format!(
        r#"{{"qlog_version":"draft-02","traces":[{{"vantage_point":{{"type":"server"}},"events":[{}]}}]}}"#,
        events.join(" ,\n")
    );
    // Two values in a record, an invalid one, and a damaged end.
    let odd = format!("{seq}{}{}\n\u{1e}{{\"time\":nul}}\no", sent(500, 9), sent(501, 10));
    for log in [seq.replace('\u{1e}', ""), seq, json, odd] {
        let Ok(slowly) = diagnose::<_, Infallible>(OneByOne(log.as_bytes()), |_| Ok(()));
        let [slowly, whole] = [slowly, diagnosed(&log)].map(|it| serde_json::json!(it));
        assert!(whole["summary"]["malformed"].as_u64() >= Some(1), "{log}");
        assert_eq!(slowly, whole, "{log}");
    }
}

#[test]
fn ranges_may_name_the_packet_after_the_last() {
    let mut events = vec![sent(0, 0), acked(40, 0, "[[0,1]]")];
    events.extend((1..8).map(|number| sent(41, number)));
    events.extend([acked(90, 1, "[[0,1],[3,6]]"), lost(90, 1), lost(90, 2)]);
    events.extend([acked(100, 2, "[[0,2],[3,8]]"), acked(900, 3, "[[0,2],[3,8]]")]);
    let losses = &diagnosed(&lines(&events)).connections[0].losses;
    assert_eq!(
        losses.iter().map(|loss| loss.verdict).collect::<Vec<_>>(),
        [LossClass::Spurious, LossClass::Genuine]
    );
}

#[test]
fn other_files_are_no_logs() {
    assert!(is_log(b"{}") && is_log(b"\x1e{") && is_log(b" \n{"));
    assert!(!is_log(b"\x0a\x0d\x0d\x0a") && !is_log(b"\xd4\xc3\xb2\xa1") && !is_log(b""));
    let error = diagnosed("\u{1e}{\"a\":1}\n").error.unwrap();
    assert!(error.starts_with("not a qlog file: expected a JSON object with"), "{error}");
    assert!(error.ends_with("found `{\"a\":1}`"), "{error}");
}

/// The client's log: it receives packet 2, which the server declared lost, after the server's log
/// has ended, and never packet 1.
#[test]
fn the_other_log_knows_each_fate() {
    let events = &reordered()[..11];
    let received = |number: u64| sent(1, number).replace("packet_sent", "packet_received");
    let client = lines(&[0, 3, 4, 5, 2, 6, 7].map(received)).replace("server", "client");
    let inputs = [client.as_bytes().to_vec(), lines(events).into_bytes()];
    let pair = |inputs: [&[u8]; 2]| diagnose_pair(inputs, |_| Ok::<(), Infallible>(())).unwrap();
    let found = pair([&inputs[0], &inputs[1]]).unwrap();
    assert_eq!(found.sender_capture, Some(1));
    let [loss] = &found.connections[0].losses[..] else { panic!() };
    assert_eq!((loss.verdict, loss.evidence[0].kind), (LossClass::Genuine, "both-logs"));
    let client = client.replace(r#""packet_number":2}"#, r#""packet_number":1}"#);
    let found = pair([client.as_bytes(), &inputs[1]]).unwrap();
    assert_eq!(found.connections[0].losses[0].verdict, LossClass::Spurious);
    assert!(pair([&inputs[1], &inputs[1]]).is_none(), "two logs of the server");
}

/// As quinn logs: without vantage points, with a group of each end's own, and with another one at
/// the client after the handshake.
#[test]
fn the_main_connections_of_two_logs_are_a_pair() {
    let group = |line: &String, name: &str| {
        format!(r#"{},"group_id":"{name}"}}"#, line.strip_suffix('}').unwrap())
    };
    let events = reordered();
    let server: Vec<String> = events.iter().map(|line| group(line, "server")).collect();
    let received = |number: u64| sent(1, number).replace("packet_sent", "packet_received");
    let mut client = vec![group(&sent(0, 9), "first")];
    client.extend([0, 3, 4, 5, 1, 6, 7, 8].map(|number| group(&received(number), "second")));
    let unnamed = |events: &[String]| lines(events).replace("server\"},", "unknown\"},");
    let logs = [unnamed(&server), unnamed(&client)];
    let found = diagnose_pair(logs.each_ref().map(String::as_bytes), |_| Ok::<(), Infallible>(()));
    let found = found.unwrap().expect("a pair");
    let verdicts: Vec<_> = found.connections[0].losses.iter().map(|loss| loss.verdict).collect();
    assert_eq!(verdicts, [LossClass::Spurious, LossClass::Genuine]);
}

/// The path goes dark after packet 1 has arrived: its acknowledgment and all probes are lost.
#[test]
fn a_timeout_whose_acknowledgment_was_lost_is_not_spurious() {
    let to_client = |line: String| line.replace("packet_sent", "packet_received");
    let to_server = |line: String| line.replace("packet_received", "packet_sent");
    let ack = acked(72, 1, "[[0,1]]");
    let mut server =
        vec![sent(0, 0), acked(50, 0, "[[0]]"), sent(51, 1), expired(200), sent(201, 2)];
    let mut client = vec![to_client(sent(20, 0)), to_server(acked(21, 0, "[[0]]"))];
    client.extend([to_client(sent(71, 1)), to_server(ack.clone())]);
    let class = |server: &[String], client: &[String]| {
        let logs = [lines(server), lines(client).replace("server", "client")];
        let found =
            diagnose_pair(logs.each_ref().map(String::as_bytes), |_| Ok::<(), Infallible>(()));
        found.unwrap().unwrap().connections[0].timeouts[0].class
    };
    assert_eq!(class(&server, &client), TimeoutClass::AckLost);
    assert_eq!(class(&server, &client[..3]), TimeoutClass::Unknown, "the log ends before the ACK");
    server.push(ack.replace("72", "250"));
    assert_eq!(class(&server, &client), TimeoutClass::Spurious, "the ACK was only late");
}

fn initial(event: &str) -> String {
    event.replace("1RTT", "initial")
}

fn handshake(event: &str) -> String {
    event.replace("1RTT", "handshake")
}

/// An Initial packet is declared lost, and acknowledged as the only one of its space.
#[test]
fn a_recovery_ends_by_an_acknowledgment_in_another_space() {
    let mut events =
        vec![initial(&sent(0, 0)), initial(&lost(150, 0)), initial(&acked(160, 0, "[[0]]"))];
    for number in 0..20 {
        let ms = 300 + 100 * number;
        events.push(sent(ms, u64::from(number)));
        events.push(acked(ms + 50, u64::from(number), &format!("[[0,{number}]]")));
    }
    let one = &diagnosed(&lines(&events)).connections[0];
    let [episode] = &one.episodes[..] else { panic!("{:?}", one.episodes) };
    assert!((episode.end.unwrap() - 0.35).abs() < 1e-9, "{episode:?}");
    assert!((one.time_in_recovery - 0.2).abs() < 1e-9, "{}", one.time_in_recovery);
}

#[test]
fn losses_in_two_spaces_at_one_instant_are_one_recovery() {
    let mut events = vec![initial(&sent(0, 0)), handshake(&sent(0, 1))];
    events.extend([initial(&lost(150, 0)), handshake(&lost(150, 1)), handshake(&sent(151, 2))]);
    events.push(handshake(&acked(200, 0, "[[1,2]]")));
    let one = &diagnosed(&lines(&events)).connections[0];
    let [episode] = &one.episodes[..] else { panic!("{:?}", one.episodes) };
    assert_eq!((episode.losses, episode.end), (2, Some(0.2)));
}

/// A loss of a packet that was sent in the recovery begins the next one, which ends the first.
#[test]
fn the_time_in_recovery_is_never_longer_than_the_connection() {
    let mut events: Vec<String> = Vec::new();
    for number in 0..9 {
        events.extend([sent(100 * number, number.into()), lost(100 * number + 60, number.into())]);
    }
    let one = &diagnosed(&lines(&events)).connections[0];
    assert_eq!(one.episodes.len(), 9);
    assert!((one.time_in_recovery - 0.8).abs() < 1e-9, "{}", one.time_in_recovery);
}

fn paired(server: &[String], client: &[String]) -> LogDocument {
    let logs = [lines(server), lines(client).replace("server", "client")];
    let found = diagnose_pair(logs.each_ref().map(String::as_bytes), |_| Ok::<(), Infallible>(()));
    found.unwrap().expect("a pair")
}

/// The server's Initial packet is late, so the client has no key when Handshake packet 1 arrives.
#[test]
fn a_packet_that_its_receiver_cannot_decrypt_was_not_lost() {
    let size = |event: String, size: u32| event.replace("1040", &size.to_string());
    let received = |event: String| event.replace("packet_sent", "packet_received");
    let server = [
        initial(&sent(0, 0)),
        handshake(&size(sent(0, 1), 299)),
        handshake(&lost(142, 1)),
        handshake(&size(sent(142, 2), 299)),
        handshake(&acked(200, 0, "[[2]]")),
        handshake(&acked(900, 1, "[[2]]")),
    ];
    let dropped = |size: u32| {
        format!(
            r#"{{"time":70,"name":"transport:packet_dropped","data":{{"trigger":"key_unavailable","raw":{{"length":{size}}}}}}}"#
        )
    };
    let client = |dropped: Option<String>| {
        let arrivals = [initial(&sent(80, 0)), handshake(&size(sent(170, 2), 299))].map(received);
        dropped.into_iter().chain(arrivals).collect::<Vec<String>>()
    };
    let verdict = |client: &[String]| {
        let found = paired(&server, client);
        let loss = &found.connections[0].losses[0];
        (loss.verdict, loss.evidence[0].kind, found.answer.sentences[0].text.clone())
    };
    let (class, kind, text) = verdict(&client(Some(dropped(299))));
    assert_eq!((class, kind), (LossClass::Spurious, "undecryptable"));
    assert_eq!(
        text,
        "Nothing was lost: the one packet that the sender declared lost arrived after all. The \
         receiver had no key for 1 of these, and dropped it."
    );
    // A drop of another size is another packet.
    assert_eq!(verdict(&client(Some(dropped(300)))).0, LossClass::Genuine);
    assert_eq!(verdict(&client(None)).0, LossClass::Genuine);
    // Between two Handshake packets the client has the key.
    let mut later = client(Some(dropped(299)));
    later.insert(0, received(handshake(&sent(60, 9))));
    assert_eq!(verdict(&later).0, LossClass::Genuine);
    // The drop explains one loss of this size, and that is the earlier one.
    let mut twice = server.to_vec();
    twice.splice(2..2, [handshake(&size(sent(1, 3), 299)), handshake(&lost(141, 3))]);
    let found = paired(&twice, &client(Some(dropped(299))));
    let totals = &found.summary.totals;
    assert_eq!((totals.losses, totals.undecryptable), (2, 1));
    let losses = found.connections[0].losses.iter();
    let spurious = losses.filter(|loss| loss.verdict == LossClass::Spurious);
    assert_eq!(spurious.map(|loss| loss.packet_number).collect::<Vec<_>>(), [1]);
}

#[test]
fn the_log_of_the_end_that_receives_says_so() {
    let received = |number: u64| sent(number as u32, number).replace("_sent", "_received");
    let mut events = vec![sent(0, 0).replace("\"length\":1000", "\"length\":20")];
    events.push(acked(1, 100, "[[0]]"));
    events.extend((1..30).map(received));
    let found = diagnosed(&lines(&events));
    let [first, second] = &found.answer.sentences[..2] else { panic!() };
    assert_eq!(
        first.text,
        "This log is of the end that receives: the other end's log shows the losses of the data."
    );
    assert_eq!(first.basis, "streams: 20 bytes sent, 29 kB received");
    assert_eq!(second.text, "This end declared no packet lost.");
    assert_eq!(found.answer.network, NetworkVerdict::Unknown);
    assert!(!diagnosed(&lines(&reordered())).connections[0].is_receiver);
}

/// The numbers of events stay those of the log, so that only they differ.
#[test]
fn events_out_of_time_order_are_sorted_and_counted() {
    let mut events = reordered();
    // Distinct times, so that their order alone decides.
    let times = [9, 50, 51, 52, 53, 60, 61, 120, 400];
    for (event, time) in events[8..].iter_mut().zip(times) {
        let (_, rest) = event.split_once(',').unwrap();
        *event = format!(r#"{{"time":{time},{rest}"#);
    }
    let count = events.len() as u64;
    let ordered = diagnosed(&lines(&events));
    assert_eq!((ordered.summary.out_of_order, ordered.summary.first_out_of_order), (0, None));
    events.reverse();
    let reversed = diagnosed(&lines(&events));
    let summary = &reversed.summary;
    assert_eq!((summary.out_of_order, summary.first_out_of_order), (count - 1, Some(2)));
    assert_eq!(summary.malformed, 0);
    assert_eq!(reversed.connections[0].losses[0].event, count + 1 - 11);
    let text = |found: &LogDocument| serde_json::json!(found.answer);
    assert_eq!(text(&reversed), text(&ordered));
    assert_eq!(
        serde_json::json!(reversed.summary.totals),
        serde_json::json!(ordered.summary.totals)
    );
}

#[test]
fn an_event_too_far_out_of_time_order_is_skipped() {
    let mut events: Vec<String> = (0..3000).map(|at| sent(at, at.into())).collect();
    events.push(lost(10, 10));
    let found = diagnosed(&lines(&events));
    assert_eq!((found.summary.malformed, found.summary.totals.losses), (1, 0));
    assert_eq!(
        found.summary.first_malformed.unwrap(),
        "event 3001 has a time 1.965000 s before that of an event more than 1024 events earlier"
    );
}

#[test]
fn the_share_of_retransmitted_bytes_is_one_of_all_bytes_sent() {
    let copies = (1..10).map(|number| sent(number as u32, number).replace("000,\"l", ",\"l"));
    let events: Vec<String> = [sent(0, 0)].into_iter().chain(copies).collect();
    let found = diagnosed(&lines(&events));
    let last = found.answer.sentences.last().unwrap();
    assert_eq!(last.text, "The sender retransmitted 9.0 kB of streams.");
    assert_eq!(last.basis, "90 % of the 10 kB sent");
}

#[test]
fn one_and_two_losses_are_spelled_right() {
    let text = |losses: &[String]| {
        let events = [vec![sent(0, 0), sent(1, 1), sent(2, 2)], losses.to_vec()].concat();
        diagnosed(&lines(&events)).answer.sentences.remove(1).text
    };
    let one = "The fate of 1 packet that the sender declared lost is unknown.";
    assert_eq!(text(&[lost(9, 0)]), one);
    assert_eq!(text(&[lost(9, 0), lost(9, 1)]), one.replace("1 packet", "2 packets"));
}

/// Of 20 packets, these many in a row are lost, with two probe timeouts meanwhile or none.
fn outage(lost_packets: u64, has_timeouts: bool, trigger: &str) -> LogDocument {
    let mut events: Vec<String> = (0..5).map(|number| sent(number as u32, number)).collect();
    events.push(acked(50, 0, "[[0,4]]"));
    let last = 4 + lost_packets;
    events.extend((5..last - 1).map(|number| sent(100 + number as u32, number)));
    let [one, other] = if has_timeouts { [300, 700] } else { [115, 116] };
    if has_timeouts {
        events.extend([expired(one), sent(one, last - 1), expired(other), sent(other, last)]);
    } else {
        events.extend([sent(one, last - 1), sent(other, last)]);
    }
    events.push(sent(1500, last + 1));
    events.push(acked(1550, 1, &format!("[[0,4],[{},{}]]", last + 1, last + 1)));
    events.extend((5..=last).map(|number| lost(1550, number)));
    events.push(format!(
        r#"{{"time":1550,"name":"recovery:congestion_state_updated","data":{{"new":"recovery","trigger":"{trigger}"}}}}"#
    ));
    events.push(sent(1560, last + 2));
    events.push(acked(1610, 2, &format!("[[0,4],[{},{}]]", last + 1, last + 2)));
    events.push(acked(3000, 3, &format!("[[0,4],[{},{}]]", last + 1, last + 2)));
    diagnosed(&lines(&events))
}

#[test]
fn a_burst_of_losses_and_persistent_congestion_are_named() {
    let said = |found: &LogDocument| {
        let texts = found.answer.sentences.iter().map(|sentence| &sentence.text[..]);
        texts.collect::<Vec<_>>().join(" ")
    };
    let text = said(&outage(12, true, "persistent_congestion"));
    let burst = "12 packets in a row were lost, all that was sent for 595 ms from 105 ms on: an";
    assert!(text.contains(burst), "{text}");
    assert!(text.contains("The sender found persistent congestion once, and reduced"), "{text}");
    let text = said(&outage(12, false, "ecn"));
    assert!(text.contains("12 packets in a row were lost, sent within 11 ms from"), "{text}");
    assert!(!text.contains("outage") && !text.contains("persistent"), "{text}");
    assert!(!said(&outage(9, true, "ecn")).contains("in a row"));
}
