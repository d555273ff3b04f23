//! FIN, TIME-WAIT and the states between: RFC 9293 section 3.6.

use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::config::{AckDelay, AckRules};
use rtolab_tcp::{Config, Event, Flags, Segment, Seq, State};

fn states(a: &End, b: &End) -> (State, State) {
    (a.connection.state(), b.connection.state())
}

/// `from` closes with nothing to send: its FIN.
fn closes(from: &mut End, millis: u64) -> Segment {
    from.connection.close();
    let fin = from.sends_one(millis);
    assert!(fin.flags.has(Flags::FIN));
    fin
}

/// `a` closed first, then `b`; `a` is in TIME-WAIT since `millis`. Also the FIN of `b`.
fn closed_in_turn(millis: u64) -> (End, End, Segment) {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    let fin = closes(&mut a, 0);
    a.gets(&b.answers(&fin, 0)[0], 0);
    assert_eq!(states(&a, &b), (State::FinWait2, State::CloseWait));
    let fin = closes(&mut b, millis);
    a.gets(&fin, millis);
    (a, b, fin)
}

#[test]
fn one_end_after_the_other() {
    let (mut a, mut b, fin) = closed_in_turn(10);
    assert_eq!(states(&a, &b), (State::TimeWait, State::LastAck));
    let last = a.sends_one(10);
    assert_eq!(last.ack, fin.end());
    assert_eq!(b.answers(&last, 20), []);
    assert_eq!(b.connection.state(), State::Closed);
    assert_eq!(b.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
    assert_eq!(b.connection.next_timer(), None);
    // Twice the maximum segment lifetime of 120 s.
    assert_eq!(a.timer(), 240_010);
    a.sends_nothing(240_010);
    assert_eq!(a.events, [Event::Connected, Event::CloseAcknowledged, Event::Closed]);
    assert_eq!((a.connection.state(), a.connection.next_timer()), (State::Closed, None));
}

#[test]
fn t_b_17_a_fin_waits_for_the_data_before_it() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.write(3000);
    a.connection.close();
    let sent = a.sends(0);
    assert_eq!(sent.len(), 3);
    assert!(
        sent[2].flags.has(Flags::FIN) && sent[2].len == 1000,
        "the last segment carries the FIN"
    );
    b.answers(&sent[0], 0);
    let duplicate = b.answers(&sent[2], 0);
    assert_eq!(duplicate[0].ack, sent[0].end());
    assert!(
        duplicate[0].sack_blocks().eq([sent[2].seq..sent[2].end()]),
        "the block ends after the FIN"
    );
    assert_eq!((b.connection.state(), b.events.len()), (State::Established, 1));
    assert_eq!(b.answers(&sent[1], 0)[0].ack, sent[2].end());
    assert_eq!(b.connection.receiver().available(), 3000);
    assert_eq!(b.events, [Event::Connected, Event::PeerClosed]);
}

#[test]
fn t_b_18_simultaneous_close() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    let (fin_a, fin_b) = (closes(&mut a, 0), closes(&mut b, 0));
    let ack_b = b.answers(&fin_a, 10);
    let ack_a = a.answers(&fin_b, 10);
    assert_eq!(states(&a, &b), (State::Closing, State::Closing));
    a.gets(&ack_b[0], 20);
    b.gets(&ack_a[0], 20);
    assert_eq!(states(&a, &b), (State::TimeWait, State::TimeWait));
    a.sends_nothing(20);
    b.sends_nothing(20);
    assert_eq!((a.timer(), b.timer()), (240_020, 240_020));
    assert_eq!(states(&a, &b), (State::Closed, State::Closed));
}

#[test]
fn t_b_18_a_fin_that_acknowledges_the_fin() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    let fin = closes(&mut a, 0);
    b.gets(&fin, 0);
    // The FIN carries the acknowledgment: from FIN-WAIT-1 to TIME-WAIT in one step.
    let both = closes(&mut b, 0);
    assert_eq!(both.ack, fin.end());
    a.gets(&both, 0);
    assert_eq!(states(&a, &b), (State::TimeWait, State::LastAck));
}

/// Linux acknowledges the filled gap before the application sees the end (`tcp_ack_snd_check`). A
/// FIN that arrives in order waits for the application's (`tcp_fin`).
#[test]
fn linux_acknowledges_a_filled_gap_before_its_own_fin() {
    let fin_ack = Flags::FIN | Flags::ACK;
    let acks_first = |config: &mut Config| {
        (config.receiver.ack_rules, config.receiver.ack_delay) =
            (AckRules::Linux, AckDelay::Adaptive);
        config.receiver.ack_every = 2;
    };
    for (change, order, expected) in [
        (&acks_first as &dyn Fn(&mut Config), [1, 0], [Flags::ACK, fin_ack].as_slice()),
        (&acks_first, [0, 1], &[fin_ack]),
        (&|_: &mut Config| {}, [1, 0], &[fin_ack]),
    ] {
        let mut config = base();
        change(&mut config);
        let (mut a, mut b) = connected(&base(), &config, 0);
        a.connection.write(500);
        let data = a.sends_one(0);
        let sent = [data, closes(&mut a, 0)];
        b.gets(&sent[order[0]], 10);
        b.sends(10);
        b.gets(&sent[order[1]], 20);
        b.connection.read(500);
        b.connection.close();
        let answers = b.sends(20);
        assert!(answers.iter().all(|segment| segment.ack == sent[1].end()));
        let flags: Vec<_> = answers.iter().map(|segment| segment.flags).collect();
        assert_eq!(flags, expected, "{order:?}");
    }
}

