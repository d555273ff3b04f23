//! The fingerprint of a SYN: the properties by which operating systems differ.

use arrayvec::ArrayVec;
use rtolab_packet::Ip;

/// TCP's header without options, in bytes.
const FIXED_LEN: usize = 20;
const DATA_OFFSET_AT: usize = 12;
/// The maximum number of options recorded.
const MAX_OPTIONS: usize = 12;

/// The fingerprint of a SYN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SynFingerprint {
    /// The TTL or hop limit at the capture point.
    pub hops: u8,
    /// The kinds of its options, in order (<https://www.iana.org/assignments/tcp-parameters>). 0 is
    /// the end of the list, 1 is a no-operation.
    pub options: ArrayVec<u8, MAX_OPTIONS>,
    /// Are options missing because the capture truncated the packet?
    pub is_cut: bool,
}

impl SynFingerprint {
    pub(crate) fn of(ip: &Ip<'_>) -> Self {
        let header = ip.payload.get(DATA_OFFSET_AT).map_or(0, |byte| usize::from(byte >> 4) * 4);
        let options = ip.payload.get(FIXED_LEN..header.min(ip.payload.len())).unwrap_or_default();
        let is_cut = ip.payload.len() < header;
        Self { hops: ip.header.hops, options: kinds(options), is_cut }
    }
}

fn kinds(mut options: &[u8]) -> ArrayVec<u8, MAX_OPTIONS> {
    let mut kinds = ArrayVec::new();
    while let [kind, rest @ ..] = options {
        if kinds.try_push(*kind).is_err() || *kind == 0 {
            break;
        }
        let length = match (kind, rest) {
            (1, _) => 1,
            (_, [length, ..]) => usize::from(*length).max(2),
            _ => break,
        };
        options = options.get(length..).unwrap_or_default();
    }
    kinds
}
