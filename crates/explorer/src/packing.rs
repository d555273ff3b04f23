//! Binary encoding of columns of numbers, the data of the figures.
//!
//! An answer is the length of its head in four bytes (little endian), the head as JSON, and the
//! columns. The head refers to a column as `{"type": "f8", "at": 16, "count": 3}`: three doubles
//! that begin 16 bytes after the head. Columns begin at multiples of eight bytes, so that a browser
//! can map them without a copy; the head is padded with blanks for the same reason.

use serde_json::{Value, json};

const WORD: usize = 8;
/// The size of the head's length, in bytes.
const LENGTH: usize = 4;

/// The columns of an answer.
#[derive(Default)]
pub(crate) struct Packing(Vec<u8>);

impl Packing {
    /// A column of doubles.
    pub(crate) fn numbers(&mut self, values: impl Iterator<Item = f64>) -> Value {
        let begin = self.0.len();
        let mut count = 0_usize;
        for value in values {
            self.0.extend_from_slice(&value.to_le_bytes());
            count += 1;
        }
        json!({"type": "f8", "at": begin, "count": count})
    }

    /// A column of doubles; missing values become NaN.
    pub(crate) fn options(&mut self, values: impl Iterator<Item = Option<f64>>) -> Value {
        self.numbers(values.map(|value| value.unwrap_or(f64::NAN)))
    }

    /// A column of codes, the indices of names.
    pub(crate) fn codes(&mut self, values: impl Iterator<Item = usize>) -> Value {
        let begin = self.0.len();
        self.0.extend(values.map(|code| code as u8));
        let count = self.0.len() - begin;
        self.0.resize(self.0.len().next_multiple_of(WORD), 0);
        json!({"type": "u1", "at": begin, "count": count})
    }

    /// The encoded head and columns.
    pub(crate) fn answer(self, head: &Value) -> Vec<u8> {
        let mut text = head.to_string().into_bytes();
        text.resize((LENGTH + text.len()).next_multiple_of(WORD) - LENGTH, b' ');
        let length = (text.len() as u32).to_le_bytes();
        [&length[..], &text, &self.0].concat()
    }
}
