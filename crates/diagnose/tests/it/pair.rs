//! Tests of two captures of one transfer, in which network cards split and merged segments.

use std::convert::Infallible;

use rtolab_capture::{CapturedPacket, Interface, RUN_START, Writer};
use rtolab_diagnose::{
    Document, Necessity, NetworkVerdict, NotPaired, Pair, diagnose, diagnose_pair,
};
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Flags, SynOptions};
use rtolab_time::Duration;

use crate::packets::{segment, sent};

const LEN: u32 = 1000;

/// A packet: when it passes, whether the client sends it, its flags, SEQ, ACK and payload length.
type Event = (u64, bool, Flags, u32, u32, u32);

fn capture(events: &[Event]) -> Vec<u8> {
    capture_with(events, true)
}

/// As [`capture`], with SACK or without it.
fn capture_with(events: &[Event], sack_permitted: bool) -> Vec<u8> {
    // Identifications go on by one for each part of a split segment.
    let identification = |_, seq: u32| (seq.wrapping_sub(u32::MAX - 20_000) / LEN) as u16;
    capture_of(events, sack_permitted, identification)
}

/// As [`capture_with`], with identifications that depend on the time and SEQ.
fn capture_of(
    events: &[Event],
    sack_permitted: bool,
    identification: impl Fn(u64, u32) -> u16,
) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Interface::default()).expect("a writer");
    for &(millis, forward, flags, seq, ack, len) in events {
        let syn = SynOptions { mss: Some(1000), sack_permitted, ..SynOptions::default() };
        let segment = WireSegment { syn, ..segment(flags, (seq, ack, len)) };
        let packet = CapturedPacket {
            identification: identification(millis, seq),
            ..sent(forward, RUN_START + Duration::from_millis(millis), segment)
        };
        writer.packet(&packet).expect("a packet");
    }
    writer.finish().expect("a capture")
}

/// The capture at the client or at the server, if the data are captured there as these ranges. The
/// path takes 10 ms, and both clocks agree.
fn end(isn: u32, far: bool, data: &[(u32, u32)]) -> Vec<u8> {
    let end = isn.wrapping_add(1 + 4 * LEN);
    let of = |forward: bool| if far == forward { 10 } else { 0 };
    let (client, server) = (of(true), of(false));
    let first = isn.wrapping_add(1);
    let mut events = vec![
        (client, true, Flags::SYN, isn, 0, 0),
        (20 + server, false, Flags::SYN | Flags::ACK, 7, first, 0),
        (40 + client, true, Flags::ACK, first, 8, 0),
    ];
    for &(offset, len) in data {
        events.push((50 + client, true, Flags::ACK, first.wrapping_add(offset), 8, len));
    }
    events.push((70 + server, false, Flags::ACK, 8, end, 0));
    events.push((90 + client, true, Flags::ACK, end, 8, 0));
    capture(&events)
}

/// The comparison of two captures.
fn pair(captures: &[Vec<u8>; 2]) -> Result<Pair, NotPaired> {
    let found = diagnose_pair::<_, Infallible>(|index| Ok(&captures[index][..]), |_| Ok(()));
    let Ok(document) = found;
    document.map(|document| document.pair.expect("a pair"))
}

/// Both captures' comparison, if the data are captured as these ranges at the client and at the
/// server.
fn compare(isn: u32, sent: &[(u32, u32)], received: &[(u32, u32)]) -> Pair {
    pair(&[end(isn, false, sent), end(isn, true, received)]).expect("a pair")
}

#[test]
fn two_captures_from_one_place_are_no_pair() {
    let data = [0, 1, 2, 3].map(|n| (n * LEN, LEN));
    for far in [false, true] {
        let [one, other] = [&data[..], &data[..3]].map(|data| end(1, far, data));
        let connections = |captures| pair(&captures).map(|pair| pair.connections);
        assert_eq!(connections([one.clone(), one.clone()]), Err(NotPaired::SamePlace(9)));
        assert_eq!(connections([one.clone(), other]), Err(NotPaired::SamePlace(8)));
        assert_eq!(connections([one, end(1, !far, &data)]), Ok(1));
    }
}

