//! Helpers of the filters' tests: naive implementations of the spec's formulas, a data set of the spec, and buffers with
//! guard bytes at a chosen alignment.

use super::cpu::{self, SimdLevel};

/// Shuffles by the formula of `filters.md` 4.
pub(super) fn shuffle(typesize: usize, src: &[u8]) -> Vec<u8> {
    let elements = src.len() / typesize;
    let mut out = src.to_vec();
    for i in 0..elements {
        for j in 0..typesize {
            out[j * elements + i] = src[i * typesize + j];
        }
    }
    out
}

/// Bit-shuffles by the formula of `filters.md` 5.
pub(super) fn bitshuffle(typesize: usize, src: &[u8]) -> Vec<u8> {
    let elements = src.len() / typesize / 8 * 8;
    let row = elements / 8;
    let mut out = src.to_vec();
    out[..elements * typesize].fill(0);
    for e in 0..elements {
        for j in 0..typesize {
            for b in 0..8 {
                let bit = src[e * typesize + j] >> b & 1;
                out[(8 * j + b) * row + e / 8] |= bit << (e % 8);
            }
        }
    }
    out
}

/// Returns data set G of `filters.md` 17.
pub(super) fn golden(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i as u32).wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A function that shuffles elements of a size in bytes with the kernel of a level.
type LevelKernel = fn(SimdLevel, usize, &[u8], &mut [u8]);

/// Checks that the first of `kernels` converts `src` to `shuffled`, and the second does the reverse, at every level and with
/// the buffers at these distances from a 64-byte boundary.
pub(super) fn check_kernels(
    kernels: [LevelKernel; 2],
    typesize: usize,
    src: &[u8],
    shuffled: &[u8],
    (src_offset, dest_offset): (usize, usize),
) {
    for level in cpu::available_levels() {
        for (kernel, [from, to]) in kernels.into_iter().zip([[src, shuffled], [shuffled, src]]) {
            let out = run_with_guard_bytes(from, src_offset, dest_offset, |src, dest| {
                kernel(level, typesize, src, dest);
            });
            assert!(out == to, "{level:?}, typesize {typesize}, {} bytes", src.len());
        }
    }
}

/// Runs `filter` with the source and the destination at the given distances from a 64-byte boundary, and checks that
/// no byte around the destination changed.
fn run_with_guard_bytes(
    src: &[u8],
    src_offset: usize,
    dest_offset: usize,
    filter: impl FnOnce(&[u8], &mut [u8]),
) -> Vec<u8> {
    const GUARD: u8 = 0xa5;
    /// Wider than any store of a kernel.
    const MARGIN: usize = 256;
    let mut src_room = vec![GUARD; src.len() + 2 * MARGIN];
    let start = src_room.as_ptr().align_offset(64) + src_offset;
    src_room[start..start + src.len()].copy_from_slice(src);
    let mut room = vec![GUARD; src.len() + 3 * MARGIN];
    let at = room.as_ptr().align_offset(64) + 64 + dest_offset;
    // The old content differs from the guard, so that neither is mistaken for the result.
    room[at..at + src.len()].fill(0x5a);
    filter(&src_room[start..start + src.len()], &mut room[at..at + src.len()]);
    assert!(room[..at].iter().all(|&byte| byte == GUARD), "bytes before the destination changed");
    assert!(room[at + src.len()..].iter().all(|&byte| byte == GUARD), "bytes behind the destination changed");
    room[at..at + src.len()].to_vec()
}
