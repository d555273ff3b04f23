//! Explicit congestion notification: RFC 3168 section 6.1.

use crate::script::pair::{End, connected};
use crate::script::{Script, base};
use rtolab_tcp::config::{EcnFallback, FullAck, PrrBound, Reduction};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Codepoint, Config, Flags, Segment};

/// The flag that asks for ECN, together with ECE.
const SETUP: Flags = Flags::CWR;

fn capable() -> Config {
    let mut config = Config { ecn: true, ..base() };
    config.receiver.buffer = 60_000;
    config
}

/// Two ends that use ECN, with `segments` sent by the first.
fn sending(segments: u64) -> (End, End, Vec<Segment>) {
    let (mut active, passive) = connected(&capable(), &capable(), 0);
    active.connection.write(segments * 1000);
    let sent = active.sends(0);
    (active, passive, sent)
}

fn codepoints(segments: &[Segment]) -> Vec<Codepoint> {
    segments.iter().map(Segment::codepoint).collect()
}

#[test]
fn the_handshake_negotiates_ecn() {
    let mut active = End::open(&capable());
    let syn = active.sends_one(0);
    assert_eq!(syn.flags, Flags::SYN | Flags::ECE | SETUP);
    let mut passive = End::accept(&capable(), &syn);
    let syn_ack = passive.sends_one(0);
    assert_eq!(syn_ack.flags, Flags::SYN | Flags::ACK | Flags::ECE);
    active.gets(&syn_ack, 0);
    let ack = active.sends_one(0);
    assert_eq!(ack.flags, Flags::ACK);
    passive.gets(&ack, 0);
    // Control segments and pure acknowledgments are never capable, data are, from either end.
    assert_eq!(codepoints(&[syn, syn_ack, ack]), [Codepoint::NotEct; 3]);
    active.connection.write(500);
    let data = active.sends_one(0);
    assert_eq!((data.codepoint(), data.flags), (Codepoint::Ect0, Flags::ACK));
    let answer = passive.answers(&data, 0);
    assert_eq!(codepoints(&answer), [Codepoint::NotEct]);
    passive.connection.write(500);
    assert_eq!(passive.sends_one(0).codepoint(), Codepoint::Ect0);
}

#[test]
fn both_ends_must_be_ecn_capable() {
    for (active, passive) in [(base(), capable()), (capable(), base())] {
        let (mut active, mut passive) = connected(&active, &passive, 0);
        for end in [&mut active, &mut passive] {
            end.connection.write(500);
            assert_eq!(end.sends_one(0).codepoint(), Codepoint::NotEct);
        }
    }
}

#[test]
fn a_syn_ack_with_both_flags_does_not_negotiate_ecn() {
    let mut active = End::open(&capable());
    let mut syn_ack = End::accept(&base(), &active.sends_one(0)).sends_one(0);
    syn_ack.flags |= Flags::ECE | SETUP;
    active.gets(&syn_ack, 0);
    active.connection.write(500);
    assert_eq!(active.sends(0)[0].codepoint(), Codepoint::NotEct);
}

#[test]
fn a_retransmitted_syn_does_not_ask_for_ecn() {
    let mut active = End::open(&capable());
    active.sends_one(0);
    let now = active.timer();
    assert_eq!(active.sends_one(now).flags, Flags::SYN);
}

#[test]
fn ece_is_set_until_cwr_arrives() {
    let (_, mut passive, mut sent) = sending(6);
    let echoes = |passive: &mut End, segment: &Segment| {
        passive.answers(segment, 0).iter().any(|ack| ack.flags.has(Flags::ECE))
    };
    assert!(!echoes(&mut passive, &sent[0]));
    sent[1].set_codepoint(Codepoint::Ce);
    assert!(echoes(&mut passive, &sent[1]));
    assert!(echoes(&mut passive, &sent[2]));
    // Its own data carry the echo, too.
    passive.connection.write(500);
    assert!(passive.sends_one(0).flags.has(Flags::ECE));
    sent[3].flags |= Flags::CWR;
    assert!(!echoes(&mut passive, &sent[3]));
    // If the segment with CWR is itself marked, ECE is set again.
    sent[4].flags |= Flags::CWR;
    sent[4].set_codepoint(Codepoint::Ce);
    assert!(echoes(&mut passive, &sent[4]) && echoes(&mut passive, &sent[5]));
}

#[test]
fn without_ecn_a_mark_is_ignored() {
    let (mut active, mut passive) = connected(&base(), &base(), 0);
    active.connection.write(500);
    let mut data = active.sends_one(0);
    data.set_codepoint(Codepoint::Ce);
    let mut ack = passive.answers(&data, 0)[0];
    assert_eq!(ack.flags, Flags::ACK);
    let before = active.connection.sender().window().ssthresh();
    ack.flags |= Flags::ECE;
    active.gets(&ack, 0);
    assert_eq!(active.connection.sender().window().ssthresh(), before);
}