/// The initial sequence numbers: the data wrap around in none, in the second segment, or in the
/// last one.
const ISNS: [u32; 3] = [u32::MAX - 15_000, u32::MAX - 1500, u32::MAX - 3500];

#[test]
fn the_parts_of_a_split_segment_arrive() {
    let parts = [0, 1, 2, 3].map(|n| (n * LEN, LEN));
    for isn in ISNS {
        let pair = compare(isn, &[(0, 4 * LEN)], &parts);
        let out = &pair.directions[0];
        assert_eq!((out.packets, out.lost), (4, 0), "{isn}");
    }
}

#[test]
fn merged_segments_arrive() {
    let parts = [0, 1, 2, 3].map(|n| (n * LEN, LEN));
    for isn in ISNS {
        let pair = compare(isn, &parts, &[(0, 4 * LEN)]);
        let out = &pair.directions[0];
        assert_eq!((out.packets, out.lost), (7, 0), "{isn}");
        let pair = compare(isn, &parts, &[(0, 2 * LEN)]);
        assert_eq!(pair.directions[0].lost, 2, "{isn}");
    }
}

/// The document of the pair of captures of client and server.
fn document(captures: &[Vec<u8>; 2]) -> Document {
    let found = diagnose_pair::<_, Infallible>(|index| Ok(&captures[index][..]), |_| Ok(()));
    let Ok(document) = found;
    document.expect("a pair")
}

/// A handshake whose packets of client and server pass with these delays.
fn handshake(client: u64, server: u64) -> Vec<Event> {
    vec![
        (client, true, Flags::SYN, 1, 0, 0),
        (10 + server, false, Flags::SYN | Flags::ACK, 7, 2, 0),
        (20 + client, true, Flags::ACK, 2, 8, 0),
    ]
}

#[test]
fn a_path_that_loses_acknowledgments_is_not_healthy() {
    for answers in [false, true] {
        let (mut here, mut there) = (handshake(0, 10), handshake(10, 0));
        for n in 0..20 {
            let (at, seq) = (50 + u64::from(n) * 20, 2 + n * LEN);
            here.push((at, true, Flags::ACK, seq, 8, LEN));
            there.push((at + 10, true, Flags::ACK, seq, 8, LEN));
            let len = u32::from(answers && n == 19);
            there.push((at + 10, false, Flags::ACK, 8, seq + LEN, len));
            if n % 2 == 1 {
                here.push((at + 20, false, Flags::ACK, 8, seq + LEN, len));
            }
        }
        here.sort_by_key(|event| event.0);
        there.sort_by_key(|event| event.0);
        let document = document(&[capture(&here), capture(&there)]);
        let answer = document.answer;
        assert_eq!(answer.network, NetworkVerdict::Lossy);
        assert_eq!(answer.connections[0].network, NetworkVerdict::Lossy);
        let text = &answer.sentences[0].text;
        assert!(text.starts_with("This path loses no data"), "{text}");
        assert!(answer.sentences[2].text.contains("back to the sender, 10 packets were lost"));
    }
}

