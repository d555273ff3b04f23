//! Buffered access to the records of a file.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use rtolab_time::Instant;

use super::error::ReadError;

/// The longest record, in bytes. A longer one counts as damage, because no link has such packets.
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
    /// The number of its link type, and the index of its interface.
    pub(crate) interface: (u16, u32),
    /// The captured bytes.
    pub(crate) bytes: &'a [u8],
    /// Its length on the link, in bytes.
    pub(crate) original: usize,
    pub(crate) comment: Option<Cow<'static, str>>,
}

/// The next record of a file.
pub(crate) enum Step<'a> {
    Frame(Record<'a>),
    /// A frame without a timestamp.
    Untimed,
    /// A record without a frame.
    Other,
    End,
}

/// An open file with a buffer, in which records are parsed.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    /// The beginning of the current record in the buffer, and its length requested so far.
    start: usize,
    length: usize,
    /// The end of the data in the buffer.
    end: usize,
    /// The offset of the record in the file.
    offset: u64,
}

impl<R: Read> Source<R> {
    /// Opens a file. Returns its first four bytes, too, or fewer if it is shorter.
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

    /// Reads `more` bytes of the record. Returns the record from its beginning.
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
            // The buffer grows only with the bytes read, because the length may be wrong.
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
