//! Sizes of structs on this target.

/// Returns the size of a struct on this target, of three: `on_64_bits` with pointers of 64 bits; `on_32_bits` with
/// pointers of 32 bits; `on_i686`, where integers of 64 bits are aligned to 4 bytes, too. They are what `sizeof` is in C
/// (`scripts/check-platform.sh` compiles `capi-tests/layout.c` for each target).
pub(super) const fn size_on_target(on_64_bits: usize, on_32_bits: usize, on_i686: usize) -> usize {
    if cfg!(target_pointer_width = "64") {
        on_64_bits
    } else if align_of::<u64>() == 8 {
        on_32_bits
    } else {
        on_i686
    }
}
