//! Diagnoses a capture.

use std::io::Read;

use rtolab_capture::{Captured, ClockSteps, InOrder, ReadError, Reader};
use serde::Serialize;

use crate::pair::{self, NotPaired, Pair, SecondCapture};
use crate::summary::SkippedPackets;
use crate::{CaptureAnswer, ConnectionReport, Diagnosis, Summary};

/// The diagnosis of a capture, as far as it could be read.
#[derive(Debug, Serialize)]
pub struct Document {
    /// The answer in words.
    pub answer: CaptureAnswer,
    /// The totals.
    pub summary: Summary,
    /// The numbers of skipped packets, by reason.
    pub skipped: SkippedPackets,
    /// The error that ended the reading before the end of the capture.
    pub error: Option<String>,
    /// The comparison with a second capture at the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The index of the capture at the end that sends more, 0 or 1, if there are two captures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_capture: Option<usize>,
    /// Connections in the order of their ends.
    pub connections: Vec<ConnectionReport>,
}

/// The number of packets between two calls of `progress`.
const PROGRESS_INTERVAL: u64 = 1 << 14;

/// Diagnoses a capture. Calls `progress` regularly with the number of bytes read.
///
/// # Errors
/// The error of `progress`, which ends the diagnosis.
pub fn diagnose<R: Read, E>(
    input: R,
    progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    diagnosed(input, Diagnosis::new(), progress)
}

/// Diagnoses a capture as [`diagnose`], and replays the timers of other minimum RTOs.
///
/// # Errors
/// The error of `progress`, which ends the diagnosis.
pub fn diagnose_with_timers<R: Read, E>(
    input: R,
    progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    diagnosed(input, Diagnosis::with_timers(), progress)
}

/// Diagnoses two captures of the same transfers, one at each end. The document is that of the
/// capture nearer to the end that sends more. `open` opens the first capture (0) or the second (1),
/// and is called several times for each.
///
/// # Errors
/// The errors of `open` and of `progress`, which end the diagnosis. The inner error: the captures
/// are no pair.
pub fn diagnose_pair<R: Read, E>(
    open: impl Fn(usize) -> Result<R, E>,
    mut progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<Result<Document, NotPaired>, E> {
    let mut first = 0;
    let mut pair = match pair::compare(open(0)?, open(1)?, &SecondCapture::default()) {
        Ok(pair) => pair,
        Err(reason) => return Ok(Err(reason)),
    };
    if pair.directions[1].bytes > pair.directions[0].bytes {
        first = 1;
        pair = match pair::compare(open(1)?, open(0)?, &SecondCapture::default()) {
            Ok(swapped) => swapped,
            Err(reason) => return Ok(Err(reason)),
        };
    }
    if pair.has_unneeded() {
        let second = diagnosed(open(1 - first)?, Diagnosis::new(), |_| progress(0))?;
        let second = SecondCapture::of(&second.connections);
        if !second.is_empty() {
            match pair::compare(open(first)?, open(1 - first)?, &second) {
                Ok(compared) => pair = compared,
                Err(reason) => return Ok(Err(reason)),
            }
        }
    }
    let diagnosis = Diagnosis::with_pair(&mut pair);
    let mut document = diagnosed(open(first)?, diagnosis, progress)?;
    document.answer.pair(&pair);
    document.pair = Some(pair);
    document.sender_capture = Some(first);
    Ok(Ok(document))
}

fn diagnosed<R: Read, E>(
    input: R,
    mut diagnosis: Diagnosis,
    mut progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    let mut skipped = SkippedPackets::default();
    let mut steps = ClockSteps::default();
    let error = match Reader::new(input) {
        Err(error) => Some(error),
        Ok(reader) => {
            let mut packets = reader.without_checksums().in_order();
            let error = read(&mut packets, &mut diagnosis, &mut progress)?;
            skipped = SkippedPackets::by(packets.reader());
            steps = packets.clock_steps();
            error
        }
    };
    let mut document = Document::of(diagnosis, skipped);
    document.answer.clock_steps(steps);
    Ok(Document { error: error.map(|error| error.to_string()), ..document })
}

impl Document {
    /// The document of a diagnosis, which ends with the packets processed so far.
    pub fn of(mut diagnosis: Diagnosis, skipped: SkippedPackets) -> Self {
        let summary = diagnosis.finish();
        let mut connections: Vec<_> = std::iter::from_fn(|| diagnosis.poll()).collect();
        connections.sort_by_key(|connection: &ConnectionReport| connection.number);
        let mut answer = CaptureAnswer::of(&summary, &skipped, &connections);
        answer.not_captured(&summary, &skipped);
        let (error, pair, sender_capture) = (None, None, None);
        Self { answer, summary, skipped, error, pair, sender_capture, connections }
    }
}

fn read<R: Read, E>(
    packets: &mut InOrder<R>,
    diagnosis: &mut Diagnosis,
    progress: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<Option<ReadError>, E> {
    let mut count = 0_u64;
    let mut captured = Captured::empty();
    while let Some(read) = packets.next_into(&mut captured) {
        if let Err(error) = read {
            return Ok(Some(error));
        }
        diagnosis.packet(&captured);
        count += 1;
        if count % PROGRESS_INTERVAL == 0 {
            progress(packets.reader().offset())?;
        }
    }
    Ok(None)
}
