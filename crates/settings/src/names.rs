//! Names that are wrong, and the valid ones nearest to them, for messages.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::mem;

/// The most names in a message.
const MOST: usize = 5;
/// A longer name is not a typo, and expensive to compare. In characters.
const LONGEST: usize = 60;

/// Says which of the names `known` to use instead of `found`: all of them, or the nearest five. The
/// nearest one follows as a question if `found` looks like a typo of it.
///
/// ```
/// use rtolab_settings::names::one_of;
///
/// assert_eq!(one_of("dealy", ["rate", "delay"]), r#"rate or delay: did you mean "delay"?"#);
/// ```
pub fn one_of<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known.into_iter().collect(), str::to_string)
}

/// The same for texts, which are in quotes.
pub fn one_word_of<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known.into_iter().collect(), |word| format!("{word:?}"))
}

fn nearest(found: &str, mut names: Vec<&str>, shown: impl Fn(&str) -> String) -> String {
    let mut question = String::new();
    if found.chars().nth(LONGEST).is_none() {
        let near = |name: &&&str| distance(found, name) <= (name.len() / 3).max(1);
        let likely = names.iter().filter(near).min_by_key(|name| distance(found, name));
        question = likely.map_or(question, |name| format!(": did you mean {name:?}?"));
        if names.len() > MOST {
            names.sort_by_cached_key(|name| distance(found, name));
            names.dedup();
        }
    }
    let names: Vec<_> = names.into_iter().map(shown).collect();
    match &names[..] {
        [] => "none".to_string(),
        [only] => format!("{only}{question}"),
        [others @ .., last] if names.len() <= MOST => {
            format!("{} or {last}{question}", others.join(", "))
        }
        all => format!("one of {}, such as {}{question}", all.len(), all[..MOST].join(", ")),
    }
}

/// The insertions, deletions, replacements and swaps of neighbours that make `from` into `to`.
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
