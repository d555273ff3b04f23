//! Packets under way through pipes: which comes out next.
//!
//! A pipe says when a packet comes out as soon as that enters, so packets enter here with their time,
//! and most in the order of it. They wait in runs, each in order; one that would come far from the
//! end of its run waits apart. A tournament of the runs' first ones tells the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtolab_link::Fifo;
use rtolab_net::Packet;
use rtolab_time::Instant;

use crate::fetch::fetch_packet;

/// So many places before the end of its run a packet is let in; else it waits apart.
const NEAR: usize = 64;

/// So many packets the caches hold beside all else: with more of them each is fetched before it comes
/// out, for it was put there a round trip ago.
const FEW: usize = 4096;

/// So many packets before one is needed it is fetched, where they follow one another at once.
const SOON: usize = 6;

/// With more packets under way than these, the caches do not hold their flows either.
const MANY: usize = 32_768;

/// When something comes out of which pipe. Of several at one instant the one of the lowest number
/// comes first, and of one pipe what comes out before what was refused.
///
/// In one number, for that is compared fastest: the instant, twice the pipe's number and one more if
/// its queue refuses the packet, and room for a number in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due(u128);

impl Due {
    /// A packet comes out.
    #[inline]
    pub const fn out(at: Instant, pipe: u32) -> Self {
        Self((at.nanos() as u128) << 64 | (pipe as u128) << 33)
    }

    /// The pipe's queue refuses a packet.
    pub const fn refused(at: Instant, pipe: u32) -> Self {
        Self(Self::out(at, pipe).0 | 1 << 32)
    }

    const fn never() -> Self {
        Self::out(Instant::NEVER, u32::MAX / 2)
    }

    /// Is this due earlier than what waits?
    #[inline]
    const fn is_before(self, waiting: Waiting) -> bool {
        self.0 | Waiting::SLOT < waiting.0
    }

    #[inline]
    pub const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// The pipe's number.
    #[inline]
    pub const fn pipe(self) -> u32 {
        (self.0 as u64 >> 33) as u32
    }

    /// Does the pipe's queue refuse the packet?
    #[inline]
    pub const fn is_refusal(self) -> bool {
        self.0 & 1 << 32 != 0
    }
}

/// A packet's number here.
pub type Slot = u32;

/// A packet that waits in a run: when it is due, and its number in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting(u128);

impl Waiting {
    /// The bits of the number.
    const SLOT: u128 = Slot::MAX as u128;

    #[inline]
    const fn new(due: Due, slot: Slot) -> Self {
        Self(due.0 | slot as u128)
    }

    #[inline]
    const fn slot(self) -> Slot {
        self.0 as Slot
    }

    #[inline]
    const fn due(self) -> Due {
        Due(self.0 & !Self::SLOT)
    }
}

/// All packets under way through pipes.
#[derive(Clone, Debug)]
pub struct Transit {
    packets: Vec<Packet>,
    /// The numbers that are free. That which has been free for longest is taken first, so that
    /// packets lie in memory as they come and go: that suits the processor best.
    free: Fifo<Slot>,
    runs: Vec<Fifo<Waiting>>,
    /// Those that would come far from the end of their run, with a number that keeps them in order.
    apart: BinaryHeap<Reverse<(Due, u64, Slot)>>,
    number: u64,
    heads: Heads,
}

impl Transit {
    /// Nothing under way, and so many runs.
    pub fn new(runs: usize) -> Self {
        Self {
            packets: Vec::new(),
            free: Fifo::default(),
            runs: vec![Fifo::default(); runs],
            apart: BinaryHeap::new(),
            number: 0,
            heads: Heads::new(runs + 1),
        }
    }

    /// Takes a packet in.
    #[inline]
    pub fn put(&mut self, packet: &Packet) -> Slot {
        if let Some(slot) = self.free.pop() {
            if let Some(next) = self.free.oldest(1).filter(|_| self.is_crowded()) {
                fetch_packet(&self.packets[*next as usize]);
            }
            self.packets[slot as usize] = *packet;
            return slot;
        }
        self.packets.push(*packet);
        self.packets.len() as Slot - 1
    }

    /// The size of a packet, and the step before it.
    #[inline]
    pub fn bytes_and_step(&self, slot: Slot) -> (u32, u32) {
        let Packet { bytes, step, .. } = self.packets[slot as usize];
        (bytes, step)
    }

