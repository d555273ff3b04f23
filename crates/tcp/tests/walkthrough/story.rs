#[test]
fn what_was_held_up_is_acknowledged_too_early() {
    let mut s = held_up();
    s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
    let expired = s.millis();
    s.at(expired + 24).ack(1).expect([5]).verdict(Verdict::Spurious).cwnd(4.0);
}

#[test]
fn what_was_lost_is_acknowledged_a_round_trip_later() {
    let mut s = held_up();
    s.timeout().expect([1]);
    let expired = s.millis();
    s.at(expired + 25).ack(1).expect([2, 3]).verdict(Verdict::Genuine).cwnd(2.0);
}
