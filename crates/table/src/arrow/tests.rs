//! A consumer that follows the interface's rules reads what the table has. Miri runs these tests.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::*;
use crate::TableBuilder;

/// A table with a column of every type of cells, and of each with nulls.
fn table() -> Arc<Table> {
    let rows: Vec<u32> = (0..20).collect();
    let some = |row: u32| row % 3 > 0;
    let table = TableBuilder::new([(&"owner", &rows[..7]), (&"another", &rows[7..])].into_iter())
        .owner("owner", |owner: &&str| *owner)
        .column("u32", |row| *row)
        .column("u64", |row| u64::from(*row) << 40)
        .column("i64", |row| -i64::from(*row))
        .column("f64", |row| f64::from(*row) / 4.0)
        .column("bool", |row| row % 5 == 0)
        .column("text", |row| "x".repeat(*row as usize))
        .column("u32?", move |row| some(*row).then_some(*row))
        .column("bool?", move |row| some(*row).then_some(row % 5 == 0))
        .column("text?", move |row| some(*row).then(|| Cow::Owned("y".repeat(*row as usize))))
        .column("list?", move |row| {
            let items = || (0..*row % 4).map(|item| some(item).then_some(item)).collect();
            some(*row).then(items) as Option<Vec<Option<u32>>>
        })
        .finish();
    Arc::new(table)
}

/// Takes a struct as a consumer does: by copying it, and marking the original as released.
///
/// # Safety
///
/// `from` is valid and not released.
unsafe fn take_array(from: *mut ArrowArray) -> ArrowArray {
    // SAFETY: the original is not used after this, except that its `release` is null.
    unsafe {
        let taken = from.read();
        (*from).release = None;
        taken
    }
}

/// The cells of a column as texts, as a consumer reads them.
///
/// # Safety
///
/// Both are valid and not released.
unsafe fn cells(schema: &ArrowSchema, array: &ArrowArray) -> Vec<String> {
    // SAFETY: the rules of the interface.
    unsafe {
        let format = CStr::from_ptr(schema.format).to_str().expect("UTF-8");
        let buffers = std::slice::from_raw_parts(array.buffers, array.n_buffers as usize);
        let bit = |buffer: *const c_void, row: usize| {
            *buffer.cast::<u8>().add(row / 8) >> (row % 8) & 1 == 1
        };
        let mut read = Vec::new();
        for row in 0..array.length as usize {
            if !buffers[0].is_null() && !bit(buffers[0], row) {
                read.push("null".to_owned());
                continue;
            }
            read.push(match format {
                "I" => (*buffers[1].cast::<u32>().add(row)).to_string(),
                "L" => (*buffers[1].cast::<u64>().add(row)).to_string(),
                "l" => (*buffers[1].cast::<i64>().add(row)).to_string(),
                "g" => (*buffers[1].cast::<f64>().add(row)).to_string(),
                "b" => bit(buffers[1], row).to_string(),
                "vu" => {
                    let view = *buffers[1].cast::<[u32; 4]>().add(row);
                    let len = view[0] as usize;
                    let start = if len <= 12 {
                        buffers[1].cast::<u8>().add(16 * row + 4)
                    } else {
                        let sizes = buffers[buffers.len() - 1].cast::<i64>();
                        let end = i64::from(view[3]) + len as i64;
                        assert!(end <= *sizes.add(view[2] as usize));
                        buffers[2 + view[2] as usize].cast::<u8>().add(view[3] as usize)
                    };
                    let text = std::slice::from_raw_parts(start, len);
                    String::from_utf8(text.to_vec()).expect("UTF-8")
                }
                "+l" => {
                    let ends = buffers[1].cast::<i32>();
                    let range = *ends.add(row) as usize..*ends.add(row + 1) as usize;
                    let items = cells(&**schema.children, &**array.children);
                    format!("[{}]", items[range].join(" "))
                }
                other => panic!("format {other}"),
            });
        }
        let nulls = read.iter().filter(|cell| *cell == "null").count();
        assert_eq!(array.null_count, nulls as i64);
        assert_eq!(schema.flags == NULLABLE, read.iter().any(|cell| cell == "null"));
        read
    }
}

fn read(stream: &mut ArrowArrayStream) -> (ArrowSchema, ArrowArray) {
    let (mut schema, mut array) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the stream is not released, and both functions write their structs.
    unsafe {
        assert_eq!(stream.get_schema.expect("a function")(stream, schema.as_mut_ptr()), 0);
        assert_eq!(stream.get_next.expect("a function")(stream, array.as_mut_ptr()), 0);
        assert!(stream.get_last_error.expect("a function")(stream).is_null());
        (schema.assume_init(), array.assume_init())
    }
}

fn expected(column: &str, row: u32) -> String {
    let number = match column {
        "owner" => return if row < 7 { "owner" } else { "another" }.to_owned(),
        "u32" => return row.to_string(),
        "u64" => return (u64::from(row) << 40).to_string(),
        "i64" => return (-i64::from(row)).to_string(),
        "f64" => return (f64::from(row) / 4.0).to_string(),
        "bool" => return (row % 5 == 0).to_string(),
        "text" => return "x".repeat(row as usize),
        _ if row % 3 == 0 => return "null".to_owned(),
        _ => row,
    };
    match column {
        "u32?" => number.to_string(),
        "bool?" => (number % 5 == 0).to_string(),
        "text?" => "y".repeat(number as usize),
        "list?" => ["[]", "[null]", "[null 1]", "[null 1 2]"][number as usize % 4].to_owned(),
        other => panic!("column {other}"),
    }
}

#[test]
fn a_consumer_reads_every_cell_of_every_type() {
    let mut stream = ArrowArrayStream::new(table());
    let (schema, array) = read(&mut stream);
    assert_eq!((array.length, array.n_children, schema.n_children), (20, 11, 11));
    for index in 0..11 {
        // SAFETY: there are as many children, and none is released.
        let (name, cells) = unsafe {
            let child = &**schema.children.add(index);
            let name = CStr::from_ptr(child.name).to_str().expect("UTF-8");
            (name, cells(child, &**array.children.add(index)))
        };
        let expected: Vec<_> = (0..20).map(|row| expected(name, row)).collect();
        assert_eq!(cells, expected, "{name}");
    }
}

#[test]
fn the_second_batch_is_the_end_of_the_stream() {
    let mut stream = ArrowArrayStream::new(table());
    let _ = read(&mut stream);
    let (_, end) = read(&mut stream);
    assert!(end.release.is_none());
}

#[test]
fn a_column_outlives_the_table_the_stream_and_its_batch() {
    let mut stream = ArrowArrayStream::new(table());
    let (schema, array) = read(&mut stream);
    drop(stream);
    // SAFETY: there are eleven children, of which none is released.
    let column = unsafe { take_array(*array.children.add(6)) };
    drop(array);
    // SAFETY: neither is released.
    let cells = unsafe { cells(&**schema.children.add(6), &column) };
    assert_eq!(cells[19], "x".repeat(19));
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let none: [(&(), &[u32]); 0] = [];
    let empty = TableBuilder::new(none.into_iter())
        .column("number", |row| *row)
        .column("text", |_| "a text that is too long for a view")
        .column("list", |_| None::<Vec<Option<u64>>>);
    let mut stream = ArrowArrayStream::new(Arc::new(empty.finish()));
    let (schema, array) = read(&mut stream);
    assert_eq!((array.length, schema.n_children), (0, 3));
    for index in 0..3 {
        // SAFETY: there are as many children, and none is released.
        let child = unsafe { &**array.children.add(index) };
        assert_eq!(child.length, 0);
    }
}
