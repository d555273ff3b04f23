//! Acknowledgments that another has overtaken, by their timestamps: RFC 7323 section 5.3, and
//! Linux.

use crate::script::pair::{End, connected};
use crate::script::{Script, base};
use rtolab_tcp::config::OldAcks;
use rtolab_tcp::{Config, Segment, Timestamps};

/// The end that accepts old acknowledgments, and three of them from its peer.
fn overtaken(old_acks: OldAcks) -> (End, [Segment; 3]) {
    let mut config = Config { timestamps: true, sack: true, ..base() };
    config.receiver.old_acks = old_acks;
    let (mut active, mut passive) = connected(&config, &config, 0);
    active.connection.write(3000);
    let sent = active.sends(0);
    let old = [(1, 100), (2, 110), (0, 120)].map(|(index, millis)| {
        let answers = passive.answers(&sent[index], millis);
        *answers.last().unwrap()
    });
    (active, old)
}

/// The number of answers to each of three old acknowledgments: one that duplicates the last one,
/// and two that acknowledge less.
fn answers(old_acks: OldAcks) -> [usize; 3] {
    let (mut active, [early, late, last]) = overtaken(old_acks);
    assert_eq!(active.answers(&late, 210), []);
    let repeated = active.answers(&early, 211).len();
    assert_eq!(active.answers(&last, 220), []);
    [repeated, active.answers(&early, 230).len(), active.answers(&late, 300).len()]
}

#[test]
fn an_old_acknowledgment_is_dropped_and_answered() {
    assert_eq!(answers(OldAcks::Answered), [1, 1, 1]);
}

/// `tcp_disordered_ack_check`, `tcp_oow_rate_limited`.
#[test]
fn linux_accepts_a_duplicate_one_and_limits_its_answers() {
    assert_eq!(answers(OldAcks::Linux), [0, 1, 0]);
}

/// `tcp_tsval_replay`: the timestamp of a repeated acknowledgment may be older by 1.2 times the
/// RTO, where a tick is a millisecond.
#[test]
fn linux_accepts_a_duplicate_within_1_2_rto() {
    let (mut active, [_, _, last]) = overtaken(OldAcks::Linux);
    active.answers(&last, 220);
    let rto = active.connection.sender().rto();
    let most = u32::try_from(rto.nanos() / 1_000_000 * 6 / 5).unwrap();
    let recent = last.timestamps().unwrap().value;
    for (behind, answers) in [(2, 0), (most, 0), (most + 1, 1)] {
        let mut repeated = last;
        let stamps = last.timestamps().unwrap();
        repeated.set_timestamps(Timestamps { value: recent.wrapping_sub(behind), ..stamps });
        assert_eq!(active.answers(&repeated, 230).len(), answers, "{behind} of {most} ticks");
    }
}

/// `tcp_ack`: an acknowledgment that another has overtaken may SACK data above SND.UNA. It is no
/// duplicate one, and its SACK blocks below SND.UNA, which end there at most, report nothing.
#[test]
fn an_overtaken_acknowledgment_reports_only_what_it_sacks_above_snd_una() {
    for (spec, sacked) in [("rack", 1_000), ("linux", 1_000), ("sack", 0)] {
        let mut s = Script::sender(spec).cwnd(10).handshake_takes(100).sent(1..=10);
        s.allow_disagreement().at(200).ack(3).take();
        s.at(201).sacks(1, [2..=3]).take();
        s.at(202).sacks(2, [3..=3]).take();
        let flight = s.connection.sender().flight();
        assert_eq!((flight.sacked(), flight.totals().duplicates), (0, 0), "{spec}");
        s.at(203).sacks(1, [3..=3, 5..=5]).take();
        assert_eq!(s.connection.sender().flight().sacked(), sacked, "{spec}");
    }
}
