//! Diagnoses a capture.

use std::io::Read;

use rtolab_capture::{InOrder, ReadError, Reader, Skipped};
use serde::Serialize;

use crate::{ConnectionReport, Diagnosis, Summary};

/// The contents of a capture, as far as it could be read.
#[derive(Debug, Serialize)]
pub struct Document {
    /// The totals.
    pub summary: Summary,
    /// The numbers of skipped packets, by reason.
    pub skipped: PassedOver,
    /// Why it was not read to its end.
    pub error: Option<String>,
    /// Connections in the order of their ends.
    pub connections: Vec<ConnectionReport>,
}

/// The numbers of skipped packets, by reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PassedOver {
    /// Not TCP over IP.
    pub other: u64,
    /// Fragments of packets that were not completed.
    pub fragments: u64,
    /// Fragments of packets that were discarded because some overlap.
    pub overlapping: u64,
    /// Without a whole TCP header.
    pub malformed: u64,
    /// Without a time.
    pub untimed: u64,
    /// On interfaces of unknown link type.
    pub unknown_link: u64,
    /// The unknown link types.
    pub link_types: Vec<u16>,
}

/// Packets between two calls of `watch`.
const WATCHED: u64 = 1 << 14;

/// Diagnoses a capture. `watch` is called now and then with the number of bytes read; its error
/// ends the diagnosis.
pub fn diagnose<R: Read, E>(
    input: R,
    mut watch: impl FnMut(u64) -> Result<(), E>,
) -> Result<Document, E> {
    let mut diagnosis = Diagnosis::new();
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
    Ok(Document { summary, skipped, error, connections })
}

impl PassedOver {
    fn by<R: Read>(reader: &Reader<R>) -> Self {
        let Skipped { other, fragments, overlapping, unknown_link, malformed, untimed } =
            reader.skipped();
        let link_types = reader.unknown_links().collect();
        Self { other, fragments, overlapping, malformed, untimed, unknown_link, link_types }
    }
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
