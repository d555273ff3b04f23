//! Tests of panics. They include the module, because linking the bindings needs Python.

#[path = "../src/panic.rs"]
mod panic;

#[test]
fn a_panic_is_caught_with_its_message_and_place() {
    panic::silence();
    assert_eq!(panic::caught(|| 7), Ok(7));
    let fixed = panic::caught(|| -> u32 { panic!("no such segment") }).unwrap_err();
    assert!(fixed.starts_with("no such segment (crates/py/tests/panic.rs:"), "{fixed}");
    let number = 3;
    let composed = panic::caught(|| assert_eq!(number, 4, "of run {number}")).unwrap_err();
    assert!(composed.contains("of run 3") && composed.contains("left: 3"), "{composed}");
}
