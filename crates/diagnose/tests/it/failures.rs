//! Tests of connections that fail, of times in which nothing is lost or late (closed windows and
//! idle connections with keep-alives), and of senders that recover slowly.

use crate::packets::{packet, reversed};
use rtolab_capture::{Captured, RUN_START};
use rtolab_diagnose::{Diagnosis, Document, FailureKind, NetworkVerdict, SkippedPackets, Wait};
use rtolab_tcp::wire::SackBlock;
use rtolab_tcp::{Flags, SynOptions, Timestamps};
use rtolab_time::Duration;

/// The payload of a full segment in bytes.
pub(crate) const MSS: u32 = 1000;
pub(crate) const WINDOW: u16 = 60_000;
/// The round-trip time in milliseconds. The capture is made at the client.
pub(crate) const RTT: u64 = 40;

/// The packets of a connection. All times are in milliseconds, sequence numbers begin at 0.
pub(crate) struct Script {
    client: u32,
    pub packets: Vec<Captured>,
}

impl Script {
    pub fn new(client: u32) -> Self {
        Self { client, packets: Vec::new() }
    }

    pub fn opened(client: u32) -> Self {
        let mut script = Self::new(client);
        script.syn(0);
        script.server(RTT, Flags::SYN | Flags::ACK, (0, 1), WINDOW);
        script.client(RTT, Flags::ACK, (1, 1, 0));
        script
    }

    pub fn syn(&mut self, millis: u64) {
        self.client(millis, Flags::SYN, (0, 0, 0));
    }

    pub fn client(&mut self, millis: u64, flags: Flags, (seq, ack, len): (u32, u32, u32)) {
        let number = self.packets.len() as u64 + 1;
        let mut captured = packet(number, self.client, flags, (seq, len));
        captured.packet.at = RUN_START + Duration::from_millis(millis);
        captured.packet.segment.ack = ack;
        captured.packet.segment.window = WINDOW;
        if flags.has(Flags::SYN) {
            let mss = Some(MSS as u16);
            captured.packet.segment.syn = SynOptions { mss, ..SynOptions::default() };
        }
        self.packets.push(captured);
    }

    /// A packet of the server without data.
    pub fn server(&mut self, millis: u64, flags: Flags, (seq, ack): (u32, u32), window: u16) {
        self.client(millis, flags, (seq, ack, 0));
        let packet = &mut self.packets.last_mut().expect("a packet").packet;
        *packet = reversed(packet.clone());
        packet.segment.window = window;
    }

    pub fn data(&mut self, millis: u64, seq: u32, len: u32) {
        self.client(millis, Flags::ACK, (seq, 1, len));
    }

    pub fn ack(&mut self, millis: u64, ack: u32) {
        self.server(millis, Flags::ACK, (1, ack), WINDOW);
    }

    /// Full segments, each acknowledged after a round trip.
    pub fn transfer(&mut self, from: u64, segments: u32) -> u32 {
        for n in 0..segments {
            let at = from + u64::from(n) * RTT;
            self.data(at, 1 + n * MSS, MSS);
            self.ack(at + RTT, 1 + (n + 1) * MSS);
        }
        1 + segments * MSS
    }
}

pub(crate) fn diagnosed(scripts: Vec<Script>) -> Document {
    let mut packets: Vec<Captured> = scripts.into_iter().flat_map(|one| one.packets).collect();
    packets.sort_by_key(|captured| captured.packet.at);
    let mut diagnosis = Diagnosis::new();
    for (packet, number) in packets.iter_mut().zip(1..) {
        packet.number = number;
        diagnosis.packet(packet);
    }
    Document::of(diagnosis, SkippedPackets::default())
}

pub(crate) fn text(document: &Document) -> String {
    let texts = document.answer.sentences.iter().map(|sentence| &sentence.text[..]);
    texts.collect::<Vec<_>>().join(" ")
}

/// The kind of the failure of the only connection, and the answer.
pub(crate) fn failed(script: Script) -> (Option<FailureKind>, Document) {
    let document = diagnosed(vec![script]);
    (document.connections[0].failure.map(|failure| failure.kind), document)
}

/// The times of retransmissions after this one.
pub(crate) fn backoffs(first: u64) -> impl Iterator<Item = u64> {
    [0, 1000, 3000, 7000].into_iter().map(move |after| first + after)
}

