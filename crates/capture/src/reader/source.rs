//! The bytes of a file, record by record.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use rtolab_time::Instant;

use super::error::ReadError;

/// Longer records than this are damage: no link has packets of more than 128 MB.
const MAX_RECORD: u32 = 128 << 20;
/// The initial size of the buffer.
const BUFFER: usize = 1 << 18;
/// The number of bytes that identify a format.
const MAGIC: usize = 4;

/// A frame in the file.
pub(crate) struct Record<'a> {
    pub(crate) at: Instant,
    /// The offset of its record in the file.
    pub(super) offset: u64,
    /// The number of the link type, and the index of the interface.
    pub(crate) interface: (u16, u32),
    /// The captured bytes.
    pub(crate) bytes: &'a [u8],
    /// Its length on the link, in bytes.
    pub(crate) original: usize,
    pub(crate) comment: Option<Cow<'static, str>>,
}

/// The next record.
pub(crate) enum Step<'a> {
    Frame(Record<'a>),
    /// A frame without a time.
    Untimed,
    /// No frame.
    Other,
    End,
}

/// A file being read. Records are parsed in the buffer.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    /// The current record in the buffer: its beginning, and the length requested so far.
    start: usize,
    length: usize,
    /// The end of the data in the buffer.
    end: usize,
    /// The offset of the record in the file.
    offset: u64,
}

impl<R: Read> Source<R> {
    /// The file before its first record, and its first four bytes, or fewer.
    pub(super) fn open(input: R) -> Result<(Self, Vec<u8>), ReadError> {
        let buffer = vec![0; BUFFER];
        let mut source = Self { input, buffer, start: 0, length: 0, end: 0, offset: 0 };
        match source.load(MAGIC) {
            Ok(()) | Err(ReadError::Truncated { .. }) => {}
            Err(error) => return Err(error),
        }
        source.length = 0;
        match source.buffer[..source.end.min(MAGIC)].to_vec() {
            magic if magic.is_empty() => Err(ReadError::Empty),
            magic => Ok((source, magic)),
        }
    }

    /// Moves to the next record.
    pub(super) const fn next_record(&mut self) {
        self.offset += self.length as u64;
        self.start += self.length;
        self.length = 0;
    }

    /// Reads the first `length` bytes of a record; `None` if the file ends before it.
    pub(super) fn head(&mut self, length: usize) -> Result<Option<&[u8]>, ReadError> {
        match self.load(length) {
            Err(ReadError::Truncated { .. }) if self.start == self.end => Ok(None),
            loaded => loaded.map(|()| Some(self.record())),
        }
    }

    /// Reads `more` bytes of the record, and returns all of it.
    pub(super) fn rest(&mut self, more: u32) -> Result<&[u8], ReadError> {
        if more > MAX_RECORD {
            return Err(ReadError::damaged(self.offset, format!("it claims {more} bytes more")));
        }
        self.load(self.length + more as usize)?;
        Ok(self.record())
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    fn record(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.length]
    }

    #[inline]
    fn load(&mut self, length: usize) -> Result<(), ReadError> {
        if self.end - self.start < length {
            self.fill(length)?;
        }
        self.length = length;
        Ok(())
    }

    /// Reads until `length` bytes of the record are in the buffer.
    #[cold]
    fn fill(&mut self, length: usize) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < length {
            // The buffer grows only with the bytes read, because a damaged file may claim any
            // length.
            if self.end == self.buffer.len() {
                self.buffer.resize(self.end * 2, 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(ReadError::Truncated { offset: self.offset }),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    let offset = self.offset + self.end as u64;
                    return Err(ReadError::Io { offset, source });
                }
            }
        }
        Ok(())
    }
}