/// Eight segments outstanding, in a sender that uses ECN.
fn eight(spec: &str) -> Script {
    Script::sender(spec).cwnd(8).ssthresh(20).handshake_takes(100).sent(1..=8)
}

#[test]
fn ece_halves_the_window_once_per_window() {
    let mut s = eight("newreno+ecn");
    s.echoes_mark(1).expect_nothing().cwnd(4.0).ssthresh(4);
    s.echoes_mark(2).echoes_mark(3).echoes_mark(4).expect_nothing().cwnd(4.0);
    s.echoes_mark(5).expect([9]).cwnd(4.0);
    s.echoes_mark(8).expect(10..=12).cwnd(4.0).ssthresh(4);
    // An ACK beyond the data that was outstanding then is of a new window, for which the peer has
    // not received CWR yet.
    s.echoes_mark(9).expect_nothing().cwnd(2.0).ssthresh(2);
    s.ack(10).cwnd(2.5).expect_nothing();
}

#[test]
fn the_first_new_segment_has_cwr() {
    let (mut active, mut passive, mut sent) = sending(30);
    assert!(sent.iter().all(|segment| !segment.flags.has(Flags::CWR)));
    sent[0].set_codepoint(Codepoint::Ce);
    let mut new_segments = Vec::new();
    for segment in &sent {
        for ack in passive.answers(segment, 0) {
            new_segments.extend(active.answers(&ack, 0));
        }
    }
    let cwr: Vec<_> = new_segments.iter().map(|segment| segment.flags.has(Flags::CWR)).collect();
    assert!(cwr[0] && !cwr[1..].contains(&true), "{cwr:?}");
    // Then no more acknowledgments arrive.
    let acks: Vec<_> =
        new_segments.iter().flat_map(|segment| passive.answers(segment, 0)).collect();
    assert!(!acks.is_empty() && acks.iter().all(|ack| !ack.flags.has(Flags::ECE)));
}

#[test]
fn retransmissions_are_not_ecn_capable() {
    let (mut active, _, _) = sending(2);
    let now = active.timer();
    let again = active.sends_one(now);
    assert_eq!((again.codepoint(), again.flags), (Codepoint::NotEct, Flags::ACK));
}

#[test]
fn a_loss_in_the_same_window_reduces_no_further() {
    let mut s = eight("sack+ecn");
    s.echoes_mark(1).expect_nothing().cwnd(4.0).ssthresh(4);
    s.sacks(1, [3..=3]).sacks(1, [3..=4]).expect_nothing();
    s.sacks(1, [3..=5]).expect([2]).cwnd(4.0).ssthresh(4).fast_retransmits(1);
    let mut s = eight("sack+ecn");
    s.echoes_mark(1).expect_nothing().ssthresh(4);
    s.timeout().expect([2]).cwnd(1.0).ssthresh(4);
}

#[test]
fn ece_in_recovery_reduces_no_further() {
    let setup = Script::sender("newreno+ecn").cwnd(8).ssthresh(20).handshake_takes(100);
    let mut s = setup.set(|config| config.window.full_ack = FullAck::Ssthresh).sent(1..=8);
    s.ack(0).ack(0).expect_nothing();
    s.ack(0).expect([1]).ssthresh(4).cwnd(7.0);
    s.echoes_mark(8).cwnd(4.0).ssthresh(4).take();
    s.echoes_mark(9).ssthresh(2).cwnd(2.0).take();
}

#[test]
fn the_window_is_at_least_one_segment_and_ssthresh_two() {
    let mut s = Script::sender("newreno+ecn").cwnd(1).sent(1..=1);
    s.echoes_mark(1).cwnd(1.0).ssthresh(2).expect([2]);
}

#[test]
fn nothing_is_undone_after_ece_arrives() {
    // The timeout comes before CWR is acknowledged: it reduces no further, and nothing is restored.
    let mut s = Script::sender("sack+ecn+eifel").cwnd(8).ssthresh(20);
    s = s.handshake_takes(100).at_millis(10);
    let mut s = s.sent(1..=8);
    s.echoes_mark(1).expect_nothing().cwnd(4.0).ssthresh(4);
    s.timeout().expect([2]).cwnd(1.0);
    s.echoing(110).ack(2).verdict(Verdict::Spurious).cwnd(1.0).ssthresh(4).expect_nothing();
}

#[test]
fn ece_with_cubic_leaves_seven_tenths() {
    let setup = Script::sender("sack+cubic+ecn").cwnd(10).ssthresh(20).handshake_takes(100);
    let mut s = setup.sent(1..=10);
    s.echoes_mark(1).cwnd(7.0).ssthresh(7).expect_nothing();
}

#[test]
fn ece_with_rate_halving_reduces_gradually() {
    let setup = Script::sender("linux-2.4+ecn").cwnd(8).ssthresh(20).handshake_takes(100);
    let mut s = setup.set(|config| config.window.max_burst = None).sent(1..=2);
    s.ack(1).expect([3, 4]);
    s.ack(2).expect([5, 6]);
    s.ack(3).expect([7, 8]);
    s.ack(4).expect([9, 10]).cwnd(6.0);
    let mut left = s.echoes_mark(5).ssthresh(3).take().len();
    for number in 6..=10 {
        left += s.ack(number).take().len();
    }
    s.cwnd(3.0);
    assert_eq!(left, 3, "one for every second acknowledgment");
}

