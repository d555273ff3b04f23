//! Copying of a capture with comments on its packets.

use std::io::{Read, Write};

use thiserror::Error;

use crate::reader::{ReadError, ReadOutcome, Reader};
use crate::writer::{WriteError, Writer};

/// The reason why a capture could not be annotated completely.
#[derive(Debug, Error)]
pub enum AnnotateError {
    /// The capture could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The copy could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Copies the packets of `input` to a pcapng file and adds comments: `comment` maps the number of a
/// packet, from 1, to its comment. A packet keeps its own comment, too. Omits packets without a
/// timestamp.
///
/// # Errors
/// The capture is damaged, or the copy cannot be written. The packets before the damage are
/// written.
pub fn annotate<R: Read, W: Write>(
    input: R,
    out: W,
    comment: impl Fn(u64) -> Option<String>,
) -> Result<W, AnnotateError> {
    let mut writer = Writer::without_interface(out)?;
    let mut interfaces: Vec<(u16, u32)> = Vec::new();
    let mut reader = Reader::new(input)?;
    loop {
        let (number, record) = match reader.record() {
            Ok((number, ReadOutcome::Frame(record))) => (number, record),
            Ok((_, ReadOutcome::Untimed | ReadOutcome::Other)) => continue,
            Ok((_, ReadOutcome::End)) => return Ok(writer.finish()?),
            Err(error) => {
                writer.finish()?;
                return Err(error.into());
            }
        };
        let known = interfaces.iter().position(|&interface| interface == record.interface);
        if known.is_none() {
            writer.interface(record.interface.0)?;
            interfaces.push(record.interface);
        }
        let interface = known.unwrap_or(interfaces.len() - 1);
        let added = comment(number);
        let comments = [record.comment.as_deref(), added.as_deref()];
        let comments: Vec<&str> = comments.into_iter().flatten().collect();
        writer.frame(interface as u32, &record, &comments)?;
    }
}
