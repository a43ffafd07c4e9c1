//! The bit shuffle with AVX-512 and GFNI, in one pass: columns of 64 elements in registers, 8x8 bit transposes by an
//! affine transform, and a tile in the L1 cache so that bit rows are written in whole cache lines.

use super::super::columns::avx512::{
    Columns, PartialWideTile, TILE, Tiles, WIDE_TILE_WIDTH, columns_to_elements, elements_to_columns,
    has_tiles, load_table, with_tiles,
};
use super::super::columns::covering_starts;
use super::avx2;
use super::generic::GROUP;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// The number of tiles whose bit rows fill a cache line together.
const TILES: usize = 8;

/// The number of elements of `TILES` tiles.
const ELEMENTS: usize = TILES * TILE;

/// The columns of a batch of tiles, or the bits of the columns: a vector for each tile and column. Column `j` has the
/// elements from `j * lines` on, where `lines` is [`batch_lines`].
///
/// Bit rows are often a power of two apart, so that the lines written at a time all map to the same few cache sets.
/// Writing several neighbouring lines of each row reduces the conflicts, as long as the scratch stays in the L1 cache
/// too.
type TileScratch = [[MaybeUninit<__m512i>; TILES]; SCRATCH_LINES];

/// The largest number of columns of tiles, times their [`batch_lines`].
const SCRATCH_LINES: usize = 32;

/// The number of cache lines of each bit row that a batch of tiles fills.
const fn batch_lines<T: Tiles>() -> usize {
    match size_of::<T::Columns>() / TILE {
        ..5 => 8,
        5..9 => 4,
        9..17 => 2,
        _ => 1,
    }
}

/// Shuffles whole groups of 8 elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `8 * typesize`.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let has_tile = src.len() / typesize >= TILE;
    // SAFETY: (all) this function has AVX2 and the AVX-512 level; the lengths are equal by the caller, and hold the tiles
    // by the checks here: a partial tile is less than a tile of wide elements.
    unsafe {
        if !has_tile && typesize >= WIDE_TILE_WIDTH {
            if FORWARD {
                forward_partial_tile(typesize, src, dest);
            } else {
                backward_partial_tile(typesize, src, dest);
            }
        } else if !has_tile || !has_tiles(typesize) {
            avx2::run::<FORWARD>(typesize, src, dest);
        } else if FORWARD {
            with_tiles!(typesize, forward(src, dest));
        } else {
            with_tiles!(typesize, backward(src, dest));
        }
    }
}