#[test]
fn ece_without_outstanding_data_changes_nothing() {
    let mut s = Script::sender("newreno+ecn").segments(1).cwnd(4).ssthresh(4).sent(1..=1);
    s.ack(1).cwnd(4.25);
    s.echoes_mark(1).cwnd(4.25).ssthresh(4);
    s.write(2).expect([2, 3]);
}

/// `tcp_enter_cwr`: marks reduce the window proportionally, as losses do.
#[test]
fn ece_with_linux_reduces_proportionally() {
    let setup = Script::sender("rack+ecn").cwnd(10).ssthresh(20).handshake_takes(100);
    let linux = Reduction::Prr(PrrBound::Linux);
    let mut s = setup.set(|config| config.recovery.reduction = linux).sent(1..=10);
    s.echoes_mark(1).ssthresh(5).expect([11]);
    let left = (2..=11).map(|number| s.ack(number).ssthresh(5).take().len()).sum::<usize>();
    // One segment leaves for two acknowledged ones, and the first leaves at once.
    assert_eq!(left, 5);
    // Segment 11 was not outstanding at the mark.
    s.cwnd(5.2);
}

#[test]
fn a_rate_halving_sender_keeps_a_segment() {
    // A single byte is outstanding when ECE arrives.
    let mut config = capable();
    config.recovery.reduction = Reduction::RateHalving;
    let (mut active, mut passive) = connected(&config, &capable(), 0);
    active.connection.write(1);
    let mut last = active.sends_one(0);
    last.set_codepoint(Codepoint::Ce);
    for ack in passive.answers(&last, 0) {
        assert!(ack.flags.has(Flags::ECE));
        active.gets(&ack, 0);
    }
    let window = active.connection.sender().window();
    assert_eq!((window.cwnd(), window.ssthresh()), (1000, 2000));
}

#[test]
fn a_proportional_reduction_sends_no_more_than_is_acknowledged() {
    // After a spurious timeout ten segments are outstanding, and the window stays one segment
    // because of the ECE.
    let setup = Script::sender("rack+frto:linux+ecn").cwnd(10).handshake_takes(100);
    let linux = Reduction::Prr(PrrBound::Linux);
    let mut s = setup.set(|config| config.recovery.reduction = linux).sent(1..=10);
    s.early_timer().expect([11]);
    s.timeout().take();
    s.echoes_mark(2).verdict(Verdict::Spurious);
    s.expect([12, 13]);
}

#[test]
fn without_an_ecn_setup_syn_nothing_is_ecn_capable() {
    let linux = |config: &mut Config| config.connection.ecn_fallback = EcnFallback::Capable;
    for (change, codepoint) in
        [((|_| ()) as fn(&mut Config), Codepoint::NotEct), (linux, Codepoint::Ect0)]
    {
        let mut config = capable();
        change(&mut config);
        let mut active = End::open(&config);
        let syn = active.sends_one(0);
        let at = active.timer();
        let again = active.sends_one(at);
        assert_eq!((syn.flags, again.flags), (Flags::SYN | Flags::ECE | SETUP, Flags::SYN));
        // The answer to the first was only late.
        active.gets(&End::accept(&capable(), &syn).sends_one(0), at + 10);
        active.sends(at + 10);
        active.connection.write(500);
        let mut data = active.sends_one(at + 10);
        assert_eq!(data.codepoint(), codepoint);
        // Marks are still echoed.
        (data.seq, data.ack) = (data.ack, data.seq);
        data.set_codepoint(Codepoint::Ce);
        assert!(active.answers(&data, at + 20).iter().any(|ack| ack.flags.has(Flags::ECE)));
    }
}

#[test]
fn a_timeout_after_ece_sets_cwr_too() {
    let (mut active, _, sent) = sending(100);
    let has_cwr = |sent: &[Segment]| sent.iter().any(|segment| segment.flags.has(Flags::CWR));
    let mut echo = Segment::new(sent[0].ack, 0, Flags::ACK | Flags::ECE);
    echo.window = 60_000;
    let mut after = Vec::new();
    for segment in &sent[..sent.len() - 1] {
        echo.ack = segment.end();
        after.extend(active.answers(&echo, 100));
    }
    assert!(has_cwr(&after));
    // The data that was outstanding at the first ECE is not all acknowledged: `ssthresh` stays.
    let at = active.timer();
    assert!(!has_cwr(&active.sends(at)));
    let mut ack = Segment::new(sent[0].ack, 0, Flags::ACK);
    (ack.ack, ack.window) = (after[after.len() - 1].end(), 60_000);
    assert!(has_cwr(&active.answers(&ack, at + 100)));
}