#[test]
fn a_syn_without_an_answer_is_no_capture_of_one_direction() {
    let mut script = Script::new(1);
    backoffs(0).for_each(|at| script.syn(at));
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::SynUnanswered));
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
    let text = text(&document);
    assert!(text.starts_with("192.0.2.1:80 never answered the client's SYN, for 7.0 s."), "{text}");
    assert!(!text.contains("direction"), "{text}");
}

#[test]
fn a_reset_that_answers_the_syn_refuses_the_connection() {
    let mut script = Script::new(1);
    script.syn(0);
    script.server(RTT, Flags::RST | Flags::ACK, (0, 1), 0);
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::Refused));
    assert!(text(&document).starts_with("192.0.2.1:80 refused the connection"));
}

#[test]
fn a_syn_ack_that_is_never_acknowledged_opens_no_connection() {
    let mut script = Script::new(1);
    script.syn(0);
    backoffs(1).for_each(|at| script.server(at, Flags::SYN | Flags::ACK, (0, 1), WINDOW));
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::SynAckUnanswered));
    let text = text(&document);
    assert!(text.starts_with("The connection never opened: 10.0.0.1:1000 never"), "{text}");
    assert!(!text.contains("opened late"), "{text}");
}

#[test]
fn data_that_nothing_answers_any_more_ends_a_connection() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    backoffs(1000).for_each(|at| script.data(at, seq, MSS));
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::DataUnanswered));
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
    let text = text(&document);
    assert!(
        text.starts_with("In the connection's last 7.0 s nothing came back from 192.0.2.1"),
        "{text}"
    );
    assert!(text.contains("1.0 kB stayed without"), "{text}");
    assert!(!text.contains("MTU") && !text.contains("whether"), "{text}");
}

#[test]
fn full_segments_alone_that_nothing_answers_suggest_a_small_mtu() {
    let mut script = Script::opened(1);
    backoffs(100).for_each(|at| script.data(at, 1, MSS));
    assert!(text(&failed(script).1).contains("tcp_mtu_probing=1"));

    let mut script = Script::opened(1);
    backoffs(100).for_each(|at| script.data(at, 1, MSS / 2));
    assert!(!text(&failed(script).1).contains("MTU"));
}

#[test]
fn two_retransmissions_without_an_answer_are_no_failure() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    backoffs(1000).take(3).for_each(|at| script.data(at, seq, MSS));
    assert_eq!(failed(script).0, None);
}

#[test]
fn keep_alives_that_nothing_answers_show_that_the_connection_died() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    for n in 1..=4 {
        script.client(n * 15_000, Flags::ACK, (seq - 1, 1, 0));
    }
    script.client(75_000, Flags::RST | Flags::ACK, (seq, 1, 0));
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::KeepAliveUnanswered));
    assert_eq!(document.connections[0].failure.expect("a failure").repeats, 4);
    assert!(!text(&document).contains("application"), "{}", text(&document));
}

#[test]
fn a_reset_while_data_is_outstanding_ends_a_connection() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    script.data(300, seq, MSS);
    script.server(320, Flags::RST, (1, 0), 0);
    let (kind, document) = failed(script);
    assert_eq!(kind, Some(FailureKind::Reset));
    let text = text(&document);
    assert!(text.starts_with("The server reset the connection, with 1.0 kB"), "{text}");

    // After the FINs a reset is usual.
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    script.client(300, Flags::FIN | Flags::ACK, (seq, 1, 0));
    script.server(340, Flags::RST, (1, 0), 0);
    assert_eq!(failed(script).0, None);
}

#[test]
fn a_reset_with_another_hop_limit_comes_from_the_path() {
    for (hops, expected) in [(52, None), (250, Some(FailureKind::Reset))] {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 3);
        for captured in &mut script.packets {
            let is_client = captured.packet.segment.ports.to == 80;
            captured.hops = if is_client { 64 } else { 52 };
        }
        script.server(400, Flags::RST, (1, seq), 0);
        script.packets.last_mut().expect("a packet").hops = hops;
        let (kind, document) = failed(script);
        assert_eq!(kind, expected);
        assert_eq!(text(&document).contains("hop limit of 250"), expected.is_some());
    }
}

