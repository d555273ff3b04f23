use rtolab_time::{Duration, Instant};

use super::{Admission, AdmissionDecision, Backlog};
use crate::config::{Discipline, Limit, Red};
use crate::frame::{CopyId, DropCause, Frame};
use crate::occupancy::Occupancy;
use crate::stream::Stream;

/// A frame of 1,000 bytes; the field says whether it is ECN-capable.
#[derive(Clone, Copy)]
struct Packet {
    is_ecn_capable: bool,
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        1000
    }

    fn copy_id(&self) -> CopyId {
        CopyId(0)
    }

    fn is_ecn_capable(&self) -> bool {
        self.is_ecn_capable
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {}
}

const PLAIN: Packet = Packet { is_ecn_capable: false };
const CAPABLE: Packet = Packet { is_ecn_capable: true };

/// The average is the queue itself, and RED chooses every frame between the thresholds.
const EAGER: Red = Red {
    min: 2.0,
    max: 10.0,
    max_p: 1.0,
    weight: 1.0,
    gentle: false,
    adaptive: false,
    ecn: true,
    packet_time: Duration::from_millis(1),
};

fn admission(limit: Limit, discipline: Discipline) -> Admission {
    Admission::new(limit, discipline, Stream::new(1))
}

fn backlog(packets: u32) -> Backlog {
    let waiting = Occupancy { packets, bytes: u64::from(packets) * 1000 };
    Backlog { waiting, idle_from: Instant::NEVER }
}

fn decide(admission: &mut Admission, packets: u32, frame: Packet) -> AdmissionDecision {
    admission.decide(backlog(packets), (&frame, frame.bytes()), Instant::START)
}

#[test]
fn drop_tail_accepts_frames_up_to_the_limit() {
    let full = AdmissionDecision::Drop(DropCause::Queue);
    let mut packets = admission(Limit::Packets(3), Discipline::DropTail);
    assert_eq!(decide(&mut packets, 2, PLAIN), AdmissionDecision::Enqueue);
    assert_eq!(decide(&mut packets, 3, PLAIN), full);
    let mut bytes = admission(Limit::Bytes(2999), Discipline::DropTail);
    assert_eq!(decide(&mut bytes, 1, PLAIN), AdmissionDecision::Enqueue);
    assert_eq!(decide(&mut bytes, 2, PLAIN), full);
    let mut unlimited = admission(Limit::Unlimited, Discipline::DropTail);
    assert_eq!(decide(&mut unlimited, 1_000_000, PLAIN), AdmissionDecision::Enqueue);
}

#[test]
fn red_marks_ecn_capable_frames_while_the_average_is_below_max() {
    let fate = |packets, frame| {
        let mut red = admission(Limit::Packets(50), Discipline::Red(EAGER));
        // The first three above `min` come too soon after it was reached.
        (0..20).map(|_| decide(&mut red, packets, frame)).last().unwrap()
    };
    assert_eq!(fate(9, CAPABLE), AdmissionDecision::EnqueueMarked);
    assert_eq!(fate(9, PLAIN), AdmissionDecision::Drop(DropCause::Early));
    assert_eq!(fate(10, CAPABLE), AdmissionDecision::Drop(DropCause::Early));
    assert_eq!(fate(1, CAPABLE), AdmissionDecision::Enqueue);
}

#[test]
fn a_full_queue_drops_although_red_would_accept() {
    let mut red = admission(Limit::Packets(9), Discipline::Red(EAGER));
    for _ in 0..20 {
        assert_eq!(decide(&mut red, 9, CAPABLE), AdmissionDecision::Drop(DropCause::Queue));
    }
}

#[test]
fn thresholds_are_in_bytes_if_the_limit_is() {
    let red = Red { min: 2000.0, max: 8000.0, ..EAGER };
    let fate = |limit, packets| {
        let mut red = admission(limit, Discipline::Red(red));
        decide(&mut red, packets, PLAIN)
    };
    assert_eq!(fate(Limit::Bytes(100_000), 8), AdmissionDecision::Drop(DropCause::Early));
    assert_eq!(fate(Limit::Packets(100), 8), AdmissionDecision::Enqueue);
}
