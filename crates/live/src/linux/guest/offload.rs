//! The checksum offload of a guest's network card.

/// VIRTIO_NET_HDR_F_NEEDS_CSUM.
const NEEDS_CHECKSUM: u8 = 1;

/// Completes the checksum that the packet's virtio header requests.
pub(super) fn finish_checksum(header: &[u8], frame: &mut [u8]) {
    let word = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let (start, offset) = (word(6), word(8));
    let Some(covered) = frame.get(start..).filter(|_| header[0] & NEEDS_CHECKSUM != 0) else {
        return;
    };
    let sum = checksum(covered);
    if let Some(place) = frame.get_mut(start + offset..start + offset + 2) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let last = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    let sum: u64 = words.map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let mut sum = sum + last;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_completed_if_the_header_requests_it() {
        // RFC 1071 section 3: the sum of these bytes is ddf2.
        let covered = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&covered), !0xddf2);
        let mut frame = [&[9; 14][..], &covered, &[0; 2]].concat();
        let mut header = [0; 12];
        (header[6], header[8]) = (14, 8);
        finish_checksum(&header, &mut frame);
        assert_eq!(frame[22..], [0; 2]);
        header[0] = NEEDS_CHECKSUM;
        finish_checksum(&header, &mut frame);
        assert_eq!(frame[22..], (!0xddf2_u16).to_be_bytes());
        // A header that points outside changes nothing.
        header[6] = 200;
        finish_checksum(&header, &mut frame);
    }
}
