//! A fast FIFO queue.

use alloc::vec::Vec;

/// A ring buffer whose length is a power of two. `VecDeque` takes any length and needs a comparison
/// at each access to wrap around.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    ring: Vec<T>,
    /// The number of the oldest item, counted from zero.
    first: usize,
    /// The number that the next item gets.
    end: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { ring: Vec::new(), first: 0, end: 0 }
    }
}

#[expect(missing_docs, reason = "the names are self-explanatory")]
impl<T: Copy> Fifo<T> {
    pub const fn len(&self) -> usize {
        self.end - self.first
    }

    pub const fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Must the ring grow for the next item?
    #[inline]
    fn is_full(&self) -> bool {
        self.len() == self.ring.len()
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.ring.len().wrapping_sub(1)
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.ring.get(self.place(self.first)) }
    }

    #[inline]
    pub(crate) fn front_mut(&mut self) -> Option<&mut T> {
        let place = self.place(self.first);
        if self.is_empty() { None } else { self.ring.get_mut(place) }
    }

    /// The item at `index`, where 0 is the oldest.
    #[inline]
    pub fn oldest(&self, index: usize) -> Option<&T> {
        if index >= self.len() { None } else { self.ring.get(self.place(self.first + index)) }
    }

    #[inline]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.ring.get(self.place(self.end - 1)) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (self.first..self.end).filter_map(|number| self.ring.get(self.place(number)))
    }

    /// The item at `index`, where 0 is the newest.
    #[inline]
    pub fn newest(&self, index: usize) -> Option<&T> {
        if index >= self.len() { None } else { self.ring.get(self.place(self.end - 1 - index)) }
    }

    #[inline]
    pub fn push(&mut self, item: T) {
        if self.is_full() {
            self.grow(item);
        }
        let place = self.place(self.end);
        self.ring[place] = item;
        self.end += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, item: T) {
        let capacity = (2 * self.ring.len()).max(4);
        let mut ring = alloc::vec![item; capacity];
        for number in self.first..self.end {
            ring[number & (capacity - 1)] = self.ring[self.place(number)];
        }
        self.ring = ring;
    }

    /// Inserts `item` before all items that are `later`. These must be the newest ones, and at most
    /// `max_distance`.
    pub fn insert_before(&mut self, item: T, max_distance: usize, later: impl Fn(&T) -> bool) {
        let others = max_distance.min(self.len());
        self.push(item);
        let end = self.place(self.end - 1);
        match end.checked_sub(others) {
            // The common case: they are contiguous.
            Some(start) => {
                let newest = &mut self.ring[start..=end];
                let place = newest[..others].partition_point(|other| !later(other));
                newest.copy_within(place..others, place + 1);
                newest[place] = item;
            }
            None => self.move_newest_before(&item, later),
        }
    }

    /// Moves the newest item before all items that are `later`.
    #[cold]
    fn move_newest_before(&mut self, item: &T, later: impl Fn(&T) -> bool) {
        let mut place = self.place(self.end - 1);
        for number in (self.first..self.end - 1).rev() {
            let before = self.place(number);
            if !later(&self.ring[before]) {
                break;
            }
            self.ring[place] = self.ring[before];
            place = before;
        }
        self.ring[place] = *item;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.first += 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_deque(steps in prop::collection::vec((0..5, 0..9_usize), 0..300)) {
            let (mut fifo, mut deque) = (Fifo::default(), VecDeque::new());
            let mut last = 0;
            for (id, (step, number)) in steps.into_iter().enumerate() {
                match step {
                    0 | 1 => {
                        last += number;
                        fifo.push((last, id));
                        deque.push_back((last, id));
                    }
                    2 => {
                        let item = (last.saturating_sub(2 * number), id);
                        let place = deque.partition_point(|other| other.0 <= item.0);
                        let later = deque.len() - place;
                        fifo.insert_before(item, later + number % 3, |other| other.0 > item.0);
                        deque.insert(place, item);
                    }
                    _ => prop_assert_eq!(fifo.pop(), deque.pop_front()),
                }
                prop_assert!(fifo.iter().eq(&deque));
                prop_assert_eq!((fifo.front(), fifo.back()), (deque.front(), deque.back()));
                prop_assert_eq!(fifo.oldest(number), deque.get(number));
                prop_assert_eq!(fifo.newest(number), deque.iter().rev().nth(number));
                prop_assert_eq!((fifo.len(), fifo.is_empty()), (deque.len(), deque.is_empty()));
            }
        }
    }
}
