#[test]
fn half_of_the_window_comes_back_at_once() {
    let mut s = ten_outstanding();
    s.timeout().expect([1]).cwnd(1.0).ssthresh(5);
    s.echoing(10).ack(6).verdict(Verdict::Spurious).expect([11]).cwnd(5.0).ssthresh(10);
    s.echoing(10).ack(8).expect([12, 13, 14]).cwnd(6.0);
}
