//! Building of tables: named columns with a cell for each row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch};
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
///
/// There are hundreds of columns, each with a closure of its own. What is generic over that closure
/// therefore only collects the cells, and one function per type of cells builds the array.
pub trait Cell: Sized {
    /// May a cell be null?
    const NULLABLE: bool;

    /// The column of these cells.
    fn array(cells: impl Iterator<Item = Self>) -> ArrayRef;
}

macro_rules! numbers {
    ($($cell:ty => $kind:ty;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                numbers::<$kind>(cells.collect())
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                numbers_or_null::<$kind>(&cells.collect::<Vec<_>>())
            }
        }
    )*};
}

numbers! {
    u32 => UInt32Type;
    u64 => UInt64Type;
    i64 => Int64Type;
    f64 => Float64Type;
}

fn numbers<T: ArrowPrimitiveType>(cells: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(cells.into(), None))
}

fn numbers_or_null<T: ArrowPrimitiveType>(cells: &[Option<T::Native>]) -> ArrayRef {
    Arc::new(cells.iter().copied().collect::<PrimitiveArray<T>>())
}

impl Cell for bool {
    const NULLABLE: bool = false;

    fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
        Arc::new(BooleanArray::from(cells.collect::<Vec<_>>()))
    }
}

impl Cell for Option<bool> {
    const NULLABLE: bool = true;

    fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
        Arc::new(BooleanArray::from(cells.collect::<Vec<_>>()))
    }
}

macro_rules! texts {
    ($($cell:ty;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                let mut texts = StringBuilder::new();
                cells.for_each(|text| append(&mut texts, Some(&*text)));
                Arc::new(texts.finish())
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                let mut texts = StringBuilder::new();
                cells.for_each(|text| append(&mut texts, text.as_deref()));
                Arc::new(texts.finish())
            }
        }
    )*};
}

texts! {
    &str;
    String;
    Cow<'_, str>;
}

#[inline(never)]
fn append(texts: &mut StringBuilder, text: Option<&str>) {
    texts.append_option(text);
}

/// Implements [`Cell`] for lists whose items may be null.
macro_rules! lists {
    ($($item:ty => $builder:ty;)*) => {$(
        impl Cell for Option<Vec<Option<$item>>> {
            const NULLABLE: bool = true;

            fn array(cells: impl Iterator<Item = Self>) -> ArrayRef {
                fn of(cells: Vec<Option<Vec<Option<$item>>>>) -> ArrayRef {
                    let mut lists = ListBuilder::new(<$builder>::new());
                    lists.extend(cells);
                    Arc::new(lists.finish())
                }
                of(cells.collect())
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
