//! Keys with lists.

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::{CheckResult, Content, Format, FormattedValue, Settings};

/// A list of tables or of values.
pub trait List {
    /// Removes all items.
    fn clear(&mut self);
    /// Adds an item and passes its content to `read`.
    fn add(&mut self, read: &mut dyn FnMut(Content<'_>));
    /// Checks the items together.
    fn check(&self) -> CheckResult {
        Ok(())
    }
}

impl<T: Settings + Default> List for Vec<T> {
    fn clear(&mut self) {
        Self::clear(self);
    }

    fn add(&mut self, read: &mut dyn FnMut(Content<'_>)) {
        let mut item = T::default();
        read(Content::Table(&mut item));
        self.push(item);
    }

    fn check(&self) -> CheckResult {
        T::check_list(self)
    }
}

/// An optional list, which is created when it is cleared.
impl<L: List + Default> List for Option<L> {
    fn clear(&mut self) {
        *self = Some(L::default());
    }

    fn add(&mut self, read: &mut dyn FnMut(Content<'_>)) {
        self.get_or_insert_default().add(read);
    }

    fn check(&self) -> CheckResult {
        self.as_ref().map_or(Ok(()), L::check)
    }
}

/// A collection of the values of a list.
pub trait Collection {
    /// The type of the values.
    type Item: Default + Clone;
    /// Removes all values.
    fn clear(&mut self);
    /// Adds a value at the end.
    fn push(&mut self, item: Self::Item);
}

impl<V: Default + Clone> Collection for Vec<V> {
    type Item = V;

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn push(&mut self, item: V) {
        Self::push(self, item);
    }
}

/// An array holds the last `N` values that were added. Its key must set `min_items` and
/// `max_items`.
impl<V: Default + Clone, const N: usize> Collection for [V; N] {
    type Item = V;

    fn clear(&mut self) {
        self.fill(V::default());
    }

    fn push(&mut self, item: V) {
        self.rotate_left(1);
        if let Some(last) = self.last_mut() {
            *last = item;
        }
    }
}

impl<C: Collection + Default> Collection for Option<C> {
    type Item = C::Item;

    fn clear(&mut self) {
        *self = Some(C::default());
    }

    fn push(&mut self, item: C::Item) {
        self.get_or_insert_default().push(item);
    }
}

/// A list of values that are each written in the format `F`.
pub struct FormattedList<'a, F, C>(&'a mut C, PhantomData<F>);

impl<'a, F, C> FormattedList<'a, F, C> {
    /// A list of values in the format `F`.
    pub fn new(values: &'a mut C) -> Self {
        Self(values, PhantomData)
    }
}

impl<F: Format, C: Collection> List for FormattedList<'_, F, C>
where
    C::Item: TryFrom<F::Value>,
    F::Value: From<C::Item>,
{
    fn clear(&mut self) {
        self.0.clear();
    }

    fn add(&mut self, read: &mut dyn FnMut(Content<'_>)) {
        let mut item = C::Item::default();
        read(Content::Value(&mut FormattedValue::<F, _>::new(&mut item)));
        self.0.push(item);
    }
}
