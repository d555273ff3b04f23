//! Settled verdicts as lines.

use serde::Serialize;

use crate::report::{ConnectionReport, EpisodeReport, RetransmissionReport, TimeoutReport};
use crate::silence::Silence;
use crate::vantage::Vantage;

/// A settled verdict with its connection: the keys are those of a capture's document.
#[derive(Clone, Debug, Serialize)]
pub struct SettledLine<'a> {
    /// When it happened, in seconds since 1970-01-01 00:00 UTC.
    pub at: f64,
    /// The number of the connection.
    pub connection: u64,
    /// Address and port of the end that opened it, as far as known.
    pub client: &'a str,
    /// Address and port of the other end.
    pub server: &'a str,
    /// Where the watch stands, as seen by the end that sends more.
    pub vantage: Vantage,
    /// The verdict.
    #[serde(flatten)]
    pub row: SettledRow<'a>,
}

/// A settled verdict.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "row", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum SettledRow<'a> {
    Retransmission(&'a RetransmissionReport),
    Timeout(&'a TimeoutReport),
    Episode(&'a EpisodeReport),
    Silence(&'a Silence),
}

impl SettledRow<'_> {
    /// When it happened, in seconds since the beginning.
    fn time(&self) -> f64 {
        match self {
            Self::Retransmission(row) => row.t,
            Self::Timeout(row) => row.t,
            Self::Episode(row) => row.start,
            Self::Silence(row) => row.start,
        }
    }
}

impl ConnectionReport {
    /// The verdicts of the report, each with its connection. The watch began at `began`, in seconds
    /// since 1970-01-01 00:00 UTC.
    pub fn lines(&self, began: f64) -> impl Iterator<Item = SettledLine<'_>> {
        let retransmissions = self.retransmissions.iter().map(SettledRow::Retransmission);
        let rows = retransmissions
            .chain(self.timeouts.iter().map(SettledRow::Timeout))
            .chain(self.episodes.iter().map(SettledRow::Episode))
            .chain(self.silences.iter().map(SettledRow::Silence));
        let (client, server) = (&*self.client, &*self.server);
        let (connection, vantage) = (self.number, self.vantage);
        rows.map(move |row| SettledLine {
            at: began + row.time(),
            connection,
            client,
            server,
            vantage,
            row,
        })
    }
}
