//! Asks the processor for memory that will be needed soon.

/// So many bytes are fetched at once.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Has `item` brought into the cache while other work goes on; nothing else happens. Where the
/// processor cannot be asked it comes when it is needed.
#[inline(always)]
pub fn fetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = core::ptr::from_ref(item).cast::<i8>().wrapping_add(line);
        #[expect(unsafe_code, reason = "there is no other way to ask the processor")]
        // SAFETY: a prefetch reads nothing and never faults, whatever the address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
