//! The valid names nearest to an unknown one, for messages.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::mem;

/// The maximum number of names in a message.
const MAX_NAMES: usize = 5;
/// The maximum length of a name that may be a typo, in characters. Longer ones are expensive to
/// compare.
const MAX_TYPO_LEN: usize = 60;

/// Lists the valid names for a message about the unknown name `found`: all of `known`, or the
/// nearest five. If `found` looks like a typo of a name, a question suggests that name.
///
/// ```
/// use rtolab_settings::names::suggest;
///
/// assert_eq!(suggest("dealy", ["rate", "delay"]), r#"rate or delay: did you mean "delay"?"#);
/// ```
pub fn suggest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known.into_iter().collect(), str::to_string)
}

/// Like [`suggest`], with each name in quotes.
pub fn suggest_quoted<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known.into_iter().collect(), |word| format!("{word:?}"))
}

fn nearest(found: &str, mut names: Vec<&str>, shown: impl Fn(&str) -> String) -> String {
    let mut question = String::new();
    if found.chars().nth(MAX_TYPO_LEN).is_none() {
        let near = |name: &&&str| distance(found, name) <= (name.len() / 3).max(1);
        let likely = names.iter().filter(near).min_by_key(|name| distance(found, name));
        question = likely.map_or(question, |name| format!(": did you mean {name:?}?"));
        if names.len() > MAX_NAMES {
            names.sort_by_cached_key(|name| distance(found, name));
            names.dedup();
        }
    }
    let names: Vec<_> = names.into_iter().map(shown).collect();
    match &names[..] {
        [] => "none".to_string(),
        [only] => format!("{only}{question}"),
        [others @ .., last] if names.len() <= MAX_NAMES => {
            format!("{} or {last}{question}", others.join(", "))
        }
        all => format!("one of {}, such as {}{question}", all.len(), all[..MAX_NAMES].join(", ")),
    }
}

/// The edit distance (optimal string alignment): the number of insertions, deletions, substitutions
/// and transpositions of neighbours that turn `from` into `to`.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let (mut above, mut row) = (vec![], (0..=to.len()).collect::<Vec<_>>());
    let mut before = None;
    for (i, a) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (row[j] + usize::from(a != *b)).min(row[j + 1] + 1).min(next[j] + 1);
            if j > 0 && before == Some(*b) && a == to[j - 1] {
                cost = cost.min(above[j - 1] + 1);
            }
            next.push(cost);
        }
        above = mem::replace(&mut row, next);
        before = Some(a);
    }
    row[to.len()]
}
