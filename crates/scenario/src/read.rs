//! Deserializes a document into the structs of the schema. Errors keep the path to their node.

use std::slice;

use rtolab_settings::names::{one_of, one_word_of};
use rtolab_settings::{self as settings, Content, Found, List, Setting, Settings, Shape, Wrong};
use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, Unexpected};
use serde::forward_to_deserialize_any;

use crate::document::{Document, Entry, Node, Step, Value};
use crate::schema;
use crate::set::WORKLOADS;
use crate::{Result, ScenarioError};

/// Reads the whole document as a `T`.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(document: &Document) -> Result<T> {
    T::deserialize(Reader(&document.root)).map_err(|mut fault| {
        if let What::Missing(key) = fault.what {
            let path: Vec<_> = fault.path.iter().rev().cloned().collect();
            fault.what = What::Problem(schema::missing::<T>(&path, key));
        }
        fault.at(document)
    })
}

/// Reads the table `key`, if there is one, over the values of `settings`.
pub(crate) fn settings(document: &Document, key: &str, settings: &mut dyn Settings) -> Result<()> {
    let step = Step::Key(key.to_string());
    let Some(node) = document.node(slice::from_ref(&step)) else { return Ok(()) };
    table(node, settings).map_err(|fault| fault.inside(step).at(document))
}

/// Reads the keys of the table at `path` that `settings` have, over their values.
pub(crate) fn over(document: &Document, path: &[Step], settings: &mut dyn Settings) -> Result<()> {
    let Some(Node { value: Value::Table(entries), .. }) = document.node(path) else {
        return Ok(());
    };
    for entry in entries {
        entry_of(entry, settings)
            .unwrap_or(Ok(()))
            .map_err(|fault| path.iter().rev().cloned().fold(fault, Fault::inside).at(document))?;
    }
    Ok(())
}

fn table(node: &Node, settings: &mut dyn Settings) -> Result<(), Fault> {
    let (mut keys, mut required, mut rivals) = (Vec::new(), Vec::new(), Vec::new());
    settings.each(&mut |setting| {
        keys.push(setting.key);
        if setting.required {
            required.push((setting.key, schema::example(setting)));
        } else if !setting.rivals.is_empty() {
            rivals.push((setting.key, setting.rivals));
        }
    });
    let is_choice = settings.is_choice();
    let entries = match &node.value {
        Value::Table(entries) if !is_choice || entries.len() == 1 => entries,
        _ if is_choice => {
            let expected = format!("a table of one of {}", keys.join(", "));
            return Err(Fault::mismatch(node, &expected.as_str()));
        }
        _ => return Err(Fault::mismatch(node, &such_as(&required).as_str())),
    };
    check_rivals(entries, &rivals)?;
    for entry in entries {
        entry_of(entry, settings).unwrap_or_else(|| {
            let known = keys.iter().copied().filter(|key| *key != entry.key);
            let expected = one_of(&entry.key, known);
            let problem = format!("found an unknown key; expected {expected}");
            Err(Fault::new(problem).inside(entry.step()))
        })?;
    }
    let is_missing = |key: &str| entries.iter().all(|entry| entry.key != key);
    match required.iter().find(|(key, _)| is_missing(key)) {
        Some((key, example)) => Err(Fault::new(missing(key, example.as_ref()))),
        None => settings.check().map_err(Fault::new),
    }
}

