//! Strings that tables reference as long as the process lives.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use rtolab_tcp::specification::terms;
use rtolab_tcp::spurious::DetectorId;

use crate::error::PrototypeError;

/// The most different strings: they are never freed.
const MOST: usize = 1000;

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The string with static lifetime.
pub(super) fn kept(text: &str) -> PyResult<&'static str> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return Ok(known);
    }
    if kept.len() >= MOST {
        let told = format!("found `{text}`, the {MOST}th name or reason; expected a few kinds");
        return Err(PrototypeError::new_err(told));
    }
    let text: &'static str = Box::leak(text.into());
    kept.insert(text);
    Ok(text)
}

/// The name of a detector, which must not be another's.
pub(super) fn name(name: &str) -> PyResult<&'static str> {
    let shape = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.:".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(shape) {
        return Err(PrototypeError::new_err(format!(
            "found the name `{name}`; expected small letters and digits, such as `early`"
        )));
    }
    if terms().any(|term| term == name) || name.parse::<DetectorId>().is_ok() || name == "all" {
        return Err(PrototypeError::new_err(format!(
            "found the name `{name}`, which rtolab has; expected a new one, such as `my-{name}`"
        )));
    }
    kept(name)
}
