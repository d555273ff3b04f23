//! F-RTO without new segments to send: the alternatives of RFC 5682 appendix A, for every variant
//! of F-RTO. Conventional recovery is T-FR-5 in `frto.rs` and `frto_variants.rs`.

use crate::script::pair::{End, connected};
use crate::script::{Script, Setup, base, end_of, number_of, start_of};
use rtolab_tcp::config::WindowLimited;
use rtolab_tcp::spurious::{Reason, Verdict};
use rtolab_tcp::{Event, Flags, Segment, specification};

const INCONCLUSIVE: Verdict = Verdict::Inconclusive(Reason::NothingNewToSend);

/// Every variant, and its window in go-back-N if the second acknowledgment is no evidence. Linux
/// then has the window of a conventional sender.
const VARIANTS: [(&str, u32); 9] = [
    ("newreno+frto", 3),
    ("newreno+frto:rfc4138", 3),
    ("newreno+frto:rfc5682", 3),
    ("sack+frto:rfc5682-sack", 3),
    ("newreno+frto:linux", 2),
    ("sack+frto:linux", 2),
    ("newreno+frto:ns2", 2),
    ("sack+frto:ns2", 2),
    ("newreno+eifel:forward", 3),
];

fn sender(spec: &str, limited: WindowLimited) -> Setup {
    Script::sender(spec).cwnd(6).set(|config| config.frto_window_limited = limited)
}

/// Six segments outstanding and no more data; the first was retransmitted. A passive detector sees
/// that the sender deviates from F-RTO.
fn without_data(spec: &str, limited: WindowLimited) -> Script {
    let mut s = sender(spec, limited).segments(6).sent(1..=6);
    s.allow_disagreement().timeout().expect([1]);
    s.echoing(0);
    s
}

/// Six segments outstanding, and the advertised window has no room for more.
fn without_room(spec: &str, limited: WindowLimited) -> Script {
    let mut s = sender(spec, limited).offered(6).sent(1..=6);
    s.timeout().expect([1]);
    s.echoing(0);
    s
}

