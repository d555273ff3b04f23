//! A TOML document whose nodes know their lines.

use std::fmt;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::{Result, ScenarioError};

/// Where a node comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file as a whole.
    File,
    /// A line of the file, counted from 1.
    Line(usize),
    /// The n-th override, counted from 0.
    Set(usize),
}

/// A value with its origin.
#[derive(Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub origin: Origin,
}

/// The value of a node.
#[derive(Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A value that no key of a scenario takes: a date, or an integer of more than 64 bits.
    Other(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub node: Node,
}

/// One step of the path to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// A scenario's text, parsed.
#[derive(Debug)]
pub(crate) struct Document {
    file: String,
    pub(crate) root: Node,
    /// The keys that were set on top of the file.
    pub(crate) set: Vec<String>,
}

impl Document {
    /// Parses `text`, the content of `file`.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self> {
        let root = DeTable::parse(text).map_err(|error| ScenarioError {
            file: file.to_string(),
            line: error.span().map(|span| line_of(text, span.start)),
            set: None,
            key: String::new(),
            problem: not_toml(text, &error),
        })?;
        let ends: Vec<_> = text.match_indices('\n').map(|(end, _)| end).collect();
        let place = |offset| Origin::Line(ends.partition_point(|end| *end < offset) + 1);
        let value = Value::Table(entries(root.into_inner(), &place));
        let root = Node { value, origin: Origin::File };
        Ok(Self { file: file.to_string(), root, set: Vec::new() })
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// An error at the node of `path`, or at the last one on the path that exists.
    pub(crate) fn error(&self, path: &[Step], problem: impl Into<String>) -> ScenarioError {
        let (mut node, mut origin) = (Some(&self.root), Origin::File);
        let mut key = String::new();
        for step in path {
            node = node.and_then(|node| node.child(step));
            origin = node.map_or(origin, |node| node.origin);
            push(&mut key, step, node);
        }
        let (line, set) = match origin {
            Origin::File => (None, None),
            Origin::Line(line) => (Some(line), None),
            Origin::Set(index) => (None, Some(self.set[index].clone())),
        };
        ScenarioError {
            file: self.file.clone(),
            line,
            set,
            key,
            problem: shortened(problem.into()),
        }
    }

    /// The node of `path`.
    pub(crate) fn node(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| node.child(step))
    }
}

/// The keys of a TOML text that are not in lists, as paths, with their lines from 1. Other files
/// than scenarios need them for their errors.
pub fn lines(text: &str, file: &str) -> Result<Vec<(Vec<String>, usize)>> {
    fn walk(node: &Node, steps: &[String], lines: &mut Vec<(Vec<String>, usize)>) {
        let Value::Table(entries) = &node.value else { return };
        for Entry { key, node } in entries {
            let steps = [steps, std::slice::from_ref(key)].concat();
            walk(node, &steps, lines);
            if let Origin::Line(line) = node.origin {
                lines.push((steps, line));
            }
        }
    }
    let mut lines = Vec::new();
    walk(&Document::parse(text, file)?.root, &[], &mut lines);
    Ok(lines)
}

/// Appends a step to a dotted key; a table in a list goes by its name.
fn push(key: &mut String, step: &Step, node: Option<&Node>) {
    use fmt::Write as _;
    let named = node.and_then(Node::name);
    let named = named.filter(|name| !name.is_empty() && !name.contains(['.', ' ']));
    let _ = match (step, named) {
        (Step::Index(_), Some(name)) => write!(key, ".{}", Excerpt(name)),
        (Step::Index(index), None) => write!(key, "[{index}]"),
        (Step::Key(step), _) if key.is_empty() => write!(key, "{}", Excerpt(step)),
        (Step::Key(step), _) => write!(key, ".{}", Excerpt(step)),
    };
}

impl Node {
    /// A value of `--set`: TOML if it parses, else the bare text.
    pub(crate) fn bare(text: &str, origin: Origin) -> Self {
        match DeValue::parse(text) {
            Ok(value) => node(value, &|_| origin),
            Err(_) => Self { value: Value::Text(text.to_string()), origin },
        }
    }

    /// The `name` of a table, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.child(&Step::Key("name".to_string()))?.value {
            Value::Text(name) => Some(name),
            _ => None,
        }
    }

    fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    fn child(&self, step: &Step) -> Option<&Node> {
        match (&self.value, step) {
            (Value::Table(entries), Step::Key(key)) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
            }
            (Value::List(nodes), Step::Index(index)) => nodes.get(*index),
            _ => None,
        }
    }
}

impl fmt::Display for Node {
    /// The value as TOML, with only the keys of tables and the beginning of long texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match &self.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(yes) => yes.to_string(),
            Value::Other(text) => text.clone(),
            Value::List(nodes) if nodes.iter().any(Node::is_table) => {
                let tables = if nodes.len() == 1 { "table" } else { "tables" };
                format!("a list of {} {tables}", nodes.len())
            }
            Value::List(nodes) => {
                let nodes: Vec<_> = nodes.iter().take(LONGEST).map(ToString::to_string).collect();
                format!("[{}]", nodes.join(", "))
            }
            Value::Table(entries) if entries.is_empty() => "an empty table".to_string(),
            Value::Table(entries) => {
                let keys: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
                format!("a table of {}", keys.join(", "))
            }
        };
        Excerpt(&shown).fmt(f)
    }
}

/// How much of a value a message shows, in characters.
pub(crate) const LONGEST: usize = 60;

/// The longest message, in characters.
const LONGEST_PROBLEM: usize = 2_000;

/// The message of the parser, with what it found.
fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    let found = error.span().and_then(|span| text.get(span)).unwrap_or_default();
    match found.trim() {
        "" => format!("not TOML: {message}"),
        found => format!("not TOML: found {}; {message}", Excerpt(found)),
    }
}

/// A problem without its middle if it is too long: what was found is at its beginning, and what
/// would be right at its end.
pub(crate) fn shortened(problem: String) -> String {
    let characters = problem.chars().count();
    if characters <= LONGEST_PROBLEM {
        return problem;
    }
    let middle = LONGEST..characters - (LONGEST_PROBLEM - LONGEST);
    let at = |nth| problem.char_indices().nth(nth).map_or(problem.len(), |(at, _)| at);
    format!("{}...{}", &problem[..at(middle.start)], &problem[at(middle.end)..])
}

/// The beginning of a text.
struct Excerpt<'a>(&'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "{}...", &self.0[..end]),
            None => f.write_str(self.0),
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].split(|byte| *byte == b'\n').count()
}

fn node(value: Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Origin) -> Node {
    let origin = place(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Other(number.to_string()),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::Other(number.to_string()),
        },
        DeValue::Boolean(yes) => Value::Boolean(yes),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(values) => {
            Value::List(values.into_iter().map(|value| node(value, place)).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table, place)),
    };
    Node { value, origin }
}

/// The keys of a table in the order of the text.
fn entries(table: DeTable<'_>, place: &dyn Fn(usize) -> Origin) -> Vec<Entry> {
    let mut table: Vec<_> = table.into_iter().collect();
    table.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (Spanned<DeString<'_>>, _)| {
        let origin = place(key.span().start);
        let node = Node { origin, ..node(value, place) };
        Entry { key: key.into_inner().into_owned(), node }
    };
    table.into_iter().map(entry).collect()
}
