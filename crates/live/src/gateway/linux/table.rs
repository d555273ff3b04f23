//! All connections, by their ends and by their ids.

use std::collections::HashMap;

use rtolab_packet::Path;

/// The slot of a connection and its generation: slots are reused, ids are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    place: u32,
    turn: u32,
}

impl Id {
    #[cfg(test)]
    pub(crate) const fn new(place: u32, turn: u32) -> Self {
        Self { place, turn }
    }

    /// The id in 64 bits, for the kernel.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.turn as u64) << 32 | self.place as u64
    }

    /// The id from 64 bits.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { place: bits as u32, turn: (bits >> 32) as u32 }
    }
}

/// A slot for a connection.
struct Place<T> {
    turn: u32,
    held: Option<T>,
}

/// Connections by their ends as clients see them. The hash has a random key, so that nobody outside
/// can choose ends that collide; no order depends on it.
pub(crate) struct Table<T> {
    ids: HashMap<Path, Id>,
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { ids: HashMap::new(), places: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The connection with these ends.
    pub(crate) fn find(&self, path: &Path) -> Option<Id> {
        self.ids.get(path).copied()
    }

    /// Adds a connection with new ends.
    pub(crate) fn insert(&mut self, path: Path, held: T) -> Id {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { turn: 0, held: None });
            self.places.len() as u32 - 1
        });
        let slot = &mut self.places[place as usize];
        slot.held = Some(held);
        let id = Id { place, turn: slot.turn };
        self.ids.insert(path, id);
        id
    }

    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        let slot = self.places.get(id.place as usize).filter(|slot| slot.turn == id.turn)?;
        slot.held.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.places.get_mut(id.place as usize).filter(|slot| slot.turn == id.turn)?;
        slot.held.as_mut()
    }

    /// Removes the connection with this id and these ends.
    pub(crate) fn remove(&mut self, id: Id, path: &Path) -> Option<T> {
        let slot = self.places.get_mut(id.place as usize).filter(|slot| slot.turn == id.turn)?;
        let held = slot.held.take()?;
        slot.turn = slot.turn.wrapping_add(1);
        self.free.push(id.place);
        self.ids.remove(path);
        if self.ids.is_empty() {
            self.ids.shrink_to_fit();
        }
        Some(held)
    }

    /// All ids, in the order of their slots.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let held = self.places.iter().enumerate().filter(|(_, slot)| slot.held.is_some());
        held.map(|(place, slot)| Id { place: place as u32, turn: slot.turn }).collect()
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
    fn a_place_is_used_again_but_an_id_is_not() {
        let mut table = Table::new();
        let first = table.insert(path(1), 'a');
        assert_eq!((table.find(&path(1)), table.get(first)), (Some(first), Some(&'a')));
        assert_eq!(table.remove(first, &path(1)), Some('a'));
        let second = table.insert(path(2), 'b');
        assert_eq!((first.place, table.len()), (second.place, 1));
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first, &path(1)), None);
        assert_eq!((table.find(&path(1)), table.get(second)), (None, Some(&'b')));
        assert_eq!(Id::from_bits(second.to_bits()), second);
        assert_eq!(table.ids(), [second]);
    }
}
