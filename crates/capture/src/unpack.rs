//! Decompression of captures: gzip and zstd.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The input. If it begins like a gzip or zstd file, it is decompressed while it is read.
///
/// # Errors
/// The beginning of the input cannot be read.
pub fn unpacked<R: Read + Send + 'static>(mut input: R) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    (&mut input).take(4).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(&GZIP);
    let is_zstd = magic.starts_with(&ZSTD);
    let whole = Cursor::new(magic).chain(input);
    if is_gzip {
        return Ok(Box::new(MultiGzDecoder::new(whole)));
    }
    if is_zstd {
        return Ok(Box::new(zstd::stream::read::Decoder::new(whole)?));
    }
    Ok(Box::new(whole))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"the bytes of a capture, compressed";

    fn read(packed: Vec<u8>) -> Vec<u8> {
        let mut unpacked = unpacked(Cursor::new(packed)).expect("it begins well");
        let mut text = Vec::new();
        unpacked.read_to_end(&mut text).expect("all of it");
        text
    }

    #[test]
    fn gzip_zstd_and_plain_files_are_read() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(TEXT).expect("a vector");
        assert_eq!(read(gzip.finish().expect("a vector")), TEXT);
        assert_eq!(read(zstd::encode_all(TEXT, 3).expect("a vector")), TEXT);
        assert_eq!(read(TEXT.to_vec()), TEXT);
        assert_eq!(read(b"ab".to_vec()), b"ab");
    }

    #[test]
    fn concatenated_files_are_read_as_one() {
        let once = zstd::encode_all(TEXT, 3).expect("a vector");
        assert_eq!(read([&once[..], &once[..]].concat()), [TEXT, TEXT].concat());
    }

    #[test]
    fn a_truncated_file_yields_its_bytes_and_then_an_error() {
        let whole: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut packed = zstd::encode_all(&whole[..], 3).expect("a vector");
        packed.truncate(packed.len() / 2);
        let mut unpacked = unpacked(Cursor::new(packed)).expect("it begins well");
        let mut found = Vec::new();
        unpacked.read_to_end(&mut found).expect_err("it is cut");
        assert!(whole.starts_with(&found) && !found.is_empty());
    }
}
