//! The records of a pcap file (draft-ietf-opsawg-pcap).

use std::io::Read;

use pcap_parser::{
    PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use rtolab_time::Instant;

use super::error::ReadError;
use super::source::{ReadOutcome, Record, Source};

/// The length of the file header, in bytes.
const HEADER_LEN: usize = 24;

/// The file header.
#[derive(Debug)]
pub(super) struct Header(PcapHeader);

impl Header {
    /// Reads the header of a file that begins with `magic`.
    pub(super) fn read<R: Read>(source: &mut Source<R>, magic: &[u8]) -> Result<Self, ReadError> {
        // A short file with another magic number is not a truncated capture, but no capture at all.
        let padded = [magic, &[0; HEADER_LEN]].concat();
        if parse_pcap_header(&padded).is_err() {
            return Err(ReadError::not_a_capture(magic));
        }
        let header = source.head(HEADER_LEN)?.unwrap_or_default();
        match parse_pcap_header(header) {
            Ok((_, header)) => Ok(Self(header)),
            Err(_) => Err(ReadError::not_a_capture(magic)),
        }
    }

    /// Reads the next record.
    pub(super) fn read_record<'a, R: Read>(
        &self,
        source: &'a mut Source<R>,
    ) -> Result<ReadOutcome<'a>, ReadError> {
        let Self(header) = self;
        let big_endian = header.is_bigendian();
        let head_len = if header.is_modified_format() { 24 } else { 16 };
        let Some(head) = source.head(head_len)? else { return Ok(ReadOutcome::End) };
        let captured = [head[8], head[9], head[10], head[11]];
        let captured = match big_endian {
            true => u32::from_be_bytes(captured),
            false => u32::from_le_bytes(captured),
        };
        let offset = source.offset();
        let record = source.rest(captured)?;
        let parsed = match (header.is_modified_format(), big_endian) {
            (true, _) => parse_pcap_frame_modified(record),
            (false, true) => parse_pcap_frame_be(record),
            (false, false) => parse_pcap_frame(record),
        };
        let (_, frame) = parsed.map_err(|_| ReadError::damaged(offset, "its lengths disagree"))?;
        // The lower half of the field is the link type. The upper half describes the frame check
        // sequence.
        let link_type = header.network.0 & 0xffff;
        let fraction_ns = if header.is_nanosecond_precision() { 1 } else { 1_000 };
        let nanos =
            u64::from(frame.ts_sec) * 1_000_000_000 + u64::from(frame.ts_usec) * fraction_ns;
        Ok(ReadOutcome::Frame(Record {
            at: Instant::from_nanos(nanos),
            offset,
            interface: (link_type as u16, 0),
            bytes: frame.data,
            original_len: frame.data.len().max(frame.origlen as usize),
            comment: None,
        }))
    }
}
