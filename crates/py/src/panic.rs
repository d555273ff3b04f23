//! Messages of panics, which are stored instead of printed.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    /// The message of the last panic in this thread.
    static LAST: Cell<Option<String>> = const { Cell::new(None) };
}

/// Makes panics print nothing. [`caught`] returns their messages.
pub(crate) fn silence() {
    panic::set_hook(Box::new(|info| LAST.set(Some(describe(info)))));
}

/// The result of `work`, or the message and the place of its panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| LAST.take().unwrap_or_else(|| "a panic in another thread".into()))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("a panic");
    info.location().map_or_else(|| message.into(), |place| format!("{message} ({place})"))
}