/// A table, with an example if all its `required` keys have one.
fn such_as(required: &[(&'static str, Option<toml::Value>)]) -> String {
    let parts =
        required.iter().map(|(key, example)| Some(format!("{key} = {}", example.as_ref()?)));
    match parts.collect::<Option<Vec<_>>>() {
        Some(parts) if !parts.is_empty() => format!("a table such as {{ {} }}", parts.join(", ")),
        _ => "a table".to_string(),
    }
}

/// The problem that a table lacks `key`.
fn missing(key: &str, example: Option<&toml::Value>) -> String {
    let example = example.map_or_else(String::new, |example| format!(" such as {key} = {example}"));
    format!("found no key {key:?}; expected one{example}")
}

/// Keys that exclude each other, before they are read, because one may be incomplete.
fn check_rivals(entries: &[Entry], rivals: &[(&str, &[&str])]) -> Result<(), Fault> {
    for entry in entries {
        let excluded = rivals.iter().filter(|(key, _)| *key == entry.key);
        let excluded: Vec<_> = excluded.flat_map(|(_, keys)| keys.iter()).collect();
        let excludes = |other: &&Entry| {
            other.key != entry.key && excluded.iter().any(|key| **key == other.key)
        };
        if let Some(other) = entries.iter().find(excludes) {
            let beside = format!("found {} beside {}", entry.key, other.key);
            let problem = format!("{beside}; expected only one of them");
            return Err(Fault::new(problem).inside(entry.step()));
        }
    }
    Ok(())
}

/// Reads an entry of a table, if it is one of the `settings`.
fn entry_of(entry: &Entry, settings: &mut dyn Settings) -> Option<Result<(), Fault>> {
    let mut read = None;
    settings.each(&mut |setting| {
        if setting.key == entry.key {
            let Setting { open, items, .. } = setting;
            let taken = content(&entry.node, setting.content, (open, items));
            read = Some(taken.map_err(|fault| fault.inside(entry.step())));
        }
    });
    read
}

type Bounds = (bool, (usize, usize));

/// Reads what a key or an item holds: names may be `open`, and a list has a number of `items`.
fn content(node: &Node, content: Content<'_>, (open, items): Bounds) -> Result<(), Fault> {
    match content {
        Content::Table(settings) => table(node, settings),
        Content::List(found) => list(node, found, items),
        Content::Value(value) => self::value(node, value, open),
    }
}

fn list(node: &Node, list: &mut dyn List, (least, most): (usize, usize)) -> Result<(), Fault> {
    let expected = match (least, most) {
        (0, usize::MAX) => "a list".to_string(),
        (least, usize::MAX) => format!("a list of at least {least}"),
        (least, most) if least == most => format!("a list of {least}"),
        (_, most) => format!("a list of at most {most}"),
    };
    let nodes = match &node.value {
        Value::List(nodes) if (least..=most).contains(&nodes.len()) => nodes,
        Value::Table(_) => {
            return Err(Fault { what: What::Table(node.to_string()), path: Vec::new() });
        }
        _ => return Err(Fault::mismatch(node, &expected.as_str())),
    };
    list.clear();
    for (index, node) in nodes.iter().enumerate() {
        let mut read = Ok(());
        list.add(&mut |item| read = content(node, item, (false, (0, usize::MAX))));
        read.map_err(|fault| fault.inside(Step::Index(index)))?;
    }
    list.check().map_err(Fault::new)
}

fn value(node: &Node, value: &mut dyn settings::Value, open: bool) -> Result<(), Fault> {
    let found = match &node.value {
        Value::Text(text) => Found::Text(text),
        Value::Integer(number) => Found::Integer(*number),
        Value::Float(number) => Found::Float(*number),
        Value::Boolean(yes) => Found::Boolean(*yes),
        Value::Other(_) | Value::List(_) | Value::Table(_) => Found::Other,
    };
    match value.read(&found) {
        Err(Wrong::Unexpected) if open && matches!(found, Found::Text(_)) => Ok(()),
        Err(Wrong::Unexpected) => {
            let expected = expected(&found, &value.shape(), &value.expected());
            Err(Fault::mismatch(node, &expected.as_str()))
        }
        Err(Wrong::Problem(problem)) => Err(Fault::new(problem)),
        Ok(()) => Ok(()),
    }
}

/// The problem with a value that does not have the expected `shape`.
pub(crate) fn unexpected(found: &Found<'_>, shape: &Shape, known: &str) -> String {
    let shown = match found {
        Found::Text(text) => format!("{text:?}"),
        Found::Integer(number) => number.to_string(),
        Found::Float(number) => number.to_string(),
        Found::Boolean(yes) => yes.to_string(),
        Found::Other => "something else".to_string(),
    };
    format!("found {shown}; expected {}", expected(found, shape, known))
}

/// What would be right; of many words, the nearest ones.
fn expected(found: &Found<'_>, shape: &Shape, expected: &str) -> String {
    match (found, shape) {
        (Found::Text(text), Shape::Choice(words)) => {
            one_word_of(text, words.iter().map(|(word, _)| *word))
        }
        _ => expected.to_string(),
    }
}

/// A fault that serde finds, with the path to it from the inside out.
#[derive(Debug)]
struct Fault {
    what: What,
    path: Vec<Step>,
}

#[derive(Debug)]
enum What {
    Problem(String),
    Missing(&'static str),
    /// A table, as shown, in the place of a list.
    Table(String),
}

impl Fault {
    fn new(problem: String) -> Self {
        Self { what: What::Problem(problem), path: Vec::new() }
    }

    fn mismatch(node: &Node, expected: &dyn Expected) -> Self {
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
            What::Missing(key) => missing(key, None),
            What::Table(found) => match &self.path[..] {
                [Step::Key(key)] => format!("found {found}; expected a list: [[{key}]]"),
                _ => format!("found {found}; expected a list"),
            },
        };
        document.error(&self.path, problem)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.what {
            What::Problem(problem) => f.write_str(problem),
            What::Missing(key) => write!(f, "found no key {key:?}"),
            What::Table(found) => write!(f, "found {found}; expected a list"),
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: std::fmt::Display>(problem: T) -> Self {
        Self::new(problem.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(text) => format!("{text:?}"),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Float(number) => number.to_string(),
            Unexpected::Bool(yes) => yes.to_string(),
            Unexpected::Seq => "a list".to_string(),
            Unexpected::Map => "a table".to_string(),
            other => other.to_string(),
        };
        Self::new(format!("found {found}; expected {expected}"))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!(
            "found an unknown key; expected {}",
            one_of(field, known.iter().copied())
        ))
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::unknown_field(variant, known)
    }

    fn missing_field(field: &'static str) -> Self {
        Self { what: What::Missing(field), path: Vec::new() }
    }
}

/// Deserializes a node.
struct Reader<'a>(&'a Node);

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(yes) => visitor.visit_bool(*yes),
            Value::Other(_) => Err(Fault::mismatch(self.0, &visitor)),
            Value::List(nodes) => visitor.visit_seq(Nodes(nodes.iter().enumerate())),
            Value::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), at: None }),
        }
    }

    /// Tables of settings are read by [`settings`].
    fn deserialize_ignored_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.value {
            Value::Boolean(yes) => visitor.visit_bool(yes),
            _ => Err(Fault::mismatch(self.0, &"true or false")),
        }
    }

    fn deserialize_string<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            _ => Err(Fault::mismatch(self.0, &"a text in quotes")),
        }
    }

    fn deserialize_seq<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::List(nodes) => visitor.visit_seq(Nodes(nodes.iter().enumerate())),
            Value::Table(_) => {
                Err(Fault { what: What::Table(self.0.to_string()), path: Vec::new() })
            }
            _ => Err(Fault::mismatch(self.0, &"a list")),
        }
    }

    fn deserialize_tuple<V: de::Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::List(nodes) if nodes.len() == len => {
                visitor.visit_seq(Nodes(nodes.iter().enumerate()))
            }
            _ => Err(Fault::mismatch(self.0, &format!("a list of {len}").as_str())),
        }
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Table(entries) if name == "Flow" => {
                one_workload(entries)?;
                visitor.visit_map(Entries { rest: entries.iter(), at: None })
            }
            Value::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), at: None }),
            _ => Err(Fault::mismatch(self.0, &visitor)),
        }
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Table(entries) if entries.len() == 1 => visitor.visit_enum(Variant(&entries[0])),
            _ => {
                let known = format!("a table of one of {}", variants.join(", "));
                Err(Fault::mismatch(self.0, &known.as_str()))
            }
        }
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit unit_struct
        tuple_struct map identifier
    }
}

