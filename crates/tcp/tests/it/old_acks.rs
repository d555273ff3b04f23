//! Acknowledgments that another has overtaken, by their timestamps: RFC 7323 section 5.3, and
//! Linux.

use crate::script::base;
use crate::script::pair::connected;
use rtolab_tcp::Config;
use rtolab_tcp::config::OldAcks;

/// The number of answers to each of three old acknowledgments: one that duplicates the last one,
/// and two that acknowledge less.
fn answers(old_acks: OldAcks) -> [usize; 3] {
    let mut config = Config { timestamps: true, sack: true, ..base() };
    config.receiver.old_acks = old_acks;
    let (mut active, mut passive) = connected(&config, &config, 0);
    active.connection.write(3000);
    let sent = active.sends(0);
    let [early, late, last] = [(1, 100), (2, 110), (0, 120)].map(|(index, millis)| {
        let answers = passive.answers(&sent[index], millis);
        *answers.last().unwrap()
    });
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
