//! A numbered queue.

use alloc::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    first: u64,
    items: VecDeque<T>,
}

impl<T> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self { first: 0, items: VecDeque::new() }
    }

    /// The number of the oldest item.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next item gets.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    pub(crate) fn push(&mut self, item: T) {
        self.items.push_back(item);
    }

    fn position(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).map(|position| position as usize)
    }

    /// `None` if it is gone or not there yet.
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.items.get(self.position(number)?)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let position = self.position(number)?;
        self.items.get_mut(position)
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.first += 1;
        Some(item)
    }

    /// Removes the oldest items while they are `done`.
    pub(crate) fn trim(&mut self, done: impl Fn(&T) -> bool) {
        while self.items.front().is_some_and(&done) {
            self.pop();
        }
    }
}
