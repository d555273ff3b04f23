//! The table of all connections, by their ends and by their ids.

use std::collections::HashMap;

use rtolab_packet::Path;

/// The slot of a connection and its generation. Slots are reused, but ids are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    slot: u32,
    generation: u32,
}

impl Id {
    #[cfg(test)]
    pub(crate) const fn new(slot: u32, generation: u32) -> Self {
        Self { slot, generation }
    }

    /// The id in 64 bits, for the kernel.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.slot as u64
    }

    /// The id from 64 bits.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { slot: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// A slot for a connection.
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Connections by their ends as clients see them. The hash has a random key, so that clients cannot
/// choose ends that collide. No order depends on the hash.
pub(crate) struct Table<T> {
    ids: HashMap<Path, Id>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { ids: HashMap::new(), slots: Vec::new(), free: Vec::new() }
    }

    /// The number of connections, including those without ends.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The connection with these ends.
    pub(crate) fn find(&self, path: &Path) -> Option<Id> {
        self.ids.get(path).copied()
    }

    /// Adds a connection with new ends.
    pub(crate) fn insert(&mut self, path: Path, value: T) -> Id {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            self.slots.len() as u32 - 1
        });
        let entry = &mut self.slots[slot as usize];
        entry.value = Some(value);
        let id = Id { slot, generation: entry.generation };
        self.ids.insert(path, id);
        id
    }

    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        let entry =
            self.slots.get(id.slot as usize).filter(|entry| entry.generation == id.generation)?;
        entry.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let entry = self
            .slots
            .get_mut(id.slot as usize)
            .filter(|entry| entry.generation == id.generation)?;
        entry.value.as_mut()
    }

    /// Removes the connection with this id and these ends.
    pub(crate) fn remove(&mut self, id: Id, path: &Path) -> Option<T> {
        let entry = self
            .slots
            .get_mut(id.slot as usize)
            .filter(|entry| entry.generation == id.generation)?;
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(id.slot);
        self.detach(id, path);
        Some(value)
    }

    /// Makes these ends available for another connection. The one with this id keeps its id.
    pub(crate) fn detach(&mut self, id: Id, path: &Path) {
        if self.ids.get(path) == Some(&id) {
            self.ids.remove(path);
        }
        if self.ids.is_empty() {
            self.ids.shrink_to_fit();
        }
    }

    /// All ids, in the order of their slots.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let value = self.slots.iter().enumerate().filter(|(_, entry)| entry.value.is_some());
        value.map(|(slot, entry)| Id { slot: slot as u32, generation: entry.generation }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rtolab_tcp::wire::{Addresses, Ports};

    use super::*;

    fn path(port: u16) -> Path {
        let [from, to] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        Path { addresses: Addresses::V4 { from, to }, ports: Ports { from: port, to: 80 } }
    }

    #[test]
    fn a_slot_is_reused_but_an_id_is_not() {
        let mut table = Table::new();
        let first = table.insert(path(1), 'a');
        assert_eq!((table.find(&path(1)), table.get(first)), (Some(first), Some(&'a')));
        assert_eq!(table.remove(first, &path(1)), Some('a'));
        let second = table.insert(path(2), 'b');
        assert_eq!((first.slot, table.len()), (second.slot, 1));
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first, &path(1)), None);
        assert_eq!((table.find(&path(1)), table.get(second)), (None, Some(&'b')));
        assert_eq!(Id::from_bits(second.to_bits()), second);
        assert_eq!(table.ids(), [second]);
    }

    #[test]
    fn a_detached_connection_leaves_its_ends_to_another() {
        let mut table = Table::new();
        let first = table.insert(path(1), 'a');
        table.detach(first, &path(1));
        assert_eq!((table.find(&path(1)), table.get(first), table.len()), (None, Some(&'a'), 1));
        let second = table.insert(path(1), 'b');
        assert_eq!((table.len(), table.ids()), (2, vec![first, second]));
        assert_eq!(table.remove(first, &path(1)), Some('a'));
        assert_eq!((table.find(&path(1)), table.len()), (Some(second), 1));
    }
}
