//! Reads a document into settings. Errors keep the path to their node.

use rtolab_settings::names::{suggest, suggest_quoted};
use rtolab_settings::{
    self as settings, Content, FileError, InvalidValue, List, NamedFile, RawValue, Setting,
    Settings, Shape,
};

use crate::document::{Document, Entry, Node, Step, Value};
use crate::files::{self, Folder};
use crate::{Result, ScenarioError, limits, schema};

/// Keys of earlier versions, and what is said about them.
const FORMER: [(&str, &str); 3] = [
    ("tcp.newreno.bugfix", "found a renamed key; expected tcp.recovery.bugfix"),
    ("tcp.dualrtt.by_spacing", "found a renamed key; expected tcp.dualrtt.model = \"physical\""),
    ("tcp.msl", "found a removed key: a simulation does not wait for TIME-WAIT"),
];

/// Reads the whole document over the values of `settings`. The files that it names are relative to
/// `folder`.
pub(crate) fn read(
    document: &Document,
    folder: Folder<'_>,
    settings: &mut dyn Settings,
) -> Result<()> {
    table(&document.root, Some(folder), settings).map_err(|fault| fault.at(document))
}

/// Reads the keys of the table at `path` that `settings` have, over their values.
pub(crate) fn over(document: &Document, path: &[Step], settings: &mut dyn Settings) -> Result<()> {
    let Some(Node { value: Value::Table(entries), .. }) = document.node(path) else {
        return Ok(());
    };
    for entry in entries {
        entry_of(entry, None, settings)
            .unwrap_or(Ok(()))
            .map_err(|fault| path.iter().rev().cloned().fold(fault, Fault::inside).at(document))?;
    }
    Ok(())
}

/// Where files are; `None` if they have been read.
type Files<'a> = Option<Folder<'a>>;

fn table(node: &Node, files: Files<'_>, settings: &mut dyn Settings) -> Result<(), Fault> {
    let (mut keys, mut required, mut conflicts_with) = (Vec::new(), Vec::new(), Vec::new());
    settings.each(&mut |setting| {
        keys.push(setting.key);
        if setting.required {
            required.push(setting.key);
        } else if !setting.conflicts_with.is_empty() {
            conflicts_with.push((setting.key, setting.conflicts_with));
        }
    });
    let is_choice = settings.is_choice();
    let entries = match &node.value {
        Value::Table(entries) if !is_choice || entries.len() == 1 => entries,
        _ if is_choice => {
            return Err(Fault::mismatch(node, &format!("a table of one of {}", keys.join(", "))));
        }
        _ => return Err(Fault::mismatch(node, &such_as(node, &required, settings))),
    };
    check_conflicts(entries, &conflicts_with)?;
    for entry in entries {
        entry_of(entry, files, settings).unwrap_or_else(|| {
            let known = keys.iter().copied().filter(|key| *key != entry.key);
            let what = What::UnknownKey(suggest(&entry.key, known));
            Err(Fault { what, path: vec![entry.step()] })
        })?;
    }
    let is_missing = |key: &str| entries.iter().all(|entry| entry.key != key);
    match required.iter().find(|key| is_missing(key)) {
        Some(key) => Err(Fault::new(missing(key, settings))),
        None => settings.check().map_err(Fault::new),
    }?;
    files.map_or(Ok(()), |folder| take_file(folder, settings))
}

/// Takes the file that a table names.
fn take_file(folder: Folder<'_>, settings: &mut dyn Settings) -> Result<(), Fault> {
    let Some(NamedFile { key, name, about }) = settings.file() else { return Ok(()) };
    let step = Step::Key(key.to_string());
    let path = folder.file(name).map_err(|problem| Fault::new(problem).inside(step.clone()))?;
    let expected = format!("{about}, its path relative to the scenario");
    let taken = folder.read(&path, &expected, limits::TRACE).and_then(|text| {
        let taken = settings.take_file(&text);
        taken.map_err(|FileError { line, problem }| files::Fault { line, problem })
    });
    taken.map_err(|files::Fault { line, problem }| {
        let what = What::InFile(path.display().to_string(), line, problem);
        Fault { what, path: vec![step] }
    })
}

