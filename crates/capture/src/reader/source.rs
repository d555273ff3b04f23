//! Buffered access to the records of a file.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use rtolab_time::Instant;

use super::error::ReadError;
use crate::frame::Link;

/// The maximum length of a record, in bytes. No link has longer packets, so a larger length means
/// that the file is damaged.
const MAX_RECORD: u32 = 128 << 20;
/// The initial size of the buffer, and the longest frame on the fast path.
pub(super) const BUFFER: usize = 1 << 19;
/// The number of bytes that identify a format.
const MAGIC: usize = 4;

/// A captured frame.
pub(crate) struct Record<'a> {
    pub(crate) at: Instant,
    /// The offset of its record in the file, in bytes.
    pub(super) offset: u64,
    /// Its link type (LINKTYPE_ value), and the index of its interface in the file.
    pub(crate) interface: (u16, u32),
    /// The captured bytes.
    pub(crate) bytes: &'a [u8],
    /// Its length on the link, in bytes.
    pub(crate) original_len: usize,
    pub(crate) comment: Option<Cow<'static, str>>,
}

/// A frame on the fast path: its record is in the buffer as a whole, and has no comment.
pub(super) struct PlainFrame<'a> {
    pub(super) at: Instant,
    pub(super) link: Link,
    /// The number of its interface in the file.
    pub(super) interface: u32,
    /// The captured bytes.
    pub(super) bytes: &'a [u8],
    /// The length of the record, in bytes.
    pub(super) record_len: usize,
}

/// The result of reading one record.
pub(crate) enum ReadOutcome<'a> {
    Frame(Record<'a>),
    /// The record is a frame without a timestamp.
    Untimed,
    /// The record is not a frame.
    Other,
    /// The file ends.
    End,
}

/// An open file, and the buffer that contains the current record.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    /// The index of the current record in the buffer.
    start: usize,
    /// The number of bytes of the current record that were requested so far.
    length: usize,
    /// The index after the last byte read into the buffer.
    end: usize,
    /// The offset of the current record in the file.
    offset: u64,
}

impl<R: Read> Source<R> {
    /// Opens a file. Also returns its first four bytes, or all of a shorter file.
    ///
    /// # Errors
    /// The file is empty or cannot be read.
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

    /// Moves past the requested bytes of the current record.
    pub(super) const fn next_record(&mut self) {
        self.offset += self.length as u64;
        self.start += self.length;
        self.length = 0;
    }

    /// Reads the first `length` bytes of the record; `None` at the end of the file.
    pub(super) fn head(&mut self, length: usize) -> Result<Option<&[u8]>, ReadError> {
        match self.load(length) {
            Err(ReadError::Truncated { .. }) if self.start == self.end => Ok(None),
            loaded => loaded.map(|()| Some(self.record())),
        }
    }

    /// Reads `more` further bytes of the record. Returns the record from its first byte.
    pub(super) fn rest(&mut self, more: u32) -> Result<&[u8], ReadError> {
        if more > MAX_RECORD {
            return Err(ReadError::damaged(
                self.offset,
                format!("its length says {more} more bytes"),
            ));
        }
        self.load(self.length + more as usize)?;
        Ok(self.record())
    }

    /// The bytes in the buffer, beginning with the current record.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Requests the first `length` bytes of the record, which must be in the buffer.
    #[inline]
    pub(super) const fn request_buffered(&mut self, length: usize) {
        self.length = length;
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

    /// Reads from the file until the buffer contains `length` bytes of the record.
    #[cold]
    fn fill(&mut self, length: usize) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < length {
            // The length may be wrong, so the buffer grows only when the file fills it.
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