/// The lost SYN is no data, so that the sender's capture alone does not say "nothing".
#[test]
fn lost_acknowledgments_are_named_beside_a_lost_syn() {
    let (mut here, mut there) = (vec![(0, true, Flags::SYN, 1, 0, 0)], vec![]);
    let later = |events: Vec<Event>| {
        events.into_iter().map(|one| (one.0 + 1000, one.1, one.2, one.3, one.4, one.5))
    };
    here.extend(later(handshake(0, 10)));
    there.extend(later(handshake(10, 0)));
    for n in 0..20 {
        let (at, seq) = (1050 + u64::from(n) * 20, 2 + n * LEN);
        here.push((at, true, Flags::ACK, seq, 8, LEN));
        there.push((at + 10, true, Flags::ACK, seq, 8, LEN));
        there.push((at + 10, false, Flags::ACK, 8, seq + LEN, 0));
        if n % 2 == 1 {
            here.push((at + 20, false, Flags::ACK, 8, seq + LEN, 0));
        }
    }
    here.sort_by_key(|event| event.0);
    there.sort_by_key(|event| event.0);
    let answer = document(&[capture(&here), capture(&there)]).answer;
    // 1 of 23, with the SYN that arrives and the ACK of the handshake; 10 of 21, with the SYN-ACK.
    let text = "This path loses 4.3 % of the packets to the receiver, and 48 % of the \
                acknowledgments.";
    assert_eq!(answer.sentences[0].text, text);
    assert_eq!(answer.connections[0].sentences[0], answer.sentences[0]);
}

#[test]
fn packets_before_the_end_of_the_other_capture_are_lost() {
    let data = |at, seq| (at, true, Flags::ACK, seq, 8, LEN);
    let (mut here, mut there) = (handshake(0, 10), handshake(10, 0));
    here.extend([data(50, 2), data(51, 2 + LEN), data(300, 2), data(2000, 2), data(4991, 2)]);
    there.push((5000, false, Flags::FIN | Flags::ACK, 8, 2, 0));
    let document = document(&[capture(&here), capture(&there)]);
    let [out, back] = document.pair.expect("a pair").directions;
    assert_eq!((out.lost, out.missing_at_end), (4, 1));
    assert_eq!((back.lost, back.missing_at_end), (0, 1));
    let verdicts = document.connections[0].retransmissions.iter().map(|one| one.verdict);
    let expected = [Necessity::Needed, Necessity::Needed, Necessity::Unknown];
    assert_eq!(verdicts.collect::<Vec<_>>(), expected);
}

#[test]
fn data_that_was_never_retransmitted_is_lost() {
    let data = |at, n: u32| (at, true, Flags::ACK, 2 + n * LEN, 8, LEN);
    let (mut here, mut there) = (handshake(0, 10), handshake(10, 0));
    here.extend((0..4).map(|n| data(50 + u64::from(n), n)));
    there.push(data(60, 0));
    there.push((5000, false, Flags::FIN | Flags::ACK, 8, 2 + LEN, 0));
    let document = document(&[capture(&here), capture(&there)]);
    assert_eq!(document.answer.network, NetworkVerdict::Lossy);
    let text = &document.answer.sentences[0].text;
    assert!(text.starts_with("This path loses 50 % of the packets to the receiver."), "{text}");
}

#[test]
fn packets_that_go_on_in_one_capture_only_are_named() {
    for (last, missing) in [(1010, 0), (1020, 3)] {
        let mut sent = handshake(0, 10);
        sent.extend([50, 300, last].map(|at| (at, true, Flags::ACK, 2, 8, LEN)));
        let captures = [capture(&sent), capture(&handshake(10, 0))];
        let document = document(&captures);
        let [out, back] = document.pair.expect("a pair").directions;
        assert_eq!((out.lost, out.missing_at_end, back.missing_at_end), (0, missing, 0), "{last}");
        let texts = document.answer.sentences.iter().map(|sentence| &sentence.text);
        let named =
            texts.filter(|text| text.contains("After that, 3 packets were captured at")).count();
        assert_eq!(named, usize::from(missing > 0), "{last}");
    }
}

