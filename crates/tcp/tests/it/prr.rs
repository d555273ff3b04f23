//! Proportional rate reduction: RFC 6937 and RFC 9937.

use crate::script::Script;
use rtolab_tcp::config::{PrrBound, Reduction};
use rtolab_tcp::{Config, specification};

fn limited_transmit(spec: &str) -> Script {
    let setup = Script::sender(spec).cwnd(20).offered(100);
    setup.set(|config| config.recovery.limited_transmit = true).sent(1..=20)
}

#[test]
fn t_prr_1_one_loss_of_twenty() {
    for spec in ["sack+prr", "sack+prr:crb", "sack+prr:ssrb"] {
        let mut s = limited_transmit(spec);
        s.sacks(0, [2..=2]).expect([21]);
        s.sacks(0, [2..=3]).expect([22]);
        // RecoverFS is 22 by RFC 6937, and without the two that were SACKed before 20 by RFC 9937.
        let flight = if spec == "sack+prr" { 20 } else { 22 };
        s.sacks(0, [2..=4]).expect([1]).ssthresh(10).outstanding(19);
        let (mut out, mut pipe, mut next) = (1, 19, 23);
        for delivered in 2..=19_u32 {
            pipe -= 1;
            // PRR sends whole segments in proportion while more than ssthresh is outstanding, and
            // then fills up to ssthresh.
            let due = match pipe {
                11.. => (delivered * 10_000).div_ceil(flight).saturating_sub(out * 1000) / 1000,
                _ => 10 - pipe,
            };
            s.sacks(0, [2..=delivered + 3]).expect(next..next + due);
            (out, pipe, next) = (out + due, pipe + due, next + due);
        }
        // About half as many segments as were outstanding leave, evenly spaced.
        assert_eq!((next - 21, pipe), (11, 10), "{spec}");
        s.ack(22).expect([32]).cwnd(10.0);
    }
}

/// Segments 1 to 15 of twenty are lost, and limited transmit has sent two more.
fn fifteen_lost(spec: &str) -> Script {
    let mut s = limited_transmit(spec);
    s.sacks(0, [16..=16]).expect([21]);
    s.sacks(0, [16..=17]).expect([22]);
    s
}

#[test]
fn t_prr_2_fifteen_losses_of_twenty() {
    // RFC 6675 fills the window at once: ssthresh is 10 and four segments are in flight.
    let mut s = fifteen_lost("sack:rfc6675");
    s.sacks(0, [16..=18]).expect(1..=6).ssthresh(10).outstanding(10);

    let mut s = fifteen_lost("sack+prr:crb");
    s.sacks(0, [16..=18]).expect([1]).ssthresh(10).outstanding(5);
    s.sacks(0, [16..=19]).expect([2]);
    s.sacks(0, [16..=20]).expect([3]);
    s.sacks(0, [16..=21]).expect([4]);
    s.sacks(1, [16..=22]).expect([5, 6]).outstanding(5);

    let mut s = fifteen_lost("sack+prr:ssrb");
    s.sacks(0, [16..=18]).expect([1, 2]).ssthresh(10).outstanding(6);
    s.sacks(0, [16..=19]).expect([3, 4]);
    s.sacks(0, [16..=20]).expect([5, 6]);

    // By RFC 9937 the sender sends at most what arrives until SND.UNA advances, whatever is lost.
    let mut s = fifteen_lost("sack+prr");
    s.sacks(0, [16..=18]).expect([1]).outstanding(5);
    s.sacks(0, [16..=19]).expect([2]);
    s.sacks(0, [16..=22]).expect([3, 4, 5]).outstanding(5);
    s.ack(1).expect([6, 7]).outstanding(6);
    s.ack(2).expect([8, 9]).outstanding(7);
}

#[test]
fn only_rfc_6937_sends_a_segment_without_a_delivery() {
    for (spec, first, next) in [
        ("sack+prr:ssrb", 1..=2, Some(3)),
        ("sack+prr:crb", 1..=1, None),
        ("sack+prr", 1..=1, None),
    ] {
        let mut s = fifteen_lost(spec);
        s.sacks(0, [16..=18]).expect(first);
        s.sacks(0, [16..=18]).expect(next);
    }
}

#[test]
fn a_timeout_ends_it_and_an_undo_restores_the_window() {
    let mut s = fifteen_lost("sack+prr");
    s.sacks(0, [16..=18]).expect([1]);
    s.timeout().expect([1]).cwnd(1.0);
    s.ack(1).expect([2, 3]).cwnd(2.0);
}

#[test]
fn prr_requires_sack() {
    let base = Config::default();
    let message = |name| specification::sender(name, &base).unwrap_err().to_string();
    assert!(message("newreno+prr").contains("needs `sack` or `rack`"));
    assert!(message("sack:ns2+prr:crb").contains("needs `sack` or `rack`"));
    let bound = |name| match specification::sender(name, &base).unwrap().recovery.reduction {
        Reduction::Prr(bound) => Some(bound),
        _ => None,
    };
    assert_eq!(bound("rack"), Some(PrrBound::Rfc9937));
    assert_eq!(bound("rack+prr:crb"), Some(PrrBound::Crb));
    assert_eq!((bound("rack+at-once"), bound("sack")), (None, None));
    // If the configuration sets PRR, recoveries without SACK stay as they are.
    let mut prr = base.clone();
    prr.recovery.reduction = Reduction::Prr(PrrBound::Ssrb);
    for name in ["reno", "newreno", "sack:ns2"] {
        let mut s = Script::sender(name).cwnd(8).set(|c| c.recovery = prr.recovery).sent(1..=8);
        let mut other =
            Script::sender(name).cwnd(8).set(|c| c.recovery = base.recovery).sent(1..=8);
        for last in 2..=8 {
            let left = other.sacks(0, [2..=last]).take();
            s.sacks(0, [2..=last]).expect(left);
        }
    }
}
