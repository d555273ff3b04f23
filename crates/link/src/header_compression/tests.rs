//! What a header takes on the link.

use super::*;

/// The first data of a connection.
fn data() -> HeaderFields {
    HeaderFields {
        context: 1,
        seq: 1000,
        ack: 1,
        window: 500,
        payload: 100,
        header: 52,
        option_bytes: 12,
        options: 7,
        others: 0,
        is_control: false,
    }
}

/// The header's bytes after that of [`data`], and whether it is a difference.
fn after(kind: HeaderCompression, new: HeaderFields) -> (u32, bool) {
    let mut compression = Compression::new(kind, Duration::ZERO).expect("headers are compressed");
    compression.sent.insert(1, data());
    let (encoding, bytes) = compression.encoding(&new, Instant::START);
    (bytes, matches!(encoding, Encoding::Delta(_)))
}

/// RFC 1144 section 3.2.2: a difference has at most 16 bits, and takes three bytes above 255.
#[test]
fn a_difference_has_at_most_16_bits() {
    for (seq, expected) in
        [(1050, (5, true)), (1000 + 0xffff, (7, true)), (1000 + 0x1_0000, (52, false))]
    {
        assert_eq!(after(HeaderCompression::Rfc1144, HeaderFields { seq, ..data() }), expected);
        let data = HeaderFields { seq: 1050, ack: seq - 999, ..data() };
        let bytes = expected.0 + u32::from(expected.1);
        assert_eq!(after(HeaderCompression::Rfc1144, data), (bytes, expected.1), "ACK {seq}");
    }
}

/// RFC 2507 section 7: options that change are sent beside the differences.
#[test]
fn only_rfc_2507_sends_options_beside_a_difference() {
    let changed = HeaderFields { seq: 1050, options: 8, ..data() };
    assert_eq!(after(HeaderCompression::Rfc1144, changed), (52, false));
    assert_eq!(after(HeaderCompression::Rfc2507, changed), (5 + 12, true));
    let longer = HeaderFields { option_bytes: 20, header: 60, ..changed };
    assert_eq!(after(HeaderCompression::Rfc2507, longer), (17 + 20, false));
}
