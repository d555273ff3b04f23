//! Building of tables: named columns with a cell for each row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, ListBuilder, NullBufferBuilder, PrimitiveBuilder, StringBuilder,
    StringViewBuilder,
};
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch};
use arrow_schema::{Field, Schema};

use crate::{Recording, Run};

/// The number of rows that each column reads before any column reads further. They fit into the
/// cache, so that each row is read from memory once, not once per column.
const BLOCK: usize = 512;

/// A builder of a table. It has rows, each with an owner, and the columns so far.
pub struct Table<'a, R, Owner = Run> {
    rows: Vec<(&'a Owner, &'a [R])>,
    names: Vec<String>,
    columns: Vec<Box<dyn Column<'a, R, Owner> + 'a>>,
}

impl<'a, R> Table<'a, R> {
    /// A table of the `rows` of each recording. Its first columns are those of the run.
    pub(crate) fn of(recordings: &'a [Recording], rows: impl Fn(&'a Recording) -> &'a [R]) -> Self {
        let rows = recordings.iter().map(|recording| (&recording.run, rows(recording)));
        of_runs(Self::new(rows), |run| run)
    }
}

/// Adds the columns of the run to which each row's owner belongs.
pub(crate) fn of_runs<'a, R, Owner>(
    table: Table<'a, R, Owner>,
    run: fn(&'a Owner) -> &'a Run,
) -> Table<'a, R, Owner> {
    table
        .owner("run", move |owner| run(owner).run)
        .owner("seed", move |owner| run(owner).seed)
        .owner("sender", move |owner| &*run(owner).sender)
}

impl<'a, R, Owner> Table<'a, R, Owner> {
    /// A table of the rows of these owners.
    pub fn new(rows: impl Iterator<Item = (&'a Owner, &'a [R])>) -> Self {
        Self { rows: rows.collect(), names: Vec::new(), columns: Vec::new() }
    }

    /// Adds a column with `cell` of each row.
    #[must_use]
    pub fn column<C: Cell + 'a>(self, name: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.add(name, move |(_, row)| cell(row))
    }

    /// Adds a column with `cell` of each row's owner.
    #[must_use]
    pub fn owner<C: Cell + 'a>(self, name: &str, cell: impl Fn(&'a Owner) -> C + 'a) -> Self {
        self.add(name, move |(owner, _)| cell(owner))
    }

    /// Adds a column with `cell` of each row and its owner.
    #[must_use]
    pub fn with_owner<C: Cell + 'a>(
        self,
        name: &str,
        cell: impl Fn(&'a Owner, &'a R) -> C + 'a,
    ) -> Self {
        self.add(name, move |(owner, row)| cell(owner, row))
    }

    /// Builds the table.
    ///
    /// # Panics
    ///
    /// Never, because every column has a cell for every row.
    pub fn finish(mut self) -> RecordBatch {
        let mut block = Vec::with_capacity(BLOCK);
        for (owner, rows) in &self.rows {
            for row in *rows {
                block.push((*owner, row));
                if block.len() == BLOCK {
                    self.columns.iter_mut().for_each(|column| column.append(&block));
                    block.clear();
                }
            }
        }
        if !block.is_empty() {
            self.columns.iter_mut().for_each(|column| column.append(&block));
        }
        let columns = self.names.into_iter().zip(self.columns);
        let (fields, arrays): (Vec<Field>, _) =
            columns.map(|(name, column)| column.finish(name)).unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .expect("every column has a cell of every row")
    }

    fn add<C: Cell + 'a>(self, name: &str, cell: impl Fn((&'a Owner, &'a R)) -> C + 'a) -> Self {
        self.cells(
            name,
            Box::new(move |rows, block| {
                for &row in rows {
                    block.push(cell(row));
                }
            }),
        )
    }

    fn cells<C: Cell + 'a>(mut self, name: &str, read: Box<ReadCells<'a, R, Owner, C>>) -> Self {
        let rows = self.rows.iter().map(|(_, rows)| rows.len()).sum();
        let block = Vec::with_capacity(BLOCK.min(rows));
        self.names.push(name.to_owned());
        self.columns.push(Box::new(Cells { read, block, builder: C::builder(rows) }));
        self
    }
}

/// A column of a table.
trait Column<'a, R, Owner> {
    /// Appends the cells of these rows.
    fn append(&mut self, rows: &[(&'a Owner, &'a R)]);

    /// The field with this name, and the column.
    fn finish(self: Box<Self>, name: String) -> (Field, ArrayRef);
}

/// Appends the cells of rows to a block.
type ReadCells<'a, R, Owner, C> = dyn Fn(&[(&'a Owner, &'a R)], &mut Vec<C>) + 'a;

/// A column with cells of one type.
///
/// There are hundreds of columns, each with a closure of its own. What is generic over that closure
/// therefore only collects a block of cells, and one function per type of cells appends the block.
struct Cells<'a, R, Owner, C: Cell> {
    read: Box<ReadCells<'a, R, Owner, C>>,
    block: Vec<C>,
    builder: C::Builder,
}

