//! Tests of causes outside of the path's losses and delays: windows without their scale, a small
//! MTU, a full listen queue, small segments that wait for delayed ACKs, resets of the sender, SACK
//! blocks of other sequence numbers.

use rtolab_capture::{Interface, RUN_START, Writer};
use rtolab_diagnose::{FailureKind, NetworkVerdict, what_if};
use rtolab_tcp::wire::SackBlock;
use rtolab_tcp::{Flags, Timestamps};

use crate::failures::{MSS, RTT, Script, WINDOW, diagnosed, failed, text};
use crate::packets::reversed;

/// The times of retransmissions of a packet that was sent at this time.
const BACKOFFS: [u64; 4] = [0, 1000, 3000, 7000];

/// A handshake that was captured at the server.
fn opened_at_server() -> Script {
    let mut script = Script::new(1);
    script.syn(0);
    script.server(0, Flags::SYN | Flags::ACK, (0, 1), WINDOW);
    script.client(RTT, Flags::ACK, (1, 1, 0));
    script
}

/// Data of the server.
fn response(script: &mut Script, millis: u64, (seq, ack, len): (u32, u32, u32)) {
    script.client(millis, Flags::ACK, (seq, ack, len));
    let last = script.packets.last_mut().expect("a packet");
    last.packet = reversed(last.packet.clone());
}

/// A client that offers window scaling and sends 70 bytes at a time into a window of 75 bytes.
/// `scale` is the window scale of the SYN-ACK.
fn tiny_windows(scale: Option<u8>) -> Script {
    let mut script = Script::opened(1);
    script.packets[0].packet.segment.syn.window_scale = Some(7);
    script.packets[1].packet.segment.syn.window_scale = scale;
    for n in 0..4 {
        script.data(100, 1 + n * MSS, MSS);
    }
    script.server(100 + RTT, Flags::ACK, (1, 1 + 4 * MSS), 75);
    for n in 0..100 {
        let at = 400 + 300 * u64::from(n);
        script.data(at, 1 + 4 * MSS + n * 70, 70);
        script.server(at + RTT, Flags::ACK, (1, 1 + 4 * MSS + (n + 1) * 70), 75);
    }
    script
}

#[test]
fn a_window_whose_scale_the_path_removed_is_the_limit() {
    let removed = text(&diagnosed(vec![tiny_windows(None)]));
    assert!(removed.contains("The receiver's window was the limit for 30"), "{removed}");
    assert!(removed.contains("60 kB in the SYN-ACK, and at most 75 bytes after"), "{removed}");
    assert!(!removed.contains("application"), "{removed}");
    let scaled = text(&diagnosed(vec![tiny_windows(Some(7))]));
    assert!(scaled.contains("its application had nothing to send"), "{scaled}");
    assert!(!scaled.contains("window was"), "{scaled}");
}

#[test]
fn a_window_without_room_for_a_segment_is_no_path_for_other_senders() {
    let interface = Interface::named("test");
    let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
    for captured in tiny_windows(None).packets {
        writer.packet(&captured.packet).expect("a vector");
    }
    let capture = writer.finish().expect("a vector");
    let refusal = what_if(&capture[..], 1, &mut || true).err().expect("a refusal").to_string();
    assert!(refusal.contains("this one's is 75 bytes at most"), "{refusal}");
}

/// A server that answers a request with full segments, which nothing acknowledges. `before` says
/// what it sent and got an ACK for.
fn unanswered_response(before: u32) -> String {
    let mut script = opened_at_server();
    script.data(100, 1, 100);
    if before > 0 {
        response(&mut script, 100, (1, 101, before));
        script.client(140, Flags::ACK, (101, 1 + before, 0));
    }
    for after in BACKOFFS {
        response(&mut script, 200 + after, (1 + before, 101, MSS));
    }
    text(&failed(script).1)
}