/// A table in place of `node`, with an example if all its `required` keys have one, or if `node` is
/// a list and only one key takes a list.
fn such_as(node: &Node, required: &[&'static str], settings: &mut dyn Settings) -> String {
    if let (Value::List(_), [], [key]) = (&node.value, required, &*lists(settings)) {
        return format!("a table such as {{ {key} = [...] }}");
    }
    let parts = required.iter().map(|key| Some(format!("{key} = {}", example(key, settings)?)));
    match parts.collect::<Option<Vec<_>>>() {
        Some(parts) if !parts.is_empty() => format!("a table such as {{ {} }}", parts.join(", ")),
        _ => "a table".to_string(),
    }
}

/// The keys that take a list.
fn lists(settings: &mut dyn Settings) -> Vec<&'static str> {
    let mut keys = Vec::new();
    settings.each(&mut |setting| {
        if let Content::List(_) = setting.content {
            keys.push(setting.key);
        }
    });
    keys
}

/// An example of the value of `key`.
fn example(key: &str, settings: &mut dyn Settings) -> Option<toml::Value> {
    let mut example = None;
    settings.each(&mut |setting| {
        if setting.key == key {
            example = schema::example(setting);
        }
    });
    example
}

/// The problem that a table lacks `key`. Without an example it is a list of tables.
fn missing(key: &str, settings: &mut dyn Settings) -> String {
    match example(key, settings) {
        Some(example) => {
            format!("found no key {key:?}; expected one such as {key} = {example}")
        }
        None => format!("found no [[{key}]]; expected at least one"),
    }
}

/// Keys that exclude each other, before they are read, because one may be incomplete.
fn check_conflicts(entries: &[Entry], conflicts_with: &[(&str, &[&str])]) -> Result<(), Fault> {
    for (index, entry) in entries.iter().enumerate() {
        let excluded = conflicts_with.iter().filter(|(key, _)| *key == entry.key);
        let excluded: Vec<_> = excluded.flat_map(|(_, keys)| keys.iter()).collect();
        let excludes = |other: &&Entry| excluded.iter().any(|key| **key == other.key);
        if let Some(other) = entries[..index].iter().find(excludes) {
            let beside = format!("found {} beside {}", entry.key, other.key);
            let problem = format!("{beside}; expected only one of them");
            return Err(Fault::new(problem).inside(entry.step()));
        }
    }
    Ok(())
}

/// Reads an entry of a table, if it is one of the `settings`.
fn entry_of(
    entry: &Entry,
    files: Files<'_>,
    settings: &mut dyn Settings,
) -> Option<Result<(), Fault>> {
    let mut read = None;
    settings.each(&mut |setting| {
        if setting.key == entry.key {
            let Setting { open, items, .. } = setting;
            let taken = content((&entry.node, files), setting.content, (open, items));
            read = Some(taken.map_err(|fault| fault.inside(entry.step())));
        }
    });
    read
}

type Bounds = (bool, (usize, usize));

