//! Suggestions: the valid names nearest to the one found.

use crate::document::LONGEST;

/// The most names that a message offers.
const MOST_NAMES: usize = 5;

/// The `known` names, at most the five nearest to `found`, with a question if one is near.
pub(crate) fn one_of<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    nearest(found, known, str::to_string)
}

/// [`one_of`] for words, in quotes.
pub(crate) fn one_word_of<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    nearest(found, known, |word| format!("{word:?}"))
}

fn nearest<S: AsRef<str>>(found: &str, known: &[S], shown: impl Fn(&str) -> String) -> String {
    let mut names: Vec<_> = known.iter().map(AsRef::as_ref).collect();
    let question = suggestion(found, names.iter().copied());
    if names.len() > MOST_NAMES && found.chars().nth(LONGEST).is_none() {
        names.sort_by_cached_key(|name| strsim::damerau_levenshtein(found, name));
    }
    let names: Vec<_> = names.into_iter().map(shown).collect();
    match &names[..] {
        [] => "none".to_string(),
        [only] => format!("{only}{question}"),
        [others @ .., last] if names.len() <= MOST_NAMES => {
            format!("{} or {last}{question}", others.join(", "))
        }
        all => {
            format!("one of {}, such as {}{question}", all.len(), all[..MOST_NAMES].join(", "))
        }
    }
}

/// A question with the nearest of `known` to `found`, if one is near.
pub(crate) fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    if found.chars().nth(LONGEST).is_some() {
        return String::new(); // Too long for a typo, and slow to compare.
    }
    let distance = |word: &str| strsim::damerau_levenshtein(found, word);
    let near = |word: &&str| distance(word) <= (word.len() / 3).max(1);
    match known.into_iter().filter(near).min_by_key(|word| distance(word)) {
        Some(word) => format!(": did you mean {word:?}?"),
        None => String::new(),
    }
}
