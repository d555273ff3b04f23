//! The engine as a shared object that the packetdrill tool drives, in virtual time.
//!
//! packetdrill tests a TCP stack with a script of system calls, incoming packets and expected
//! packets. With `--so_filename` it loads a shared object in place of the kernel's stack. The
//! shared object fills in a table of functions ([`FunctionTable`]). This crate is such an object: a
//! [`Host`] with sockets, whose connections are those of the engine.
//!
//! Nothing runs in real time. The host's clock advances by a microsecond at each reading, by the
//! time that the tool sleeps, and to the next timer when the tool waits for a packet.
//!
//! `%{ }%` assertions call libc's `getsockopt`. Preload the object so that it answers them.
#![deny(missing_docs)]

mod calls;
mod cork;
pub mod flow;
pub mod frame;
pub mod host;
mod info;
mod interface;
mod preload;
mod push;
mod receive_mss;
mod reordering;
mod send_buffer;
pub mod settings;
mod shared;
mod timestamps;

pub use calls::packetdrill_interface_init;
pub use host::Host;
pub use info::TcpInfo;
pub use interface::FunctionTable;
