//! Requests of the page.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::request_error::RequestError;

/// A request for a run, and for one of its timeouts.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    /// The name of an included scenario.
    pub scenario: String,
    /// The text of an edited scenario; `None` for the included one.
    #[serde(default)]
    pub toml: Option<String>,
    /// Values that replace those of the scenario, by dotted key, in their order.
    #[serde(default, deserialize_with = "pairs")]
    pub set: Vec<(String, String)>,
    /// Sender specifications; none for the scenario's own.
    #[serde(default)]
    pub senders: Vec<String>,
    /// The seed: a number, or its digits, because a page's numbers end at 2^53.
    #[serde(default = "first_seed", deserialize_with = "seed")]
    pub seed: u64,
    /// The flow to show; `None` for the first.
    #[serde(default)]
    pub flow: Option<String>,
    /// The host at which packets are captured.
    #[serde(default)]
    pub place: RequestedPlace,
    /// Begin and end of the packets to show, in seconds; `None` for all.
    #[serde(default)]
    pub between: Option<(f64, f64)>,
    /// The most packets of a sender in an answer.
    #[serde(default = "most_packets")]
    pub packets: usize,
    /// The most timeouts of a sender in the table.
    #[serde(default = "most_timeouts")]
    pub timeouts: usize,
    /// When a timeout happened, in seconds.
    #[serde(default)]
    pub at_s: f64,
    /// The relative sequence number of the segment that timed out.
    #[serde(default)]
    pub seq: i64,
    /// Senders that continue from the timeout.
    #[serde(default)]
    pub others: Vec<String>,
}

/// The host at which packets are captured.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestedPlace {
    #[default]
    Sender,
    Receiver,
}

impl RequestedPlace {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

impl Request {
    /// Reads the JSON of a request.
    pub(crate) fn read(text: &str) -> Result<Self, RequestError> {
        let request: Self = serde_json::from_str(text).map_err(|error| {
            RequestError::request(format!("a request is a JSON object: {error}"))
        })?;
        match request.packets {
            0 => Err(RequestError::request("packets is 0: expected at least 1")),
            _ => Ok(request),
        }
    }

    /// The sender whose timeout it is.
    pub(crate) fn sender(&self) -> Result<&str, RequestError> {
        let message = "senders: expected the one whose timeout it is";
        self.senders.first().map(String::as_str).ok_or_else(|| RequestError::request(message))
    }
}

const fn first_seed() -> u64 {
    1
}

const fn most_packets() -> usize {
    20_000
}

const fn most_timeouts() -> usize {
    200
}

fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seed {
        Number(u64),
        Digits(String),
    }
    match Seed::deserialize(from) {
        Ok(Seed::Number(number)) => Ok(number),
        Ok(Seed::Digits(digits)) => digits.parse().map_err(|_| wrong_seed(&digits)),
        Err(_) => Err(wrong_seed("something else")),
    }
}

fn wrong_seed<E: Error>(found: &str) -> E {
    E::custom(format_args!("seed is {found}: expected a number from 0 to 2^64 - 1"))
}

/// The entries of a JSON object in their order.
fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    struct Pairs;

    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object whose values are texts")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }

    from.deserialize_map(Pairs)
}