/// All data pass the server's capture, but its host discards the second segment: three duplicate
/// acknowledgments report it missing.
#[test]
fn segments_that_do_not_reach_the_receivers_tcp_are_lost() {
    let of = |acked: u32| {
        let (mut here, mut there) = (handshake(0, 10), handshake(10, 0));
        let data = |at, n: u32| (at, true, Flags::ACK, 2 + n * LEN, 8, LEN);
        let ack = |at, n: u32| (at, false, Flags::ACK, 8, 2 + n * LEN, 0);
        let (mut sent, mut acks) = (vec![], vec![]);
        for n in 0..6 {
            let at = 50 + 20 * u64::from(n);
            sent.push(data(at, n));
            acks.push(ack(at + 10, n + 1));
        }
        // Copies of an acknowledgment within 50 ms would count as captured twice.
        for n in 0..3 {
            let at = 260 + 60 * u64::from(n);
            sent.push(data(at, 7 + n));
            acks.push(ack(at + 10, acked + n * (acked - 6)));
        }
        sent.extend([data(200, 6), data(500, 6)]);
        acks.push(ack(510, 10));
        let later = |one: &Event| (one.0 + 10, one.1, one.2, one.3, one.4, one.5);
        there.extend(sent.iter().map(later));
        here.extend(acks.iter().map(later));
        here.extend(sent);
        there.extend(acks);
        here.sort_by_key(|event| event.0);
        there.sort_by_key(|event| event.0);
        let document = document(&[&here, &there].map(|events| capture_with(events, false)));
        let row = &document.connections[0].retransmissions[0];
        let first = document.answer.sentences[0].text.clone();
        (
            row.verdict,
            row.evidence[0].kind,
            document.pair.expect("a pair").directions[0].lost,
            first,
        )
    };
    let (verdict, evidence, lost, text) = of(6);
    assert_eq!((verdict, evidence, lost), (Necessity::Needed, "still-missing", 0));
    assert!(
        text.starts_with("Up to the capture at the receiver nothing is lost, but 9.1 %"),
        "{text}"
    );
    // The acknowledgments advance: the retransmission was unneeded.
    let (verdict, evidence, lost, text) = of(7);
    assert_eq!((verdict, evidence, lost), (Necessity::Unneeded, "both-captures", 0));
    assert!(text.starts_with("This path loses nothing"), "{text}");
}

/// Where the seventh of ten segments is lost.
#[derive(Clone, Copy, PartialEq)]
enum Lost {
    Nowhere,
    BeforeTheMiddle,
    BeyondTheMiddle,
}

/// The captures of a transfer at the sender and in the middle of the path, 10 ms from the sender
/// and 40 ms from the receiver and back. The seventh segment is retransmitted, even if it is not
/// lost. If it is, three duplicate acknowledgments ask for it.
fn with_the_middle(lost: Lost) -> [Vec<u8>; 2] {
    let mut sent: Vec<(u64, Event)> = Vec::new();
    let mut acks: Vec<(u64, Event)> = Vec::new();
    let open = |at, forward, flags, seq, ack| (at, (at, forward, flags, seq, ack, 0));
    sent.push(open(0, true, Flags::SYN, 1, 0));
    acks.push(open(50, false, Flags::SYN | Flags::ACK, 7, 2));
    sent.push(open(61, true, Flags::ACK, 2, 8));
    let data = |at, n: u32| (at, (at, true, Flags::ACK, 2 + n * LEN, 8, LEN));
    let ack = |at: u64, n: u32| (at + 50, (at + 50, false, Flags::ACK, 8, 2 + n * LEN, 0));
    for n in 0..10 {
        // Copies of an acknowledgment within 50 ms would count as captured twice.
        let at = 100 + 60 * u64::from(n);
        sent.push(data(at, n));
        match (lost != Lost::Nowhere, n) {
            (true, 6) => {}
            (true, 7..) => acks.push(ack(at, 6)),
            _ => acks.push(ack(at, n + 1)),
        }
    }
    sent.push(data(750, 6));
    acks.push(ack(750, 10));
    // Between the captures a packet takes 10 ms.
    let moved = |events: &[(u64, Event)], by: u64| -> Vec<Event> {
        events.iter().map(|&(at, (_, a, b, c, d, e))| (at + by, a, b, c, d, e)).collect()
    };
    let mut here = [moved(&sent, 0), moved(&acks, 10)].concat();
    let mut there = [moved(&sent, 10), moved(&acks, 0)].concat();
    if lost == Lost::BeforeTheMiddle {
        there.retain(|&(at, ..)| at != 100 + 60 * 6 + 10);
    }
    here.sort_by_key(|event| event.0);
    there.sort_by_key(|event| event.0);
    // A distant identification shows that the retransmission is no reordered segment.
    let identification = |millis, seq| if millis < 720 { (seq / LEN) as u16 } else { 30_000 };
    [&here, &there].map(|events| capture_of(events, false, identification))
}

