//! From rows to columns: a table is written down as a list of names, each with what it shows.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};

use crate::{Recording, Run};

/// A table in the making: the rows of all runs, and the columns named so far.
pub(crate) struct Table<'a, R> {
    rows: Vec<(&'a Run, &'a R)>,
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, R> Table<'a, R> {
    /// The rows that `rows` picks of each recording, with the columns that every table begins with.
    pub fn of(recordings: &'a [Recording], rows: impl Fn(&'a Recording) -> &'a [R]) -> Self {
        let rows = recordings
            .iter()
            .flat_map(|recording| rows(recording).iter().map(move |row| (&recording.run, row)))
            .collect();
        Self { rows, fields: Vec::new(), columns: Vec::new() }
            .add("run", |(run, _)| run.run)
            .add("seed", |(run, _)| run.seed)
            .add("sender", |(run, _)| &*run.sender)
    }

    /// A column with `cell` of each row.
    pub fn column<C: Cell>(self, name: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.add(name, |(_, row)| cell(row))
    }

    /// All columns together.
    pub fn finish(self) -> RecordBatch {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
            .expect("every column has a cell of every row")
    }

    fn add<C: Cell>(mut self, name: &str, cell: impl Fn((&'a Run, &'a R)) -> C) -> Self {
        let column = C::array(self.rows.iter().copied().map(cell));
        self.fields.push(Field::new(name, column.data_type().clone(), C::NULLABLE));
        self.columns.push(column);
        self
    }
}

/// What a column can hold; an `Option` of it where a cell may be null.
pub(crate) trait Cell {
    const NULLABLE: bool;

    fn array(cells: impl Iterator<Item = Self>) -> ArrayRef;
}

macro_rules! cells {
    ($($cell:ty => $array:ty;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new(cells.map(Some).collect::<$array>())
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new(cells.collect::<$array>())
            }
        }
    )*};
}

cells! {
    u32 => PrimitiveArray<UInt32Type>;
    u64 => PrimitiveArray<UInt64Type>;
    i64 => PrimitiveArray<Int64Type>;
    f64 => PrimitiveArray<Float64Type>;
    bool => BooleanArray;
    &str => StringArray;
    String => StringArray;
}