#[test]
fn the_tail_shows_that_a_timeout_was_spurious() {
    for (spec, _) in VARIANTS {
        let mut s = without_data(spec, WindowLimited::Tail);
        s.ack(1).expect([6]).undecided();
        s.echoing(0).ack(2).expect_nothing().verdict(Verdict::Spurious);

        let mut s = without_room(spec, WindowLimited::Tail);
        s.allow_disagreement().offering(5).ack(1).expect([6]).undecided();
        s.offering(4).echoing(0).ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_6_the_tail_does_not_count_after_go_back_n_begins() {
    for (spec, cwnd) in VARIANTS {
        let mut s = without_data(spec, WindowLimited::Tail);
        s.ack(1).expect([6]);
        s.ack(1).expect(2..2 + cwnd).verdict(Verdict::Genuine).cwnd(f64::from(cwnd));
        s.outstanding(cwnd);
    }
}

#[test]
fn an_ack_of_the_tail_may_answer_its_retransmission() {
    for (spec, _) in VARIANTS {
        let mut s = without_data(spec, WindowLimited::Tail);
        s.ack(1).expect([6]);
        s.ack(6).expect_nothing().verdict(match spec {
            // Segments 2 to 5 were sent once, and with SACK Linux looks at each.
            "sack+frto:linux" => Verdict::Spurious,
            "newreno+frto:linux" => Verdict::Genuine,
            _ => INCONCLUSIVE,
        });
    }
    for spec in ["sack+frto:rfc5682-sack", "sack+frto:ns2", "sack+frto:linux"] {
        let mut s = without_data(spec, WindowLimited::Tail);
        s.ack(1).expect([6]);
        s.sacks(1, [6..=6]);
        match spec {
            "sack+frto:linux" => s.expect([2, 3]).verdict(Verdict::Genuine),
            _ => s.expect([2, 3, 4]).verdict(INCONCLUSIVE).cwnd(3.0),
        };
    }
}

#[test]
fn one_byte_leaves_beyond_the_advertised_window() {
    for (spec, _) in VARIANTS {
        let mut s = without_room(spec, WindowLimited::OneByte);
        s.offering(5).ack(1).expect([7]).undecided();
        assert_eq!(s.connection.sender().flight().max(), end_of(6) + 1, "{spec}");
        s.offering(4).echoing(0).ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_6_the_byte_does_not_count_after_go_back_n_begins() {
    for (spec, cwnd) in VARIANTS {
        let mut s = without_room(spec, WindowLimited::OneByte);
        s.offering(5).ack(1).expect([7]);
        // The receiver had no room for it, or segment 2 is missing: the same acknowledgment.
        s.ack(1).expect(2..2 + cwnd).verdict(Verdict::Genuine).outstanding(cwnd);
    }
}

#[test]
fn t_fr_5_without_data_there_is_no_byte_to_send() {
    for limited in [WindowLimited::OneByte, WindowLimited::Reserve(2)] {
        for (spec, _) in VARIANTS {
            let mut s = without_data(spec, limited);
            s.ack(1).expect([2, 3]).verdict(INCONCLUSIVE).cwnd(2.0);
        }
    }
}

#[test]
fn a_reserve_keeps_room_for_the_new_segments() {
    for (spec, _) in VARIANTS {
        let setup = sender(spec, WindowLimited::Reserve(2)).cwnd(20);
        let mut s = setup.offered(8).sent(1..=6);
        s.timeout().expect([1]);
        s.echoing(0).offering(7).ack(1).expect([7, 8]).undecided();
        s.echoing(0).offering(6).ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
    // The window is again the one from before the timeout: only the reserve, which is free again,
    // limits the sender.
    for spec in ["sack+frto:linux", "newreno+eifel:forward"] {
        let mut s = sender(spec, WindowLimited::Reserve(2)).offered(8).sent(1..=6);
        s.timeout().expect([1]);
        s.echoing(0).offering(7).ack(1).expect([7, 8]);
        s.echoing(0).offering(6).ack(2).verdict(Verdict::Spurious).cwnd(6.0).expect_nothing();
        s.offering(6).ack(3).expect_nothing();
        s.offering(7).ack(4).expect([9]);
    }
}

#[test]
fn a_reserve_of_one_segment_is_not_enough_for_ns_2() {
    for (spec, _) in VARIANTS {
        let setup = sender(spec, WindowLimited::Reserve(1)).cwnd(20);
        let mut s = setup.offered(7).sent(1..=6);
        s.timeout().expect([1]);
        s.echoing(0).offering(6).ack(1);
        match spec {
            "newreno+frto:ns2" | "sack+frto:ns2" => s.expect([2, 3]).verdict(INCONCLUSIVE),
            _ => s.expect([7]).undecided(),
        };
    }
}

#[test]
fn a_reserve_leaves_room_for_one_segment_and_only_f_rto_uses_it() {
    let reserve = |spec| sender(spec, WindowLimited::Reserve(2));
    let mut s = reserve("newreno+frto").offered(2).sent(1..=1);
    s.ack(1).expect([2]);
    reserve("newreno").offered(6).sent(1..=6);
}

/// Both ends after the timeout of the first of six segments, which arrive late; there is no more
/// data. Returns the segments and the probe that the sender then sends.
fn probed(spec: &str) -> (End, End, Vec<Segment>, Segment) {
    let mut config = base();
    config.window.initial = rtolab_tcp::config::InitialWindow::Segments(6);
    config.frto_window_limited = WindowLimited::Probe;
    config.timestamps = spec.contains("eifel");
    let sending = specification::sender(spec, &config).unwrap();
    let (mut sender, mut receiver) = connected(&sending, &config, 10);
    sender.connection.write(6000);
    let originals = sender.sends(10);
    let at = sender.timer();
    assert_eq!(number_of(sender.sends_one(at).seq), 1);
    let ack = receiver.answers(&originals[0], at + 10)[0];
    let probe = sender.answers(&ack, at + 20)[0];
    assert_eq!((probe.seq, probe.len, probe.flags), (start_of(2) - 1, 0, Flags::ACK));
    (sender, receiver, originals, probe)
}

fn verdict(end: &End) -> Option<Verdict> {
    end.events.iter().rev().find_map(|event| match event {
        Event::Verdict { verdict, .. } => Some(*verdict),
        _ => None,
    })
}

#[test]
fn after_a_spurious_timeout_a_probe_arrives_after_the_originals() {
    for (spec, _) in VARIANTS {
        let (mut sender, mut receiver, originals, probe) = probed(spec);
        let second = receiver.answers(&originals[1], 1100)[0];
        let answer = receiver.answers(&probe, 1100)[0];
        assert_eq!(sender.answers(&second, 1110), [], "{spec}");
        assert_eq!(verdict(&sender), Some(Verdict::Spurious), "{spec}");
        // Its answer is a single duplicate, which starts no fast retransmit.
        assert_eq!((answer.ack, answer.len), (end_of(2), 0));
        assert_eq!(sender.answers(&answer, 1110), [], "{spec}");
    }
}

#[test]
fn t_fr_6_a_probe_does_not_count_and_its_ack_starts_go_back_n() {
    for (spec, cwnd) in VARIANTS {
        let (mut sender, mut receiver, _, probe) = probed(spec);
        let answer = receiver.answers(&probe, 1100)[0];
        assert_eq!((answer.ack, answer.len), (end_of(1), 0));
        let left = sender.answers(&answer, 1110);
        let left: Vec<_> = left.iter().map(|segment| number_of(segment.seq)).collect();
        assert_eq!(left, (2..2 + cwnd).collect::<Vec<_>>(), "{spec}");
        assert_eq!(verdict(&sender), Some(Verdict::Genuine), "{spec}");
        assert_eq!(sender.connection.sender().outstanding(), u64::from(cwnd * 1000));
    }
}
