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
    Buffer, Choice, Format, Mss, Positive, PositiveCount, Segments, Size, Thousandths, Whole,
    checked, count, number, pattern, quantity_pattern, text,
};
pub use list::{Collection, List, WrittenList};
pub use rtolab_settings_derive::{Choice, Settings};

/// A table of settings. Deriving it makes a [`Default`], too: see the fields' `default`.
///
/// In the attribute `#[setting(..)]` of the struct may stand `check = f`, `check_list = f`,
/// `file = f` and `take_file = f`, the functions that are the methods of these names.
///
/// Each field is a key, and its doc comment's first paragraph says what it is. In its attribute
/// `#[setting(..)]` stand:
///
/// - `format = F`: the [`Format`] in which the value is written, where it is not the type's own;
/// - `default = expression`: where it is not the type's own;
/// - `example = "text"`: a value in the reference and in messages, for values written as text;
/// - `unset = "text"`: what holds where the key is not written, where no value can say it;
/// - `key = "name"`: where it is not the field's name;
/// - `open`: names that the table of choices does not list are read by somebody else;
/// - `required`: the key must be written;
/// - `rivals(key, ..)` or `rivals = expression`: keys that may not be written beside it;
/// - `table`: the field is a table of settings itself;
/// - `list`: the field is a [`List`], such as a `Vec` of tables;
/// - `values`: the field is a [`Collection`] of values, each in the `format`;
/// - `least = n`, `most = n`: the fewest and the most items of a list;
/// - `tables(field, key = field, ..)`: these fields of the field are tables beside it;
/// - `flatten`: the field's settings are keys of this table;
/// - `skip`: the field is no key.
pub trait Settings {
    /// What the table is.
    fn about(&self) -> &'static str;
    /// Shows every setting with its value.
    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>));
    /// Is exactly one of the keys written, so that it says what the table is?
    fn is_choice(&self) -> bool {
        false
    }
    /// Checks the keys together.
    fn check(&self) -> Checked {
        Ok(())
    }
    /// The file that a key of this table names.
    fn file(&self) -> Option<NamedFile<'_>> {
        None
    }
    /// Takes the text of that file.
    fn take_file(&mut self, _text: &str) -> Result<(), WrongLine> {
        Ok(())
    }
    /// Checks the tables of a list together.
    fn check_list(_items: &[Self]) -> Checked
    where
        Self: Sized,
    {
        Ok(())
    }
}

/// The result of a check; the error says what was found and what would be right.
pub type Checked = Result<(), String>;

/// A file that a table of settings names, which the reader of the table reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFile<'a> {
    /// The key with its name.
    pub key: &'static str,
    /// Its name.
    pub name: &'a str,
    /// What it should be, for errors.
    pub about: &'static str,
}

/// What is wrong with the text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongLine {
    /// The line, counted from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// What was found and what would be right.
    pub problem: String,
}

/// A table that need not be there: it is once it is visited.
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

    fn check(&self) -> Checked {
        self.as_ref().map_or(Ok(()), T::check)
    }

    fn file(&self) -> Option<NamedFile<'_>> {
        self.as_ref()?.file()
    }

    fn take_file(&mut self, text: &str) -> Result<(), WrongLine> {
        self.as_mut().map_or(Ok(()), |table| table.take_file(text))
    }
}

/// A key of a table.
pub struct Setting<'a> {
    /// Its name.
    pub key: &'static str,
    /// What it is, in a sentence or a few.
    pub about: &'static str,
    /// How its value may be written, where its format has no example or a worse one; what is not a
    /// text is written as in TOML.
    pub examples: &'static [&'static str],
    /// What holds where it is not written, where no value can say it.
    pub unset: Option<&'static str>,
    /// May the value be a name that its format does not list?
    pub open: bool,
    /// Keys of the same table that may not be written beside it; it may be among them.
    pub rivals: &'static [&'static str],
    /// Must it be written?
    pub required: bool,
    /// The fewest and the most items of a list.
    pub items: (usize, usize),
    /// Its value.
    pub content: Content<'a>,
}

/// What a key holds.
pub enum Content<'a> {
    /// A value.
    Value(&'a mut dyn Value),
    /// More keys.
    Table(&'a mut dyn Settings),
    /// A list of values or of tables.
    List(&'a mut dyn List),
}

impl<'a> Setting<'a> {
    /// A key that holds a value.
    pub fn value(key: &'static str, about: &'static str, value: &'a mut dyn Value) -> Self {
        Self::new(key, about, Content::Value(value))
    }

    /// A key that holds more keys.
    pub fn table(key: &'static str, about: &'static str, table: &'a mut dyn Settings) -> Self {
        Self::new(key, about, Content::Table(table))
    }

    /// A key that holds a list.
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
            rivals: &[],
            required: false,
            items: (0, usize::MAX),
            content,
        }
    }
}

/// Shows the setting that a path of keys leads to, and says whether there is one.
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

/// How the value that a path of keys leads to is written, if it is there.
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
    /// Takes what was found.
    fn read(&mut self, found: &Found<'_>) -> Result<(), Wrong>;
    /// How it is written; `None` where no text stands for it.
    fn show(&self) -> Option<String>;
    /// What may be written, in a few words.
    fn expected(&self) -> String;
    /// What may be written, for a schema.
    fn shape(&self) -> Shape;
}

/// What stands behind a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// A text in quotes.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// What no setting takes: a date, a list, a table.
    Other,
}

/// What is wrong with what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is none of what is [expected](Value::expected).
    Unexpected,
    /// What was found and what would be right.
    Problem(String),
}

/// What may be written behind a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Boolean,
    /// A whole number from the first to the second.
    Whole(u32, u32),
    /// A number from 0 on.
    Number {
        /// Is 0 itself none?
        positive: bool,
        /// It is at most this.
        most: Option<u32>,
        /// One of them.
        example: Option<f64>,
    },
    /// A text that as a whole matches a pattern, with examples.
    Text(Option<String>, Vec<String>),
    /// One of these words, each with what it means.
    Choice(Vec<(&'static str, &'static str)>),
}

/// A value that is written in a format.
pub struct Written<'a, F, V>(&'a mut V, PhantomData<F>);

impl<'a, F, V> Written<'a, F, V> {
    /// In the format `F`.
    pub fn new(value: &'a mut V) -> Self {
        Self(value, PhantomData)
    }
}

impl<F: Format, V: TryFrom<F::Value> + Clone> Value for Written<'_, F, V>
where
    F::Value: From<V>,
{
    fn read(&mut self, found: &Found<'_>) -> Result<(), Wrong> {
        *self.0 = V::try_from(F::read(found)?).map_err(|_| Wrong::Unexpected)?;
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

/// A value that is written in a format, or none.
pub struct WrittenOption<'a, F, V>(&'a mut Option<V>, PhantomData<F>);

impl<'a, F, V> WrittenOption<'a, F, V> {
    /// In the format `F`.
    pub fn new(value: &'a mut Option<V>) -> Self {
        Self(value, PhantomData)
    }
}

impl<F: Format, V: TryFrom<F::Value> + Clone> Value for WrittenOption<'_, F, V>
where
    F::Value: From<V>,
{
    fn read(&mut self, found: &Found<'_>) -> Result<(), Wrong> {
        *self.0 = match (found, F::NONE) {
            (Found::Text(text), Some(none)) if *text == none => None,
            _ => Some(V::try_from(F::read(found)?).map_err(|_| Wrong::Unexpected)?),
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
