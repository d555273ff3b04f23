//! Tests of whether losses show a full queue, on captures that are specified packet by packet. The
//! shortest round trip takes 100 ms.

use crate::script::Event::{Ack, Data, Duplicate};
use crate::script::Script;

/// The queue in bytes after losses, each in a flight of `flight` segments and after a round trip of
/// these. `before` are the number and the round trips of single segments before them. Times are
/// in milliseconds.
fn queue(before: &[(u32, u64)], rtts: &[u64], flight: u32) -> Option<u64> {
    let mut script = Script::opened((0, 100), true, true);
    let (mut at, mut next) = (1000, 1);
    for &(count, rtt) in before {
        for _ in 0..count {
            script.add_events(&[(at, Data(next)), (at + rtt, Ack(next))]);
            (at, next) = (at + 1000, next + 1);
        }
    }
    for &rtt in rtts {
        // The second of them is lost.
        for number in 0..=flight {
            script.add_events(&[(at, Data(next + number))]);
        }
        script.add_events(&[(at + rtt, Ack(next))]);
        script.add_events(&[2, 3, 4].map(|number| (at + rtt, Duplicate(next, next + number))));
        script.add_events(&[(at + rtt + 1, Data(next + 1))]);
        script.echo = (at + rtt + 2) as u32;
        script.add_events(&[(at + 2 * rtt + 1, Ack(next + flight))]);
        (at, next) = (at + 3000, next + flight + 1);
    }
    let report = script.report();
    assert!(report.retransmissions.iter().all(|one| one.verdict.name() == "needed"));
    assert_eq!(report.retransmissions.len(), rtts.len());
    report.queue
}

/// Of 20 segments two thirds waited, because the round trip took three times as long.
#[test]
fn losses_after_the_longest_round_trips_show_the_queue() {
    let found = queue(&[(80, 100)], &[300, 300], 20).expect("a queue");
    assert!((13_000..13_500).contains(&found), "{found}");
}

#[test]
fn losses_after_short_round_trips_show_no_queue() {
    // Of the round trip 29 % is queueing, and 31 %.
    assert_eq!(queue(&[(80, 100)], &[140, 140], 40), Some(0));
    assert!(queue(&[(80, 100)], &[146, 146], 40) > Some(0));
    // Many round trips took longer without a loss.
    assert_eq!(queue(&[(80, 100), (80, 500)], &[300, 300], 20), Some(0));
}

/// A radio that retransmits delays few segments.
#[test]
fn fewer_than_five_segments_are_no_queue() {
    assert_eq!(queue(&[(80, 100)], &[300, 300], 7), Some(0));
    assert!(queue(&[(80, 100)], &[300, 300], 8) > Some(0));
}

/// The median decides, and of two losses that of the shorter queue.
#[test]
fn a_loss_at_a_longer_queue_changes_nothing() {
    let found = queue(&[(80, 100)], &[400, 300], 20).expect("a queue");
    assert!((13_000..13_500).contains(&found), "{found}");
    assert_eq!(queue(&[(80, 100)], &[140, 300], 20), Some(0));
    assert!(queue(&[(80, 100)], &[300, 140, 300], 20) > Some(0));
}
