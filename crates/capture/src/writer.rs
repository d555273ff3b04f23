//! The writer of pcapng files (draft-ietf-opsawg-pcapng) with one section, one interface, raw IP
//! and nanoseconds.
//!
//! The same packets give the same bytes: files have no clock and no host name, and are always
//! little-endian.

use std::io::{self, Write};

use rtolab_time::Instant;
use thiserror::Error;

use crate::reader::Record;
use crate::{CapturedPacket, frame};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const RAW_IP: u16 = 101;
const NANOSECONDS: u8 = 9;

mod option {
    pub const END: u16 = 0;
    pub const COMMENT: u16 = 1;
    pub const INTERFACE_NAME: u16 = 2;
    pub const APPLICATION: u16 = 4;
    pub const TIME_RESOLUTION: u16 = 9;
}

/// The interface of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// A comment.
    pub comment: Option<String>,
    /// The maximum number of bytes kept per packet; `None` keeps all, so that checksums can be
    /// verified.
    pub snaplen: Option<u32>,
}

impl Interface {
    /// An interface with a name only.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// The reason why a packet or file could not be written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum WriteError {
    #[error("cannot write the capture: {0}")]
    Io(#[from] io::Error),
    /// An IP packet has at most 65,535 bytes.
    #[error("the packet at {at} has {len} bytes of payload: too long for an IP packet")]
    TooLong {
        /// When it was sent.
        at: Instant,
        /// Its payload in bytes.
        len: u32,
    },
    /// An option has at most 65,535 bytes.
    #[error("a name or comment of {len} bytes; expected at most 65535: {beginning}...")]
    TextTooLong {
        /// Its length in bytes.
        len: usize,
        /// Its first characters.
        beginning: String,
    },
}

/// A writer of a pcapng file.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    snaplen: usize,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the beginning of a file. `out` should be buffered, for example by a
    /// [`BufWriter`](io::BufWriter).
    pub fn new(out: W, interface: &Interface) -> Result<Self, WriteError> {
        let snaplen = interface.snaplen.unwrap_or_default();
        let limit = interface.snaplen.map_or(usize::MAX, |snaplen| snaplen as usize);
        let mut writer = Self { out, snaplen: limit, block: Vec::new() };

        writer.section()?;

        writer.put(&RAW_IP.to_le_bytes());
        writer.put(&[0; 2]);
        writer.put(&snaplen.to_le_bytes());
        if let Some(comment) = &interface.comment {
            writer.option(option::COMMENT, comment.as_bytes())?;
        }
        writer.option(option::INTERFACE_NAME, interface.name.as_bytes())?;
        writer.option(option::TIME_RESOLUTION, &[NANOSECONDS])?;
        writer.end_options();
        writer.end_block(INTERFACE_DESCRIPTION)?;
        Ok(writer)
    }

    /// Writes a packet with a payload of zeros.
    pub fn packet(&mut self, packet: &CapturedPacket) -> Result<(), WriteError> {
        let CapturedPacket { at, segment, comment, .. } = packet;
        let mut bytes =
            frame::headers(packet).ok_or(WriteError::TooLong { at: *at, len: segment.len })?;
        let original = bytes.len() + segment.len as usize;
        bytes.resize(original.min(self.snaplen), 0);
        self.captured(*at, (&bytes, original), comment.as_deref())
    }

    /// Writes an IP packet of `original` bytes. `bytes` is its known first part.
    pub fn captured(
        &mut self,
        at: Instant,
        (bytes, original): (&[u8], usize),
        comment: Option<&str>,
    ) -> Result<(), WriteError> {
        let captured = bytes.len().min(original).min(self.snaplen);
        let (high, low) = ((at.nanos() >> 32) as u32, at.nanos() as u32);
        for word in [0, high, low, captured as u32, original as u32] {
            self.put(&word.to_le_bytes());
        }
        self.put(&bytes[..captured]);
        self.pad();
        if let Some(comment) = comment {
            self.option(option::COMMENT, comment.as_bytes())?;
            self.end_options();
        }
        self.end_block(ENHANCED_PACKET)
    }

    /// Flushes and returns the output.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the beginning of a file without an interface.
    pub(crate) fn without_interface(out: W) -> Result<Self, WriteError> {
        let mut writer = Self { out, snaplen: usize::MAX, block: Vec::new() };
        writer.section()?;
        Ok(writer)
    }

    /// Adds another interface of this link type.
    pub(crate) fn interface(&mut self, link_type: u16) -> Result<(), WriteError> {
        self.put(&link_type.to_le_bytes());
        self.put(&[0; 6]);
        self.option(option::TIME_RESOLUTION, &[NANOSECONDS])?;
        self.end_options();
        self.end_block(INTERFACE_DESCRIPTION)
    }

    /// Writes a captured frame of an interface.
    pub(crate) fn frame(
        &mut self,
        interface: u32,
        record: &Record<'_>,
        comments: &[&str],
    ) -> Result<(), WriteError> {
        let nanos = record.at.nanos();
        let (captured, original) = (record.bytes.len() as u32, record.original_len as u32);
        for word in [interface, (nanos >> 32) as u32, nanos as u32, captured, original] {
            self.put(&word.to_le_bytes());
        }
        self.put(record.bytes);
        self.pad();
        for comment in comments {
            self.option(option::COMMENT, comment.as_bytes())?;
        }
        if !comments.is_empty() {
            self.end_options();
        }
        self.end_block(ENHANCED_PACKET)
    }

