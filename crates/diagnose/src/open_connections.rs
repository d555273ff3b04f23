//! The open connections of a capture, by their ends.

use std::collections::HashMap;

use ahash::RandomState;

use crate::connection::Connection;
use crate::connection_key::ConnectionKey;

/// The open connections. Packets of a connection often follow each other, so the latest connection
/// is found without the hash table.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections {
    /// The index in `slots` of each connection.
    indices: HashMap<ConnectionKey, usize, RandomState>,
    slots: Vec<Option<(ConnectionKey, Box<Connection>)>>,
    /// The indices of empty slots.
    empty: Vec<usize>,
    /// The index of the connection that was found last.
    latest: usize,
}

impl OpenConnections {
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ConnectionKey, &Connection)> {
        self.slots.iter().flatten().map(|(key, connection)| (key, &**connection))
    }

    #[inline]
    pub fn get_mut(&mut self, key: &ConnectionKey) -> Option<&mut Connection> {
        let is_latest =
            matches!(self.slots.get(self.latest), Some(Some((known, _))) if known == key);
        if !is_latest {
            self.latest = *self.indices.get(key)?;
        }
        self.slots[self.latest].as_mut().map(|(_, connection)| &mut **connection)
    }

    /// Adds a connection; none with this key may be open.
    pub fn insert(&mut self, key: ConnectionKey, connection: Box<Connection>) {
        let index = self.empty.pop().unwrap_or(self.slots.len());
        if index == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[index] = Some((key, connection));
        self.indices.insert(key, index);
        self.latest = index;
    }

    pub fn remove(&mut self, key: &ConnectionKey) -> Option<Box<Connection>> {
        let index = self.indices.remove(key)?;
        self.empty.push(index);
        self.slots[index].take().map(|(_, connection)| connection)
    }
}
