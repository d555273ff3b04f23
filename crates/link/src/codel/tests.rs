//! RFC 8289, section 5: what its pseudo-code does, step by step.

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

    fn takes_marks(&self) -> bool {
        self.capable
    }

    fn mark_congestion(&mut self) {
        self.marked = true;
    }

    fn corrupt(&mut self) {}
}

/// A queue under the RFC's parameters, and the numbers of those that it dropped.
struct Line {
    codel: ControlledDelay,
    now: Instant,
    packets: VecDeque<Packet>,
    dropped: Vec<u64>,
}

struct Head<'a>(&'a mut Line);

impl Backlogged for Head<'_> {
    type Frame = Packet;

    fn pop(&mut self) -> Option<Popped<Packet>> {
        let frame = self.0.packets.pop_front()?;
        let backlog = 1000 * self.0.packets.len() as u64;
        Some(Popped { frame, sojourn: self.0.now.since(frame.entry), backlog })
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

impl Line {
    /// So many packets that have been there from the start.
    fn of(packets: u64, ecn: bool) -> Self {
        let codel = ControlledDelay::new(CoDel { target: ms(5), interval: ms(100), ecn });
        let (now, dropped) = (Instant::START, Vec::new());
        let mut line = Self { codel, now, packets: VecDeque::new(), dropped };
        line.refill(packets);
        line
    }

    /// So many more, from now on.
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
    let mut line = Line::of(0, false);
    for now in (0..1000).step_by(4) {
        line.now = at(now);
        line.refill(3);
        for _ in 0..3 {
            assert!(line.dequeue(now + 4).is_some());
        }
    }
    assert_eq!(line.dropped, []);
}

#[test]
fn the_first_drop_comes_an_interval_after_the_delay_went_above() {
    let mut line = Line::of(100, false);
    assert_eq!(line.dequeue_number(4), Some(0));
    // Above from here on.
    assert_eq!(line.dequeue_number(10), Some(1));
    assert_eq!(line.dequeue_number(109), Some(2));
    assert_eq!(line.dropped, []);
    assert_eq!(line.dequeue_number(110), Some(4));
    assert_eq!(line.dropped, [3]);
    assert!(line.codel.dropping);
}

#[test]
fn drops_follow_each_other_by_the_inverse_root_of_their_number() {
    let mut line = Line::of(10_000, false);
    line.dequeue(10);
    let (mut drops, mut known) = (Vec::new(), 0);
    for now in 11..700 {
        line.dequeue(now);
        drops.extend((known..line.dropped.len()).map(|_| now));
        known = line.dropped.len();
    }
    // 110, then 100 / sqrt(1), 100 / sqrt(2), ... later, each at the next millisecond.
    let law = [110.0, 210.0, 280.71, 338.45, 388.45, 433.17, 473.99, 511.79, 547.14, 580.48];
    let law: Vec<u64> = law.iter().map(|due| libm::ceil(*due) as u64).collect();
    assert_eq!(drops[..law.len()], law);
}

#[test]
fn what_is_overdue_is_dropped_at_once() {
    let mut line = Line::of(10_000, false);
    line.dequeue(10);
    line.dequeue(110);
    assert_eq!(line.dropped.len(), 1);
    // Due since: 210, 280.7, 338.5, 388.5.
    line.dequeue(400);
    assert_eq!(line.dropped.len(), 5);
    assert_eq!(line.codel.count, 5);
}

#[test]
fn the_last_packet_worth_of_backlog_is_never_dropped() {
    let mut line = Line::of(3, false);
    line.dequeue(10);
    assert_eq!(line.codel.first_above_time, Some(at(110)));
    // One packet is left behind: no more than the largest.
    assert_eq!(line.dequeue_number(500), Some(1));
    assert_eq!(line.codel.first_above_time, None);
    assert_eq!(line.dequeue_number(900), Some(2));
    assert_eq!(line.dequeue_number(901), None);
    assert_eq!(line.dropped, []);
}

#[test]
fn a_delay_below_the_target_ends_the_dropping() {
    let mut line = Line::of(10, false);
    line.dequeue(10);
    line.dequeue(110);
    assert!(line.codel.dropping);
    line.packets.clear();
    line.refill(10);
    assert_eq!(line.dequeue_number(112), Some(0));
    assert!(!line.codel.dropping);
    assert_eq!(line.codel.first_above_time, None);
}

/// Drops for a second, then `calm` milliseconds without, then goes above for an interval.
fn back_after(calm: u64) -> Line {
    let mut line = Line::of(10_000, false);
    for now in 10..1010 {
        line.dequeue(now);
    }
    let begin = 1010 + calm;
    line.packets.clear();
    line.now = at(begin);
    line.refill(10_000);
    for now in [begin, begin + 10, begin + 110] {
        line.dequeue(now);
    }
    assert!(line.codel.dropping);
    line
}

#[test]
fn soon_afterwards_dropping_goes_on_where_it_was() {
    // The drops of the first spell: lastcount was 1, and they went on to here.
    let mut line = Line::of(10_000, false);
    for now in 10..1010 {
        line.dequeue(now);
    }
    let count = line.codel.count;
    assert!(count > 20);
    assert_eq!(back_after(100).codel.count, count - 1);
    // Sixteen intervals are too long.
    assert_eq!(back_after(1600).codel.count, 1);
}

#[test]
fn capable_packets_are_marked_instead() {
    let mut line = Line::of(10_000, true);
    line.dequeue(10);
    // Every other packet is capable, from the first.
    let second = line.dequeue(109).unwrap();
    assert!(!second.marked);
    let third = line.dequeue(110).unwrap();
    assert!(third.marked && third.number == 2);
    assert_eq!(line.dropped, []);
    // The next but one is due at 210, and is not capable.
    line.dequeue(150);
    line.dequeue(160);
    let next = line.dequeue(210).unwrap();
    assert_eq!((next.number, next.marked), (6, false));
    assert_eq!(line.dropped, [5]);
}