    fn section(&mut self) -> Result<(), WriteError> {
        self.put(&BYTE_ORDER.to_le_bytes());
        self.put(&[1, 0, 0, 0]); // version 1.0
        self.put(&[0xff; 8]); // the section's length: unknown
        self.option(option::APPLICATION, b"rtolab")?;
        self.end_options();
        self.end_block(SECTION_HEADER)
    }

    fn option(&mut self, code: u16, value: &[u8]) -> Result<(), WriteError> {
        let Ok(length) = u16::try_from(value.len()) else {
            self.block.clear();
            let beginning = String::from_utf8_lossy(&value[..40]).into_owned();
            return Err(WriteError::TextTooLong { len: value.len(), beginning });
        };
        self.put(&code.to_le_bytes());
        self.put(&length.to_le_bytes());
        self.put(value);
        self.pad();
        Ok(())
    }

    fn end_options(&mut self) {
        self.put(&option::END.to_le_bytes());
        self.put(&[0; 2]);
    }

    /// Writes the collected bytes as a block.
    fn end_block(&mut self, kind: u32) -> Result<(), WriteError> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rtolab_tcp::wire::{Addresses, Ports};
    use rtolab_tcp::{Flags, Segment, Seq};
    use rtolab_time::Duration;

    use super::*;
    use crate::{Conversation, End, RUN_START};

    fn packet(len: u32) -> CapturedPacket {
        let addresses =
            Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 0, 2) };
        let mut conversation =
            Conversation::new(addresses, Ports { from: 49_152, to: 5001 }, [0xffff_ffff, 8]);
        let mut segment = Segment::new(Seq::FIRST + 1, len, Flags::ACK | Flags::PSH);
        segment.ack = Seq::FIRST + 1;
        segment.window = 258;
        let packet = conversation.packet(End::Client, &segment);
        CapturedPacket { at: RUN_START + Duration::from_millis(500), identification: 3, ..packet }
    }

    #[test]
    fn a_file_has_the_expected_bytes() {
        let interface = Interface { comment: Some("at the host".into()), ..Interface::named("lo") };
        let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
        writer
            .packet(&CapturedPacket { comment: Some("lost".into()), ..packet(3) })
            .expect("a vector");
        #[rustfmt::skip]
        let expected: [&[u8]; 32] = [
            &[0x0a, 0x0d, 0x0d, 0x0a], &[44, 0, 0, 0], // section header, its length
            &[0x4d, 0x3c, 0x2b, 0x1a], &[1, 0, 0, 0], &[0xff; 8], // little-endian, version 1.0
            &[4, 0, 6, 0], b"rtolab\0\0", &[0; 4], &[44, 0, 0, 0], // application
            &[1, 0, 0, 0], &[56, 0, 0, 0], // interface description, its length
            &[101, 0, 0, 0], &[0; 4], // raw IP, packets whole
            &[1, 0, 11, 0], b"at the host\0", // comment
            &[2, 0, 2, 0], b"lo\0\0", // name
            &[9, 0, 1, 0, 9, 0, 0, 0], &[0; 4], &[56, 0, 0, 0], // nanoseconds
            &[6, 0, 0, 0], &[88, 0, 0, 0], // enhanced packet, its length
            &[0; 4], // interface
            &[0x94, 0x4e, 0, 0], &[0, 0x65, 0x1c, 0xaf], // 86,400.5 s
            &[43, 0, 0, 0, 43, 0, 0, 0], // captured, original
            &[
                0x45, 0, 0, 43, 0, 3, 0x40, 0, 64, 6, 0x26, 0xc8, // IPv4: 43 bytes, TCP
                10, 0, 0, 1, 10, 0, 0, 2,
                0xc0, 0, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 9, // TCP: ports, seq, ack
                0x50, 0x18, 1, 2, 0xc7, 0x32, 0, 0, // PA, window, checksum
            ],
            &[0; 4], // payload and padding
            &[1, 0, 4, 0], b"lost", &[0; 4], &[88, 0, 0, 0], // comment
        ];
        assert_eq!(writer.finish().expect("a vector"), expected.concat());
    }

    #[test]
    fn a_packet_too_long_for_ip_is_an_error_and_the_next_one_is_written() {
        let mut writer = Writer::new(Vec::new(), &Interface::default()).expect("a vector");
        let begin = writer.out.len();
        let error = writer.packet(&packet(65_496)).expect_err("65,536 bytes");
        assert_eq!(
            error.to_string(),
            "the packet at 86400.500000 s has 65496 bytes of payload: too long for an IP packet"
        );
        writer.packet(&packet(65_495)).expect("65,535 bytes");
        assert_eq!(writer.out.len(), begin + 32 + 65_536);
    }

    #[test]
    fn a_text_too_long_for_an_option_is_an_error_and_the_next_packet_is_written() {
        let mut writer = Writer::new(Vec::new(), &Interface::default()).expect("a vector");
        let begin = writer.out.len();
        let long = CapturedPacket { comment: Some("\u{e4}".repeat(32_768).into()), ..packet(0) };
        let error = writer.packet(&long).expect_err("65,536 bytes");
        let beginning = "\u{e4}".repeat(20);
        assert_eq!(
            error.to_string(),
            format!("a name or comment of 65536 bytes; expected at most 65535: {beginning}...")
        );
        writer.packet(&packet(0)).expect("no comment");
        assert_eq!(writer.out.len(), begin + 32 + 40);
    }
}
