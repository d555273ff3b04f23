//! Capture files that tests build byte by byte in both byte orders.

/// The byte order of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn word(self, word: u32) -> [u8; 4] {
        match self {
            Self::Little => word.to_le_bytes(),
            Self::Big => word.to_be_bytes(),
        }
    }

    pub(super) fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|&word| self.word(word)).collect()
    }

    fn half(self, half: u16) -> [u8; 2] {
        match self {
            Self::Little => half.to_le_bytes(),
            Self::Big => half.to_be_bytes(),
        }
    }

    /// A pcap file of one frame.
    pub(super) fn pcap(
        self,
        magic: u32,
        link_type: u32,
        [secs, fraction]: [u32; 2],
        frame: &[u8],
    ) -> Vec<u8> {
        let len = frame.len() as u32;
        let version = [self.half(2), self.half(4)].concat();
        let rest = self.words(&[0, 0, 65_535, link_type, secs, fraction, len, len]);
        [&self.word(magic)[..], &version, &rest, frame].concat()
    }

    /// A block of pcapng.
    pub(super) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let length = self.word(12 + body.len() as u32);
        [&self.word(kind)[..], &length, body, &length].concat()
    }

    pub(super) fn section(self) -> Vec<u8> {
        let body = [&self.word(0x1a2b_3c4d)[..], &self.half(1), &self.half(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    pub(super) fn interface(self, link_type: u16, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [&self.half(link_type)[..], &[0; 6]].concat();
        for (code, value) in options {
            body.extend([self.half(*code), self.half(value.len() as u16)].concat());
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    pub(super) fn frame(self, interface: u32, ticks: u64, frame: &[u8]) -> Vec<u8> {
        let len = frame.len() as u32;
        let mut body = self.words(&[interface, (ticks >> 32) as u32, ticks as u32, len, len]);
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        self.block(6, &body)
    }
}
