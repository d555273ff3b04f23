//! The engine and the links in a program without the standard library. It is enough that this
//! compiles: a program can have one panic handler, and the standard library would bring its own.
#![no_std]

pub use rtolab_link::Channel;
pub use rtolab_tcp::Connection;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
