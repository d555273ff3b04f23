//! Tests of what limits a transfer without losses: the receiver's window, and pauses of an
//! application; and of whether losses slow a sender down. The round trip is 40 ms.

use crate::packets::{packet, reversed};
use rtolab_capture::{Captured, RUN_START};
use rtolab_diagnose::{Diagnosis, Document, NetworkVerdict, SkippedPackets};
use rtolab_tcp::wire::SackBlock;
use rtolab_tcp::{Flags, SynOptions};
use rtolab_time::Duration;

const MSS: u32 = 1000;
const RTT: u64 = 40;

/// A capture at the client, of one connection.
struct Script(Diagnosis, u64);

impl Script {
    fn opened() -> Self {
        let mut script = Self(Diagnosis::new(), 0);
        script.client(0, Flags::SYN, (0, 0));
        script.server(RTT, Flags::SYN | Flags::ACK, (0, 1, 0), (60_000, None));
        script.client(RTT, Flags::ACK, (1, 0));
        script
    }

    fn captured(&mut self, millis: u64, flags: Flags, (seq, len): (u32, u32)) -> Captured {
        self.1 += 1;
        let mut captured = packet(self.1, 1, flags, (seq, len));
        captured.packet.at = RUN_START + Duration::from_millis(millis);
        captured.packet.segment.window = 60_000;
        if flags.has(Flags::SYN) {
            let (mss, sack_permitted) = (Some(MSS as u16), true);
            captured.packet.segment.syn =
                SynOptions { mss, sack_permitted, ..SynOptions::default() };
        }
        captured
    }

    fn client(&mut self, millis: u64, flags: Flags, data: (u32, u32)) {
        let captured = self.captured(millis, flags, data);
        self.0.packet(&captured);
    }

    fn server(
        &mut self,
        millis: u64,
        flags: Flags,
        (seq, ack, len): (u32, u32, u32),
        (window, sack): (u16, Option<SackBlock>),
    ) {
        let mut captured = self.captured(millis, flags, (seq, len));
        let packet = &mut captured.packet;
        packet.segment.ack = ack;
        packet.segment.window = window;
        packet.segment.sack.extend(sack);
        *packet = reversed(packet.clone());
        self.0.packet(&captured);
    }

    fn data(&mut self, millis: u64, n: u32) {
        self.client(millis, Flags::ACK, (1 + n * MSS, MSS));
    }

    /// The ACK of the first n segments.
    fn ack(&mut self, millis: u64, n: u32, window: u16) {
        self.server(millis, Flags::ACK, (1, 1 + n * MSS, 0), (window, None));
    }

    fn document(self) -> Document {
        Document::of(self.0, SkippedPackets::default())
    }
}

fn text(document: &Document) -> String {
    let texts = document.answer.sentences.iter().map(|sentence| &sentence.text[..]);
    texts.collect::<Vec<_>>().join(" ")
}

/// 100 flights of four segments, with room for this many after each ACK and this window.
fn flights(window: impl Fn(u64) -> u16) -> String {
    let mut script = Script::opened();
    for flight in 0..100 {
        let (at, first) = (100 + flight * RTT, 4 * flight as u32);
        (0..4).for_each(|n| script.data(at, first + n));
        script.ack(at + RTT, first + 4, window(flight));
    }
    text(&script.document())
}

#[test]
fn a_window_that_is_always_full_is_the_limit() {
    let small = flights(|_| 4000);
    assert!(small.contains("The receiver's window was full for 4.0 s, and hardly any"), "{small}");
    assert!(!small.contains("the link is the limit"), "{small}");
    let slow = flights(|flight| if flight == 0 { 60_000 } else { 4000 });
    assert!(slow.contains("was the limit for 3.4 s: it was small or closed, because"), "{slow}");
    let wide = flights(|_| 60_000);
    assert!(wide.contains("the link is the limit") && !wide.contains("window was"), "{wide}");
}

/// Ten requests, each answered by ten segments after this time.
fn responses(think: u64) -> String {
    let mut script = Script::opened();
    let mut at = 100;
    for request in 0..20 {
        let (seq, ack) = (1 + request * 10 * MSS, 1 + 100 * (request + 1));
        script.server(at, Flags::ACK, (ack - 100, seq, 100), (60_000, None));
        let mut answer = script.captured(at, Flags::ACK, (seq, 0));
        answer.packet.segment.ack = ack;
        script.0.packet(&answer);
        at += think;
        for n in 0..10 {
            let mut one = script.captured(at, Flags::ACK, (seq + n * MSS, MSS));
            one.packet.segment.ack = ack;
            script.0.packet(&one);
        }
        script.server(at + RTT, Flags::ACK, (ack, seq + 10 * MSS, 0), (60_000, None));
        at += RTT + 1;
    }
    text(&script.document())
}

/// The capture is made at the client, which answers requests of the server.
#[test]
fn short_pauses_of_an_application_sum_up() {
    let paused = responses(700);
    assert!(
        paused.contains("For 14.0 s the client sent nothing because its application"),
        "{paused}"
    );
    assert!(!paused.contains("the link is the limit"), "{paused}");
    let busy = responses(20);
    assert!(!busy.contains("application had nothing to send"), "{busy}");
}

/// 20 losses in flights of 20 segments, after each of which the flight has this many segments.
fn losses(after: u32) -> Document {
    let mut script = Script::opened();
    let (mut at, mut next) = (100, 0);
    for _ in 0..20 {
        (0..20).for_each(|n| script.data(at, next + n));
        let block = |n: u32| {
            let start = 1 + (next + 1) * MSS;
            Some(SackBlock { start, end: start + n * MSS })
        };
        for n in 1..20 {
            script.server(at + RTT, Flags::ACK, (1, 1 + next * MSS, 0), (60_000, block(n)));
        }
        script.data(at + RTT, next);
        script.ack(at + 2 * RTT, next + 20, 60_000);
        at += 2 * RTT;
        next += 20;
        (0..after).for_each(|n| script.data(at, next + n));
        script.ack(at + RTT, next + after, 60_000);
        at += RTT;
        next += after;
    }
    script.document()
}

#[test]
fn losses_after_which_the_flight_is_as_large_do_not_slow_the_sender_down() {
    let kept = text(&losses(20));
    assert!(kept.contains("The losses did not make the sender slow down"), "{kept}");
    let halved = text(&losses(10));
    assert!(halved.contains("Each loss makes the sender slow down"), "{halved}");
}

/// Duplicate ACKs of segments that arrive late, of which the capture cut off the SACK blocks.
#[test]
fn an_answer_without_sack_blocks_says_so() {
    let mut script = Script::opened();
    for flight in 0..100 {
        let (at, first) = (100 + u64::from(flight) * RTT, 4 * flight);
        (0..4).for_each(|n| script.data(at, first + n));
        let mut cut = script.captured(at + RTT, Flags::ACK, (1, 0));
        cut.packet.segment.ack = 1 + first * MSS;
        cut.packet = reversed(cut.packet);
        cut.cut_at = Some(68);
        script.0.packet(&cut);
        script.ack(at + RTT, first + 4, 60_000);
    }
    let document = script.document();
    let said = text(&document);
    assert!(said.starts_with("The capture cuts packets at 68 bytes, before the end"), "{said}");
    assert_eq!(document.answer.network, NetworkVerdict::Unknown);
}
