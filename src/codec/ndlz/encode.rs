//! The encoder. It makes the decisions of the reference's encoder, byte for byte (`codecs.md` 8.4).
//!
//! Cells that were written as literals go into tables by their hash, together with their triples and pairs of rows. A
//! cell is looked up as a whole first, then in parts, and a match is written as a distance.

use super::format::{
    HEADER_LEN, NDIM, ROW_PAIRS_4, ROW_TRIPLES_4, TOKEN_CONSTANT, TOKEN_LITERAL, TOKEN_MATCHED_CELL,
    TOKEN_PAIR_8, TOKEN_TRIPLE_8, TOKEN_TWO_PAIRS_4,
};
use super::hash;
use crate::error::Result;
use crate::fallible::boxed_array;
use crate::filter::cpu;

/// The number of entries of a table, which is the number of values of a hash.
const TABLE_LEN: usize = 4096;

/// Positions in the stream, indexed by the hash of the bytes there; 0 if there is none.
type HashSlots = [u32; TABLE_LEN];

/// The smallest distance that is not written.
const DISTANCE_LIMIT: usize = 65_535;

/// The largest distance from the token at which the reference's decoder finds rows of cells of 4: its arithmetic
/// wraps beyond.
const MAX_ROWS_DISTANCE: usize = 65_532;
/// The same for a token with two distances.
const MAX_PAIRS_DISTANCE: usize = 65_530;

/// The encoder's hash tables, reused from stream to stream.
pub(crate) struct NdlzTables {
    cells: Box<HashSlots>,
    triples: Box<HashSlots>,
    pairs: Box<HashSlots>,
}

impl NdlzTables {
    pub(crate) fn new() -> Result<NdlzTables> {
        Ok(NdlzTables { cells: boxed_array()?, triples: boxed_array()?, pairs: boxed_array()? })
    }
}

#[inline(always)]
fn slot(hash: u32) -> usize {
    (hash >> 20) as usize
}

/// Slots to which positions are added when the cell is written as a literal. Where a slot is not found in a cell, the
/// slot of an earlier cell stays, and its entry is lost.
struct PendingEntries<const N: usize> {
    slots: [usize; N],
    positions: [u32; N],
}

impl<const N: usize> Default for PendingEntries<N> {
    fn default() -> Self {
        PendingEntries { slots: [0; N], positions: [0; N] }
    }
}

impl<const N: usize> PendingEntries<N> {
    /// Clears the positions at the start of a cell.
    fn clear_positions(&mut self) {
        self.positions = [0; N];
    }

    fn set_entry(&mut self, n: usize, slot: usize, position: usize) {
        self.slots[n] = slot;
        self.positions[n] = position as u32;
    }

    fn write_to_table(&self, table: &mut HashSlots) {
        if self.positions[0] != 0 {
            for (&slot, &position) in self.slots.iter().zip(&self.positions) {
                table[slot] = position;
            }
        }
    }
}

/// A stream under construction.
struct Writer<'a> {
    stream: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.stream[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Writes the distance from the token at `token` back to `entry`, which is less than [`DISTANCE_LIMIT`].
    fn write_offset(&mut self, token: usize, entry: usize) {
        self.write(&((token - entry) as u16).to_le_bytes());
    }

    /// Returns the position of an earlier copy of `piece`: the table's `entry`, if `piece` is there, and less than
    /// [`DISTANCE_LIMIT`] bytes before byte `from`.
    #[inline(always)]
    fn find_match<const N: usize>(&self, entry: u32, piece: &[u8; N], from: usize) -> Option<usize> {
        let entry = entry as usize;
        let is_there = entry != 0
            && from.checked_sub(entry).is_some_and(|distance| (1..DISTANCE_LIMIT).contains(&distance))
            && self.stream.get(entry..)?.first_chunk() == Some(piece);
        is_there.then_some(entry)
    }
}

