//! Overrides: `--set link.wireless.rate="14.4 kbit/s"` edits the document before it is read.

use rtolab_settings::names::suggest;
use rtolab_settings::{Content, Settings};

use crate::document::{Document, Entry, Node, Origin, Value, shortened};
use crate::{Result, ScenarioError};

/// The maximum number of steps of a key. Every key of a scenario has fewer.
const MAX_STEPS: usize = 16;

/// Sets each key of `set` to its value, in order. A table in a list is addressed by its name, or by
/// its index from 0 if the tables have no names. Of keys that exclude each other in `settings`,
/// setting one removes the others.
pub(crate) fn apply(
    document: &mut Document,
    set: &[(String, String)],
    settings: &mut dyn Settings,
) -> Result<()> {
    for (index, (key, value)) in set.iter().enumerate() {
        let origin = Origin::Set(index);
        document.set.push(key.clone());
        let value = Node::bare(value, origin);
        let steps: Vec<&str> = key.split('.').collect();
        if let ["kernel", "host", name, _, ..] = steps[..] {
            make_host(&mut document.root, name, origin);
        }
        let is_path = !steps.contains(&"") && steps.len() <= MAX_STEPS;
        let placed = match with_conflicting_keys(settings, if is_path { &steps } else { &[] })
            .split_last()
        {
            Some((last, path)) if is_path => descend(&mut document.root, path, origin)
                .and_then(|table| place(table, last, value)),
            _ => Err("found no dotted key; expected one such as tcp.rto.min".to_string()),
        };
        placed.map_err(|problem| ScenarioError {
            file: document.file().to_string(),
            line: None,
            set: Some(key.clone()),
            key: String::new(),
            problem: shortened(problem),
        })?;
    }
    Ok(())
}

/// Adds a host called `name` to the list `kernel.host` unless it is there.
fn make_host(root: &mut Node, name: &str, origin: Origin) {
    let Ok(kernel) = descend(root, &[("kernel", Vec::new())], origin) else { return };
    let Value::Table(entries) = &mut kernel.value else { return };
    let at = entries.iter().position(|entry| entry.key == "host").unwrap_or_else(|| {
        let node = Node { value: Value::List(Vec::new()), origin };
        entries.push(Entry { key: "host".to_string(), node });
        entries.len() - 1
    });
    let Value::List(hosts) = &mut entries[at].node.value else { return };
    if hosts.iter().all(|host| host.name() != Some(name)) {
        let called = Node { value: Value::Text(name.to_string()), origin };
        let entry = Entry { key: "name".to_string(), node: called };
        hosts.push(Node { value: Value::Table(vec![entry]), origin });
    }
}

/// A step of a path, with the keys that exclude it.
type PathStep<'a> = (&'a str, Vec<&'static str>);

/// The node at `path`, relative to `node`. Creates missing tables, and removes the keys that
/// exclude a step.
fn descend<'a>(
    node: &'a mut Node,
    path: &[PathStep<'_>],
    origin: Origin,
) -> Result<&'a mut Node, String> {
    let Some(((step, excluded), rest)) = path.split_first() else { return Ok(node) };
    let found = node.to_string();
    let next = match &mut node.value {
        Value::Table(entries) => {
            entries.retain(|entry| !excluded.contains(&entry.key.as_str()));
            let at = entries.iter().position(|entry| entry.key == *step).unwrap_or_else(|| {
                let node = Node { value: Value::Table(Vec::new()), origin };
                entries.push(Entry { key: (*step).to_string(), node });
                entries.len() - 1
            });
            &mut entries[at].node
        }
        Value::List(nodes) => {
            let names: Vec<_> = nodes.iter().filter_map(Node::name).map(str::to_string).collect();
            let named = nodes.iter().position(|node| node.name() == Some(step));
            let place = step.parse().ok().filter(|_| names.is_empty());
            let length = nodes.len();
            let node = named.or(place).and_then(|at| nodes.get_mut(at));
            node.ok_or_else(|| not_among(step, &names, length))?
        }
        _ => return Err(format!("found {found}; expected a table with the key {step:?}")),
    };
    descend(next, rest, origin)
}

/// The message if a list of `length` tables, called `names`, has no table `name`.
fn not_among(name: &str, names: &[String], length: usize) -> String {
    match (names, length) {
        ([], 0) => return "found an empty list; expected a table in it".to_string(),
        ([], 1) => {
            return format!("found {name:?} in a list of 1 table without a name; expected 0");
        }
        ([], _) => {
            let last = length - 1;
            return format!(
                "found {name:?} in a list without names; expected an index from 0 to {last}"
            );
        }
        _ => (),
    }
    format!("found no {name:?}; expected {}", suggest(name, names.iter().map(String::as_str)))
}

/// The steps of a path, each with the keys that exclude it.
fn with_conflicting_keys<'a>(settings: &mut dyn Settings, steps: &[&'a str]) -> Vec<PathStep<'a>> {
    let Some((first, rest)) = steps.split_first() else { return Vec::new() };
    let (mut conflicts_with, mut keys) = (Vec::new(), Vec::new());
    let mut following: Vec<_> = rest.iter().map(|step| (*step, Vec::new())).collect();
    settings.each(&mut |setting| {
        keys.push(setting.key);
        if setting.key == *first {
            conflicts_with.extend(setting.conflicts_with);
            match setting.content {
                Content::Table(table) => following = with_conflicting_keys(table, rest),
                Content::List(list) => list.add(&mut |item| {
                    if let (Content::Table(table), Some((name, rest))) = (item, rest.split_first())
                    {
                        following = with_conflicting_keys(table, rest);
                        following.insert(0, (name, Vec::new()));
                    }
                }),
                Content::Value(_) => (),
            }
        }
    });
    if settings.is_choice() {
        conflicts_with = keys;
    }
    conflicts_with.retain(|key| key != first);
    following.insert(0, (first, conflicts_with));
    following
}

/// Sets a key of `table` to `value`, and removes the keys that exclude it.
fn place(table: &mut Node, (key, excluded): &PathStep<'_>, value: Node) -> Result<(), String> {
    let found = table.to_string();
    let Value::Table(entries) = &mut table.value else {
        return Err(format!("found {found}; expected a table with the key {key:?}"));
    };
    entries.retain(|entry| entry.key != *key && !excluded.contains(&entry.key.as_str()));
    entries.push(Entry { key: (*key).to_string(), node: value });
    Ok(())
}
