//! Settings whose format is their own: what is read, and that it is shown in the same words.

use rtolab_settings::{Content, Format, RawValue, find, show};
use rtolab_tcp::Config;
use rtolab_tcp::config::{GiveUp, InitialWindow};

#[test]
fn an_initial_window_is_read_as_it_is_shown() {
    for (text, window) in [
        ("1 segment", InitialWindow::Segments(1)),
        ("10 segments", InitialWindow::Segments(10)),
        ("rfc3390", InitialWindow::Rfc3390),
        ("rfc5681", InitialWindow::Rfc5681),
        ("rfc6928", InitialWindow::Rfc6928),
        ("1 B", InitialWindow::Bytes(1)),
        ("16384 B", InitialWindow::Bytes(16_384)),
        // The largest window that RFC 7323 can advertise.
        ("1073725440 B", InitialWindow::Bytes(65_535 << 14)),
    ] {
        assert_eq!(InitialWindow::read(&RawValue::Text(text)).ok(), Some(window), "{text}");
        let shown = InitialWindow::show(&window);
        assert_eq!(InitialWindow::read(&RawValue::Text(&shown)).ok(), Some(window), "{shown}");
    }
    for text in ["0 segments", "0 B", "1073725441 B", "rfc2414", ""] {
        assert!(InitialWindow::read(&RawValue::Text(text)).is_err(), "{text}");
    }
    assert!(InitialWindow::read(&RawValue::Integer(10)).is_err());
}

#[test]
fn r2_is_read_as_a_number_of_retransmissions() {
    let path = ["retransmissions"];
    let mut limits = Config::default().connection.limits;
    let mut read = |value| {
        let mut result = Ok(());
        let found = find(&mut limits, &path, &mut |setting| {
            if let Content::Value(setting) = setting.content {
                result = setting.read(&value);
            }
        });
        assert!(found);
        result.ok().map(|()| (limits.r2, show(&mut limits, &path)))
    };
    assert_eq!(
        read(RawValue::Integer(15)),
        Some((GiveUp::Retransmissions(15), Some("15".to_string())))
    );
    assert_eq!(read(RawValue::Integer(0)), None);
}
