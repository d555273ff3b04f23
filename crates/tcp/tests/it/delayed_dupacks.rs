//! Delayed duplicate acknowledgments (Vaidya et al. 2002): a link that repairs its losses in time
//! spares the sender a fast retransmit.

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base, end_of, start_of};
use rtolab_tcp::{Event, Segment};
use rtolab_time::Duration;

/// Segment 2 of eight is lost; the others arrive every 10 ms from 100 ms on. Returns both ends, and
/// the receiver's answers with their times.
fn after_a_loss(delay: u64) -> (End, End, Vec<(u64, Segment)>, Segment) {
    let mut receiver = base();
    receiver.receiver.delayed_dupacks = Some(Duration::from_millis(delay));
    let (mut sender, mut receiver) = connected(&base(), &receiver, 0);
    sender.connection.write(u64::from(8 * SEGMENT));
    let sent = sender.sends(0);
    let mut answers = Vec::new();
    for (millis, segment) in (100..).step_by(10).zip(&sent) {
        if segment.seq != start_of(2) {
            answers.extend(receiver.answers(segment, millis).into_iter().map(|ack| (millis, ack)));
        }
    }
    (sender, receiver, answers, sent[1])
}

fn fast_retransmits(end: &End) -> usize {
    end.events.iter().filter(|event| matches!(event, Event::FastRetransmit(_))).count()
}

#[test]
fn t_dd_1_a_gap_filled_in_time_causes_two_duplicate_acks() {
    let (mut sender, mut receiver, mut answers, lost) = after_a_loss(200);
    answers.extend(receiver.answers(&lost, 250).into_iter().map(|ack| (250, ack)));
    let acks: Vec<_> = answers.iter().map(|(at, ack)| (*at, ack.ack)).collect();
    assert_eq!(acks, [(100, end_of(1)), (120, end_of(1)), (130, end_of(1)), (250, end_of(8))]);
    for (millis, ack) in answers {
        sender.answers(&ack, millis);
    }
    assert_eq!(fast_retransmits(&sender), 0);
    assert_eq!(receiver.connection.next_timer(), None);
}

#[test]
fn t_dd_2_a_gap_filled_too_late_costs_the_delay() {
    let (mut sender, mut receiver, answers, _) = after_a_loss(200);
    for (millis, ack) in answers {
        sender.answers(&ack, millis);
    }
    assert_eq!(fast_retransmits(&sender), 0);
    // The third duplicate would have left at 140 ms.
    assert_eq!(receiver.timer(), 340);
    let held = receiver.sends(340);
    assert_eq!(held.len(), 4);
    let left: Vec<_> = held.iter().flat_map(|ack| sender.answers(ack, 340)).collect();
    assert_eq!(fast_retransmits(&sender), 1);
    assert_eq!(left[0].seq, start_of(2));
}
