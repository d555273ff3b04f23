//! Columns of text.

use std::collections::HashMap;

/// The longest text that a view holds itself, in bytes.
const INLINE: usize = 12;

/// The most bytes of one block of longer texts: their offsets have 31 bits.
const BLOCK: usize = i32::MAX as usize;

/// A view of a text, as in Arrow's columns of type `Utf8View`: the length in four bytes, then the
/// text, or its first four bytes, the number of its block and its offset there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct View([u8; 16]);

impl View {
    fn inline(text: &str) -> Self {
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(text.len() as u32).to_ne_bytes());
        view[4..4 + text.len()].copy_from_slice(text.as_bytes());
        Self(view)
    }

    fn longer(text: &str, block: usize, offset: usize) -> Self {
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(text.len() as u32).to_ne_bytes());
        view[4..8].copy_from_slice(&text.as_bytes()[..4]);
        view[8..12].copy_from_slice(&(block as u32).to_ne_bytes());
        view[12..].copy_from_slice(&(offset as u32).to_ne_bytes());
        Self(view)
    }

    fn number(&self, at: usize) -> usize {
        let bytes = self.0[at..at + 4].try_into().expect("four bytes");
        u32::from_ne_bytes(bytes) as usize
    }
}

/// The cells of a column of text. Equal texts of more than twelve bytes are stored once.
#[derive(Clone, Debug, Default)]
pub struct TextValues {
    views: Vec<View>,
    blocks: Vec<Vec<u8>>,
    longer: HashMap<Box<str>, View>,
}

impl TextValues {
    /// No cells yet, with room for `rows`.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self { views: Vec::with_capacity(rows), ..Self::default() }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Are there no cells?
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The text at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`len`](Self::len).
    pub fn get(&self, index: usize) -> &str {
        let view = &self.views[index];
        let len = view.number(0);
        let bytes = if len <= INLINE {
            &view.0[4..4 + len]
        } else {
            &self.blocks[view.number(8)][view.number(12)..][..len]
        };
        std::str::from_utf8(bytes).expect("a text that was appended")
    }

    /// Appends a text.
    pub(crate) fn push(&mut self, text: &str) {
        let view = if text.len() <= INLINE {
            View::inline(text)
        } else if let Some(view) = self.longer.get(text) {
            *view
        } else {
            let view = self.store(text);
            self.longer.insert(text.into(), view);
            view
        };
        self.views.push(view);
    }

    fn store(&mut self, text: &str) -> View {
        assert!(text.len() <= BLOCK, "a cell of {} bytes", text.len());
        if self.blocks.last().is_none_or(|block| block.len() + text.len() > BLOCK) {
            self.blocks.push(Vec::new());
        }
        let number = self.blocks.len() - 1;
        let block = &mut self.blocks[number];
        let offset = block.len();
        block.extend_from_slice(text.as_bytes());
        View::longer(text, number, offset)
    }

    pub(crate) fn views(&self) -> &[View] {
        &self.views
    }

    pub(crate) fn blocks(&self) -> &[Vec<u8>] {
        &self.blocks
    }

    /// Drops what only appending needs.
    pub(crate) fn finish(mut self) -> Self {
        self.longer = HashMap::new();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_around_the_longest_inline_text_are_read_back() {
        let texts =
            ["", "a", "twelve bytes", "thirteen long", "thirteen long", "Äthernet für drei"];
        let mut column = TextValues::default();
        for text in texts {
            column.push(text);
        }
        let read: Vec<_> = (0..column.len()).map(|index| column.get(index)).collect();
        assert_eq!(read, texts);
        let stored = "thirteen long".len() + "Äthernet für drei".len();
        assert_eq!(column.blocks().concat().len(), stored);
    }
}
