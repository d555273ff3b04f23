//! Tests of acknowledgments between a capture in the middle of the path and the sender.

use rtolab_diagnose::{ConnectionReport, TimeoutClass, Vantage};

use crate::script::Event::{Ack, Data, Sacked};
use crate::script::Script;

/// Both ends are 20 ms from the capture point and back. The acknowledgment of segments 2 and 3
/// passes it, but has not reached the sender when the timer expires twice. At `next` ms the sender
/// sends a new segment, which echoes the TSval `echo`; that of a packet is its time plus 1.
fn report(next: u64, echo: u32) -> ConnectionReport {
    let mut script = Script::opened((20, 20), true, true);
    script.add_events(&[(60, Data(1)), (80, Ack(1))]);
    script.client_echo = 81;
    script.add_events(&[
        (100, Data(2)),
        (101, Data(3)),
        (121, Ack(3)),
        (400, Data(2)),
        (420, Sacked(3, 2, 2)),
        (1000, Data(2)),
        (1020, Sacked(3, 2, 2)),
    ]);
    script.client_echo = echo;
    script.add_events(&[(next, Data(4)), (next + 20, Ack(4))]);
    script.report()
}

fn classes(report: &ConnectionReport) -> Vec<TimeoutClass> {
    report.timeouts.iter().map(|timeout| timeout.class).collect()
}

#[test]
fn an_ack_that_the_sender_echoes_after_the_timeout_was_late() {
    let report = report(2000, 122);
    assert_eq!(report.vantage, Vantage::Between);
    assert_eq!(classes(&report), [TimeoutClass::Spurious; 2]);
}

/// The sender goes on with the answer to the second retransmission.
#[test]
fn an_ack_that_the_sender_never_echoes_was_lost() {
    let report = report(1040, 1021);
    assert_eq!(classes(&report), [TimeoutClass::AckLost; 2]);
    let description = &report.episodes[0].description;
    assert!(
        description.contains("with all data acknowledged at the capture point"),
        "{description}"
    );
}