/// Reads what a key or an item holds: names may be `open`, and a list has a number of `items`.
fn content(
    (node, files): (&Node, Files<'_>),
    content: Content<'_>,
    (open, items): Bounds,
) -> Result<(), Fault> {
    match content {
        Content::Table(settings) => table(node, files, settings),
        Content::List(found) => list((node, files), found, items),
        Content::Value(value) => self::value(node, value, open),
    }
}

fn list(
    (node, files): (&Node, Files<'_>),
    list: &mut dyn List,
    (min, max): (usize, usize),
) -> Result<(), Fault> {
    let expected = match (min, max) {
        (0, usize::MAX) => "a list".to_string(),
        (min, usize::MAX) => format!("a list of at least {min}"),
        (min, max) if min == max => format!("a list of {min}"),
        (_, max) => format!("a list of at most {max}"),
    };
    let nodes = match &node.value {
        Value::List(nodes) if (min..=max).contains(&nodes.len()) => nodes,
        Value::Table(_) => {
            return Err(Fault { what: What::Table(node.to_string()), path: Vec::new() });
        }
        _ => return Err(Fault::mismatch(node, &expected)),
    };
    list.clear();
    for (index, node) in nodes.iter().enumerate() {
        let mut read = Ok(());
        list.add(&mut |item| read = content((node, files), item, (false, (0, usize::MAX))));
        read.map_err(|fault| fault.inside(Step::Index(index)))?;
    }
    list.check().map_err(Fault::new)
}

fn value(node: &Node, value: &mut dyn settings::Value, open: bool) -> Result<(), Fault> {
    let found = match &node.value {
        Value::Text(text) => RawValue::Text(text),
        Value::Integer(number) => RawValue::Integer(*number),
        Value::Float(number) => RawValue::Float(*number),
        Value::Boolean(yes) => RawValue::Boolean(*yes),
        Value::Other(_) | Value::List(_) | Value::Table(_) => RawValue::Other,
    };
    match value.read(&found) {
        Err(InvalidValue::Unexpected) if open && matches!(found, RawValue::Text(_)) => Ok(()),
        Err(InvalidValue::Unexpected) => {
            let expected = expected(&found, &value.shape(), &value.expected());
            Err(Fault::mismatch(node, &expected))
        }
        Err(InvalidValue::Problem(problem)) => Err(Fault::new(problem)),
        Ok(()) => Ok(()),
    }
}

/// What would be right; of many words, the nearest ones.
fn expected(found: &RawValue<'_>, shape: &Shape, expected: &str) -> String {
    match (found, shape) {
        (RawValue::Text(text), Shape::Choice(words)) => {
            suggest_quoted(text, words.iter().map(|(word, _)| *word))
        }
        _ => expected.to_string(),
    }
}

/// A fault, with the path to it from the inside out.
#[derive(Debug)]
struct Fault {
    what: What,
    path: Vec<Step>,
}

#[derive(Debug)]
enum What {
    Problem(String),
    /// An unknown key, with the expected ones.
    UnknownKey(String),
    /// A table, as shown, in the place of a list.
    Table(String),
    /// A problem in a file, perhaps on a line.
    InFile(String, Option<usize>, String),
}

impl Fault {
    fn new(problem: String) -> Self {
        Self { what: What::Problem(problem), path: Vec::new() }
    }

    fn mismatch(node: &Node, expected: &str) -> Self {
        Self::new(format!("found {node}; expected {expected}"))
    }

    fn inside(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The error at its place in the document.
    fn at(mut self, document: &Document) -> ScenarioError {
        self.path.reverse();
        let problem = match self.what {
            What::Problem(problem) => problem,
            What::UnknownKey(expected) => match former(&self.path) {
                Some(problem) => problem.to_string(),
                None => format!("found an unknown key; expected {expected}"),
            },
            What::InFile(file, None, problem) => format!("{file}: {problem}"),
            What::InFile(file, line, problem) => {
                let error = document.error(&self.path, problem);
                return ScenarioError { file, line, set: None, ..error };
            }
            What::Table(found) => match &self.path[..] {
                [Step::Key(key)] => format!("found {found}; expected a list: [[{key}]]"),
                _ => format!("found {found}; expected a list"),
            },
        };
        document.error(&self.path, problem)
    }
}

/// The problem with a key of an earlier version.
fn former(path: &[Step]) -> Option<&'static str> {
    let is = |key: &str| {
        let steps = key.split('.').map(|step| Step::Key(step.to_string()));
        steps.eq(path.iter().cloned())
    };
    FORMER.iter().find(|(key, _)| is(key)).map(|(_, problem)| *problem)
}

impl Entry {
    fn step(&self) -> Step {
        Step::Key(self.key.clone())
    }
}
