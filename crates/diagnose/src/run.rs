//! Diagnoses a capture.

use std::io::Read;

use rtolab_capture::{InOrder, ReadError, Reader};
use serde::Serialize;

use crate::pair::{self, Pair};
use crate::summary::PassedOver;
use crate::{CaptureAnswer, ConnectionReport, Diagnosis, Summary};

/// The contents of a capture, as far as it could be read.
#[derive(Debug, Serialize)]
pub struct Document {
    /// The answer in words.
    pub answer: CaptureAnswer,
    /// The totals.
    pub summary: Summary,
    /// The numbers of skipped packets, by reason.
    pub skipped: PassedOver,
    /// Why it was not read to its end.
    pub error: Option<String>,
    /// What a second capture, of the other end, adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// Which of two captures this is, 0 or 1: that of the end that sends more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_capture: Option<usize>,
    /// Connections in the order of their ends.
    pub connections: Vec<ConnectionReport>,
}

/// Packets between two calls of `watch`.
const WATCHED: u64 = 1 << 14;

/// Diagnoses a capture. `watch` is called now and then with the number of bytes read; its error
/// ends the diagnosis.
pub fn diagnose<R: Read, E>(
    input: R,
    watch: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    diagnosed(input, Diagnosis::new(), watch)
}

/// Diagnoses two captures of the same transfers, one at each end. The document is that of the one
/// nearer to the end that sends more; `open` opens the first and the second, several times. `None`
/// if the captures have no connection in common.
pub fn diagnose_pair<R: Read, E>(
    open: impl Fn(usize) -> Result<R, E>,
    watch: impl FnMut(u64) -> Result<(), E>,
) -> Result<Option<Document>, E> {
    let mut first = 0;
    let Some(mut pair) = pair::compare(open(0)?, open(1)?) else { return Ok(None) };
    if pair.directions[1].bytes > pair.directions[0].bytes {
        first = 1;
        let Some(swapped) = pair::compare(open(1)?, open(0)?) else { return Ok(None) };
        pair = swapped;
    }
    let fates = std::mem::take(&mut pair.fates);
    let mut document = diagnosed(open(first)?, Diagnosis::with_fates(fates), watch)?;
    document.answer.pair(&pair);
    document.pair = Some(pair);
    document.sender_capture = Some(first);
    Ok(Some(document))
}

fn diagnosed<R: Read, E>(
    input: R,
    mut diagnosis: Diagnosis,
    mut watch: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    let mut connections = Vec::new();
    let mut skipped = PassedOver::default();
    let error = match Reader::new(input) {
        Err(error) => Some(error),
        Ok(reader) => {
            let mut packets = reader.without_checksums().in_order();
            let error = read(&mut packets, &mut diagnosis, &mut watch)?;
            skipped = PassedOver::by(packets.reader());
            error
        }
    };
    let summary = diagnosis.finish();
    connections.extend(std::iter::from_fn(|| diagnosis.poll()));
    connections.sort_by_key(|connection: &ConnectionReport| connection.number);
    let error = error.map(|error| error.to_string());
    let answer = CaptureAnswer::of(&summary, &skipped, &connections);
    Ok(Document { answer, summary, skipped, error, pair: None, sender_capture: None, connections })
}

fn read<R: Read, E>(
    packets: &mut InOrder<R>,
    diagnosis: &mut Diagnosis,
    watch: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<Option<ReadError>, E> {
    let mut count = 0_u64;
    while let Some(captured) = packets.next() {
        match captured {
            Ok(captured) => {
                diagnosis.packet(&captured);
            }
            Err(error) => return Ok(Some(error)),
        }
        count += 1;
        if count % WATCHED == 0 {
            watch(packets.reader().offset())?;
        }
    }
    Ok(None)
}