/// A flow has one workload at most. Checked before these are read, as they may be incomplete.
fn one_workload(entries: &[Entry]) -> Result<(), Fault> {
    let given = |key: &&&str| entries.iter().any(|entry| entry.key == **key);
    let mut given = WORKLOADS.iter().filter(given);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let problem = format!("found {second} beside {first}; expected only one of them");
        return Err(Fault::new(problem).inside(Step::Key((*second).to_string())));
    }
    Ok(())
}

/// The nodes of a list.
struct Nodes<'a>(std::iter::Enumerate<std::slice::Iter<'a, Node>>);

impl<'de> de::SeqAccess<'de> for Nodes<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let next = self.0.next().map(|(index, node)| {
            seed.deserialize(Reader(node)).map_err(|fault| fault.inside(Step::Index(index)))
        });
        next.transpose()
    }
}

/// The entries of a table.
struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    at: Option<&'a Entry>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.at = self.rest.next();
        self.at.map(|entry| entry.read_key(seed)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry = self.at.expect("serde asks for a value only after its key");
        entry.read_value(seed)
    }
}

/// A table of one key, as a variant of an enum.
struct Variant<'a>(&'a Entry);

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        Ok((self.0.read_key(seed)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        self.0.read_value(seed)
    }

    fn tuple_variant<V: de::Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        let read = de::Deserializer::deserialize_tuple(Reader(&self.0.node), len, visitor);
        read.map_err(|fault| fault.inside(self.0.step()))
    }

    fn struct_variant<V: de::Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let read = de::Deserializer::deserialize_struct(Reader(&self.0.node), "", fields, visitor);
        read.map_err(|fault| fault.inside(self.0.step()))
    }
}

impl Entry {
    fn step(&self) -> Step {
        Step::Key(self.key.clone())
    }

    fn read_key<'de, K: DeserializeSeed<'de>>(&'de self, seed: K) -> Result<K::Value, Fault> {
        let key: StrDeserializer<'_, Fault> = self.key.as_str().into_deserializer();
        seed.deserialize(key).map_err(|fault| fault.inside(self.step()))
    }

    fn read_value<'de, V: DeserializeSeed<'de>>(&'de self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(Reader(&self.node)).map_err(|fault| fault.inside(self.step()))
    }
}
