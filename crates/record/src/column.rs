//! Building of tables: named columns with a cell for each row.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};

use crate::{Recording, Run};

/// A builder of a table. It has rows, each with an owner, and the columns so far.
pub struct Table<'a, R, Owner = Run> {
    rows: Vec<(&'a Owner, &'a R)>,
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, R> Table<'a, R> {
    /// A table of the `rows` of each recording. Its first columns are those of the run.
    pub(crate) fn of(recordings: &'a [Recording], rows: impl Fn(&'a Recording) -> &'a [R]) -> Self {
        Self::new(
            recordings
                .iter()
                .flat_map(|recording| rows(recording).iter().map(move |row| (&recording.run, row))),
        )
        .owner("run", |run| run.run)
        .owner("seed", |run| run.seed)
        .owner("sender", |run| &*run.sender)
    }
}

impl<'a, R, Owner> Table<'a, R, Owner> {
    /// A table of these rows, each with its owner.
    pub fn new(rows: impl Iterator<Item = (&'a Owner, &'a R)>) -> Self {
        Self { rows: rows.collect(), fields: Vec::new(), columns: Vec::new() }
    }

    /// Adds a column with `cell` of each row.
    #[must_use]
    pub fn column<C: Cell>(self, name: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.add(name, |(_, row)| cell(row))
    }

    /// Adds a column with `cell` of each row's owner.
    #[must_use]
    pub fn owner<C: Cell>(self, name: &str, cell: impl Fn(&'a Owner) -> C) -> Self {
        self.add(name, |(owner, _)| cell(owner))
    }

    /// Builds the table.
    ///
    /// # Panics
    ///
    /// Never, because every column has a cell for every row.
    pub fn finish(self) -> RecordBatch {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
            .expect("every column has a cell of every row")
    }

    fn add<C: Cell>(mut self, name: &str, cell: impl Fn((&'a Owner, &'a R)) -> C) -> Self {
        let column = C::array(self.rows.iter().copied().map(cell));
        self.fields.push(Field::new(name, column.data_type().clone(), C::NULLABLE));
        self.columns.push(column);
        self
    }
}

/// A type of cells. It is an `Option` if a cell may be null.
pub trait Cell {
    /// May a cell be null?
    const NULLABLE: bool;

    /// The column of these cells.
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

/// Implements [`Cell`] for lists whose items may be null.
macro_rules! lists {
    ($($item:ty => $builder:ty;)*) => {$(
        impl Cell for Option<Vec<Option<$item>>> {
            const NULLABLE: bool = true;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                let mut lists = ListBuilder::new(<$builder>::new());
                lists.extend(cells);
                Arc::new(lists.finish())
            }
        }
    )*};
}

lists! {
    u32 => PrimitiveBuilder<UInt32Type>;
    u64 => PrimitiveBuilder<UInt64Type>;
    f64 => PrimitiveBuilder<Float64Type>;
    &str => StringBuilder;
}
