//! Tables, their columns, and the columns' cells.

use std::fmt;
use std::ops::Index;

use crate::bits::Validity;
use crate::{Bits, TextValues};

/// A table: named columns with a cell for each row.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
}

impl Table {
    /// A table of `rows` rows.
    ///
    /// # Panics
    ///
    /// If a column has another number of cells.
    pub(crate) fn new(rows: usize, columns: Vec<Column>) -> Self {
        for column in &columns {
            assert_eq!(column.cells.len(), rows, "cells of column {}", column.name);
        }
        Self { rows, columns }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Index<&str> for Table {
    type Output = Column;

    /// The column with this name.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn index(&self, name: &str) -> &Column {
        self.column(name).unwrap_or_else(|| panic!("no column `{name}`"))
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// May a cell be null?
    pub nullable: bool,
    /// Its cells.
    pub cells: Array,
}

/// A row of cells of one type.
#[derive(Clone, Debug)]
pub struct Array {
    values: Values,
    validity: Validity,
}

impl Array {
    pub(crate) fn new(values: Values, validity: Validity) -> Self {
        Self { values, validity }
    }

    /// An array without nulls.
    pub(crate) fn of(values: Values) -> Self {
        let mut validity = Validity::default();
        validity.push_same(true, values.len());
        Self { values, validity }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Are there no cells?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of cells that are null.
    pub fn null_count(&self) -> usize {
        self.validity.null_count()
    }

    /// The values; in place of a null there is any value.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Which cells have a value, if one of them has none.
    pub fn valid(&self) -> Option<&Bits> {
        self.validity.bits()
    }

    /// Has the cell at `index` a value?
    pub fn is_valid(&self, index: usize) -> bool {
        self.validity.get(index)
    }
}

/// The values of an array.
#[derive(Clone, Debug)]
pub enum Values {
    /// Integers of 32 bits.
    UInt32(Vec<u32>),
    /// Integers of 64 bits.
    UInt64(Vec<u64>),
    /// Integers of 64 bits with a sign.
    Int64(Vec<i64>),
    /// Real numbers.
    Float64(Vec<f64>),
    /// Truth values.
    Boolean(Bits),
    /// TextValues.
    Text(TextValues),
    /// Lists.
    List(Box<ListValues>),
}

impl Values {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::UInt32(values) => values.len(),
            Self::UInt64(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Boolean(bits) => bits.len(),
            Self::Text(texts) => texts.len(),
            Self::List(list) => list.ends.len() - 1,
        }
    }

    /// Are there no values?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The name of the type in Arrow's format.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UInt32(_) => f.write_str("UInt32"),
            Self::UInt64(_) => f.write_str("UInt64"),
            Self::Int64(_) => f.write_str("Int64"),
            Self::Float64(_) => f.write_str("Float64"),
            Self::Boolean(_) => f.write_str("Boolean"),
            Self::Text(_) => f.write_str("Utf8View"),
            Self::List(list) => write!(f, "List({})", list.items.values),
        }
    }
}

/// The values of a column of lists.
#[derive(Clone, Debug)]
pub struct ListValues {
    /// 0, and where each list ends among the items.
    pub(crate) ends: Vec<i32>,
    /// The items of all lists; any may be null.
    pub(crate) items: Array,
}

impl ListValues {
    /// The items of all lists.
    pub fn items(&self) -> &Array {
        &self.items
    }
}