/// Encodes a block of that shape in cells of `C` bytes a side, 4 or 8. Returns the length of the stream, or 0 if it
/// is not shorter than the block. `dest` has room for the header.
pub(super) fn encode<const C: usize>(
    tables: &mut NdlzTables,
    shape: [usize; 2],
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: both levels prove that the machine has AVX2.
        cpu::SimdLevel::Avx2(_) | cpu::SimdLevel::Avx512(_) => unsafe {
            encode_avx2::<C>(tables, shape, src, dest)
        },
        // SAFETY: without `AVX2` there is no precondition.
        _ => unsafe { encode_cells::<C, false>(tables, shape, src, dest) },
    }
}

/// [`encode_cells`] with `AVX2` set, compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn encode_avx2<const C: usize>(
    tables: &mut NdlzTables,
    shape: [usize; 2],
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    // SAFETY: this function has AVX2.
    unsafe { encode_cells::<C, true>(tables, shape, src, dest) }
}

/// # Safety
/// With `AVX2`, the machine has it.
#[inline(always)]
unsafe fn encode_cells<const C: usize, const AVX2: bool>(
    tables: &mut NdlzTables,
    shape: [usize; 2],
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    let area = C * C;
    if src.len() < area || dest.len() < 17 + (src.len() / area - 1) * 2 {
        return 0;
    }
    let mut writer = Writer { stream: dest, len: 0 };
    writer.write(&[NDIM]);
    for extent in shape {
        writer.write(&(extent as i32).to_le_bytes());
    }
    debug_assert_eq!(writer.len, HEADER_LEN);
    for table in [&mut tables.cells, &mut tables.triples, &mut tables.pairs] {
        table.fill(0);
    }
    let mut encoder = CellEncoder::default();
    let [_, width] = shape;
    // Cells are collected well before they are used: the processor can load a vector that was just stored in pieces
    // only when all pieces have reached the cache.
    let mut cells = [[[0; C]; C]; CELLS_PER_BATCH];
    for band in src.chunks(C * width) {
        let whole = if band.len() == C * width { width / C } else { 0 };
        for first in (0..whole).step_by(CELLS_PER_BATCH) {
            let count = CELLS_PER_BATCH.min(whole - first);
            for (n, row) in band.chunks_exact(width).enumerate() {
                let pieces = &row.as_chunks().0[first..first + count];
                for (cell, piece) in cells.iter_mut().zip(pieces) {
                    cell[n] = *piece;
                }
            }
            for cell in &cells[..count] {
                if writer.len + area + 1 > writer.stream.len() {
                    return 0;
                }
                // SAFETY: by the contract the machine has AVX2 if `AVX2`.
                unsafe { encoder.encode_cell::<C, AVX2>(tables, cell, &mut writer) };
                if writer.len > src.len() {
                    return 0;
                }
            }
        }
        for left in (whole * C..width).step_by(C) {
            if writer.len + area + 1 > writer.stream.len() {
                return 0;
            }
            writer.write(&[TOKEN_LITERAL]);
            for row in band.chunks_exact(width) {
                writer.write(&row[left..width.min(left + C)]);
            }
            if writer.len > src.len() {
                return 0;
            }
        }
    }
    writer.len
}

/// The number of cells that are collected at once.
const CELLS_PER_BATCH: usize = 16;

/// The state that is kept from one cell to the next. Cells of 4 use the first two slots of triples and three of
/// pairs.
#[derive(Default)]
struct CellEncoder {
    triples: PendingEntries<6>,
    pairs: PendingEntries<7>,
}