#[test]
fn full_segments_of_a_server_that_nothing_answers_suggest_a_small_mtu() {
    assert!(unanswered_response(0).contains("tcp_mtu_probing=1"));
    assert!(unanswered_response(400).contains("tcp_mtu_probing=1"), "small ones got through");
    assert!(!unanswered_response(MSS).contains("MTU"), "a full one got through");
}

#[test]
fn full_segments_of_a_server_suggest_a_small_mtu_although_the_client_closes() {
    let mut script = opened_at_server();
    script.data(100, 1, 100);
    for after in BACKOFFS {
        response(&mut script, 200 + after, (1, 101, MSS));
    }
    script.client(8000, Flags::FIN | Flags::ACK, (101, 1, 0));
    response(&mut script, 8000, (1 + MSS, 102, 0));
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::DataUnanswered));
    let text = text(&document);
    assert!(
        text.starts_with("In the connection's last 7.8 s 10.0.0.1:1000 acknowledged"),
        "{text}"
    );
    assert!(text.contains("tcp_mtu_probing=1") && !text.contains("whether"), "{text}");
}

/// Four full segments of which the first is retransmitted three times, the last time with this
/// length; then all data gets through in segments of that length.
fn outage_until(length: u32) -> String {
    let mut script = Script::opened(1);
    for n in 0..4 {
        script.data(100, 1 + n * MSS, MSS);
    }
    for after in &BACKOFFS[1..3] {
        script.data(100 + after, 1, MSS);
    }
    for n in 0..100 {
        let at = 7100 + u64::from(n) * RTT;
        script.data(at, 1 + n * length, length);
        script.ack(at + RTT, 1 + (n + 1) * length);
    }
    add_timestamps(&mut script);
    text(&diagnosed(vec![script]))
}

/// Adds timestamps: the time in milliseconds, and the last one of the other end.
fn add_timestamps(script: &mut Script) {
    let mut latest = [0; 2];
    for packet in script.packets.iter_mut().map(|captured| &mut captured.packet) {
        let value = (packet.at.since(RUN_START).nanos() / 1_000_000) as u32 + 1;
        let (own, other) = if packet.segment.ports.from == 80 { (1, 0) } else { (0, 1) };
        packet.segment.timestamps = Some(Timestamps { value, echo: latest[other] });
        // They take 12 bytes of each segment.
        packet.segment.syn.mss = packet.segment.syn.mss.map(|mss| mss + 12);
        latest[own] = value;
    }
}

#[test]
fn a_smaller_segment_that_ends_an_outage_shows_a_small_mtu() {
    let small = outage_until(MSS / 2);
    assert!(small.contains("until the sender reduced its segments from 1000 to 500 b"), "{small}");
    assert!(small.contains("Find the MTU of the path"), "{small}");
    let full = outage_until(MSS);
    assert!(full.contains("an outage of the path.") && !full.contains("MTU"), "{full}");
}

#[test]
fn a_server_that_never_answers_the_first_data_did_not_accept_the_connection() {
    let of = |mut script: Script| {
        for after in BACKOFFS {
            script.data(100 + after, 1, MSS / 2);
        }
        failed(script)
    };
    let (kind, document) = of(opened_at_server());
    assert_eq!(kind, Some(FailureKind::NotAccepted));
    assert_eq!(document.summary.totals.unneeded, 0);
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
    let at_server = text(&document);
    assert!(at_server.contains("packets arrived there: the listen queue"), "{at_server}");
    assert!(!at_server.contains("F-RTO") && !at_server.contains("late"), "{at_server}");
    let (kind, document) = of(Script::opened(1));
    assert_eq!(kind, Some(FailureKind::NotAccepted));
    assert!(text(&document).contains("discards the client's packets looks the same"));
}

#[test]
fn a_server_that_repeats_its_syn_ack_did_not_accept_the_connection() {
    let mut script = opened_at_server();
    for after in &BACKOFFS[1..] {
        script.server(*after, Flags::SYN | Flags::ACK, (0, 1), WINDOW);
        script.client(after + RTT, Flags::ACK, (1, 1, 0));
    }
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::NotAccepted));
    assert_eq!(document.summary.totals.unneeded, 0);
    assert!(!text(&document).contains("opened late"), "{}", text(&document));
}

