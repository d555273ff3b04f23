//! Building of tables.

use std::borrow::Cow;

use crate::bits::Validity;
use crate::{Array, Bits, Column, ListValues, Table, TextValues, Values};

/// The number of rows that each column reads before any column reads further. They fit into the
/// cache, so that each row is read from memory once, not once per column.
const BLOCK: usize = 512;

/// A builder of a table. It has rows, each with an owner, and the columns so far.
pub struct TableBuilder<'a, R, Owner> {
    rows: Vec<(&'a Owner, &'a [R])>,
    names: Vec<String>,
    columns: Vec<Box<dyn ColumnBuilder<'a, R, Owner> + 'a>>,
}

impl<'a, R, Owner> TableBuilder<'a, R, Owner> {
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
    pub fn finish(mut self) -> Table {
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
        let rows = self.rows.iter().map(|(_, rows)| rows.len()).sum();
        let columns = self.names.into_iter().zip(self.columns);
        Table::new(rows, columns.map(|(name, column)| column.finish(name)).collect())
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
trait ColumnBuilder<'a, R, Owner> {
    /// Appends the cells of these rows.
    fn append(&mut self, rows: &[(&'a Owner, &'a R)]);

    /// The column with this name.
    fn finish(self: Box<Self>, name: String) -> Column;
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

impl<'a, R, Owner, C: Cell> ColumnBuilder<'a, R, Owner> for Cells<'a, R, Owner, C> {
    fn append(&mut self, rows: &[(&'a Owner, &'a R)]) {
        (self.read)(rows, &mut self.block);
        C::append(&mut self.builder, &mut self.block);
        self.block.clear();
    }

    fn finish(self: Box<Self>, name: String) -> Column {
        Column { name, nullable: C::NULLABLE, cells: C::finish(self.builder) }
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
    fn finish(builder: Self::Builder) -> Array;
}

/// Values of which any may be null.
pub struct OrNull<V> {
    /// The values, any value in place of a null.
    values: V,
    validity: Validity,
}

impl<V> OrNull<V> {
    fn new(values: V) -> Self {
        Self { values, validity: Validity::default() }
    }

    fn finish(self, values: impl FnOnce(V) -> Values) -> Array {
        Array::new(values(self.values), self.validity)
    }
}

macro_rules! numbers {
    ($($cell:ty => $kind:expr;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            type Builder = Vec<$cell>;

            fn builder(rows: usize) -> Self::Builder {
                Vec::with_capacity(rows)
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.append(block);
            }

            fn finish(builder: Self::Builder) -> Array {
                Array::of($kind(builder))
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            type Builder = OrNull<Vec<$cell>>;

            fn builder(rows: usize) -> Self::Builder {
                OrNull::new(Vec::with_capacity(rows))
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.values.extend(block.iter().map(|number| number.unwrap_or_default()));
                builder.validity.extend(block.iter().map(Option::is_some));
            }

            fn finish(builder: Self::Builder) -> Array {
                builder.finish($kind)
            }
        }
    )*};
}

numbers! {
    u32 => Values::UInt32;
    u64 => Values::UInt64;
    i64 => Values::Int64;
    f64 => Values::Float64;
}

impl Cell for bool {
    const NULLABLE: bool = false;

    type Builder = Bits;

    fn builder(_: usize) -> Self::Builder {
        Bits::default()
    }

    fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
        block.drain(..).for_each(|bit| builder.push(bit));
    }

    fn finish(builder: Self::Builder) -> Array {
        Array::of(Values::Boolean(builder))
    }
}

impl Cell for Option<bool> {
    const NULLABLE: bool = true;

    type Builder = OrNull<Bits>;

    fn builder(_: usize) -> Self::Builder {
        OrNull::new(Bits::default())
    }

    fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
        for bit in block.iter() {
            builder.values.push(bit.unwrap_or_default());
        }
        builder.validity.extend(block.iter().map(Option::is_some));
    }

    fn finish(builder: Self::Builder) -> Array {
        builder.finish(Values::Boolean)
    }
}

macro_rules! texts {
    ($($cell:ty;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = false;

            type Builder = TextValues;

            fn builder(rows: usize) -> Self::Builder {
                TextValues::with_capacity(rows)
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                for cell in block {
                    builder.push(&**cell);
                }
            }

            fn finish(builder: Self::Builder) -> Array {
                Array::of(Values::Text(builder.finish()))
            }
        }

        impl Cell for Option<$cell> {
            const NULLABLE: bool = true;

            type Builder = OrNull<TextValues>;

            fn builder(rows: usize) -> Self::Builder {
                OrNull::new(TextValues::with_capacity(rows))
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                for cell in block.iter() {
                    builder.values.push(cell.as_deref().unwrap_or_default());
                }
                builder.validity.extend(block.iter().map(Option::is_some));
            }

            fn finish(builder: Self::Builder) -> Array {
                builder.finish(|texts| Values::Text(texts.finish()))
            }
        }
    )*};
}

texts! {
    &str;
    String;
    Cow<'_, str>;
}

/// Lists of which any may be null, and any of their items.
pub struct Lists<I>
where
    Option<I>: Cell,
{
    ends: Vec<i32>,
    items: <Option<I> as Cell>::Builder,
    validity: Validity,
}

impl<I> Lists<I>
where
    Option<I>: Cell,
{
    fn new() -> Self {
        let items = <Option<I> as Cell>::builder(0);
        Self { ends: vec![0], items, validity: Validity::default() }
    }

    fn append(&mut self, block: &mut Vec<Option<Vec<Option<I>>>>) {
        self.validity.extend(block.iter().map(Option::is_some));
        for list in block.drain(..) {
            let mut list = list.unwrap_or_default();
            let last = self.ends[self.ends.len() - 1];
            let len = i32::try_from(list.len()).ok().and_then(|len| last.checked_add(len));
            self.ends.push(len.expect("fewer than 2^31 items in a column"));
            Cell::append(&mut self.items, &mut list);
        }
    }

    fn finish(self) -> Array {
        let items = <Option<I> as Cell>::finish(self.items);
        let list = ListValues { ends: self.ends, items };
        Array::new(Values::List(Box::new(list)), self.validity)
    }
}

macro_rules! lists {
    ($([$($lifetime:lifetime)?] $item:ty;)*) => {$(
        impl$(<$lifetime>)? Cell for Option<Vec<Option<$item>>> {
            const NULLABLE: bool = true;

            type Builder = Lists<$item>;

            fn builder(_: usize) -> Self::Builder {
                Lists::new()
            }

            fn append(builder: &mut Self::Builder, block: &mut Vec<Self>) {
                builder.append(block);
            }

            fn finish(builder: Self::Builder) -> Array {
                builder.finish()
            }
        }
    )*};
}

// Each item with the lifetime that it names. Not generic over the item: the compiler would look for
// lists of lists without end.
lists! {
    [] u32;
    [] u64;
    [] f64;
    ['a] &'a str;
}
