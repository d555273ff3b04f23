#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod format;
mod list;
pub mod names;

use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

pub use format::{
    Buffer, Choice, Format, IntegerRange, Mss, Positive, PositiveCount, Segments, Size,
    Thousandths, count, number, parse_checked, pattern, quantity_pattern, text,
};
pub use list::{Collection, FormattedList, List};
pub use rtolab_settings_derive::{Choice, Settings};

/// A table of settings. Deriving it also derives [`Default`], from the defaults of the fields.
///
/// The attribute `#[setting(..)]` of the struct may have `check = f`, `check_list = f`, `file = f`
/// and `take_file = f`. Each makes the function `f` the trait's method of that name.
///
/// Each field is a key. The first paragraph of its doc comment is its description. Its attribute
/// `#[setting(..)]` may have:
///
/// - `format = F`: the [`Format`] of the value; by default the type of the field;
/// - `default = expression`: the default value; by default that of the type;
/// - `example = "text"`: an example for the reference and for messages;
/// - `unset = "text"`: what a missing key means, if no value means the same;
/// - `key = "name"`: the key; by default the name of the field;
/// - `open`: names outside the choices of the format may be valid, too; other code resolves them;
/// - `required`: the key must be present;
/// - `conflicts_with(key, ..)` or `conflicts_with = expression`: keys that conflict with this one;
/// - `table`: the field is a table of settings;
/// - `list`: the field is a [`List`], such as a `Vec` of tables;
/// - `values`: the field is a [`Collection`] of values, each in the `format`;
/// - `min_items = n`, `max_items = n`: the minimum and maximum number of items of a list;
/// - `tables(name, key = name, ..)`: these fields of the field's struct are tables whose keys are
///   siblings of the field's key;
/// - `flatten`: the settings of the field are keys of this table;
/// - `skip`: the field is not a key.
pub trait Settings {
    /// The description of the table.
    fn about(&self) -> &'static str;
    /// Calls `visit` with every setting.
    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>));
    /// Must exactly one of the keys be present, so that the table is a choice?
    fn is_choice(&self) -> bool {
        false
    }
    /// Checks the keys together.
    fn check(&self) -> CheckResult {
        Ok(())
    }
    /// The file that a key of this table names.
    fn file(&self) -> Option<NamedFile<'_>> {
        None
    }
    /// Parses the text of that file into the table.
    fn take_file(&mut self, _text: &str) -> Result<(), FileError> {
        Ok(())
    }
    /// Checks the tables of a list together.
    fn check_list(_items: &[Self]) -> CheckResult
    where
        Self: Sized,
    {
        Ok(())
    }
}

/// The result of a check. The error is a message with what was found and what would be right.
pub type CheckResult = Result<(), String>;

/// A file whose name is the value of a key. The code that reads the table also reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFile<'a> {
    /// The key.
    pub key: &'static str,
    /// The file name, the value of the key.
    pub name: &'a str,
    /// What the file must contain, for messages.
    pub about: &'static str,
}

/// An error in the text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The number of the line, from 1; `None` if the error concerns the whole file.
    pub line: Option<usize>,
    /// What was found and what would be right.
    pub problem: String,
}

/// An optional table. A visit creates it.
impl<T: Settings + Default> Settings for Option<T> {
    fn about(&self) -> &'static str {
        self.as_ref().map_or_else(|| T::default().about(), T::about)
    }

    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        self.get_or_insert_default().each(visit);
    }

    fn is_choice(&self) -> bool {
        self.as_ref().map_or_else(|| T::default().is_choice(), T::is_choice)
    }

    fn check(&self) -> CheckResult {
        self.as_ref().map_or(Ok(()), T::check)
    }

    fn file(&self) -> Option<NamedFile<'_>> {
        self.as_ref()?.file()
    }

    fn take_file(&mut self, text: &str) -> Result<(), FileError> {
        self.as_mut().map_or(Ok(()), |table| table.take_file(text))
    }
}

/// A key of a table.
pub struct Setting<'a> {
    /// Its name.
    pub key: &'static str,
    /// Its description, in one or a few sentences.
    pub about: &'static str,
    /// Examples of its value, if those of its format are missing or less helpful. Values other than
    /// strings are in TOML.
    pub examples: &'static [&'static str],
    /// What a missing key means, if no value means the same.
    pub unset: Option<&'static str>,
    /// Can a name be valid although the format does not list it?
    pub open: bool,
    /// The keys of the same table that conflict with it. The list may include the key itself.
    pub conflicts_with: &'static [&'static str],
    /// Must the key be present?
    pub required: bool,
    /// The minimum and maximum number of items of a list.
    pub items: (usize, usize),
    /// Its value.
    pub content: Content<'a>,
}

