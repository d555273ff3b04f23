//! The records of a pcap file (draft-ietf-opsawg-pcap).

use std::io::Read;

use pcap_parser::{
    PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use rtolab_time::Instant;

use super::error::ReadError;
use super::source::{BUFFER, PlainFrame, ReadOutcome, Record, Source};
use crate::frame::Link;

/// The length of the file header, in bytes.
const HEADER_LEN: usize = 24;

/// The length of the header of a record, in bytes.
const RECORD_HEADER_LEN: usize = 16;

/// The file header.
#[derive(Debug)]
pub(super) struct Header {
    header: PcapHeader,
    /// The link type, and the unit of fractions of a second in nanoseconds; `None` if frames cannot
    /// take the fast path.
    plain: Option<(Link, u64)>,
}

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
            Ok((_, header)) => Ok(Self { plain: plain(&header), header }),
            Err(_) => Err(ReadError::not_a_capture(magic)),
        }
    }

    /// The fast path: the frame of the record at the start of `buffered`, in a little-endian file.
    /// `None` for anything else; the caller then reads the record with [`Header::read_record`],
    /// which has the same result for such a frame.
    #[inline]
    pub(super) fn plain_record<'a>(&self, buffered: &'a [u8]) -> Option<PlainFrame<'a>> {
        let (link, fraction_ns) = self.plain?;
        let (head, body) = buffered.split_first_chunk::<RECORD_HEADER_LEN>()?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let bytes = body.get(..word(8) as usize).filter(|bytes| bytes.len() <= BUFFER)?;
        let at = time(word(0), word(4), fraction_ns);
        let record_len = RECORD_HEADER_LEN + bytes.len();
        Some(PlainFrame { at, link, interface: 0, bytes, record_len })
    }

    /// Reads the next record.
    pub(super) fn read_record<'a, R: Read>(
        &self,
        source: &'a mut Source<R>,
    ) -> Result<ReadOutcome<'a>, ReadError> {
        let Self { header, .. } = self;
        let big_endian = header.is_bigendian();
        let header_len = if header.is_modified_format() { 24 } else { RECORD_HEADER_LEN };
        let Some(head) = source.head(header_len)? else { return Ok(ReadOutcome::End) };
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
        Ok(ReadOutcome::Frame(Record {
            at: time(frame.ts_sec, frame.ts_usec, fraction_ns(header)),
            offset,
            interface: (link_type(header), 0),
            bytes: frame.data,
            original_len: frame.data.len().max(frame.origlen as usize),
            comment: None,
        }))
    }
}

/// The parameters of the fast path, if the file has the common format.
fn plain(header: &PcapHeader) -> Option<(Link, u64)> {
    let is_common = !header.is_bigendian() && !header.is_modified_format();
    let link = Link::from_link_type(link_type(header)).filter(|_| is_common)?;
    Some((link, fraction_ns(header)))
}

/// The link type: the lower half of the field. The upper half describes the frame check sequence.
const fn link_type(header: &PcapHeader) -> u16 {
    (header.network.0 & 0xffff) as u16
}

/// The unit of the fraction of a second, in nanoseconds.
fn fraction_ns(header: &PcapHeader) -> u64 {
    if header.is_nanosecond_precision() { 1 } else { 1_000 }
}

/// The time of a frame.
fn time(seconds: u32, fraction: u32, fraction_ns: u64) -> Instant {
    Instant::from_nanos(u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * fraction_ns)
}
