//! The bit shuffle with AVX2: columns of elements in registers, sign masks to bits, and a small tile in the L1 cache so
//! that bit rows are written 32 bytes at a time.

use super::super::columns::avx2::{MAX_WIDTH, TILE, TileLayout};
use super::super::columns::covering_starts;
use super::generic::{self, GROUP};
use std::arch::x86_64::*;

/// The number of tiles whose bit rows fill a vector together.
const TILES: usize = 8;

/// The number of elements of `TILES` tiles.
const ELEMENTS: usize = TILES * TILE;

/// The number of tiles whose bit rows fill a cache line together.
const LINE_TILES: usize = 16;

/// The number of tiles that are processed together in blocks too small for `LINE_TILES`.
const FEW_TILES: usize = 4;
/// The numbers of elements of these tiles.
const ELEMENTS_OF_LINE: usize = LINE_TILES * TILE;
const ELEMENTS_OF_FEW: usize = FEW_TILES * TILE;

/// Shuffles whole groups of 8 elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `8 * typesize`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return if FORWARD {
            generic::bitshuffle(typesize, src, dest)
        } else {
            generic::bitunshuffle(typesize, src, dest)
        };
    }
    // SAFETY: (all) this function has AVX2; the lengths are equal by the caller, and hold a tile by the check here.
    unsafe {
        match typesize {
            1 => run_tiles::<FORWARD, 2>(1, src, dest),
            2 => run_tiles::<FORWARD, 2>(2, src, dest),
            3 => run_tiles::<FORWARD, 4>(3, src, dest),
            4 => run_tiles::<FORWARD, 4>(4, src, dest),
            8 => run_tiles::<FORWARD, 8>(8, src, dest),
            5..=7 => run_tiles::<FORWARD, 8>(typesize, src, dest),
            16 => run_tiles::<FORWARD, 16>(16, src, dest),
            _ => run_tiles::<FORWARD, 16>(typesize, src, dest),
        }
    }
}

/// Shuffles as many tiles at a time as the block holds.
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn run_tiles<const FORWARD: bool, const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    // SAFETY: (all) AVX2 and the lengths by the caller; the tiles by the checks.
    unsafe {
        match (FORWARD, elements) {
            (true, ELEMENTS_OF_LINE..) => forward::<P, LINE_TILES>(typesize, src, dest),
            (true, ELEMENTS_OF_FEW..) => forward::<P, FEW_TILES>(typesize, src, dest),
            (true, _) => forward::<P, 1>(typesize, src, dest),
            (false, ELEMENTS..) => backward::<P>(typesize, src, dest),
            (false, _) => backward_short_rows::<P>(typesize, src, dest),
        }
    }
}

/// Shuffles `N` tiles at a time.
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least `N` tiles.
#[inline(always)]
unsafe fn forward<const P: usize, const N: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { TileLayout::<P>::new(typesize) };
    let mut rows = [[[0u32; N]; GROUP]; MAX_WIDTH];
    for first in covering_starts(elements, N * TILE) {
        for column in covering_starts(typesize, layout.width()) {
            for (tile, start) in (first..).step_by(TILE).take(N).enumerate() {
                let at = start * typesize + column;
                // SAFETY: AVX2 by the caller; elements `start..start + TILE` are in `src`, and bytes
                // `column..column + width` are in an element.
                let columns = unsafe { layout.gather(src.as_ptr().add(at), src.len() - at) };
                for (j, &vector) in columns.iter().enumerate() {
                    let mut vector = vector;
                    if j < layout.width() {
                        for b in (0..GROUP).rev() {
                            // SAFETY: AVX2 by the caller.
                            unsafe {
                                rows[j][b][tile] = _mm256_movemask_epi8(vector) as u32;
                                vector = _mm256_add_epi8(vector, vector);
                            }
                        }
                    }
                }
            }
            for (j, rows) in rows[..layout.width()].iter().enumerate() {
                for (b, words) in rows.iter().enumerate() {
                    let at = ((column + j) * GROUP + b) * row + first / GROUP;
                    let (bytes, _) = dest[at..at + N * 4].as_chunks_mut::<4>();
                    for (bytes, word) in bytes.iter_mut().zip(words) {
                        *bytes = word.to_le_bytes();
                    }
                }
            }
        }
    }
}

/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least `TILES` tiles.
#[inline(always)]
unsafe fn backward<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    // SAFETY: AVX2 by the caller.
    let (layout, zero) = unsafe { (TileLayout::<P>::new(typesize), _mm256_setzero_si256()) };
    let mut tiles = [[zero; P]; TILES];
    for first in covering_starts(elements, ELEMENTS) {
        for column in covering_starts(typesize, layout.width()) {
            for j in 0..layout.width() {
                let at = (column + j) * GROUP * row + first / GROUP;
                // SAFETY: AVX2 by the caller; each of the 8 rows is `row` bytes long, of which `ELEMENTS / GROUP` from
                // `first / GROUP` on are read.
                unsafe {
                    let mut rows = [zero; GROUP];
                    for (b, vector) in rows.iter_mut().enumerate() {
                        *vector = _mm256_loadu_si256(src.as_ptr().add(at + b * row).cast());
                    }
                    for (tile, &vector) in tiles.iter_mut().zip(&elements_of_rows(rows)) {
                        tile[j] = vector;
                    }
                }
            }
            for (tile, &columns) in tiles.iter().enumerate() {
                let at = (first + tile * TILE) * typesize + column;
                // SAFETY: AVX2 by the caller; the tile's elements are in `dest`, and bytes
                // `column..column + width` are in an element.
                unsafe { layout.scatter(columns, dest.as_mut_ptr().add(at), dest.len() - at) };
            }
        }
    }
}

