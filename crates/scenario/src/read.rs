//! Deserializes a document into the structs of the schema. Errors keep the path to their node.

use std::{iter, slice};

use rtolab_settings::names::{one_of, one_word_of};
use rtolab_settings::{Content, Found, Setting, Settings, Shape, Wrong};
use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, Unexpected};
use serde::forward_to_deserialize_any;

use crate::Result;
use crate::document::{Document, Entry, Node, Step, Value};
use crate::schema;
use crate::set::WORKLOADS;

/// Reads the whole document as a `T`.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(document: &Document) -> Result<T> {
    T::deserialize(Reader(&document.root)).map_err(|mut fault| {
        fault.path.reverse();
        let problem = match fault.what {
            What::Problem(problem) => problem,
            What::Missing(key) => schema::missing::<T>(&fault.path, key),
            What::Table(found) => match &fault.path[..] {
                [Step::Key(key)] => format!("found {found}; expected a list: [[{key}]]"),
                _ => format!("found {found}; expected a list"),
            },
        };
        document.error(&fault.path, problem)
    })
}

/// Reads the table `key`, if there is one, over the values of `settings`.
pub(crate) fn settings(document: &Document, key: &str, settings: &mut dyn Settings) -> Result<()> {
    let step = Step::Key(key.to_string());
    let Some(node) = document.node(slice::from_ref(&step)) else { return Ok(()) };
    table(node, settings).map_err(|fault| {
        let path: Vec<_> = iter::once(step).chain(fault.path.into_iter().rev()).collect();
        let What::Problem(problem) = fault.what else { unreachable!("no setting is required") };
        document.error(&path, problem)
    })
}

fn table(node: &Node, settings: &mut dyn Settings) -> Result<(), Fault> {
    let Value::Table(entries) = &node.value else {
        return Err(Fault::mismatch(node, &"a table"));
    };
    for entry in entries {
        let (mut known, mut read) = (Vec::new(), None);
        settings.each(&mut |setting| match setting.key == entry.key {
            true => read = Some(take(setting, entry, entries)),
            false => known.push(setting.key),
        });
        let unknown = || {
            let expected = one_of(&entry.key, known.iter().copied());
            Err(Fault::new(format!("found an unknown key; expected {expected}")))
        };
        read.unwrap_or_else(unknown).map_err(|fault| fault.inside(entry.step()))?;
    }
    Ok(())
}

/// Reads one of the `entries` of a table.
fn take(setting: Setting<'_>, entry: &Entry, entries: &[Entry]) -> Result<(), Fault> {
    let conflict = |conflict: &&Entry| {
        conflict.key != entry.key && setting.rivals.contains(&conflict.key.as_str())
    };
    if let Some(conflict) = entries.iter().find(conflict) {
        let beside = format!("found {} beside {}", entry.key, conflict.key);
        return Err(Fault::new(format!("{beside}; expected only one of them")));
    }
    let value = match setting.content {
        Content::Table(settings) => return table(&entry.node, settings),
        Content::Value(value) => value,
    };
    let found = match &entry.node.value {
        Value::Text(text) => Found::Text(text),
        Value::Integer(number) => Found::Integer(*number),
        Value::Float(number) => Found::Float(*number),
        Value::Boolean(yes) => Found::Boolean(*yes),
        Value::Other(_) | Value::List(_) | Value::Table(_) => Found::Other,
    };
    match value.read(&found) {
        Err(Wrong::Unexpected) if setting.open && matches!(found, Found::Text(_)) => Ok(()),
        Err(Wrong::Unexpected) => {
            let expected = expected(&found, &value.shape(), &value.expected());
            Err(Fault::mismatch(&entry.node, &expected.as_str()))
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