impl CellEncoder {
    /// Writes a whole cell.
    ///
    /// # Safety
    /// With `AVX2`, the machine has it.
    #[inline(always)]
    unsafe fn encode_cell<const C: usize, const AVX2: bool>(
        &mut self,
        tables: &mut NdlzTables,
        cell: &[[u8; C]; C],
        writer: &mut Writer<'_>,
    ) {
        let token = writer.len;
        let bytes = cell.as_flattened();
        if bytes.iter().all(|byte| *byte == bytes[0]) {
            return writer.write(&[TOKEN_CONSTANT, bytes[0]]);
        }
        self.triples.clear_positions();
        self.pairs.clear_positions();
        let found = match (bytes.first_chunk::<16>(), bytes.first_chunk::<64>()) {
            // SAFETY: by the contract the machine has AVX2 if `AVX2`.
            (_, Some(bytes)) => unsafe { self.encode_cell_8::<AVX2>(tables, bytes, writer) },
            // SAFETY: by the contract the machine has AVX2 if `AVX2`.
            (Some(bytes), None) => unsafe { self.encode_cell_4::<AVX2>(tables, bytes, writer) },
            (None, None) => return,
        };
        if let Some(slot) = found {
            tables.cells[slot] = (token + 1) as u32;
            self.triples.write_to_table(&mut tables.triples);
            self.pairs.write_to_table(&mut tables.pairs);
            writer.write(&[TOKEN_LITERAL]);
            writer.write(bytes);
        }
    }

    /// Writes a cell of 4 if it or rows of it are found; else returns its slot.
    ///
    /// # Safety
    /// With `AVX2`, the machine has it.
    #[inline(always)]
    unsafe fn encode_cell_4<const AVX2: bool>(
        &mut self,
        tables: &NdlzTables,
        cell: &[u8; 16],
        writer: &mut Writer<'_>,
    ) -> Option<usize> {
        let token = writer.len;
        let whole = slot(hash::xxh32(cell));
        if let Some(entry) = writer.find_match(tables.cells[whole], cell, token) {
            writer.write(&[TOKEN_MATCHED_CELL]);
            writer.write_offset(token, entry);
            return None;
        }
        let row = |n: usize| &cell[4 * n..4 * n + 4];
        let pairs = ROW_PAIRS_4.map(|(_, [i, j])| concat_rows::<8>([row(i), row(j)]));
        // SAFETY: by the contract the machine has AVX2 if `AVX2`.
        let pair_slots =
            unsafe { hash::hash_row_groups_4::<AVX2, 2, 6>(cell, ROW_PAIRS_4.map(|(_, rows)| rows)) };
        let pair_slots = pair_slots.map(slot);
        let pair_at = |n: usize, token: usize, writer: &Writer<'_>| {
            writer.find_match(tables.pairs[pair_slots[n]], &pairs[n], token + 4 * ROW_PAIRS_4[n].1[0])
        };
        // The rows 0 and j are pair j - 1, the two others are pair 5 - (j - 1) of [`ROW_PAIRS_4`].
        for (n, j) in (1..4).enumerate() {
            let Some(first) = pair_at(n, token, writer) else { continue };
            let Some(second) = pair_at(5 - n, token, writer) else { continue };
            if token - first > MAX_PAIRS_DISTANCE || token - second > MAX_PAIRS_DISTANCE {
                continue;
            }
            writer.write(&[TOKEN_TWO_PAIRS_4 | j << 3]);
            writer.write_offset(token, first);
            writer.write_offset(token, second);
            return None;
        }
        // SAFETY: by the contract the machine has AVX2 if `AVX2`.
        let triple_slots =
            unsafe { hash::hash_row_groups_4::<AVX2, 3, 4>(cell, ROW_TRIPLES_4.map(|(_, rows)| rows)) };
        let triple_slots = triple_slots.map(slot);
        for ((code, rows), slot) in ROW_TRIPLES_4.into_iter().zip(triple_slots) {
            let triple = concat_rows::<12>(rows.map(row));
            let entry = tables.triples[slot];
            let first = rows[0];
            if entry == 0 && rows[2] == first + 2 {
                self.triples.set_entry(first, slot, token + 1 + 4 * first);
            }
            let found = writer.find_match(entry, &triple, token + 4 * first);
            if let Some(entry) = found.filter(|entry| token - entry <= MAX_ROWS_DISTANCE) {
                writer.write(&[code]);
                writer.write_offset(token, entry);
                (0..4).filter(|n| !rows.contains(n)).for_each(|n| writer.write(row(n)));
                return None;
            }
        }
        for (n, (code, rows)) in ROW_PAIRS_4.into_iter().enumerate() {
            let first = rows[0];
            if tables.pairs[pair_slots[n]] == 0 && rows[1] == first + 1 {
                self.pairs.set_entry(first, pair_slots[n], token + 1 + 4 * first);
            }
            if let Some(entry) = pair_at(n, token, writer).filter(|entry| token - entry <= MAX_ROWS_DISTANCE)
            {
                writer.write(&[code]);
                writer.write_offset(token, entry);
                (0..4).filter(|n| !rows.contains(n)).for_each(|n| writer.write(row(n)));
                return None;
            }
        }
        Some(whole)
    }

    /// Writes a cell of 8 if it or rows of it are found; else returns its slot.
    ///
    /// # Safety
    /// With `AVX2`, the machine has it.
    #[inline(always)]
    unsafe fn encode_cell_8<const AVX2: bool>(
        &mut self,
        tables: &NdlzTables,
        cell: &[u8; 64],
        writer: &mut Writer<'_>,
    ) -> Option<usize> {
        let token = writer.len;
        let whole = slot(hash::xxh32(cell));
        if let Some(entry) = writer.find_match(tables.cells[whole], cell, token) {
            writer.write(&[TOKEN_MATCHED_CELL]);
            writer.write_offset(token, entry);
            return None;
        }
        // SAFETY: by the contract the machine has AVX2 if `AVX2`.
        let (pairs, triples) = unsafe { hash::hash_row_groups_8::<AVX2>(cell) };
        let (pairs, triples) = (pairs.map(slot), triples.map(slot));
        if encode_row_match_8::<24, 6>(
            TOKEN_TRIPLE_8,
            &tables.triples,
            &triples,
            &mut self.triples,
            cell,
            writer,
        ) || encode_row_match_8::<16, 7>(
            TOKEN_PAIR_8,
            &tables.pairs,
            &pairs,
            &mut self.pairs,
            cell,
            writer,
        ) {
            return None;
        }
        Some(whole)
    }
}

