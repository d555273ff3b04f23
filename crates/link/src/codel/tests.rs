//! The pseudo-code of RFC 8289 section 5, step by step.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use super::*;
use crate::frame::CopyId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    number: u64,
    entry: Instant,
    capable: bool,
    marked: bool,
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        1000
    }

    fn copy_id(&self) -> CopyId {
        CopyId(self.number)
    }

    fn is_ecn_capable(&self) -> bool {
        self.capable
    }

    fn mark_congestion(&mut self) {
        self.marked = true;
    }

    fn corrupt(&mut self) {}
}

/// A CoDel queue with the RFC's parameters, and the numbers of the dropped packets.
struct ControlledQueue {
    codel: ControlledDelay,
    now: Instant,
    packets: VecDeque<Packet>,
    dropped: Vec<u64>,
}

struct Head<'a>(&'a mut ControlledQueue);

impl CoDelQueue for Head<'_> {
    type Frame = Packet;

    fn pop(&mut self) -> Option<DequeuedFrame<Packet>> {
        let frame = self.0.packets.pop_front()?;
        let backlog = 1000 * self.0.packets.len() as u64;
        Some(DequeuedFrame { frame, sojourn: self.0.now.since(frame.entry), backlog })
    }

    fn discard(&mut self, frame: Packet) {
        self.0.dropped.push(frame.number);
    }
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn at(milliseconds: u64) -> Instant {
    Instant::START + ms(milliseconds)
}

impl ControlledQueue {
    /// A queue of packets that arrived at time 0.
    fn of(packets: u64, ecn: bool) -> Self {
        let codel = ControlledDelay::new(CoDel { target: ms(5), interval: ms(100), ecn });
        let (now, dropped) = (Instant::START, Vec::new());
        let mut queue = Self { codel, now, packets: VecDeque::new(), dropped };
        queue.refill(packets);
        queue
    }

    /// Adds packets that arrive now.
    fn refill(&mut self, packets: u64) {
        for number in 0..packets {
            let (entry, capable) = (self.now, number % 2 == 0);
            self.packets.push_back(Packet { number, entry, capable, marked: false });
        }
    }

    fn dequeue(&mut self, now: u64) -> Option<Packet> {
        self.now = at(now);
        let unused = ControlledDelay::new(self.codel.config);
        let mut codel = core::mem::replace(&mut self.codel, unused);
        let packet = codel.dequeue(self.now, &mut Head(self));
        self.codel = codel;
        packet
    }

    fn dequeue_number(&mut self, now: u64) -> Option<u64> {
        self.dequeue(now).map(|packet| packet.number)
    }
}

#[test]
fn nothing_is_dropped_below_the_target() {
    let mut queue = ControlledQueue::of(0, false);
    for now in (0..1000).step_by(4) {
        queue.now = at(now);
        queue.refill(3);
        for _ in 0..3 {
            assert!(queue.dequeue(now + 4).is_some());
        }
    }
    assert_eq!(queue.dropped, []);
}

#[test]
fn the_first_drop_comes_an_interval_after_the_delay_went_above() {
    let mut queue = ControlledQueue::of(100, false);
    assert_eq!(queue.dequeue_number(4), Some(0));
    // From here on the delay is above the target.
    assert_eq!(queue.dequeue_number(10), Some(1));
    assert_eq!(queue.dequeue_number(109), Some(2));
    assert_eq!(queue.dropped, []);
    assert_eq!(queue.dequeue_number(110), Some(4));
    assert_eq!(queue.dropped, [3]);
    assert!(queue.codel.dropping);
}

#[test]
fn the_interval_between_drops_shrinks_with_the_square_root_of_their_number() {
    let mut queue = ControlledQueue::of(10_000, false);
    queue.dequeue(10);
    let (mut drops, mut known) = (Vec::new(), 0);
    for now in 11..700 {
        queue.dequeue(now);
        drops.extend((known..queue.dropped.len()).map(|_| now));
        known = queue.dropped.len();
    }
    // 110, then 100 / sqrt(1), 100 / sqrt(2), ... later, each at the next millisecond.
    let law = [110.0, 210.0, 280.71, 338.45, 388.45, 433.17, 473.99, 511.79, 547.14, 580.48];
    let law: Vec<u64> = law.iter().map(|due| libm::ceil(*due) as u64).collect();
    assert_eq!(drops[..law.len()], law);
}

#[test]
fn all_overdue_drops_happen_at_once() {
    let mut queue = ControlledQueue::of(10_000, false);
    queue.dequeue(10);
    queue.dequeue(110);
    assert_eq!(queue.dropped.len(), 1);
    // Due at 210, 280.7, 338.5, 388.5.
    queue.dequeue(400);
    assert_eq!(queue.dropped.len(), 5);
    assert_eq!(queue.codel.count, 5);
}

#[test]
fn a_backlog_of_one_packet_is_never_dropped() {
    let mut queue = ControlledQueue::of(3, false);
    queue.dequeue(10);
    assert_eq!(queue.codel.first_above_time, Some(at(110)));
    // One packet remains, which is not more than the largest.
    assert_eq!(queue.dequeue_number(500), Some(1));
    assert_eq!(queue.codel.first_above_time, None);
    assert_eq!(queue.dequeue_number(900), Some(2));
    assert_eq!(queue.dequeue_number(901), None);
    assert_eq!(queue.dropped, []);
}

#[test]
fn a_delay_below_the_target_ends_the_dropping() {
    let mut queue = ControlledQueue::of(10, false);
    queue.dequeue(10);
    queue.dequeue(110);
    assert!(queue.codel.dropping);
    queue.packets.clear();
    queue.refill(10);
    assert_eq!(queue.dequeue_number(112), Some(0));
    assert!(!queue.codel.dropping);
    assert_eq!(queue.codel.first_above_time, None);
}

/// Drops for a second, then `pause` milliseconds without drops, then a delay above the target
/// again.
fn back_after(pause: u64) -> ControlledQueue {
    let mut queue = ControlledQueue::of(10_000, false);
    for now in 10..1010 {
        queue.dequeue(now);
    }
    let begin = 1010 + pause;
    queue.packets.clear();
    queue.now = at(begin);
    queue.refill(10_000);
    for now in [begin, begin + 10, begin + 110] {
        queue.dequeue(now);
    }
    assert!(queue.codel.dropping);
    queue
}

#[test]
fn soon_afterwards_dropping_continues_at_its_former_rate() {
    // The drops of the first dropping state: lastcount was 1, and they continued up to here.
    let mut queue = ControlledQueue::of(10_000, false);
    for now in 10..1010 {
        queue.dequeue(now);
    }
    let count = queue.codel.count;
    assert!(count > 20);
    assert_eq!(back_after(100).codel.count, count - 1);
    // Sixteen intervals are too long.
    assert_eq!(back_after(1600).codel.count, 1);
}

#[test]
fn ecn_capable_packets_are_marked_instead() {
    let mut queue = ControlledQueue::of(10_000, true);
    queue.dequeue(10);
    // Every other packet is ECN-capable, beginning with the first.
    let second = queue.dequeue(109).unwrap();
    assert!(!second.marked);
    let third = queue.dequeue(110).unwrap();
    assert!(third.marked && third.number == 2);
    assert_eq!(queue.dropped, []);
    // The next drop but one is due at 210, and its packet is not ECN-capable.
    queue.dequeue(150);
    queue.dequeue(160);
    let next = queue.dequeue(210).unwrap();
    assert_eq!((next.number, next.marked), (6, false));
    assert_eq!(queue.dropped, [5]);
}
