//! Tests with files longer than the buffer.

use super::*;

/// An input that returns at most this number of bytes at a time.
struct Portions<'a>(&'a [u8], usize);

impl Read for Portions<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(rest, portion) = self;
        let count = rest.len().min(*portion).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        *rest = &rest[count..];
        Ok(count)
    }
}

/// A file of 700 packets, which exceeds the buffer.
fn long() -> (Vec<CapturedPacket>, Vec<u8>) {
    let packets: Vec<_> = (0..700_u32).map(|n| packet(AT + u64::from(n), V4, 900 + n)).collect();
    let frame = |n: &CapturedPacket| Order::Little.frame(0, 0, &ip(n));
    let frames: Vec<u8> = packets.iter().flat_map(frame).collect();
    let head = [Order::Little.section(), Order::Little.interface(101, &[])].concat();
    (packets, [head, frames].concat())
}

fn lengths(input: impl Read) -> Vec<u32> {
    let packets = Reader::new(input).expect("a capture");
    packets.map(|found| found.expect("whole").packet.segment.len).collect()
}

#[test]
fn a_file_may_be_read_in_portions_of_any_size() {
    let (packets, file) = long();
    assert!(file.len() > 3 << 18);
    let expected: Vec<_> = packets.iter().map(|packet| packet.segment.len).collect();
    for portion in [1, 7, 1000, (1 << 18) - 1, 1 << 18, usize::MAX] {
        assert_eq!(lengths(Portions(&file, portion)), expected, "{portion} bytes at a time");
    }
}

#[test]
fn damage_beyond_the_buffer_is_reported_with_its_offset() {
    let (packets, mut file) = long();
    let starts: Vec<usize> = packets
        .iter()
        .scan(48, |next, packet| {
            let start = *next;
            *next += Order::Little.frame(0, 0, &ip(packet)).len();
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
    let (packets, file) = long();
    let other = Order::Little.block(0x0bad, &vec![7; 3 << 20]);
    let behind = [&file[..48], &other, &file[48..]].concat();
    assert_eq!(lengths(&behind[..]).len(), packets.len());
    let mut claims = behind;
    claims[48 + 4..48 + 8].copy_from_slice(&(100_u32 << 20).to_le_bytes());
    let (found, error, _) = read(&claims);
    assert!(found.is_empty());
    assert!(matches!(error, Some(ReadError::Truncated { offset: 48 })), "{error:?}");
}
