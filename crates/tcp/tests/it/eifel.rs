//! Eifel detection by timestamps with its full response: Ludwig and Katz 2000, in the variant of
//! report C-2002-07 section 5, for timeouts.
//!
//! The timestamp clock ticks in milliseconds. T-EI-7, a spurious fast retransmit, does not apply to
//! this variant. A comment says where RFC 3522 decides otherwise.

use crate::script::pair::{End, connected};
use crate::script::{Script, base, end_of, number_of};
use rtolab_tcp::config::{EchoRule, Outstanding};
use rtolab_tcp::spurious::{Eifel, Reason, Verdict};
use rtolab_tcp::{Cause, Config, Flags, Flight, Segment, Seq, specification};
use rtolab_time::Instant;

/// Six segments sent at 10 ms; the timeout is 40 ms.
fn six_outstanding() -> Script {
    Script::sender("newreno+eifel").cwnd(6).ssthresh(8).rto_of(40).at_millis(10).sent(1..=6)
}

#[test]
fn t_ei_1_an_older_echo_restores_the_windows() {
    let mut s = six_outstanding();
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    assert_eq!(s.clock(), 50);
    s.echoing(10).ack(1).expect([7]).verdict(Verdict::Spurious).cwnd(6.0).ssthresh(8);
    // Nothing is retransmitted; slow start continues where it was.
    s.echoing(10).ack(2).expect([8, 9]).undecided().cwnd(7.0);
}

#[test]
fn t_ei_2_the_echo_of_the_retransmission_starts_go_back_n() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine).cwnd(2.0).ssthresh(3);
    // The first acknowledgment has decided.
    s.echoing(10).ack(2).expect([4, 5]).undecided();
}

#[test]
fn t_ei_3_a_second_timeout_does_not_overwrite_the_first_one_s_timestamp() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.timeout().expect([1]).ssthresh(3);
    assert_eq!(s.clock(), 130);
    s.echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine);

    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    // The windows of before the first timeout come back.
    s.echoing(10).ack(1).expect([7]).verdict(Verdict::Spurious).cwnd(6.0).ssthresh(8);
}

#[test]
fn without_timestamps_it_is_inconclusive() {
    let (mut flight, mut eifel) = (Flight::default(), Eifel::default());
    flight.sent(&Segment::new(Seq::FIRST, 1000, Flags::ACK), Instant::START, Cause::New);
    eifel.on_timeout(50);
    let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
    ack.ack = Seq::FIRST + 1000;
    let facts = flight.on_ack(&ack, Instant::START);
    assert_eq!(eifel.on_ack(&facts), Verdict::Inconclusive(Reason::NoTimestamps));
}

#[test]
fn a_duplicate_does_not_decide() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.echoing(10).ack(0).expect_nothing().undecided().cwnd(1.0);
    s.echoing(10).ack(1).expect([7]).verdict(Verdict::Spurious);
}

#[test]
fn t_ei_4_all_acknowledgments_lost_and_all_delivered() {
    // The acknowledgment covers everything, so RFC 3522 section 3.2 stops here unless the receiver
    // is known to report duplicates. The variant of 2000 has no such step, and the restored window
    // leaves in one burst.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.echoing(10).ack(6).expect(7..=12).verdict(Verdict::Spurious).cwnd(6.0);

    let setup = Script::sender("newreno+eifel").cwnd(6).ssthresh(8).rto_of(40).at_millis(10);
    let mut s = setup.set(|config| config.window.max_burst = Some(3)).sent(1..=6);
    s.timeout().expect([1]);
    s.echoing(10).ack(6).expect(7..=9).verdict(Verdict::Spurious).cwnd(3.0);
}

#[test]
fn t_ei_5_all_acknowledgments_and_the_last_segment_lost() {
    // A false positive, for RFC 3522 as well: 6 is missing.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.echoing(10).ack(5).expect(7..=11).verdict(Verdict::Spurious).cwnd(6.0).ssthresh(8);
}

#[test]
fn t_ei_6_a_receiver_that_echoes_duplicates_too() {
    // The same losses; this receiver took the timestamp of the duplicate.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.echoing(50).ack(5).expect([6, 7]).verdict(Verdict::Genuine).cwnd(2.0);
}

#[test]
fn t_ei_8_timestamps_wrap() {
    let before_wrap = (1 << 32) - 16;
    let setup = Script::sender("newreno+eifel").cwnd(6).rto_of(21).at_millis(before_wrap);
    let mut s = setup.sent(1..=6);
    assert_eq!(s.clock(), 0xffff_fff0);
    s.timeout().expect([1]);
    assert_eq!(s.clock(), 5);
    s.echoing(0xffff_fff0).ack(1).expect([7]).verdict(Verdict::Spurious);
}

/// Of eight segments 1 to 3 arrive and 4 to 8 are lost, as are all acknowledgments and the first
/// retransmission of 1; the second one arrives.
struct Chain {
    sender: End,
    receiver: End,
    millis: u64,
    left: Vec<Segment>,
}

