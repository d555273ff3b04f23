//! Tests with files longer than the buffer.

use super::*;

/// An input that returns at most this number of bytes per read.
struct ChunkedInput<'a>(&'a [u8], usize);

impl Read for ChunkedInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(rest, chunk) = self;
        let count = rest.len().min(*chunk).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        *rest = &rest[count..];
        Ok(count)
    }
}

/// The size of the section header and the interface block at the beginning of the file, in bytes.
const HEAD: usize = 48;

/// A pcapng file of 700 packets, which is longer than the buffer.
fn long_file() -> (Vec<CapturedPacket>, Vec<u8>) {
    let packets: Vec<_> = (0..700_u32).map(|n| packet(AT + u64::from(n), V4, 900 + n)).collect();
    let frame = |n: &CapturedPacket| ByteOrder::Little.frame(0, 0, &ip(n));
    let frames: Vec<u8> = packets.iter().flat_map(frame).collect();
    let head = [ByteOrder::Little.section(), ByteOrder::Little.interface(101, &[])].concat();
    (packets, [head, frames].concat())
}

fn lengths(input: impl Read) -> Vec<u32> {
    let packets = Reader::new(input).expect("a capture");
    packets.map(|found| found.expect("whole").packet.segment.len).collect()
}

#[test]
fn a_file_may_be_read_in_chunks_of_any_size() {
    let (packets, file) = long_file();
    assert!(file.len() > 3 << 18);
    let expected: Vec<_> = packets.iter().map(|packet| packet.segment.len).collect();
    for chunk in [1, 7, 1000, (1 << 18) - 1, 1 << 18, usize::MAX] {
        assert_eq!(lengths(ChunkedInput(&file, chunk)), expected, "{chunk} bytes at a time");
    }
}

#[test]
fn damage_beyond_the_buffer_is_reported_with_its_offset() {
    let (packets, mut file) = long_file();
    let starts: Vec<usize> = packets
        .iter()
        .scan(HEAD, |next, packet| {
            let start = *next;
            *next += ByteOrder::Little.frame(0, 0, &ip(packet)).len();
            Some(start)
        })
        .collect();
    for (number, &start) in starts.iter().enumerate().rev().step_by(97) {
        file[start + 4] ^= 0xff;
        let (found, error, _) = read(&file);
        assert_eq!(found.len(), number);
        let error = error.expect("it is damaged").to_string();
        assert!(error.contains(&format!("at byte {start}")), "{error}");
        file.truncate(start + 20);
        let (found, error, _) = read(&file);
        assert_eq!(found.len(), number);
        assert!(error.is_some());
    }
}

#[test]
fn a_record_may_be_longer_than_the_buffer() {
    let (packets, file) = long_file();
    let unknown = ByteOrder::Little.block(0x0bad, &vec![7; 3 << 20]);
    let file = [&file[..HEAD], &unknown, &file[HEAD..]].concat();
    assert_eq!(lengths(&file[..]).len(), packets.len());
    let mut oversized = file;
    oversized[HEAD + 4..HEAD + 8].copy_from_slice(&(100_u32 << 20).to_le_bytes());
    let (found, error, _) = read(&oversized);
    assert!(found.is_empty());
    assert!(matches!(error, Some(ReadError::Truncated { offset: 48 })), "{error:?}");
}