/// Writes a cell of 8 if `N` bytes of consecutive rows are found, and returns whether they were. There are `COUNT`
/// rows at which they may begin.
#[inline(always)]
fn encode_row_match_8<const N: usize, const COUNT: usize>(
    code: u8,
    table: &HashSlots,
    slots: &[usize; 8],
    pending: &mut PendingEntries<COUNT>,
    cell: &[u8; 64],
    writer: &mut Writer<'_>,
) -> bool {
    let token = writer.len;
    for (first, &slot) in slots.iter().enumerate().take(COUNT) {
        let Some(rows) = cell[8 * first..].first_chunk::<N>() else { continue };
        if table[slot] == 0 {
            pending.set_entry(first, slot, token + 1 + 8 * first);
        }
        if let Some(entry) = writer.find_match(table[slot], rows, token + 8 * first) {
            writer.write(&[code | first as u8]);
            writer.write_offset(token, entry);
            writer.write(&cell[..8 * first]);
            writer.write(&cell[8 * first + N..]);
            return true;
        }
    }
    false
}

/// Returns rows of 4 bytes, concatenated.
#[inline(always)]
fn concat_rows<const N: usize>(rows: impl IntoIterator<Item = impl AsRef<[u8]>>) -> [u8; N] {
    let mut bytes = [0; N];
    for (place, row) in bytes.chunks_exact_mut(4).zip(rows) {
        place.copy_from_slice(row.as_ref());
    }
    bytes
}