fn chain(spec: &str, change: impl FnOnce(&mut Config)) -> Chain {
    let mut config = base();
    config.timestamps = true;
    config.timestamp.echo = EchoRule::Rfc1323;
    config.window.initial = rtolab_tcp::config::InitialWindow::Segments(8);
    change(&mut config);
    let sending = specification::sender(spec, &config).unwrap();
    let (mut sender, receiver) = connected(&sending, &config, 10);
    sender.connection.write(1_000_000);
    let sent = sender.sends(10);
    assert_eq!(numbers(&sent), (1..=8).collect::<Vec<_>>());
    let mut chain = Chain { sender, receiver, millis: 20, left: Vec::new() };
    chain.delivered(&sent[..3]);
    chain.timeout(&[1]);
    chain.timeout(&[1]);
    chain
}

fn numbers(segments: &[Segment]) -> Vec<u32> {
    segments.iter().map(|segment| number_of(segment.seq)).collect()
}

impl Chain {
    /// The segments arrive in order. Returns the receiver's acknowledgments.
    fn delivered(&mut self, segments: &[Segment]) -> Vec<Segment> {
        let acks = segments.iter().flat_map(|segment| self.receiver.answers(segment, self.millis));
        acks.collect()
    }

    fn timeout(&mut self, expected: &[u32]) {
        self.millis = self.sender.timer();
        self.left = self.sender.sends(self.millis);
        assert_eq!(numbers(&self.left), expected);
    }

    /// The last segments sent arrive, and 100 ms later their acknowledgments. Returns the segments
    /// that each acknowledgment releases.
    fn round_trip(&mut self) -> Vec<(u32, Vec<u32>)> {
        self.millis += 100;
        let left = std::mem::take(&mut self.left);
        let acks = self.delivered(&left);
        let mut released = Vec::new();
        for ack in acks {
            let left = self.sender.answers(&ack, self.millis);
            released.push((number_of(ack.ack) - 1, numbers(&left)));
            self.left.extend(left);
        }
        released
    }

    fn cwnd(&self) -> u64 {
        self.sender.connection.sender().window().cwnd() / 1000
    }
}

#[test]
fn t_ei_chain_the_ack_of_a_duplicate_looks_like_that_of_the_original() {
    let mut c = chain("sack:rfc6675+eifel", |_| {});
    // The receiver had segment 1: A3 echoes segment 3. Five are outstanding, eight allowed.
    assert_eq!(c.round_trip(), [(3, vec![9, 10, 11])]);
    assert_eq!(c.cwnd(), 8);
    // After three duplicates all of 4 to 8 is marked lost, so the pipe is empty.
    assert_eq!(c.round_trip(), [(3, vec![]), (3, vec![]), (3, vec![4, 5, 6, 7])]);
    assert_eq!(c.cwnd(), 4);
}

#[test]
fn t_ei_chain_lost_segments_counted_as_in_flight_stall_the_sender() {
    let classic = |config: &mut Config| config.recovery.sack.outstanding = Outstanding::Classic;
    let mut c = chain("sack:rfc3517+eifel", classic);
    assert_eq!(c.round_trip(), [(3, vec![9, 10, 11])]);
    assert_eq!(c.round_trip(), [(3, vec![]), (3, vec![]), (3, vec![4])]);
    // 5 to 8 still fill the window of four: another timeout.
    assert_eq!(c.round_trip(), [(4, vec![])]);
    let (una, rto) = (c.sender.una(), c.sender.connection.sender().rto());
    assert_eq!(una, end_of(4));
    let waited_from = c.millis;
    c.timeout(&[5]);
    assert_eq!(c.millis - waited_from, rto.nanos() / 1_000_000);
}

#[test]
fn t_ei_chain_newreno_retransmits_one_hole_per_round_trip() {
    let mut c = chain("newreno+eifel", |_| {});
    assert_eq!(c.round_trip(), [(3, vec![9, 10, 11])]);
    assert_eq!(c.round_trip(), [(3, vec![]), (3, vec![]), (3, vec![4])]);
    // The data that a partial acknowledgment covers makes room for new data: the window of seven
    // stays.
    assert_eq!(c.round_trip(), [(4, vec![5])]);
    assert_eq!(c.round_trip(), [(5, vec![6, 12])]);
    assert_eq!(c.round_trip(), [(6, vec![7, 13]), (6, vec![14])]);
    assert_eq!(c.round_trip(), [(7, vec![8, 15]), (7, vec![16]), (7, vec![17])]);
    // R8 fills the last hole; the halved window of four grows from there.
    assert_eq!(c.round_trip()[0].0, 14);
    assert_eq!(c.cwnd(), 4);
}

#[test]
fn t_ei_chain_a_regular_sender_starts_go_back_n_at_once() {
    let mut c = chain("sack:rfc6675", |_| {});
    assert_eq!(c.round_trip(), [(3, vec![4, 5])]);
    assert_eq!(c.round_trip(), [(4, vec![6, 7]), (5, vec![8, 9])]);
}

#[test]
fn t_ei_chain_no_false_positive_if_duplicates_are_echoed() {
    for echo in [EchoRule::Ns2bis, EchoRule::EchoAll] {
        let mut c = chain("sack:rfc6675+eifel", |config| config.timestamp.echo = echo);
        assert_eq!(c.round_trip(), [(3, vec![4, 5])]);
    }
    for echo in [EchoRule::Rfc7323, EchoRule::Linux, EchoRule::Bsd] {
        let mut c = chain("sack:rfc6675+eifel", |config| config.timestamp.echo = echo);
        assert_eq!(c.round_trip(), [(3, vec![9, 10, 11])], "{echo:?}");
    }
}
