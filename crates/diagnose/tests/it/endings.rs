//! Tests of the ends of connections: resets and FINs, silences before them, and connections without
//! data.

use rtolab_diagnose::{FailureKind, NetworkVerdict};
use rtolab_tcp::{Flags, Timestamps};

use crate::failures::{MSS, RTT, Script, WINDOW, diagnosed, failed, text};
use crate::packets::reversed;

/// Full segments that the server sends from this time on, each acknowledged at once.
fn receive(script: &mut Script, from: u64, segments: u32) -> u32 {
    for n in 0..segments {
        let (at, seq) = (from + u64::from(n) * RTT, 1 + n * MSS);
        script.client(at, Flags::ACK, (seq, 1, MSS));
        let packet = &mut script.packets.last_mut().expect("a packet").packet;
        *packet = reversed(packet.clone());
        script.client(at, Flags::ACK, (1, seq + MSS, 0));
    }
    1 + segments * MSS
}

#[test]
fn a_reset_acknowledges_data() {
    for (flags, acked, expected) in [
        (Flags::RST | Flags::ACK, MSS, None),
        (Flags::RST | Flags::ACK, MSS / 2, Some(500)),
        // These acknowledge nothing.
        (Flags::RST, MSS, Some(1000)),
        (Flags::RST | Flags::ACK, 2 * MSS, Some(1000)),
    ] {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 3);
        script.data(300, seq, MSS);
        script.server(300 + RTT, flags, (1, seq + acked), 0);
        let (kind, document) = failed(script);
        assert_eq!(kind, expected.map(|_| FailureKind::Reset), "{flags:?} {acked}");
        let left = document.connections[0].failure.map(|failure| failure.outstanding);
        assert_eq!(left, expected, "{flags:?} {acked}");
    }
}

#[test]
fn a_reset_acknowledges_none_of_its_own_data() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    script.data(300, seq, MSS);
    script.client(310, Flags::RST | Flags::ACK, (seq + MSS, 1, 0));
    assert_eq!(failed(script).1.connections[0].failure.expect("a failure").outstanding, 1000);
}

#[test]
fn a_transfer_that_stops_before_its_receiver_gives_up_is_not_healthy() {
    let mut script = Script::opened(1);
    let seq = receive(&mut script, 100, 400);
    let end = 100 + 400 * RTT;
    script.client(end + 23_000, Flags::FIN | Flags::ACK, (1, seq, 0));
    let document = diagnosed(vec![script]);
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
    let text = text(&document);
    assert!(text.starts_with("Nothing more came from the server for 23.0 s, until the"), "{text}");
    assert!(text.contains("Until then this path loses nothing."), "{text}");
    assert!(text.contains("outside them it ran at 199 kbit/s"), "{text}");
    assert!(!text.contains("look at the application"), "{text}");
}

#[test]
fn an_idle_connection_that_its_receiver_closes_is_healthy() {
    let mut script = Script::opened(1);
    let seq = receive(&mut script, 100, 400);
    let at = 100 + 400 * RTT + 5000;
    script.client(at, Flags::FIN | Flags::ACK, (1, seq, 0));
    script.server(at + RTT, Flags::FIN | Flags::ACK, (seq, 2), WINDOW);
    script.client(at + RTT, Flags::ACK, (2, seq + 1, 0));
    let document = diagnosed(vec![script]);
    assert_eq!(document.answer.network, NetworkVerdict::Healthy);
    let text = text(&document);
    assert!(text.contains("The connection was idle for 5.0 s before an end closed it."), "{text}");
    assert!(text.contains("it ran at 199 kbit/s"), "{text}");
    assert!(!text.contains("stopped"), "{text}");
}

#[test]
fn connections_without_data_have_an_answer() {
    let scripts = |count: u32| (1..=count).map(Script::opened).collect();
    let document = diagnosed(scripts(1));
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
    let one = text(&document);
    assert!(one.starts_with("No data was captured: the connection carried none"), "{one}");
    let many = text(&diagnosed(scripts(2)));
    assert!(many.starts_with("No data was captured: the connections carried none"), "{many}");
}

#[test]
fn a_fin_of_a_server_without_data_that_nothing_answers_is_named() {
    let mut script = Script::opened(1);
    // The capture is made at the server.
    script.packets[1].packet.at = script.packets[0].packet.at;
    script.server(25_000, Flags::FIN | Flags::ACK, (1, 1), WINDOW);
    let text = text(&diagnosed(vec![script]));
    assert!(text.starts_with("Nothing more came from the client for 25.0 s"), "{text}");
    assert!(!text.contains("health check"), "{text}");
}

/// Four timestamps, of packets that are in the capture or not.
#[test]
fn a_direction_that_vanishes_from_the_capture_is_no_failure() {
    for (echoes, is_missing) in [([7, 7, 7, 7], false), ([9, 9, 9, 9], false), ([7, 8, 9, 9], true)]
    {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 100);
        for captured in &mut script.packets {
            let is_client = captured.packet.segment.ports.to == 80;
            let (value, echo) = if is_client { (1, 7) } else { (7, 1) };
            captured.packet.segment.timestamps = Some(Timestamps { value, echo });
        }
        for (at, echo) in [5000, 6000, 8000, 12_000].into_iter().zip(echoes) {
            script.data(at, seq, MSS);
            let packet = &mut script.packets.last_mut().expect("a packet").packet;
            packet.segment.timestamps = Some(Timestamps { value: 1, echo });
        }
        let (kind, document) = failed(script);
        assert_eq!(kind.is_none(), is_missing, "{echoes:?}");
        let missing = document.connections[0].missing_direction;
        assert_eq!(
            missing.map(|one| (one.from, one.since > 4.0)),
            is_missing.then_some(("server", true))
        );
        let text = text(&document);
        let start = "From 4.1 s on the capture lacks the packets of the server";
        assert_eq!(text.starts_with(start), is_missing, "{text}");
    }
}