    /// A packet where it lies.
    #[inline]
    pub fn packet_mut(&mut self, slot: Slot) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    /// A packet goes no further.
    #[inline]
    pub fn drop(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// The packet leaves.
    #[inline]
    pub fn take(&mut self, slot: Slot) -> Packet {
        self.free.push(slot);
        self.packets[slot as usize]
    }

    /// The packet waits until it is due, in this run.
    #[inline(always)]
    pub fn wait(&mut self, run: usize, due: Due, slot: Slot) {
        let waiting = &mut self.runs[run];
        match waiting.back() {
            None => {
                waiting.push(Waiting::new(due, slot));
                self.heads.set(run, due);
            }
            Some(last) if due.is_before(*last) => self.squeeze(run, due, slot),
            Some(_) => waiting.push(Waiting::new(due, slot)),
        }
    }

    /// The packet comes before some of those that wait.
    #[inline(never)]
    fn squeeze(&mut self, run: usize, due: Due, slot: Slot) {
        let waiting = &mut self.runs[run];
        if waiting.newest(NEAR - 1).is_some_and(|other| due.is_before(*other)) {
            return self.wait_apart(due, slot);
        }
        let packet = Waiting::new(due, slot);
        waiting.insert_before(packet, NEAR - 1, |other| due.is_before(*other));
        if waiting.front().is_some_and(|first| first.slot() == slot) {
            self.heads.set(run, due);
        }
    }

    /// The packet waits apart until it is due.
    #[inline(never)]
    pub fn wait_apart(&mut self, due: Due, slot: Slot) {
        self.apart.push(Reverse((due, self.number, slot)));
        self.number += 1;
        self.look_apart();
    }

    #[inline(never)]
    fn pop_apart(&mut self) -> Option<Slot> {
        let first = self.apart.pop().map(|Reverse((.., slot))| slot);
        self.look_apart();
        first
    }

    fn look_apart(&mut self) {
        let first = self.apart.peek().map_or(Due::never(), |Reverse((due, ..))| *due);
        self.heads.set(self.runs.len(), first);
    }

    /// What is due next; at [`Instant::NEVER`] if nothing is.
    #[inline(always)]
    pub fn next(&self) -> Due {
        self.heads.first().1
    }

    /// Are there more packets than the caches hold?
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        self.packets.len() > FEW
    }

    /// Are there so many that the caches do not hold what they lead to?
    #[inline(always)]
    pub fn is_overcrowded(&self) -> bool {
        self.packets.len() > MANY
    }

    /// Which run what is due next waits in, unless it waits apart; and that run.
    #[inline(always)]
    pub fn next_run(&self) -> Option<(usize, &Fifo<Waiting>)> {
        let (run, _) = self.heads.first();
        Some((run, self.runs.get(run)?))
    }

    /// The run that what is due next waits in; the number behind the last one if it waits apart.
    #[inline(always)]
    pub fn first_run(&self) -> usize {
        self.heads.first().0
    }

    /// What is due first of all but one run and those `without` interest. `None`: that is not told, for
    /// there are many runs.
    pub fn first_but(&self, run: usize, without: impl Fn(usize) -> bool) -> Option<Due> {
        let Contest::Few(heads) = &self.heads.all else { return None };
        let others =
            heads.iter().enumerate().filter(|(other, _)| *other != run && !without(*other));
        Some(others.map(|(_, head)| Heads::due(*head)).min().unwrap_or_else(Due::never))
    }

    /// What is due first in a run.
    #[inline(always)]
    pub fn first_of(&self, run: usize) -> Option<(Due, Slot)> {
        self.runs[run].front().map(|first| (first.due(), first.slot()))
    }

    /// That waits no longer; until the run is [looked at](Self::look_at) nothing else is to be asked.
    #[inline(always)]
    pub fn pop_of(&mut self, run: usize) {
        self.runs[run].pop();
    }

    /// Has the processor fetch a packet that comes out of the run soon.
    #[inline(always)]
    pub fn fetch_of(&self, run: usize) {
        if let Some(waiting) = self.runs[run].oldest(SOON) {
            fetch_packet(self.waiting(*waiting));
        }
    }

