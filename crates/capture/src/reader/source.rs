//! The bytes of a file, record by record.

use std::io::{BufReader, Chain, Cursor, Read};

use super::ReadError;

/// Longer records than this are damage: no link has packets of more than 128 MB.
const MAX_RECORD: u32 = 128 << 20;
/// So many bytes are read at once.
const BUFFER: usize = 1 << 18;

/// A file being read.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: Chain<Cursor<Vec<u8>>, BufReader<R>>,
    /// What was read of the present record.
    record: Vec<u8>,
    /// Where in the file it begins.
    offset: u64,
}

impl<R: Read> Source<R> {
    /// The file before its first record, and its first four bytes, if it has so many.
    pub(super) fn open(input: R) -> Result<(Self, Vec<u8>), ReadError> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut magic = Vec::new();
        match (&mut input).take(4).read_to_end(&mut magic) {
            Err(source) => Err(ReadError::Io { offset: magic.len() as u64, source }),
            Ok(0) => Err(ReadError::Empty),
            Ok(_) => {
                let input = Cursor::new(magic.clone()).chain(input);
                Ok((Self { input, record: Vec::new(), offset: 0 }, magic))
            }
        }
    }

    /// Leaves the record behind.
    pub(super) fn next_record(&mut self) {
        self.offset += self.record.len() as u64;
        self.record.clear();
    }

    /// Reads the first `length` bytes of a record; `None` if the file ends before it.
    pub(super) fn head(&mut self, length: usize) -> Result<Option<&[u8]>, ReadError> {
        match self.load(length) {
            Err(ReadError::Truncated { .. }) if self.record.is_empty() => Ok(None),
            loaded => loaded.map(|()| Some(&self.record[..])),
        }
    }

    /// Reads `more` bytes behind what was read of the record, and gives all of it.
    pub(super) fn rest(&mut self, more: u32) -> Result<&[u8], ReadError> {
        if more > MAX_RECORD {
            return Err(ReadError::damaged(self.offset, format!("it claims {more} bytes more")));
        }
        self.load(self.record.len() + more as usize)?;
        Ok(&self.record)
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    fn load(&mut self, length: usize) -> Result<(), ReadError> {
        let missing = length - self.record.len();
        let read = (&mut self.input).take(missing as u64).read_to_end(&mut self.record);
        let offset = self.offset;
        match read {
            Err(source) => Err(ReadError::Io { offset: offset + self.record.len() as u64, source }),
            Ok(_) if self.record.len() < length => Err(ReadError::Truncated { offset }),
            Ok(_) => Ok(()),
        }
    }
}