/// A request that is acknowledged, and a FIN 5 s later whose acknowledgment has this sequence
/// number.
fn unanswered_request(from: u64, seq: u32) -> Script {
    let mut script = Script::opened(1);
    script.data(from, 1, 100);
    script.server(from + RTT, Flags::ACK, (1, 101), WINDOW);
    script.client(from + 5000, Flags::FIN | Flags::ACK, (101, 1, 0));
    script.server(from + 5000 + RTT, Flags::ACK, (seq, 102), WINDOW);
    script
}

#[test]
fn sequence_numbers_show_a_reply_that_never_arrived() {
    let document = diagnosed(vec![unanswered_request(RTT, 1 + 15 * MSS)]);
    assert_eq!(document.answer.network, NetworkVerdict::Lossy);
    let text = text(&document);
    let start = "The server sent 15 kB that never arrived here, and nothing acknowledged";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("None of its data arrived: the path may discard large"), "{text}");
    for wrong in ["loses nothing", "was idle", "not the reason"] {
        assert!(!text.contains(wrong), "{text}");
    }
}

/// As if another SYN-ACK had begun elsewhere.
#[test]
fn numbers_beyond_the_window_are_no_reply() {
    let text = text(&diagnosed(vec![unanswered_request(RTT, 1 + 15_000 * MSS)]));
    assert!(!text.contains("never arrived"), "{text}");
}

#[test]
fn a_server_that_sent_no_reply_lost_none() {
    let text = text(&diagnosed(vec![unanswered_request(RTT, 1)]));
    assert!(!text.contains("never arrived"), "{text}");
    assert!(text.contains("losses and delays are not the reason: look at the appl"), "{text}");
}

/// What is lost before a capture at the server, such as the first SYN, does not show there.
#[test]
fn only_a_capture_at_the_client_excludes_losses() {
    let mut script = unanswered_request(1, 1);
    for captured in &mut script.packets {
        // The server answers at once.
        let since = captured.packet.at.since(rtolab_capture::RUN_START);
        let is_of_server = captured.packet.segment.ports.from == 80;
        let earlier = rtolab_time::Duration::from_millis(if is_of_server { RTT } else { 0 });
        captured.packet.at = rtolab_capture::RUN_START + since.saturating_sub(earlier);
    }
    let text = text(&diagnosed(vec![script]));
    assert!(text.contains("not the reason as far as this capture shows"), "{text}");
    assert!(text.contains("such as the first SYN of a client"), "{text}");
}

/// What came before the data was sent does not count.
#[test]
fn packets_before_unanswered_data_are_no_answers() {
    let mut script = Script::opened(1);
    let seq = receive(&mut script, 100, 10);
    for at in [5000, 5300, 5900, 7100, 9500] {
        script.client(at, Flags::ACK, (1, seq, 100));
    }
    let document = failed(script).1;
    let [episode] = &document.connections[0].episodes[..] else { panic!("one episode") };
    let start = "Nothing came back any more, with 100 bytes outstanding";
    assert!(episode.description.starts_with(start), "{}", episode.description);
}

/// Data from another address, which a reset without or with an ACK field answers.
fn continued(seq: u32, flags: Flags) -> String {
    let mut before = Script::opened(1);
    let next = before.transfer(100, 3);
    assert_eq!(next, 1 + 3 * MSS);
    let mut script = Script::new(2);
    script.data(9000, seq, 100);
    script.server(9000 + RTT, flags, (1, 0), 0);
    text(&diagnosed(vec![before, script]))
}

#[test]
fn a_nat_that_gives_a_connection_another_port_is_named() {
    let text = continued(1 + 3 * MSS, Flags::RST);
    let said = "Connection 2 continues the sequence numbers of connection 1 from 10.0.0.2:1000 \
                instead of 10.0.0.1:1000. The client's port changed: a NAT";
    assert!(text.contains(said), "{text}");
    for (seq, flags) in [(2 + 3 * MSS, Flags::RST), (1 + 3 * MSS, Flags::RST | Flags::ACK)] {
        let text = continued(seq, flags);
        assert!(!text.contains("continues the sequence numbers"), "{text}");
    }
}

/// A program that gives up sends an ACK field.
#[test]
fn a_reset_without_an_ack_field_is_not_blamed_on_a_program() {
    for (flags, is_program) in [(Flags::RST, false), (Flags::RST | Flags::ACK, true)] {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 3);
        script.data(3000, seq, 100);
        script.server(3000 + RTT, flags, (1, seq), 0);
        let text = text(&failed(script).1);
        assert_eq!(text.contains("Its program or system gave up"), is_program, "{text}");
        assert_eq!(text.contains("its host did not know the connection"), !is_program, "{text}");
    }
}