/// [`backward`] for a block whose bit rows are shorter than a vector.
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least one tile and at most `TILES`.
#[inline(always)]
unsafe fn backward_short_rows<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    // SAFETY: AVX2 by the caller.
    let (layout, zero) = unsafe { (TileLayout::<P>::new(typesize), _mm256_setzero_si256()) };
    let mut scratch = [[0u8; ELEMENTS]; P];
    for column in covering_starts(typesize, layout.width()) {
        for (j, scratch) in scratch.iter_mut().enumerate().take(layout.width()) {
            let mut rows = [zero; GROUP];
            for (b, vector) in rows.iter_mut().enumerate() {
                let at = ((column + j) * GROUP + b) * row;
                // SAFETY: AVX2 by the caller; a vector's worth of bytes is read, either from the source if there are as
                // many, or from a copy.
                *vector = unsafe {
                    if at + ELEMENTS / GROUP <= src.len() {
                        _mm256_loadu_si256(src.as_ptr().add(at).cast())
                    } else {
                        let mut padded = [0u8; ELEMENTS / GROUP];
                        padded[..src.len() - at].copy_from_slice(&src[at..]);
                        _mm256_loadu_si256(padded.as_ptr().cast())
                    }
                };
            }
            // SAFETY: AVX2 by the caller.
            let vectors = unsafe { elements_of_rows(rows) };
            for (tile, &vector) in scratch.as_chunks_mut::<TILE>().0.iter_mut().zip(&vectors) {
                // SAFETY: a tile is as long as a vector.
                unsafe { _mm256_storeu_si256(tile.as_mut_ptr().cast(), vector) };
            }
        }
        for first in covering_starts(elements, TILE) {
            let at = first * typesize + column;
            // SAFETY: AVX2 by the caller; the tile's elements are in `scratch` and in `dest`, and bytes
            // `column..column + width` are in an element.
            unsafe {
                let mut columns = [zero; P];
                for (vector, scratch) in columns.iter_mut().zip(&scratch) {
                    *vector = _mm256_loadu_si256(scratch.as_ptr().add(first).cast());
                }
                layout.scatter(columns, dest.as_mut_ptr().add(at), dest.len() - at);
            }
        }
    }
}

/// Returns the column of 256 elements, 32 in each vector, whose bit rows are `rows`.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn elements_of_rows(mut rows: [__m256i; GROUP]) -> [__m256i; TILES] {
    // Interleaves the rows: the 8 bytes of one group of elements end up in one 64-bit word.
    for _ in 0..3 {
        let before = rows;
        for i in 0..4 {
            // SAFETY: AVX2 by the caller.
            unsafe {
                rows[2 * i] = _mm256_unpacklo_epi8(before[i], before[i + 4]);
                rows[2 * i + 1] = _mm256_unpackhi_epi8(before[i], before[i + 4]);
            }
        }
    }
    // The lower lanes hold the first 128 elements, the upper lanes the others.
    let mut columns = rows;
    for pair in 0..TILES / 2 {
        let (a, b) = (rows[2 * pair], rows[2 * pair + 1]);
        // SAFETY: AVX2 by the caller.
        unsafe {
            columns[pair] = transpose_bits(_mm256_permute2x128_si256::<0x20>(a, b));
            columns[pair + TILES / 2] = transpose_bits(_mm256_permute2x128_si256::<0x31>(a, b));
        }
    }
    columns
}

/// Transposes the 8x8 bit matrix in each 64-bit word.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn transpose_bits(x: __m256i) -> __m256i {
    // SAFETY: AVX2 by the caller.
    unsafe {
        let x = swap_bits::<7>(x, 0x00aa_00aa_00aa_00aa);
        let x = swap_bits::<14>(x, 0x0000_cccc_0000_cccc);
        swap_bits::<28>(x, 0x0000_0000_f0f0_f0f0)
    }
}

/// Swaps, in each 64-bit word, the bits under `mask` with those `DISTANCE` places above.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn swap_bits<const DISTANCE: i32>(x: __m256i, mask: i64) -> __m256i {
    // SAFETY: AVX2 by the caller.
    unsafe {
        let differing =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<DISTANCE>(x)), _mm256_set1_epi64x(mask));
        _mm256_xor_si256(x, _mm256_xor_si256(differing, _mm256_slli_epi64::<DISTANCE>(differing)))
    }
}