/// The texts of an answer with their bases.
fn said(document: &Document) -> Vec<(&str, &str)> {
    document.answer.sentences.iter().map(|one| (&one.text[..], &one.basis[..])).collect()
}

#[test]
fn a_capture_in_the_middle_of_the_path_shows_on_which_side_a_segment_was_lost() {
    for (lost, text, basis) in [
        (
            Lost::BeforeTheMiddle,
            "The lost segment did not reach the capture point: it was lost on the way from the \
             sender.",
            "the capture contains 0 of them and lacks 1",
        ),
        (
            Lost::BeyondTheMiddle,
            "The lost segment had passed the capture point: it was lost beyond it, on the way to \
             the receiver.",
            "the capture contains 1 of them and lacks 0",
        ),
    ] {
        let [at_sender, in_the_middle] = with_the_middle(lost);
        let of = |capture: &[u8]| {
            let Ok(found) = diagnose::<_, Infallible>(capture, |_| Ok(()));
            found
        };
        let found = of(&in_the_middle);
        assert!(said(&found).contains(&(text, basis)), "{:?}", said(&found));
        let found = of(&at_sender);
        assert!(
            !said(&found).iter().any(|(text, _)| text.contains("lost segment")),
            "{:?}",
            said(&found)
        );
    }
    // Both captures show that it was lost between them.
    let found = document(&with_the_middle(Lost::BeforeTheMiddle));
    assert!(
        !said(&found).iter().any(|(text, _)| text.contains("lost segment")),
        "{:?}",
        said(&found)
    );
    assert_eq!(found.connections[0].retransmissions[0].evidence[0].kind, "both-captures");
}

#[test]
fn what_passes_a_capture_in_the_middle_of_the_path_may_be_lost_beyond_it() {
    let found = document(&with_the_middle(Lost::BeyondTheMiddle));
    let row = &found.connections[0].retransmissions[0];
    assert_eq!(row.verdict, Necessity::Needed);
    assert!(row.confidence < 1.0 && row.evidence[0].kind != "both-captures", "{row:?}");
    assert_eq!(found.pair.as_ref().expect("a pair").directions[0].lost, 0);
    let said = said(&found);
    assert!(said[0].0.starts_with("This path loses 9.1 % of the data segments"), "{}", said[0].0);
    let beyond = "The lost segment had passed both captures: it was lost beyond them, on the way to \
                  the receiver.";
    let basis = "1 of them are in both captures, 0 in one and 0 in none";
    assert!(said.contains(&(beyond, basis)), "{said:?}");
}

/// The acknowledgment passed the second capture before the retransmission did.
#[test]
fn an_ack_in_the_middle_of_the_path_shows_that_the_data_arrived() {
    let found = document(&with_the_middle(Lost::Nowhere));
    let row = &found.connections[0].retransmissions[0];
    let (verdict, confidence) = (row.verdict, row.confidence);
    assert_eq!((verdict, row.evidence[0].kind), (Necessity::Unneeded, "both-captures"));
    assert!((confidence - 1.0).abs() < 1e-9);
    let text = &found.answer.sentences[0].text;
    assert!(text.starts_with("This path loses nothing"), "{text}");
}
