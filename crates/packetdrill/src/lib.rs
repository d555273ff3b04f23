//! The engine as a shared object that the packetdrill tool drives, in virtual time.
//!
//! packetdrill checks a TCP stack by a script: what the application calls, what arrives, and what must
//! leave when. Asked by `--so_filename`, it loads a stack instead of using the kernel's, and asks it
//! for a table of functions ([`Interface`]). This crate is such a stack: a [`Host`] with sockets, whose
//! connections are the engine's.
//!
//! Nothing runs in real time. The host's clock advances by a microsecond each time that somebody looks
//! at it, by what the tool sleeps, and to the next timer where the tool waits for a packet.
//!
//! `%{ }%` assertions ask libc's `getsockopt`: to answer them, the object is preloaded, too.
#![deny(missing_docs)]

mod calls;
pub mod flow;
pub mod frame;
pub mod host;
mod info;
mod interface;
mod preload;
mod push;
mod reordering;
mod send_buffer;
pub mod settings;
mod shared;
mod stamps;

pub use calls::packetdrill_interface_init;
pub use host::Host;
pub use info::TcpInfo;
pub use interface::Interface;