/// The content of a key.
pub enum Content<'a> {
    /// A value.
    Value(&'a mut dyn Value),
    /// A table of keys.
    Table(&'a mut dyn Settings),
    /// A list of values or of tables.
    List(&'a mut dyn List),
}

impl<'a> Setting<'a> {
    /// A key with a value.
    pub fn value(key: &'static str, about: &'static str, value: &'a mut dyn Value) -> Self {
        Self::new(key, about, Content::Value(value))
    }

    /// A key with a table.
    pub fn table(key: &'static str, about: &'static str, table: &'a mut dyn Settings) -> Self {
        Self::new(key, about, Content::Table(table))
    }

    /// A key with a list.
    pub fn list(key: &'static str, about: &'static str, list: &'a mut dyn List) -> Self {
        Self::new(key, about, Content::List(list))
    }

    fn new(key: &'static str, about: &'static str, content: Content<'a>) -> Self {
        Self {
            key,
            about,
            examples: &[],
            unset: None,
            open: false,
            conflicts_with: &[],
            required: false,
            items: (0, usize::MAX),
            content,
        }
    }
}

/// Calls `visit` with the setting at a path of keys. Returns whether it exists.
pub fn find(
    settings: &mut dyn Settings,
    path: &[&str],
    visit: &mut dyn FnMut(Setting<'_>),
) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let mut found = false;
    settings.each(&mut |setting| match setting.content {
        _ if setting.key != *first => (),
        Content::Table(table) if !rest.is_empty() => found = find(table, rest, visit),
        _ if !rest.is_empty() => (),
        _ => {
            found = true;
            visit(setting);
        }
    });
    found
}

/// The value at a path of keys, formatted as in a document; `None` if there is none.
pub fn show(settings: &mut dyn Settings, path: &[&str]) -> Option<String> {
    let mut shown = None;
    find(settings, path, &mut |setting| {
        if let Content::Value(value) = setting.content {
            shown = value.show();
        }
    });
    shown
}

/// The value of a key, whatever its type.
pub trait Value {
    /// Parses `found` and stores the value.
    fn read(&mut self, found: &RawValue<'_>) -> Result<(), InvalidValue>;
    /// The value formatted as in a document; `None` if a document cannot express it.
    fn show(&self) -> Option<String>;
    /// A short description of the valid values, for messages.
    fn expected(&self) -> String;
    /// The valid values, for a schema.
    fn shape(&self) -> Shape;
}

/// The content of a key in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawValue<'a> {
    /// A string.
    Text(&'a str),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a list or a table. These are never valid values.
    Other,
}

/// Why a value is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidValue {
    /// It is not one of the [expected](Value::expected) values.
    Unexpected,
    /// A message with what was found and what would be right.
    Problem(String),
}

/// The valid values of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Boolean,
    /// An integer from the first to the second, inclusive.
    Integer(u32, u32),
    /// A number of at least 0.
    Number {
        /// Is 0 invalid?
        positive: bool,
        /// The maximum.
        max: Option<u32>,
        /// An example.
        example: Option<f64>,
    },
    /// A string that matches a pattern from start to end, and examples.
    Text(Option<String>, Vec<String>),
    /// One of these strings, each with its description.
    Choice(Vec<(&'static str, &'static str)>),
}

/// A value of type `V` that documents express in the format `F`.
pub struct FormattedValue<'a, F, V>(&'a mut V, PhantomData<F>);

impl<'a, F, V> FormattedValue<'a, F, V> {
    /// A value in the format `F`.
    pub fn new(value: &'a mut V) -> Self {
        Self(value, PhantomData)
    }
}

impl<F: Format, V: TryFrom<F::Value> + Clone> Value for FormattedValue<'_, F, V>
where
    F::Value: From<V>,
{
    fn read(&mut self, found: &RawValue<'_>) -> Result<(), InvalidValue> {
        *self.0 = V::try_from(F::read(found)?).map_err(|_| InvalidValue::Unexpected)?;
        Ok(())
    }

    fn show(&self) -> Option<String> {
        Some(F::show(&self.0.clone().into()))
    }

    fn expected(&self) -> String {
        F::expected()
    }

    fn shape(&self) -> Shape {
        F::shape()
    }
}

/// An optional value of type `V` that documents express in the format `F`.
pub struct FormattedOption<'a, F, V>(&'a mut Option<V>, PhantomData<F>);

impl<'a, F, V> FormattedOption<'a, F, V> {
    /// An optional value in the format `F`.
    pub fn new(value: &'a mut Option<V>) -> Self {
        Self(value, PhantomData)
    }
}

impl<F: Format, V: TryFrom<F::Value> + Clone> Value for FormattedOption<'_, F, V>
where
    F::Value: From<V>,
{
    fn read(&mut self, found: &RawValue<'_>) -> Result<(), InvalidValue> {
        *self.0 = match (found, F::NONE) {
            (RawValue::Text(text), Some(none)) if *text == none => None,
            _ => Some(V::try_from(F::read(found)?).map_err(|_| InvalidValue::Unexpected)?),
        };
        Ok(())
    }

    fn show(&self) -> Option<String> {
        let value = self.0.as_ref().map(|value| F::show(&value.clone().into()));
        value.or_else(|| F::NONE.map(Into::into))
    }

    fn expected(&self) -> String {
        F::expected()
    }

    fn shape(&self) -> Shape {
        F::shape()
    }
}
