//! Socket addresses of C.

use core::ffi::c_int;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Reads an address of the tool.
///
/// # Safety
///
/// `address` points to `length` bytes.
pub(super) unsafe fn read_address(
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> Result<SocketAddr, c_int> {
    if address.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return Err(libc::EINVAL);
    }
    // SAFETY: the family is present. Each cast is to the type of the family, after its length was
    // checked.
    unsafe {
        match c_int::from(address.cast::<libc::sa_family_t>().read_unaligned()) {
            libc::AF_INET if length as usize >= size_of::<libc::sockaddr_in>() => {
                let v4 = address.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Ok(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
            }
            libc::AF_INET6 if length as usize >= size_of::<libc::sockaddr_in6>() => {
                let v6 = address.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                Ok(SocketAddr::new(IpAddr::V6(ip), u16::from_be(v6.sin6_port)))
            }
            _ => Err(libc::EAFNOSUPPORT),
        }
    }
}

/// Writes an address to the tool, as far as it fits.
///
/// # Safety
///
/// Either pointer is null, or `address` has room for `*length` bytes.
pub(super) unsafe fn write_address(
    from: SocketAddr,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) {
    if address.is_null() || length.is_null() {
        return;
    }
    let mut bytes = Vec::new();
    match from {
        SocketAddr::V4(v4) => {
            bytes.extend((libc::AF_INET as libc::sa_family_t).to_ne_bytes());
            bytes.extend(v4.port().to_be_bytes());
            bytes.extend(v4.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(v6) => {
            bytes.extend((libc::AF_INET6 as libc::sa_family_t).to_ne_bytes());
            bytes.extend(v6.port().to_be_bytes());
            bytes.extend([0; 4]);
            bytes.extend(v6.ip().octets());
            bytes.extend([0; 4]);
        }
    }
    // SAFETY: `count` is at most the room.
    unsafe {
        let count = bytes.len().min(*length as usize);
        address.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), count);
        *length = bytes.len() as libc::socklen_t;
    }
}