/// One direction shows no answers, so that nothing can be said about them.
#[test]
fn one_direction_shows_no_failure() {
    for opens in [true, false] {
        let mut script = Script::opened(1);
        let mut seq = script.transfer(100, 20);
        for from in [1000, 3000, 5000, 7000] {
            script.data(from, seq, MSS);
            script.data(from + 1000, seq, MSS);
            seq += MSS;
        }
        let is_of_client = |one: &Captured| one.packet.segment.ports.to == 80;
        script.packets.retain(is_of_client);
        if !opens {
            script.packets.drain(..2);
        }
        let (kind, document) = failed(script);
        assert_eq!((kind, document.connections[0].only_from), (None, Some("client")), "{opens}");
    }
}

#[test]
fn one_healthy_connection_beside_a_syn_without_an_answer_is_healthy() {
    let mut healthy = Script::opened(1);
    healthy.transfer(100, 400);
    let mut unanswered = Script::new(2);
    backoffs(0).for_each(|at| unanswered.syn(at));
    let document = diagnosed(vec![healthy, unanswered]);
    assert_eq!(document.answer.network, NetworkVerdict::Healthy);
    let loss = document.answer.loss.expect("a share of lost segments");
    assert!(loss.high < 0.01, "SYNs are no data: {loss:?}");
    assert!(text(&document).starts_with("These paths lose nothing."), "{}", text(&document));
}

#[test]
fn a_lost_fin_is_no_lost_data() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 400);
    let at = 100 + 401 * RTT;
    for (after, stamp) in [(0, 11), (1000, 1011)] {
        script.client(at + after, Flags::FIN | Flags::ACK, (seq, 1, 0));
        let packet = &mut script.packets.last_mut().expect("a packet").packet;
        packet.segment.timestamps = Some(Timestamps { value: stamp, echo: 7 });
    }
    script.ack(at + 1000 + RTT, seq + 1);
    let packet = &mut script.packets.last_mut().expect("a packet").packet;
    packet.segment.timestamps = Some(Timestamps { value: 8, echo: 1011 });
    let document = diagnosed(vec![script]);
    let totals = &document.summary.totals;
    assert_eq!((totals.needed, totals.lost, totals.lost_fins), (1, 0, 1));
    assert_eq!(document.answer.network, NetworkVerdict::Lossy);
    assert!(text(&document).starts_with("This path loses no data."), "{}", text(&document));
}

#[test]
fn zero_window_probes_without_an_answer_are_no_retransmissions() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    script.server(300, Flags::ACK, (1, seq), 0);
    backoffs(500).for_each(|at| script.client(at, Flags::ACK, (seq, 1, 1)));
    assert_eq!(failed(script).0, None);
}

#[test]
fn of_many_connections_failures_come_after_the_state_of_the_paths() {
    let mut scripts: Vec<Script> = (1..=5).map(Script::opened).collect();
    for script in &mut scripts {
        script.transfer(100, 100);
    }
    for client in 6..=7 {
        let mut script = Script::new(client);
        backoffs(0).for_each(|at| script.syn(at));
        scripts.push(script);
    }
    let document = diagnosed(scripts);
    assert_eq!(document.answer.network, NetworkVerdict::Healthy);
    let text = text(&document);
    assert!(text.starts_with("These paths lose nothing. 2 connections got no answer"), "{text}");
    assert!(text.contains("192.0.2.1:80"), "{text}");
}

#[test]
fn a_lost_syn_is_no_lost_data() {
    let mut script = Script::new(1);
    script.syn(0);
    script.syn(1000);
    script.server(1000 + RTT, Flags::SYN | Flags::ACK, (0, 1), WINDOW);
    // The SYN-ACK answers the second SYN.
    for (packet, (value, echo)) in script.packets.iter_mut().zip([(1, 0), (1001, 0), (7, 1001)]) {
        packet.packet.segment.timestamps = Some(Timestamps { value, echo });
    }
    script.client(1000 + RTT, Flags::ACK, (1, 1, 0));
    script.transfer(1100, 400);
    let document = diagnosed(vec![script]);
    let totals = &document.summary.totals;
    assert_eq!((totals.needed, totals.lost, totals.lost_openings), (1, 0, 1));
    let text = text(&document);
    assert!(text.starts_with("This path loses no data. The connection opened late"), "{text}");
}

