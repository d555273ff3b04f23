//! Errors of a capture file.

use std::io;

use thiserror::Error;

use crate::frame::Link;

/// The reason why a file could not be read completely.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum ReadError {
    #[error("cannot read at byte {offset}: {source}")]
    Io {
        /// The bytes read so far.
        offset: u64,
        source: io::Error,
    },
    #[error("the file is empty, neither pcap nor pcapng")]
    Empty,
    /// The file begins with the magic number of neither format.
    #[error("neither pcap nor pcapng: the file begins with {found}{hint}")]
    NotACapture {
        /// The first four bytes of the file, or fewer, in hexadecimal.
        found: String,
        /// The likely format of the file and how to unpack it, or nothing.
        hint: &'static str,
    },
    #[error("the file ends inside the record that begins at byte {offset}")]
    Truncated {
        /// The offset of the record.
        offset: u64,
    },
    /// A record contradicts itself or the file.
    #[error("the record at byte {offset} is damaged: {what}")]
    Damaged {
        /// The offset of the record.
        offset: u64,
        what: String,
    },
    #[error("the packet at byte {offset} has link type {found}; {}", Link::EXPECTED)]
    LinkType {
        /// The offset of the packet's record.
        offset: u64,
        found: u16,
    },
}

impl ReadError {
    pub(super) fn damaged(offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { offset, what: what.into() }
    }

    pub(super) fn not_a_capture(magic: &[u8]) -> Self {
        let found: Vec<String> = magic.iter().map(|byte| format!("{byte:02x}")).collect();
        let hint = match magic {
            [0x1f, 0x8b, ..] => ", as a gzip file does: unpack it first",
            [0xfd, b'7', b'z', b'X'] => ", as an xz file does: unpack it first, with `unxz`",
            [b'B', b'Z', b'h', _] => ", as a bzip2 file does: unpack it first, with `bunzip2`",
            [b'P', b'K', 3, 4] => ", as a zip file does: unpack it first, with `unzip`",
            _ => "",
        };
        Self::NotACapture { found: found.join(" "), hint }
    }
}
