//! The encoder. It makes the decisions of the reference's encoder, byte for byte (`codecs.md` 8.4).
//!
//! Cells that were written as literals go into tables by their hash, together with their triples and pairs of rows. A
//! cell is looked up as a whole first, then in parts, and a match is written as a distance.

use super::hash;
use super::stream::{
    CELL, HEADER_LEN, LITERAL, NDIM, PAIR_OF_8, PAIRS, SAME, TRIPLE_OF_8, TRIPLES, TWO_PAIRS,
};
use crate::filter::cpu;

/// The number of entries of a table, which is the number of values of a hash.
const ENTRIES: usize = 4096;

/// Positions in the stream, indexed by the hash of the bytes there; 0 if there is none.
type Table = [u32; ENTRIES];

/// The smallest distance that is not written.
const FARTHEST: usize = 65_535;

/// The largest distance from the token at which the reference's decoder finds rows of cells of 4: its arithmetic
/// wraps beyond.
const FARTHEST_ROWS: usize = 65_532;
/// The same for a token with two distances.
const FARTHEST_PAIRS: usize = 65_530;

/// The encoder's hash tables, reused from stream to stream.
pub(crate) struct Tables {
    cells: Box<Table>,
    triples: Box<Table>,
    pairs: Box<Table>,
}

impl Default for Tables {
    fn default() -> Self {
        let empty = || Box::new([0; ENTRIES]);
        Tables { cells: empty(), triples: empty(), pairs: empty() }
    }
}

/// Returns the slot of a piece from its hash.
#[inline(always)]
fn slot(hash: u32) -> usize {
    (hash >> 20) as usize
}

/// Slots to which positions are added when the cell is written as a literal. Where a slot is not found in a cell, the
/// slot of an earlier cell stays, and its entry is lost.
struct Pending<const N: usize> {
    slots: [usize; N],
    places: [u32; N],
}

impl<const N: usize> Default for Pending<N> {
    fn default() -> Self {
        Pending { slots: [0; N], places: [0; N] }
    }
}

impl<const N: usize> Pending<N> {
    /// Clears the positions at the start of a cell.
    fn forget_places(&mut self) {
        self.places = [0; N];
    }

    fn note(&mut self, n: usize, slot: usize, place: usize) {
        self.slots[n] = slot;
        self.places[n] = place as u32;
    }