impl<'a, R, Owner, C: Cell> Column<'a, R, Owner> for Cells<'a, R, Owner, C> {
    fn append(&mut self, rows: &[(&'a Owner, &'a R)]) {
        (self.read)(rows, &mut self.block);
        C::append(&mut self.builder, &mut self.block);
        self.block.clear();
    }

    fn finish(self: Box<Self>, name: String) -> (Field, ArrayRef) {
        let column = C::finish(self.builder);
        (Field::new(name, column.data_type().clone(), C::NULLABLE), column)
    }
}

/// A type of cells. It is an `Option` if a cell may be null.
pub trait Cell: Sized {
    /// May a cell be null?
    const NULLABLE: bool;

    /// The cells of a column so far.
    type Builder;

    /// No cells yet, with room for `rows`.
    fn builder(rows: usize) -> Self::Builder;

    /// Appends a block of cells, and may take them out of it.
    fn append(builder: &mut Self::Builder, block: &mut Vec<Self>);

    /// The column of these cells.
    fn finish(builder: Self::Builder) -> ArrayRef;
}

macro_rules! numbers {
    ($($cell:ty => $kind:ty;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            type Builder = Vec<$cell>;

            fn builder(rows: usize) -> Self::Builder {
                Vec::with_capacity(rows)
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.append(block);
            }

            fn finish(builder: Self::Builder) -> ArrayRef {
                Arc::new(PrimitiveArray::<$kind>::new(builder.into(), None))
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            type Builder = NumbersOrNull<$kind>;

            fn builder(rows: usize) -> Self::Builder {
                NumbersOrNull::with_capacity(rows)
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.append(block);
            }

            fn finish(builder: Self::Builder) -> ArrayRef {
                builder.finish()
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

/// Numbers of which any may be null.
pub struct NumbersOrNull<T: ArrowPrimitiveType> {
    /// The numbers, 0 in place of a null.
    numbers: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> NumbersOrNull<T> {
    fn with_capacity(rows: usize) -> Self {
        Self { numbers: Vec::with_capacity(rows), nulls: NullBufferBuilder::new(rows) }
    }

    fn append(&mut self, block: &[Option<T::Native>]) {
        self.numbers.extend(block.iter().map(|number| number.unwrap_or_default()));
        match block.iter().filter(|number| number.is_some()).count() {
            0 => self.nulls.append_n_nulls(block.len()),
            known if known == block.len() => self.nulls.append_n_non_nulls(known),
            _ => block.iter().for_each(|number| self.nulls.append(number.is_some())),
        }
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(self.numbers.into(), self.nulls.finish()))
    }
}

/// Implements [`Cell`] for types of which a column is built at the end.
macro_rules! collected {
    ($($nullable:literal $cell:ty => $build:expr;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = $nullable;

            type Builder = Vec<Self>;

            fn builder(rows: usize) -> Self::Builder {
                Vec::with_capacity(rows)
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.append(block);
            }

            fn finish(builder: Self::Builder) -> ArrayRef {
                $build(builder)
            }
        }
    )*};
}

collected! {
    false bool => |cells| Arc::new(BooleanArray::from(cells));
    true Option<bool> => |cells| Arc::new(BooleanArray::from(cells));
    true Option<Vec<Option<u32>>> => |cells| lists(PrimitiveBuilder::<UInt32Type>::new(), cells);
    true Option<Vec<Option<u64>>> => |cells| lists(PrimitiveBuilder::<UInt64Type>::new(), cells);
    true Option<Vec<Option<f64>>> => |cells| lists(PrimitiveBuilder::<Float64Type>::new(), cells);
    true Option<Vec<Option<&str>>> => |cells| lists(StringBuilder::new(), cells);
}

fn lists<B, I>(items: B, cells: Vec<Option<Vec<Option<I>>>>) -> ArrayRef
where
    B: ArrayBuilder + Extend<Option<I>>,
{
    let mut lists = ListBuilder::new(items);
    lists.extend(cells);
    Arc::new(lists.finish())
}

macro_rules! texts {
    ($($nullable:literal $cell:ty => $text:expr;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = $nullable;

            type Builder = StringViewBuilder;

            fn builder(_: usize) -> Self::Builder {
                // Not with capacity for all rows, because its hash table would get the same.
                StringViewBuilder::new().with_deduplicate_strings()
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                let text: fn(&Self) -> Option<&str> = $text;
                for cell in block {
                    builder.append_option(text(cell));
                }
            }

            fn finish(mut builder: Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    )*};
}

texts! {
    false &str => |text| Some(text);
    false String => |text| Some(text);
    false Cow<'_, str> => |text| Some(text);
    true Option<&str> => |text| *text;
    true Option<String> => |text| text.as_deref();
    true Option<Cow<'_, str>> => |text| text.as_deref();
}
