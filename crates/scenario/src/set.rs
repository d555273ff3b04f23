//! Overrides: `--set link.wireless.rate="14.4 kbit/s"` edits the document before it is read.

use crate::Error;
use crate::document::{Document, Entry, Node, Origin, Value};
use crate::read::suggestion;

/// Keys of which a table has only one: setting one takes the others away.
const CHOICES: &[&[&str]] =
    &[&["constant", "uniform", "exponential"], &["min", "min_on_variance", "min_after_backoff"]];

/// No key of a scenario lies deeper than this.
const DEEPEST: usize = 16;

/// Sets each key of `set` to its value, in order. A table in a list is addressed by its name.
pub(crate) fn apply(document: &mut Document, set: &[(String, String)]) -> Result<(), Error> {
    for (index, (key, value)) in set.iter().enumerate() {
        let origin = Origin::Set(index);
        document.set.push(key.clone());
        let value = Node::bare(value, origin);
        let steps: Vec<&str> = key.split('.').collect();
        let placed = match steps.split_last() {
            Some((last, way)) if !steps.contains(&"") && steps.len() <= DEEPEST => {
                descend(&mut document.root, way, origin).and_then(|table| place(table, last, value))
            }
            _ => Err("found no dotted key; expected one such as tcp.rto.min".to_string()),
        };
        placed.map_err(|problem| Error {
            file: document.file().to_string(),
            line: None,
            set: Some(key.clone()),
            key: String::new(),
            problem,
        })?;
    }
    Ok(())
}

/// The node that `way` leads to from `node`; tables that are missing are made.
fn descend<'a>(node: &'a mut Node, way: &[&str], origin: Origin) -> Result<&'a mut Node, String> {
    let Some((step, rest)) = way.split_first() else { return Ok(node) };
    let found = node.to_string();
    let next = match &mut node.value {
        Value::Table(entries) => {
            let at = entries.iter().position(|entry| entry.key == *step).unwrap_or_else(|| {
                let node = Node { value: Value::Table(Vec::new()), origin };
                entries.push(Entry { key: (*step).to_string(), node });
                entries.len() - 1
            });
            &mut entries[at].node
        }
        Value::List(nodes) => {
            let names: Vec<_> = nodes.iter().filter_map(Node::name).map(str::to_string).collect();
            let named = nodes.iter_mut().find(|node| node.name() == Some(step));
            named.ok_or_else(|| not_among(step, &names))?
        }
        _ => return Err(format!("found {found}; expected a table that has {step:?}")),
    };
    descend(next, rest, origin)
}

/// What to say when no table of a list is called `name`.
fn not_among(name: &str, names: &[String]) -> String {
    if names.is_empty() {
        return format!("found a list without names; expected {name:?} in it");
    }
    let nearest = suggestion(name, names.iter().map(String::as_str));
    format!("found no {name:?}; expected one of {}{nearest}", names.join(", "))
}

/// Makes `value` what `key` of `table` is.
fn place(table: &mut Node, key: &str, value: Node) -> Result<(), String> {
    let found = table.to_string();
    let Value::Table(entries) = &mut table.value else {
        return Err(format!("found {found}; expected a table that has {key:?}"));
    };
    let rivals = CHOICES.iter().find(|choice| choice.contains(&key)).copied().unwrap_or(&[]);
    entries.retain(|entry| entry.key != key && !rivals.contains(&entry.key.as_str()));
    entries.push(Entry { key: key.to_string(), node: value });
    Ok(())
}
