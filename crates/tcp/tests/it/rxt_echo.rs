//! How a receiver answers segments that are marked as retransmissions: at once
//! (draft-ludwig-tsvwg-tcp-rxt-flag-03), or in the next acknowledgment (Ludwig and Katz 2000).

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base, end_of, start_of};
use rtolab_tcp::config::RxtAnswer;
use rtolab_tcp::{Config, Flags, Segment};

/// The receiving end of a connection whose acknowledgments are delayed.
fn answering(rxt_echo: bool, rxt_answer: RxtAnswer) -> End {
    let mut config = base();
    config.receiver.ack_every = 2;
    (config.receiver.rxt_echo, config.receiver.rxt_answer) = (rxt_echo, rxt_answer);
    connected(&Config::default(), &config, 0).1
}

fn data(number: u32, flags: Flags) -> Segment {
    let mut segment = Segment::new(start_of(number), SEGMENT, Flags::ACK | flags);
    (segment.ack, segment.window) = (start_of(1), 60_000);
    segment
}

#[test]
fn a_retransmission_is_answered_at_once() {
    let mut end = answering(true, RxtAnswer::AtOnce);
    end.gets(&data(1, Flags::RXT), 0);
    let answer = end.sends_one(0);
    assert_eq!((answer.ack, answer.len), (end_of(1), 0));
    assert_eq!(answer.flags, Flags::ACK | Flags::RXT_ECHO);
    end.gets(&data(2, Flags::NONE), 0);
    end.sends_nothing(0);
}

#[test]
fn one_answer_covers_an_original_that_waited() {
    let mut end = answering(true, RxtAnswer::AtOnce);
    end.gets(&data(1, Flags::NONE), 0);
    end.sends_nothing(0);
    end.gets(&data(1, Flags::RXT), 10);
    let answer = end.sends_one(10);
    assert_eq!((answer.ack, answer.flags), (end_of(1), Flags::ACK | Flags::RXT_ECHO));
}

#[test]
fn data_does_not_carry_the_answer() {
    let mut end = answering(true, RxtAnswer::AtOnce);
    end.connection.write(u64::from(SEGMENT));
    end.gets(&data(1, Flags::RXT), 0);
    let sent = end.sends(0);
    let sent: Vec<_> = sent.iter().map(|segment| (segment.len, segment.flags)).collect();
    assert_eq!(sent, [(0, Flags::ACK | Flags::RXT_ECHO), (SEGMENT, Flags::ACK)]);
}

#[test]
fn an_answer_is_not_answered() {
    let mut end = answering(true, RxtAnswer::AtOnce);
    let mut answer = Segment::new(start_of(1), 0, Flags::ACK | Flags::RXT_ECHO);
    (answer.ack, answer.window) = (start_of(1), 60_000);
    end.gets(&answer, 0);
    end.sends_nothing(0);
}

#[test]
fn a_receiver_that_does_not_know_the_flag_ignores_it() {
    for rule in [RxtAnswer::AtOnce, RxtAnswer::NextAck] {
        let mut end = answering(false, rule);
        end.gets(&data(1, Flags::RXT), 0);
        end.sends_nothing(0);
        end.gets(&data(2, Flags::RXT), 0);
        assert_eq!(end.sends_one(0).flags, Flags::ACK);
    }
}

#[test]
fn the_next_acknowledgment_may_be_delayed() {
    let mut end = answering(true, RxtAnswer::NextAck);
    end.gets(&data(1, Flags::RXT), 0);
    end.sends_nothing(0);
    assert_eq!(end.timer(), 200);
    let answer = end.sends_one(200);
    assert_eq!((answer.ack, answer.flags), (end_of(1), Flags::ACK | Flags::RXT_ECHO));
    // One acknowledgment echoes the mark, the next one does not.
    end.gets(&data(2, Flags::NONE), 210);
    end.gets(&data(3, Flags::NONE), 210);
    assert_eq!(end.sends_one(210).flags, Flags::ACK);
}

#[test]
fn the_next_acknowledgment_covers_later_segments() {
    for (first, second) in [(Flags::RXT, Flags::NONE), (Flags::NONE, Flags::RXT)] {
        let mut end = answering(true, RxtAnswer::NextAck);
        end.gets(&data(1, first), 0);
        end.sends_nothing(0);
        end.gets(&data(2, second), 10);
        let answer = end.sends_one(10);
        assert_eq!((answer.ack, answer.flags), (end_of(2), Flags::ACK | Flags::RXT_ECHO));
    }
}

#[test]
fn the_next_acknowledgment_may_carry_data() {
    let mut end = answering(true, RxtAnswer::NextAck);
    end.gets(&data(1, Flags::RXT), 0);
    end.connection.write(u64::from(SEGMENT));
    let sent = end.sends_one(0);
    assert_eq!((sent.len, sent.flags), (SEGMENT, Flags::ACK | Flags::RXT_ECHO));
}