/// An end that has closed has no answer to wait for (`tcp_fin`).
#[test]
fn linux_acknowledges_a_fin_at_once_after_its_own() {
    let mut config = base();
    config.receiver.ack_rules = AckRules::Linux;
    let (mut a, mut b) = connected(&config, &base(), 0);
    let fin = closes(&mut a, 0);
    a.gets(&b.answers(&fin, 10)[0], 20);
    let fin = closes(&mut b, 30);
    assert_eq!(a.answers(&fin, 40)[0].ack, fin.end());
}

#[test]
fn t_b_19_a_fin_in_time_wait_is_acknowledged_and_restarts_it() {
    let (mut a, mut b, fin) = closed_in_turn(10);
    assert_eq!(a.sends_one(10).ack, fin.end());
    // That acknowledgment is lost, so the FIN is retransmitted.
    let at = b.timer();
    assert_eq!(at, 1010);
    let again = b.sends_one(at);
    assert_eq!((again.seq, again.flags), (fin.seq, fin.flags));
    assert_eq!(a.answers(&again, at)[0].ack, fin.end());
    assert_eq!(a.timer(), 241_010);
}

#[test]
fn t_b_20_a_lost_fin_is_retransmitted() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    let lost = closes(&mut a, 0);
    let at = a.timer();
    let again = a.sends_one(at);
    assert_eq!((again.seq, again.len, again.flags), (lost.seq, 0, lost.flags));
    a.gets(&b.answers(&again, at)[0], at);
    assert_eq!(states(&a, &b), (State::FinWait2, State::CloseWait));
    assert_eq!(a.connection.next_timer(), None);
}

#[test]
fn t_b_20_with_its_data_if_it_had_any() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.write(700);
    let lost = closes(&mut a, 0);
    let at = a.timer();
    let again = a.sends_one(at);
    assert_eq!((again.seq, again.len, again.flags), (lost.seq, 700, lost.flags));
    assert_eq!(b.answers(&again, at)[0].ack, Seq::FIRST + 702);

    // Only the FIN is missing, if the data was acknowledged without it.
    let (mut a, _) = connected(&base(), &base(), 0);
    a.connection.write(700);
    closes(&mut a, 0);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 701, 60_000);
    assert_eq!(a.answers(&ack, 100), []);
    let at = a.timer();
    let again = a.sends_one(at);
    assert_eq!((again.seq, again.len), (Seq::FIRST + 701, 0));
    assert!(again.flags.has(Flags::FIN));
}

#[test]
fn a_fin_counts_against_the_advertised_window() {
    // Data that fills the window leaves without the FIN, which would be cut off by the receiver
    // and then cost a timeout (RFC 9293 section 3.4: it counts in the segment's length).
    let (mut a, mut b) = connected(&base(), &base(), 0);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 1, 2000);
    a.gets(&ack, 0);
    a.connection.write(2000);
    a.connection.close();
    let sent = a.sends(0);
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|segment| segment.len == 1000 && !segment.flags.has(Flags::FIN)));
    b.answers(&sent[0], 0);
    let fin = a.answers(&b.answers(&sent[1], 0)[0], 0);
    assert_eq!(fin.len(), 1);
    assert_eq!((fin[0].len, fin[0].flags), (0, Flags::FIN | Flags::ACK));
}

/// Two segments of data that fill a window of 2,000 bytes, followed by a FIN: what is sent, and the
/// sender.
fn sent_into_a_full_window(fin_waits_for_window: bool) -> (Vec<Segment>, End) {
    let config = Config { fin_waits_for_window, ..base() };
    let (mut a, _) = connected(&config, &base(), 0);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 1, 2000);
    a.gets(&ack, 0);
    a.connection.write(2000);
    a.connection.close();
    (a.sends(0), a)
}

/// Linux counts the FIN of a segment in `tcp_snd_wnd_test`.
#[test]
fn on_linux_a_last_segment_waits_for_the_window_that_its_fin_needs() {
    assert_eq!(sent_into_a_full_window(false).0.len(), 2);
    let (sent, mut a) = sent_into_a_full_window(true);
    assert_eq!(sent.len(), 1);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 1001, 1001);
    let last = a.answers(&ack, 100);
    assert_eq!(last.len(), 1);
    assert_eq!((last[0].len, last[0].flags.has(Flags::FIN)), (1000, true));
}

/// `tcp_write_wakeup` sends what the window has room for.
#[test]
fn the_persist_timer_sends_a_last_segment_that_waits_for_its_fin() {
    let (_, mut a) = sent_into_a_full_window(true);
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 1001, 1000);
    assert_eq!(a.answers(&ack, 100), []);
    let at = a.timer();
    let last = a.sends_one(at);
    assert_eq!((last.len, last.flags.has(Flags::FIN)), (1000, false));
}

#[test]
fn giving_up_resets_the_peer() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.write(5000);
    a.connection.abort();
    let reset = a.sends_one(0);
    assert!(reset.flags.has(Flags::RST));
    assert_eq!(b.answers(&reset, 0), []);
    assert_eq!(states(&a, &b), (State::Closed, State::Closed));
    assert_eq!(b.events, [Event::Connected, Event::Reset]);
}

#[test]
fn closing_during_the_handshake_delays_the_fin() {
    let mut active = End::open(&base());
    active.connection.close();
    let syn = active.sends_one(0);
    assert_eq!(syn.flags, Flags::SYN);
    let mut passive = End::accept(&base(), &syn);
    active.gets(&passive.sends_one(0), 0);
    let fin = active.sends_one(0);
    assert_eq!(fin.flags, Flags::FIN | Flags::ACK);
    assert_eq!(active.connection.state(), State::FinWait1);
    passive.gets(&fin, 0);
    assert_eq!(passive.sends_one(0).ack, fin.end());
    assert_eq!(passive.events, [Event::Connected, Event::PeerClosed]);
}