/// Returns the pieces of a block of at least a tile of elements that are processed together: the first element and
/// the number of tiles, which is less than `TILES`, or a multiple of it up to `lines` times `TILES`.
#[inline(always)]
fn batches(elements: usize, lines: usize) -> impl Iterator<Item = (usize, usize)> {
    let (unit, most) = if elements >= ELEMENTS { (ELEMENTS, lines) } else { (TILE, TILES) };
    let units = elements / unit;
    let rest = !elements.is_multiple_of(unit);
    (0..units)
        .step_by(most)
        .map(move |first| (first * unit, (units - first).min(most) * (unit / TILE)))
        .chain(rest.then_some((elements - unit, unit / TILE)))
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward<T: Tiles>(layout: T, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let batch_lines = const { batch_lines::<T>() };
    let mut scratch: TileScratch = [[MaybeUninit::uninit(); TILES]; SCRATCH_LINES];
    for (first, tiles) in batches(elements, batch_lines) {
        let mask = line_mask(tiles);
        for column in covering_starts(typesize, layout.width()) {
            // SAFETY: the level by the caller. Elements `first..first + tiles * TILE` are in `src`, bytes
            // `column..column + width` are in an element, and each bit row in `dest` is `row` bytes long.
            unsafe {
                for (tile, start) in (first..).step_by(TILE).enumerate().take(tiles) {
                    let columns = layout.gather::<true>(src.as_ptr().add(start * typesize + column));
                    for (j, &vector) in columns.as_ref().iter().enumerate() {
                        if j < layout.width() {
                            scratch[j * batch_lines + tile / TILES][tile % TILES]
                                .write(transpose_bits(vector));
                        }
                    }
                }
                for (j, lines) in scratch.chunks_exact(batch_lines).enumerate().take(layout.width()) {
                    let at = (column + j) * GROUP * row + first / GROUP;
                    let at = dest.as_mut_ptr().add(at);
                    if tiles < TILES {
                        let rows = rows_of_tiles(load_tiles(&lines[0], tiles));
                        for (b, &vector) in rows.iter().enumerate() {
                            _mm512_mask_storeu_epi8(at.add(b * row).cast(), mask, vector);
                        }
                        continue;
                    }
                    let (pairs, single) = lines[..tiles / TILES].as_chunks::<2>();
                    for (pair, vectors) in pairs.iter().enumerate() {
                        let at = at.add(2 * pair * TILE);
                        let left = rows_of_tiles(load_tiles(&vectors[0], TILES));
                        let right = rows_of_tiles(load_tiles(&vectors[1], TILES));
                        for (b, (&left, &right)) in left.iter().zip(&right).enumerate() {
                            _mm512_storeu_si512(at.add(b * row).cast(), left);
                            _mm512_storeu_si512(at.add(b * row + TILE).cast(), right);
                        }
                    }
                    if let [vectors] = single {
                        let at = at.add(2 * pairs.len() * TILE);
                        for (b, &vector) in rows_of_tiles(load_tiles(vectors, TILES)).iter().enumerate() {
                            _mm512_storeu_si512(at.add(b * row).cast(), vector);
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn backward<T: Tiles>(layout: T, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let batch_lines = const { batch_lines::<T>() };
    let mut scratch: TileScratch = [[MaybeUninit::uninit(); TILES]; SCRATCH_LINES];
    for (first, tiles) in batches(elements, batch_lines) {
        let mask = line_mask(tiles);
        for column in covering_starts(typesize, layout.width()) {
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                for (j, lines) in scratch.chunks_exact_mut(batch_lines).enumerate().take(layout.width()) {
                    for (line, vectors) in lines.iter_mut().enumerate().take(tiles.div_ceil(TILES)) {
                        let at = (column + j) * GROUP * row + first / GROUP + line * TILE;
                        let at = src.as_ptr().add(at);
                        let mut rows = [_mm512_setzero_si512(); GROUP];
                        // In reverse order, as `transpose_bits` requires.
                        for (b, vector) in rows.iter_mut().rev().enumerate() {
                            *vector = if tiles >= TILES {
                                _mm512_loadu_si512(at.add(b * row).cast())
                            } else {
                                _mm512_maskz_loadu_epi8(mask, at.add(b * row).cast())
                            };
                        }
                        columns_to_elements(&mut rows);
                        for (tile, &vector) in rows.iter().enumerate() {
                            vectors[tile].write(transpose_bits(vector));
                        }
                    }
                }
                for (tile, start) in (first..).step_by(TILE).enumerate().take(tiles) {
                    let mut columns = T::Columns::zero();
                    for (j, vector) in columns.as_mut().iter_mut().enumerate() {
                        if j < layout.width() {
                            *vector = scratch[j * batch_lines + tile / TILES][tile % TILES].assume_init();
                        }
                    }
                    layout.scatter(columns, dest.as_mut_ptr().add(start * typesize + column));
                }
            }
        }
    }
}

/// Returns the first `tiles` of these vectors, followed by zeros.
///
/// # Safety
/// The machine has the AVX-512 level, and those vectors have been written.
#[inline(always)]
unsafe fn load_tiles(vectors: &[MaybeUninit<__m512i>; TILES], tiles: usize) -> [__m512i; TILES] {
    // SAFETY: by the contract the machine has the AVX-512 level, and the first `tiles` vectors have been written.
    unsafe {
        let mut loaded = [_mm512_setzero_si512(); TILES];
        for (tile, vector) in loaded.iter_mut().enumerate() {
            if tile < tiles {
                *vector = vectors[tile].assume_init();
            }
        }
        loaded
    }
}

/// For each length of a bit row in a block of less than a tile: the indices, in a vector of `transpose_bits`, of the
/// bytes of the rows of a column, which are contiguous afterwards.
const ROWS_OF_PARTIAL_TILE: [[u8; TILE]; TILE / GROUP] = {
    let mut tables = [[0; TILE]; TILE / GROUP];
    let mut row = 1;
    while row < tables.len() {
        let mut at = 0;
        while at < GROUP * row {
            tables[row][at] = (at % row * 8 + at / row) as u8;
            at += 1;
        }
        row += 1;
    }
    tables
};

/// The inverse, with the rows in reverse order as `transpose_bits` requires.
const PARTIAL_TILE_OF_ROWS: [[u8; TILE]; TILE / GROUP] = {
    let mut tables = [[0; TILE]; TILE / GROUP];
    let mut row = 1;
    while row < tables.len() {
        let mut at = 0;
        while at < GROUP * row {
            tables[row][at] = ((7 - at % 8) * row + at / 8) as u8;
            at += 1;
        }
        row += 1;
    }
    tables
};

/// [`forward`] for a block of less than a tile of elements of at least 16 bytes.
///
/// # Safety
/// The machine has the AVX-512 level; the lengths are equal, and there are 8 to 56 elements as wide as a tile.
#[inline(always)]
unsafe fn forward_partial_tile(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let mask = u64::MAX >> (64 - GROUP * row);
    let layout = PartialWideTile::new(typesize, elements);
    for column in covering_starts(typesize, layout.width()) {
        // SAFETY: the level by the caller. The bytes `column..column + width` are in an element, and the 8 bit rows of
        // each column, `row` bytes long, are in `dest`.
        unsafe {
            let order = load_table(&ROWS_OF_PARTIAL_TILE[row]);
            for (j, &vector) in layout.gather::<true>(src.as_ptr().add(column)).iter().enumerate() {
                let rows = _mm512_permutexvar_epi8(order, transpose_bits(vector));
                let at = dest.as_mut_ptr().add((column + j) * GROUP * row);
                _mm512_mask_storeu_epi8(at.cast(), mask, rows);
            }
        }
    }
}

/// [`backward`] for a block of less than a tile of elements of at least 16 bytes.
///
/// # Safety
/// The machine has the AVX-512 level; the lengths are equal, and there are 8 to 56 elements as wide as a tile.
#[inline(always)]
unsafe fn backward_partial_tile(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let mask = u64::MAX >> (64 - GROUP * row);
    let layout = PartialWideTile::new(typesize, elements);
    for column in covering_starts(typesize, layout.width()) {
        // SAFETY: as in `forward_partial_tile`, with source and destination exchanged.
        unsafe {
            let order = load_table(&PARTIAL_TILE_OF_ROWS[row]);
            let mut columns = <PartialWideTile as Tiles>::Columns::zero();
            for (j, vector) in columns.iter_mut().enumerate() {
                let at = src.as_ptr().add((column + j) * GROUP * row);
                let rows = _mm512_maskz_loadu_epi8(mask, at.cast());
                *vector = transpose_bits(_mm512_permutexvar_epi8(order, rows));
            }
            layout.scatter(columns, dest.as_mut_ptr().add(column));
        }
    }
}

/// Returns the mask of the bytes of a row's line that belong to the first `tiles` tiles.
#[inline(always)]
fn line_mask(tiles: usize) -> u64 {
    u64::MAX >> (64 - tiles.min(TILES) * (TILE / GROUP))
}

/// Transposes the 8x8 bit matrix in each 64-bit word, the bytes of which are in reverse order: the first row is the
/// last byte. In the result, the first column is the first byte.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn transpose_bits(matrices: __m512i) -> __m512i {
    // An affine transform of a byte with a bit matrix gives, in its bit `i`, the parity of the AND of the byte and
    // row `7 - i` of the matrix. With bytes of a single bit, and the data as the matrix, it selects that bit.
    const SINGLE_BITS: i64 = 0x8040_2010_0804_0201_u64 as i64;
    // SAFETY: the level by the caller.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(SINGLE_BITS), matrices) }
}

/// Returns the 8 bit rows of 8 tiles, each tile a vector of `transpose_bits`: word `g` of a tile is group `g`, byte
/// `b` of it belongs to row `b`.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn rows_of_tiles(mut tiles: [__m512i; TILES]) -> [__m512i; GROUP] {
    // SAFETY: the level by the caller.
    unsafe { elements_to_columns::<GROUP, false>(&mut tiles) };
    tiles
}
