//! Terms of a sum that no table lists.

use crate::spurious::Prototype;

/// The prototype that a term names, and what of the term is left to be looked up: all of it if
/// there is none, its response if one stands behind a colon.
pub fn split<'a, 't>(
    term: &'t str,
    prototypes: &'a [Prototype],
) -> (Option<&'a Prototype>, Option<&'t str>) {
    let whole = prototypes.iter().find(|prototype| prototype.name == term);
    if let Some(prototype) = whole {
        return (Some(prototype), None);
    }
    let head = prototypes.iter().find_map(|prototype| {
        let response = term.strip_prefix(prototype.name)?.strip_prefix(':')?;
        Some((Some(prototype), Some(response)))
    });
    head.unwrap_or((None, Some(term)))
}