    /// The packet that comes out of the run next but so many, if it does so soon.
    #[inline(always)]
    pub fn oldest_of(&self, run: usize, but: usize) -> Option<&Packet> {
        self.runs[run].oldest(but).map(|waiting| self.waiting(*waiting))
    }

    /// Looks what is due first in the run now.
    #[inline(always)]
    pub fn look_at(&mut self, run: usize) {
        let next = self.runs[run].front().map_or(Due::never(), |packet| packet.due());
        self.heads.set(run, next);
    }

    /// A packet that waits in a run.
    #[inline(always)]
    pub fn waiting(&self, waiting: Waiting) -> &Packet {
        &self.packets[waiting.slot() as usize]
    }

    /// What is due next waits no longer.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Slot> {
        let (run, _) = self.heads.first();
        let Some(waiting) = self.runs.get_mut(run) else { return self.pop_apart() };
        let first = waiting.pop().map(Waiting::slot);
        self.look_at(run);
        first
    }
}

/// The runs' first ones, each with its run's number in the lowest bits: of equal ones that of the first
/// run wins.
#[derive(Clone, Debug)]
struct Heads {
    first: u128,
    all: Contest,
}

/// How the first of them is found.
#[derive(Clone, Debug)]
enum Contest {
    /// By looking at all.
    Few([u128; 4]),
    /// By a tournament: `nodes[1]` is the root, the children of `i` are `2 i` and `2 i + 1`, and the
    /// leaves are the runs.
    Many(Vec<u128>),
}

impl Heads {
    fn new(runs: usize) -> Self {
        let all = match runs {
            0..=4 => Contest::Few([u128::MAX; 4]),
            _ => Contest::Many(vec![u128::MAX; 2 * runs.next_power_of_two()]),
        };
        let mut heads = Self { first: u128::MAX, all };
        (0..runs).for_each(|run| heads.set(run, Due::never()));
        heads
    }

    #[inline(always)]
    fn first(&self) -> (usize, Due) {
        (self.first as u32 as usize, Self::due(self.first))
    }

    const fn due(head: u128) -> Due {
        Due(head & !Waiting::SLOT)
    }

    #[inline(always)]
    fn set(&mut self, run: usize, due: Due) {
        let head = due.0 | run as u128;
        self.first = match &mut self.all {
            Contest::Few(heads) => {
                heads[run % 4] = head;
                let [a, b, c, d] = *heads;
                a.min(b).min(c.min(d))
            }
            Contest::Many(nodes) => replay(nodes, run, head),
        };
    }
}

/// The head of a run has changed: plays the contests again on its way to the root.
#[inline(never)]
fn replay(nodes: &mut [u128], run: usize, head: u128) -> u128 {
    let mut best = head;
    let mut node = nodes.len() / 2 + run;
    nodes[node] = best;
    while node > 1 {
        best = best.min(nodes[node ^ 1]);
        node /= 2;
        nodes[node] = best;
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Dues far ahead and near, so that some packets come far from the end of their run.
        #[test]
        fn packets_come_out_as_they_are_due_and_of_one_pipe_as_they_came(
            steps in prop::collection::vec((0..8_u32, 1..200_u64, prop::bool::ANY), 0..600),
        ) {
            let (mut transit, mut naive) = (Transit::new(3), Vec::new());
            let mut now = 0;
            for (slot, (pipe, ahead, far)) in (0..).zip(steps) {
                if pipe >= 6 {
                    let least = naive.iter().min().copied();
                    naive.retain(|waiting| Some(*waiting) != least);
                    prop_assert_eq!(transit.next().at(), least.map_or(Instant::NEVER, |(due, _): (Due, _)| due.at()));
                    prop_assert_eq!(transit.pop(), least.map(|(_, slot)| slot));
                    now = least.map_or(now, |(due, _)| due.at().nanos());
                    continue;
                }
                let at = Instant::from_nanos(now + if far { 1000 } else { ahead / 20 + 1 });
                let due = Due::out(at, pipe);
                transit.wait(pipe as usize % 3, due, slot);
                naive.push((due, slot));
            }
            naive.sort_unstable();
            for (_, slot) in naive {
                prop_assert_eq!(transit.pop(), Some(slot));
            }
            prop_assert_eq!((transit.next().at(), transit.pop()), (Instant::NEVER, None));
        }
    }
}
