//! Arrow's C data interface and C stream interface, for tables.
//!
//! The structs and their rules are those of
//! <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>. A consumer takes a struct by
//! copying it and setting `release` of the original to null. Each struct keeps what its pointers
//! refer to, until its `release` is called.

#![allow(unsafe_code, reason = "the interface passes raw pointers")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use crate::{Array, Bits, Column, Table, Values};

/// A cell of the column may be null.
const NULLABLE: i64 = 2;

/// `struct ArrowSchema`: the name and type of a table or of a column.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`: the cells of a table or of a column.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`: a table as a stream of one batch.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: what the pointers refer to belongs to the struct alone, or is the constant content of an
// `Arc<Table>`, and nothing in it is bound to a thread.
unsafe impl Send for ArrowSchema {}
// SAFETY: as for `ArrowSchema`.
unsafe impl Send for ArrowArray {}
// SAFETY: as for `ArrowSchema`.
unsafe impl Send for ArrowArrayStream {}

/// A struct that nobody has taken is released when it is dropped.
macro_rules! released_on_drop {
    ($($kind:ty)*) => {$(
        impl Drop for $kind {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct is valid and not yet released.
                    unsafe { release(self) }
                }
            }
        }
    )*};
}

released_on_drop! { ArrowSchema ArrowArray ArrowArrayStream }

/// What an [`ArrowSchema`] refers to.
struct SchemaParts {
    /// From [`CString::into_raw`].
    name: *mut c_char,
    children: Vec<*mut ArrowSchema>,
}

impl ArrowSchema {
    /// The schema of a table: a struct of its columns.
    pub fn of_table(table: &Table) -> Self {
        let column = |column: &Column| Self::of_array(&column.name, column.nullable, &column.cells);
        Self::new(c"+s", "", false, table.columns().iter().map(column).collect())
    }

    fn of_array(name: &str, nullable: bool, array: &Array) -> Self {
        let mut children = Vec::new();
        let format = match array.values() {
            Values::UInt32(_) => c"I",
            Values::UInt64(_) => c"L",
            Values::Int64(_) => c"l",
            Values::Float64(_) => c"g",
            Values::Boolean(_) => c"b",
            Values::Text(_) => c"vu",
            Values::List(list) => {
                children.push(Self::of_array("item", true, list.items()));
                c"+l"
            }
        };
        Self::new(format, name, nullable, children)
    }

    fn new(format: &'static CStr, name: &str, nullable: bool, children: Vec<Self>) -> Self {
        let name = CString::new(name).expect("no column's name contains a NUL").into_raw();
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut parts = Box::new(SchemaParts { name, children });
        Self {
            format: format.as_ptr(),
            name,
            metadata: null(),
            flags: if nullable { NULLABLE } else { 0 },
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller passes a struct that `ArrowSchema::new` made, and it has not been
    // released. So `private_data` is its box of parts, the name is a `CString`, and the children
    // are boxes.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        drop(CString::from_raw(parts.name));
        for child in &parts.children {
            drop(Box::from_raw(*child));
        }
        (*schema).release = None;
        (*schema).private_data = null_mut();
    }
}

/// What an [`ArrowArray`] refers to.
struct ArrayParts {
    /// Only kept: the buffers belong to it.
    _table: Arc<Table>,
    /// Only kept: the sizes of a text's blocks, which are the last buffer.
    _sizes: Vec<i64>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

impl ArrowArray {
    /// The cells of a table, as a struct.
    pub fn of_table(table: &Arc<Table>) -> Self {
        let children = table.columns().iter().map(|column| Self::of_array(table, &column.cells));
        let children = children.collect();
        Self::new(table, table.rows(), 0, vec![null()], Vec::new(), children)
    }

    /// `array` is one of the table's.
    fn of_array(table: &Arc<Table>, array: &Array) -> Self {
        let mut buffers = vec![array.valid().map_or(null(), |bits| pointer(bits.bytes()))];
        let mut sizes = Vec::new();
        let mut children = Vec::new();
        match array.values() {
            Values::UInt32(values) => buffers.push(pointer(values)),
            Values::UInt64(values) => buffers.push(pointer(values)),
            Values::Int64(values) => buffers.push(pointer(values)),
            Values::Float64(values) => buffers.push(pointer(values)),
            Values::Boolean(bits) => buffers.push(pointer(Bits::bytes(bits))),
            Values::Text(texts) => {
                buffers.push(pointer(texts.views()));
                buffers.extend(texts.blocks().iter().map(|block| pointer(block)));
                sizes = texts.blocks().iter().map(|block| block.len() as i64).collect();
                buffers.push(pointer(&sizes));
            }
            Values::List(list) => {
                buffers.push(pointer(&list.ends));
                children.push(Self::of_array(table, list.items()));
            }
        }
        Self::new(table, array.len(), array.null_count(), buffers, sizes, children)
    }

    fn new(
        table: &Arc<Table>,
        length: usize,
        null_count: usize,
        buffers: Vec<*const c_void>,
        sizes: Vec<i64>,
        children: Vec<Self>,
    ) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let table = Arc::clone(table);
        let mut parts = Box::new(ArrayParts { _table: table, _sizes: sizes, buffers, children });
        Self {
            length: length as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: parts.buffers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.buffers.as_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    /// What a stream returns at its end: an array that is already released.
    fn end() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

fn pointer<T>(buffer: &[T]) -> *const c_void {
    buffer.as_ptr().cast()
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the caller passes a struct that `ArrowArray::new` made, and it has not been released.
    // So `private_data` is its box of parts, and the children are boxes, too. A child that the
    // consumer took has no `release` any more, and its own parts.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for child in &parts.children {
            drop(Box::from_raw(*child));
        }
        (*array).release = None;
        (*array).private_data = null_mut();
    }
}

/// What an [`ArrowArrayStream`] refers to.
struct StreamParts {
    table: Arc<Table>,
    read: bool,
}

impl ArrowArrayStream {
    /// A table as a stream of one batch.
    pub fn new(table: Arc<Table>) -> Self {
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(StreamParts { table, read: false })).cast(),
        }
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller passes a stream that is not released, and room for a schema, whose
    // previous content is not a schema.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        out.write(ArrowSchema::of_table(&parts.table));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the caller passes a stream that is not released, and room for an array, whose
    // previous content is not an array. A stream is used by one thread at a time.
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        let batch = if parts.read { ArrowArray::end() } else { ArrowArray::of_table(&parts.table) };
        parts.read = true;
        out.write(batch);
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the caller passes a stream that `ArrowArrayStream::new` made, and it has not been
    // released. So `private_data` is its box of parts.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
        (*stream).private_data = null_mut();
    }
}

#[cfg(test)]
mod tests;
