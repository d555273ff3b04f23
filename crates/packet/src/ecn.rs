//! Congestion marks in IPv4 headers (RFC 3168 section 5).

/// Sets CE in an IPv4 header, and corrects the header's checksum (RFC 1624 equation 3).
pub fn mark_congestion(packet: &mut [u8]) {
    let Some([version, tos, .., high, low]) = packet.get_mut(..12) else { return };
    let before = u16::from_be_bytes([*version, *tos]);
    *tos |= 3;
    let after = u16::from_be_bytes([*version, *tos]);
    let checksum = u16::from_be_bytes([*high, *low]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    let corrected = (!(folded as u16)).to_be_bytes();
    (*high, *low) = (corrected[0], corrected[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_is_right(header: &[u8]) -> bool {
        let words = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    #[test]
    fn a_marked_header_has_the_right_checksum() {
        // A widely used example header for RFC 1071's checksum, with ECT(0) set.
        let mut header = [
            0x45, 0x02, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x5f, 0xc0, 0xa8, 0,
            1, 0xc0, 0xa8, 0, 0xc7,
        ];
        assert!(sum_is_right(&header));
        mark_congestion(&mut header);
        assert_eq!(header[1] & 3, 3);
        assert!(sum_is_right(&header));
    }
}
