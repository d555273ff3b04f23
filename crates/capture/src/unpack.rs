//! Decompression of captures: gzip and zstd.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

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
        return Ok(Box::new(ZstdReader::new(BufReader::new(whole))));
    }
    Ok(Box::new(whole))
}

/// A block without content that is the last of its frame, and a checksum (RFC 8878 section 3.1.1).
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decompresses a zstd file: one frame after the other (RFC 8878 section 3).
struct ZstdReader<R> {
    input: R,
    decoder: FrameDecoder,
    /// Has a frame begun that has not ended?
    within: bool,
    /// Why the frame ended early; to be returned after its content.
    failed: Option<io::Error>,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), within: false, failed: None }
    }

    /// Begins the next frame; says no at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.input).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(to_io_error(error)),
            }
        }
        Ok(false)
    }

    /// Decompresses until there are bytes to read, or the frame has ended.
    fn decode(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let one = || BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.input, one()) {
                // The decoder holds back the last bytes until a frame ends.
                self.failed = Some(to_io_error(error));
                self.decoder.decode_blocks(&LAST_BLOCK[..], one()).map_err(to_io_error)?;
            }
        }
        Ok(())
    }

    /// The frame has ended: it was complete, and its content has the checksum that it names.
    fn check(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let named = self.decoder.get_checksum_from_data();
        if named.is_some() && named != self.decoder.get_calculated_checksum() {
            let error = "the checksum of a zstd frame is wrong";
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.next_frame()? {
                return Ok(0);
            }
            self.within = true;
            self.decode()?;
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.within = false;
            self.check()?;
        }
    }
}

/// The error with the kind of the input's error, if that is the cause.
fn to_io_error(error: FrameDecoderError) -> io::Error {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    let input = causes.find_map(|cause| cause.downcast_ref::<io::Error>());
    io::Error::new(input.map_or(ErrorKind::InvalidData, io::Error::kind), error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &[u8] = b"the bytes of a capture, compressed";

    fn read(packed: Vec<u8>) -> Vec<u8> {
        let mut unpacked = unpacked(Cursor::new(packed)).expect("it begins well");
        let mut text = Vec::new();
        unpacked.read_to_end(&mut text).expect("all of it");
        text
    }

    fn pack(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn gzip_zstd_and_plain_files_are_read() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(TEXT).expect("a vector");
        assert_eq!(read(gzip.finish().expect("a vector")), TEXT);
        assert_eq!(read(pack(TEXT)), TEXT);
        assert_eq!(read(TEXT.to_vec()), TEXT);
        assert_eq!(read(b"ab".to_vec()), b"ab");
    }

    #[test]
    fn concatenated_and_skippable_frames_are_read_as_one() {
        // RFC 8878 section 3.1.2: a frame that decoders skip, with three bytes of content.
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let once = pack(TEXT);
        let packed = [&once[..], &skippable, &once, &skippable].concat();
        assert_eq!(read(packed), [TEXT, TEXT].concat());
    }

    #[test]
    fn a_truncated_file_yields_its_bytes_and_then_an_error() {
        let whole: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut packed = pack(&whole);
        packed.truncate(packed.len() / 2);
        let mut unpacked = unpacked(Cursor::new(packed)).expect("it begins well");
        let mut found = Vec::new();
        let error = unpacked.read_to_end(&mut found).expect_err("it is cut");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
        // Blocks have 128 KiB.
        assert!(whole.starts_with(&found) && found.len() >= 1 << 17, "{}", found.len());
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut packed = pack(TEXT);
        *packed.last_mut().expect("a checksum") ^= 1;
        let mut unpacked = unpacked(Cursor::new(packed)).expect("it begins well");
        let error = unpacked.read_to_end(&mut Vec::new()).expect_err("another checksum");
        assert!(error.to_string().contains("checksum"), "{error}");
    }
}