#[test]
fn answered_keep_alives_neither_interrupt_a_silence_nor_retransmit() {
    for len in [0, 1] {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 4);
        let last_ack = 100 + 4 * RTT;
        for n in 1..=8 {
            let at = last_ack + n * 2000;
            script.client(at, Flags::ACK, (seq - 1, 1, len));
            script.ack(at + RTT, seq);
            if len > 0 {
                // The receiver reports the byte as a duplicate.
                let packet = &mut script.packets.last_mut().expect("a packet").packet;
                packet.segment.sack.push(SackBlock { start: seq - 1, end: seq });
            }
        }
        let at = last_ack + 17_000;
        script.data(at, seq, MSS);
        script.ack(at + RTT, seq + MSS);
        let document = diagnosed(vec![script]);
        let report = &document.connections[0];
        assert_eq!(report.retransmissions.len(), 0, "{len}");
        assert_eq!((report.duplicated, report.segments), (0, [5, 0]), "{len}");
        let [silence] = &report.silences[..] else { panic!("{:?}", report.silences) };
        assert_eq!(silence.wait, Wait::Application, "{len}");
        assert!((silence.length - 17.0).abs() < 1e-6, "{len}: {silence:?}");
    }
}

#[test]
fn a_timer_that_does_not_expire_shows_that_the_host_stood_still() {
    for (late, wait) in [(4_000, Wait::Network), (60_000, Wait::Host)] {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 4);
        script.data(300, seq, MSS);
        script.ack(300 + late, seq + MSS);
        let document = diagnosed(vec![script]);
        let [silence] = &document.connections[0].silences[..] else { panic!("not one silence") };
        assert_eq!(silence.wait, wait);
        let text = text(&document);
        assert_eq!(text.contains("For 60.0 s the sender's host stood still"), late > 5_000);
        assert_eq!(text.contains("handover"), late < 5_000, "{text}");
    }
}

/// The findings about a client that sends ten segments at once, and one at the later times. The
/// server acknowledges selectively at 150 ms.
fn findings(later: &[u64]) -> usize {
    let mut script = Script::opened(1);
    let segments = later.iter().copied().map(|at| (at, true));
    for (n, (at, _)) in (0..).zip((0..10).map(|_| (100, false)).chain(segments)) {
        script.data(at, 1 + n * MSS, MSS);
    }
    script.server(150, Flags::ACK, (1, 1), WINDOW);
    let block = SackBlock { start: 1 + MSS, end: 1 + 2 * MSS };
    script.packets.last_mut().expect("a packet").packet.segment.sack.push(block);
    diagnosed(vec![script]).connections[0].findings.len()
}

#[test]
fn the_initial_window_ends_with_the_first_sack_block_or_wait() {
    assert_eq!(findings(&[100, 101]), 1);
    assert_eq!(findings(&[151, 152]), 0);
    assert_eq!(findings(&[190]), 0);
}

/// Six segments are lost, and after the first timeout each is repaired by a timeout of its own,
/// `wait` milliseconds after the acknowledgment of the one before.
fn repaired_by_timeouts(wait: u64) -> Document {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    (0..6).for_each(|n| script.data(300, seq + n * MSS, MSS));
    let mut at = 1300;
    for n in 0..6 {
        script.data(at, seq + n * MSS, MSS);
        script.ack(at + RTT, seq + (n + 1) * MSS);
        at += RTT + wait;
    }
    diagnosed(vec![script])
}

#[test]
fn a_sender_that_waits_for_its_timer_at_each_loss_is_named() {
    let document = repaired_by_timeouts(1000);
    let said = text(&document);
    assert!(said.contains("waited for its timer at each loss, 5 times for 5.2 s."), "{said}");
    assert!(!said.contains("outage"), "{said}");
    let said = text(&repaired_by_timeouts(0));
    assert!(!said.contains("at each loss"), "{said}");
}

/// The findings about a client that retransmits a segment after these waits in milliseconds.
fn backing_off(waits: &[u64]) -> Vec<&'static str> {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    let mut at = 300;
    script.data(at, seq, MSS);
    for wait in waits {
        at += wait;
        script.data(at, seq, MSS);
    }
    script.ack(at + RTT, seq + MSS);
    let document = diagnosed(vec![script]);
    document.connections[0].findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_sender_that_does_not_back_off_is_named() {
    assert_eq!(backing_off(&[1000; 4]), ["no-back-off"]);
    assert!(backing_off(&[1000; 3]).is_empty(), "two timeouts as long as the first are too few");
    assert!(backing_off(&[1000, 2000, 4000, 8000]).is_empty());
    assert!(backing_off(&[1000, 2000, 60_000, 60_000, 60_000, 60_000]).is_empty());
}
