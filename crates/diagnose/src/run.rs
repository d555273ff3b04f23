//! A capture from its first byte to its last.

use std::io::Read;

use rtolab_capture::{InOrder, ReadError, Reader, Skipped};
use serde::Serialize;

use crate::{ConnectionReport, Diagnosis, Summary};

/// What a capture holds, and how far it could be read.
#[derive(Debug, Serialize)]
pub struct Document {
    /// Counts.
    pub summary: Summary,
    /// Packets that were passed over, by why.
    pub skipped: PassedOver,
    /// Why it was not read to its end.
    pub error: Option<String>,
    /// Connections, as they ended.
    pub connections: Vec<ConnectionReport>,
}

/// How many packets were passed over.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PassedOver {
    /// Not TCP over IP.
    pub other: u64,
    /// Fragments of packets that did not become whole.
    pub fragments: u64,
    /// Fragments that overlap others, and those others.
    pub overlapping: u64,
    /// Without a whole TCP header.
    pub malformed: u64,
    /// Whose time was not kept.
    pub untimed: u64,
    /// Of interfaces whose link type is not known.
    pub unknown_link: u64,
    /// Those link types.
    pub link_types: Vec<u16>,
}

/// So often the reader is asked how far it is.
const WATCHED: u64 = 1 << 14;

/// Diagnoses a capture; `watch` is told now and then how many bytes were read, and ends it by an
/// error.
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