#[test]
fn a_server_that_answers_at_last_accepted_the_connection() {
    let mut script = opened_at_server();
    for after in BACKOFFS {
        script.data(100 + after, 1, MSS / 2);
    }
    script.ack(7100, 1 + MSS / 2);
    assert_eq!(failed(script).0, None);
}

/// A client that writes each of 20 messages in two parts. The ACK of the first part comes after a
/// round trip and 40 ms, the second part this much later.
fn messages(later: u64) -> String {
    let mut script = Script::opened(1);
    for n in 0..20 {
        let (at, seq) = (100 + 200 * u64::from(n), 1 + 10 * n);
        script.data(at, seq, 5);
        script.ack(at + RTT + 40, seq + 5);
        script.data(at + RTT + 40 + later, seq + 5, 5);
        script.ack(at + 2 * RTT + 40 + later, seq + 10);
    }
    text(&diagnosed(vec![script]))
}

#[test]
fn small_segments_that_wait_for_delayed_acks_are_named() {
    let held = messages(0);
    assert!(held.contains("For 800 ms the client held small segments back until the"), "{held}");
    assert!(held.contains("`TCP_NODELAY`") && !held.contains("look at the appl"), "{held}");
    let later = messages(20);
    assert!(!later.contains("TCP_NODELAY"), "{later}");
}

#[test]
fn a_reset_of_the_sender_right_after_its_data_ends_a_connection() {
    let upload = |response_len: u32, flags: Flags| {
        let mut script = opened_at_server();
        for n in 0..10 {
            script.data(100, 1 + n * MSS, MSS);
            script.ack(100, 1 + (n + 1) * MSS);
        }
        let end = 1 + 10 * MSS;
        if response_len > 0 {
            response(&mut script, 100, (1, end, response_len));
            script.client(100 + RTT, Flags::ACK, (end, 1 + response_len, 0));
        }
        script.client(120 + RTT, flags, (end, 1, 0));
        failed(script)
    };
    let (kind, document) = upload(0, Flags::RST);
    assert_eq!(kind, Some(FailureKind::Reset));
    let reset = text(&document);
    assert!(reset.contains("A reset of the client ended the connection right after"), "{reset}");
    assert_eq!(upload(200, Flags::RST).0, None, "the client had its response");
    let closed = upload(0, Flags::RST | Flags::ACK).0;
    assert_eq!(closed, None, "a program may close by a reset");
}

/// Ten losses, each reported by three ACKs with SACK blocks that are off by `shift`.
fn losses(shift: u32) -> String {
    let mut script = Script::opened(1);
    for end in 0..2 {
        script.packets[end].packet.segment.syn.sack_permitted = true;
    }
    for n in 0..10 {
        let (at, seq) = (100 + 2000 * u64::from(n), 1 + 4 * n * MSS);
        (0..4).for_each(|one| script.data(at, seq + one * MSS, MSS));
        for one in 2..5 {
            script.ack(at + RTT, seq);
            let [start, end] = [seq + MSS, seq + one * MSS].map(|seq| seq.wrapping_add(shift));
            let last = script.packets.last_mut().expect("a packet");
            last.packet.segment.sack.push(SackBlock { start, end });
        }
        script.data(at + 500, seq, MSS);
        script.ack(at + 500 + RTT, seq + 4 * MSS);
    }
    text(&diagnosed(vec![script]))
}

#[test]
fn sack_blocks_of_other_sequence_numbers_are_named() {
    for shift in [0x1234_5678, 0xa000_0000] {
        let shifted = losses(shift);
        assert!(shifted.contains("SACK blocks report sequence numbers that were"), "{shifted}");
    }
    let own = losses(0);
    assert!(!own.contains("SACK blocks report"), "{own}");
}
