//! The data of SCTP packets (RFC 9260).

use std::collections::BTreeMap;

/// The common header (section 3.1), the header of a chunk (section 3.2) and that of a DATA chunk
/// (section 3.3.1), in bytes.
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 4;
const DATA_HEADER: usize = 16;
/// The type of a DATA chunk.
const DATA: u8 = 0;

/// The places of the chunks of one direction in its data, by transmission sequence number (TSN).
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    /// The first byte and the byte after the last one of each chunk.
    places: BTreeMap<u32, (u64, u64)>,
    /// The bytes of all chunks so far.
    sent: u64,
}

impl Chunks {
    /// The first byte of a packet's data and its length in bytes; `None` without data.
    ///
    /// `head` are the first bytes of the packet, from the common header. A chunk whose header it
    /// lacks does not count. Of chunks that are not adjacent the last ones count, because new
    /// chunks come after retransmitted ones.
    pub(crate) fn data(&mut self, head: &[u8]) -> Option<(u64, u32)> {
        let mut range: Option<(u64, u64)> = None;
        for (tsn, length) in data_chunks(head) {
            let (start, end) = *self.places.entry(tsn).or_insert_with(|| {
                let start = self.sent;
                self.sent += u64::from(length);
                (start, self.sent)
            });
            match &mut range {
                Some(range) if range.1 == start => range.1 = end,
                _ => range = Some((start, end)),
            }
        }
        range.map(|(start, end)| (start, (end - start) as u32))
    }
}

/// The TSN and the bytes of user data of each DATA chunk whose header is there.
fn data_chunks(head: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut rest = head.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            let [kind, _, a, b] = *rest.first_chunk()?;
            let length = usize::from(u16::from_be_bytes([a, b]));
            if length < CHUNK_HEADER {
                return None;
            }
            let chunk = rest;
            // Chunks are padded to four bytes.
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            if kind == DATA && length >= DATA_HEADER {
                let tsn = u32::from_be_bytes(*chunk.get(4..8)?.first_chunk()?);
                return Some((tsn, (length - DATA_HEADER) as u32));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a SACK chunk, if `acks`, and DATA chunks of these TSNs and lengths.
    fn packet(acks: bool, chunks: &[(u32, u16)]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        if acks {
            bytes.extend([3, 0, 0, 16]);
            bytes.extend([0; 12]);
        }
        for (tsn, length) in chunks {
            bytes.extend([DATA, 3]);
            bytes.extend((length + 16).to_be_bytes());
            bytes.extend(tsn.to_be_bytes());
            bytes.extend([0; 8]);
            bytes.resize((bytes.len() + usize::from(*length)).next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn retransmitted_chunks_have_their_place() {
        let mut chunks = Chunks::default();
        assert_eq!(chunks.data(&packet(false, &[(u32::MAX, 1000)])), Some((0, 1000)));
        assert_eq!(chunks.data(&packet(true, &[(0, 7), (1, 5)])), Some((1000, 12)));
        assert_eq!(chunks.data(&packet(false, &[(u32::MAX, 1000)])), Some((0, 1000)));
        assert_eq!(chunks.data(&packet(false, &[(1, 5), (2, 9)])), Some((1007, 14)));
        // A retransmitted chunk before two new ones, of which the second is retransmitted, too.
        assert_eq!(chunks.data(&packet(false, &[(0, 7), (3, 2), (4, 3)])), Some((1021, 5)));
        assert_eq!(chunks.data(&packet(false, &[(4, 3)])), Some((1023, 3)));
    }

    #[test]
    fn packets_without_data_and_damaged_ones_have_none() {
        let mut chunks = Chunks::default();
        assert_eq!(chunks.data(&packet(true, &[])), None);
        let whole = packet(true, &[(5, 9)]);
        for length in 0..HEADER + 16 + 8 {
            assert_eq!(chunks.data(&whole[..length]), None, "{length}");
        }
        assert_eq!(chunks.data(&[0; 60]), None, "chunks of length 0");
    }
}