    fn store(&self, table: &mut Table) {
        if self.places[0] != 0 {
            for (&slot, &place) in self.slots.iter().zip(&self.places) {
                table[slot] = place;
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
    fn put(&mut self, bytes: &[u8]) {
        self.stream[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Writes the distance from the token at `token` back to `entry`, which is less than [`FARTHEST`].
    fn put_offset(&mut self, token: usize, entry: usize) {
        self.put(&((token - entry) as u16).to_le_bytes());
    }

    /// Returns the position of an earlier copy of `piece`: the table's `entry`, if `piece` is there, and less than
    /// [`FARTHEST`] bytes before byte `from`.
    #[inline(always)]
    fn find<const N: usize>(&self, entry: u32, piece: &[u8; N], from: usize) -> Option<usize> {
        let entry = entry as usize;
        let is_there = entry != 0
            && from.checked_sub(entry).is_some_and(|distance| (1..FARTHEST).contains(&distance))
            && self.stream.get(entry..)?.first_chunk() == Some(piece);
        is_there.then_some(entry)
    }
}

/// Encodes a block of that shape in cells of `C` bytes a side, 4 or 8. Returns the length of the stream, or 0 if it
/// is not shorter than the block. `dest` has room for the header.
pub(super) fn encode<const C: usize>(
    tables: &mut Tables,
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
        _ => unsafe { encode_with::<C, false>(tables, shape, src, dest) },
    }
}

/// [`encode_with`] `AVX2`, compiled for it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn encode_avx2<const C: usize>(tables: &mut Tables, shape: [usize; 2], src: &[u8], dest: &mut [u8]) -> usize {
    // SAFETY: this function has AVX2.
    unsafe { encode_with::<C, true>(tables, shape, src, dest) }
}

/// # Safety
/// With `AVX2`, the machine has it.
#[inline(always)]
unsafe fn encode_with<const C: usize, const AVX2: bool>(
    tables: &mut Tables,
    shape: [usize; 2],
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    let area = C * C;
    if src.len() < area || dest.len() < 17 + (src.len() / area - 1) * 2 {
        return 0;
    }
    let mut writer = Writer { stream: dest, len: 0 };
    writer.put(&[NDIM]);
    for extent in shape {
        writer.put(&(extent as i32).to_le_bytes());
    }
    debug_assert_eq!(writer.len, HEADER_LEN);
    for table in [&mut tables.cells, &mut tables.triples, &mut tables.pairs] {
        table.fill(0);
    }
    let mut finder = Finder::default();
    let [_, width] = shape;
    // Cells are collected well before they are used: the processor can load a vector that was just stored in pieces
    // only when all pieces have reached the cache.
    let mut cells = [[[0; C]; C]; BATCH];
    for band in src.chunks(C * width) {
        let whole = if band.len() == C * width { width / C } else { 0 };
        for first in (0..whole).step_by(BATCH) {
            let count = BATCH.min(whole - first);
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
                // SAFETY: by the caller.
                unsafe { finder.cell::<C, AVX2>(tables, cell, &mut writer) };
                if writer.len > src.len() {
                    return 0;
                }
            }
        }
        for left in (whole * C..width).step_by(C) {
            if writer.len + area + 1 > writer.stream.len() {
                return 0;
            }
            writer.put(&[LITERAL]);
            for row in band.chunks_exact(width) {
                writer.put(&row[left..width.min(left + C)]);
            }
            if writer.len > src.len() {
                return 0;
            }
        }
    }
    writer.len
}

/// The number of cells that are collected at once.
const BATCH: usize = 16;

/// The state that is kept from one cell to the next. Cells of 4 use the first two slots of triples and three of
/// pairs.
#[derive(Default)]
struct Finder {
    triples: Pending<6>,
    pairs: Pending<7>,
}

impl Finder {
    /// Writes a whole cell.
    ///
    /// # Safety
    /// With `AVX2`, the machine has it.
    #[inline(always)]
    unsafe fn cell<const C: usize, const AVX2: bool>(
        &mut self,
        tables: &mut Tables,
        cell: &[[u8; C]; C],
        writer: &mut Writer<'_>,
    ) {
        let token = writer.len;
        let bytes = cell.as_flattened();
        if bytes.iter().all(|byte| *byte == bytes[0]) {
            return writer.put(&[SAME, bytes[0]]);
        }
        self.triples.forget_places();
        self.pairs.forget_places();
        let found = match (bytes.first_chunk::<16>(), bytes.first_chunk::<64>()) {
            // SAFETY: by the caller.
            (_, Some(bytes)) => unsafe { self.cell_of_8::<AVX2>(tables, bytes, writer) },
            // SAFETY: by the caller.
            (Some(bytes), None) => unsafe { self.cell_of_4::<AVX2>(tables, bytes, writer) },
            (None, None) => return,
        };
        if let Some(slot) = found {
            tables.cells[slot] = (token + 1) as u32;
            self.triples.store(&mut tables.triples);
            self.pairs.store(&mut tables.pairs);
            writer.put(&[LITERAL]);
            writer.put(bytes);
        }
    }

    /// Writes a cell of 4 if it or rows of it are found; else returns its slot.
    ///
    /// # Safety
    /// With `AVX2`, the machine has it.
    #[inline(always)]
    unsafe fn cell_of_4<const AVX2: bool>(
        &mut self,
        tables: &Tables,
        cell: &[u8; 16],
        writer: &mut Writer<'_>,
    ) -> Option<usize> {
        let token = writer.len;
        let whole = slot(hash::hash(cell));
        if let Some(entry) = writer.find(tables.cells[whole], cell, token) {
            writer.put(&[CELL]);
            writer.put_offset(token, entry);
            return None;
        }
        let row = |n: usize| &cell[4 * n..4 * n + 4];
        let pairs = PAIRS.map(|(_, [i, j])| gather::<8>([row(i), row(j)]));
        // SAFETY: by the caller.
        let pair_slots = unsafe { hash::rows_of_4::<AVX2, 2, 6>(cell, PAIRS.map(|(_, rows)| rows)) };
        let pair_slots = pair_slots.map(slot);
        let pair_at = |n: usize, token: usize, writer: &Writer<'_>| {
            writer.find(tables.pairs[pair_slots[n]], &pairs[n], token + 4 * PAIRS[n].1[0])
        };
        // The rows 0 and j are pair j - 1, the two others are pair 5 - (j - 1) of [`PAIRS`].
        for (n, j) in (1..4).enumerate() {
            let Some(first) = pair_at(n, token, writer) else { continue };
            let Some(second) = pair_at(5 - n, token, writer) else { continue };
            if token - first > FARTHEST_PAIRS || token - second > FARTHEST_PAIRS {
                continue;
            }
            writer.put(&[TWO_PAIRS | j << 3]);
            writer.put_offset(token, first);
            writer.put_offset(token, second);
            return None;
        }
        // SAFETY: by the caller.
        let triple_slots = unsafe { hash::rows_of_4::<AVX2, 3, 4>(cell, TRIPLES.map(|(_, rows)| rows)) };
        let triple_slots = triple_slots.map(slot);
        for ((code, rows), slot) in TRIPLES.into_iter().zip(triple_slots) {
            let triple = gather::<12>(rows.map(row));
            let entry = tables.triples[slot];
            let first = rows[0];
            if entry == 0 && rows[2] == first + 2 {
                self.triples.note(first, slot, token + 1 + 4 * first);
            }
            let found = writer.find(entry, &triple, token + 4 * first);
            if let Some(entry) = found.filter(|entry| token - entry <= FARTHEST_ROWS) {
                writer.put(&[code]);
                writer.put_offset(token, entry);
                (0..4).filter(|n| !rows.contains(n)).for_each(|n| writer.put(row(n)));
                return None;
            }
        }
        for (n, (code, rows)) in PAIRS.into_iter().enumerate() {
            let first = rows[0];
            if tables.pairs[pair_slots[n]] == 0 && rows[1] == first + 1 {
                self.pairs.note(first, pair_slots[n], token + 1 + 4 * first);
            }
            if let Some(entry) = pair_at(n, token, writer).filter(|entry| token - entry <= FARTHEST_ROWS) {
                writer.put(&[code]);
                writer.put_offset(token, entry);
                (0..4).filter(|n| !rows.contains(n)).for_each(|n| writer.put(row(n)));
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
    unsafe fn cell_of_8<const AVX2: bool>(
        &mut self,
        tables: &Tables,
        cell: &[u8; 64],
        writer: &mut Writer<'_>,
    ) -> Option<usize> {
        let token = writer.len;
        let whole = slot(hash::hash(cell));
        if let Some(entry) = writer.find(tables.cells[whole], cell, token) {
            writer.put(&[CELL]);
            writer.put_offset(token, entry);
            return None;
        }
        // SAFETY: by the caller.
        let (pairs, triples) = unsafe { hash::rows_of_8::<AVX2>(cell) };
        let (pairs, triples) = (pairs.map(slot), triples.map(slot));
        if rows_of_8::<24, 6>(TRIPLE_OF_8, &tables.triples, &triples, &mut self.triples, cell, writer)
            || rows_of_8::<16, 7>(PAIR_OF_8, &tables.pairs, &pairs, &mut self.pairs, cell, writer)
        {
            return None;
        }
        Some(whole)
    }
}

/// Writes a cell of 8 if `N` bytes of consecutive rows are found, and returns whether they were. There are `COUNT`
/// rows at which they may begin.
#[inline(always)]
fn rows_of_8<const N: usize, const COUNT: usize>(
    code: u8,
    table: &Table,
    slots: &[usize; 8],
    pending: &mut Pending<COUNT>,
    cell: &[u8; 64],
    writer: &mut Writer<'_>,
) -> bool {
    let token = writer.len;
    for (first, &slot) in slots.iter().enumerate().take(COUNT) {
        let Some(rows) = cell[8 * first..].first_chunk::<N>() else { continue };
        if table[slot] == 0 {
            pending.note(first, slot, token + 1 + 8 * first);
        }
        if let Some(entry) = writer.find(table[slot], rows, token + 8 * first) {
            writer.put(&[code | first as u8]);
            writer.put_offset(token, entry);
            writer.put(&cell[..8 * first]);
            writer.put(&cell[8 * first + N..]);
            return true;
        }
    }
    false
}

/// Returns rows of 4 bytes, concatenated.
#[inline(always)]
fn gather<const N: usize>(rows: impl IntoIterator<Item = impl AsRef<[u8]>>) -> [u8; N] {
    let mut bytes = [0; N];
    for (place, row) in bytes.chunks_exact_mut(4).zip(rows) {
        place.copy_from_slice(row.as_ref());
    }
    bytes
}
