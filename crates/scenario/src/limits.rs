//! Limits of a scenario. More is a typo or an attack, and would take too long to read.

/// The text of a scenario, in bytes.
pub(crate) const TEXT: u64 = 4 << 20;
/// The text of a trace that it names, in bytes.
pub(crate) const TRACE: u64 = 256 << 20;
/// A name, in characters.
pub(crate) const NAME: usize = 200;
/// Links.
pub(crate) const LINKS: usize = 1_000;
/// Tables `[[flow]]`; each may stand for many flows.
pub(crate) const TABLES_OF_FLOWS: usize = 10_000;
/// Flows.
pub(crate) const FLOWS: usize = 100_000;
