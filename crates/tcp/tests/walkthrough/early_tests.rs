#[test]
fn a_delayed_segment_is_acknowledged_early() {
    let mut s = held_up();
    s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
    let expired = s.millis();
    s.at(expired + 24).ack(1).expect([5]).verdict(Verdict::Spurious).cwnd(4.0);
}

#[test]
fn a_lost_segment_is_acknowledged_after_a_round_trip() {
    let mut s = held_up();
    s.timeout().expect([1]);
    let expired = s.millis();
    s.at(expired + 25).ack(1).expect([2, 3]).verdict(Verdict::Genuine).cwnd(2.0);
}
