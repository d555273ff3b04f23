//! Interned strings. Tables refer to them until the process ends.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use rtolab_tcp::specification::terms;
use rtolab_tcp::spurious::DetectorId;

use crate::error::PrototypeError;

/// The maximum number of strings, because they are never freed.
const MAX_STRINGS: usize = 1000;

static INTERNED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The string with static lifetime.
pub(super) fn interned(text: &str) -> PyResult<&'static str> {
    let mut strings = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = strings.get(text) {
        return Ok(known);
    }
    if strings.len() >= MAX_STRINGS {
        let message = format!(
            "found `{text}` after {MAX_STRINGS} other names and reasons; expected a few kinds"
        );
        return Err(PrototypeError::new_err(message));
    }
    let text: &'static str = Box::leak(text.into());
    strings.insert(text);
    Ok(text)
}

/// The name of a prototype. Raises an error if it is invalid or the name of something else.
pub(super) fn new_name(name: &str) -> PyResult<&'static str> {
    let shape = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.:".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(shape) {
        return Err(PrototypeError::new_err(format!(
            "found the name `{name}`; expected small letters and digits, such as `early`"
        )));
    }
    if terms().any(|term| term == name) || name.parse::<DetectorId>().is_ok() || name == "all" {
        return Err(PrototypeError::new_err(format!(
            "found the name `{name}`, which rtolab uses; expected a new one, such as `my-{name}`"
        )));
    }
    interned(name)
}
