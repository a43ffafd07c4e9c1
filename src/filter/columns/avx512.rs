//! Tiles of 64 elements in 512-bit vectors, with the byte permutes of VBMI.
//!
//! There is one type for each way in which elements can be taken apart: [`Packed`], [`Slotted`] and [`Wide`].

use std::arch::x86_64::*;

/// Elements of a tile, and bytes of a vector.
pub(in crate::filter) const TILE: usize = 64;

/// The most columns of a tile.
pub(in crate::filter) const MAX_WIDTH: usize = 16;

/// The columns of a tile; those from the tile's width on are unspecified.
pub(in crate::filter) type Columns = [__m512i; MAX_WIDTH];

/// A vector's worth of byte numbers from a formula in the number of the byte.
macro_rules! table {
    ($at:ident => $formula:expr) => {{
        let mut table = [0u8; $crate::filter::columns::avx512::TILE];
        let mut $at = 0;
        while $at < table.len() {
            table[$at] = ($formula) as u8;
            $at += 1;
        }
        table
    }};
}

pub(in crate::filter) use table;

/// Takes tiles of one typesize apart and puts them together.
pub(in crate::filter) trait Tiles: Copy {
    /// Number of columns of a tile.
    fn width(&self) -> usize;

    /// The columns of the tile at `src`, in each of which, if `REVERSED`, every 8 bytes are in reverse order.
    ///
    /// # Safety
    /// The machine has the AVX-512 level, and the tile can be read.
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Columns;

    /// Writes the tile of these columns at `dest`, and nothing but the tile.
    ///
    /// # Safety
    /// The machine has the AVX-512 level, and the tile can be written.
    unsafe fn scatter(&self, columns: Columns, dest: *mut u8);
}

/// Elements of `M * U` bytes, `U` a power of two and `M` one of 1, 3, 5, whose tile is just `M * U` full vectors.
///
/// The elements are `M` *units* of `U` bytes. First the units are separated, by permutes of the `M` vectors in which
/// `64 / U` elements lie; then the bytes of the units, by [`split`].
#[derive(Clone, Copy)]
pub(in crate::filter) struct Packed<const M: usize, const U: usize>;

impl<const M: usize, const U: usize> Packed<M, U> {
    const WIDTH: usize = M * U;

    /// For unit `m` of `64 / U` elements: where the bytes come from, numbered through the `M` vectors.
    const TAKEN: [[u16; TILE]; M] = {
        let mut taken = [[0; TILE]; M];
        let mut m = 0;
        while m < M {
            let mut at = 0;
            while at < TILE {
                taken[m][at] = (at / U * Self::WIDTH + m * U + at % U) as u16;
                at += 1;
            }
            m += 1;
        }
        taken
    };

    /// For vector `v` of the elements: where the bytes come from, numbered through the vectors of the `M` units.
    const PUT: [[u16; TILE]; M] = {
        let mut put = [[0; TILE]; M];
        let mut v = 0;
        while v < M {
            let mut at = 0;
            while at < TILE {
                let byte = v * TILE + at;
                let (element, rest) = (byte / Self::WIDTH, byte % Self::WIDTH);
                put[v][at] = (rest / U * TILE + element * U + rest % U) as u16;
                at += 1;
            }
            v += 1;
        }
        put
    };

    const TAKE: [Choice; M] = choices(Self::TAKEN, false);
    const TAKE_REVERSED: [Choice; M] = choices(Self::TAKEN, true);
    const PUTS: [Choice; M] = choices(Self::PUT, false);
}

impl<const M: usize, const U: usize> Tiles for Packed<M, U> {
    #[inline(always)]
    fn width(&self) -> usize {
        Self::WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Columns {
        // SAFETY: the level and the tile, which is `WIDTH` vectors, by the caller.
        unsafe {
            let mut rows = [_mm512_setzero_si512(); MAX_WIDTH];
            for (v, row) in rows.iter_mut().enumerate().take(Self::WIDTH) {
                *row = _mm512_loadu_si512(src.add(v * TILE).cast());
            }
            if M > 1 {
                let before = rows;
                let choices = if REVERSED && U == 1 { &Self::TAKE_REVERSED } else { &Self::TAKE };
                for g in 0..U {
                    for (m, choice) in choices.iter().enumerate() {
                        rows[m * U + g] = choice.of::<M>(&before, g * M, 1);
                    }
                }
            }
            for m in 0..M {
                split::<U, REVERSED>(&mut rows, m * U);
            }
            if REVERSED && Self::WIDTH == 1 {
                rows[0] = _mm512_permutexvar_epi8(load(&REVERSE), rows[0]);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut columns: Columns, dest: *mut u8) {
        // SAFETY: the level and the tile, which is `WIDTH` vectors, by the caller.
        unsafe {
            for m in 0..M {
                join::<U>(&mut columns, m * U);
            }
            if M > 1 {
                let before = columns;
                for g in 0..U {
                    for (v, choice) in Self::PUTS.iter().enumerate() {
                        columns[g * M + v] = choice.of::<M>(&before, g, U);
                    }
                }
            }
            for (v, &row) in columns.iter().enumerate().take(Self::WIDTH) {
                _mm512_storeu_si512(dest.add(v * TILE).cast(), row);
            }
        }
    }
}

/// Elements of more than `P / 2` and at most `P` bytes, `P` 8 or 16: every element is put into a slot of `P` bytes.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Slotted<const P: usize> {
    typesize: usize,
}

impl<const P: usize> Slotted<P> {
    /// Slots of a vector.
    const SLOTS: usize = TILE / P;

    /// By typesize: from elements side by side to slots.
    const EXPAND: [[u8; TILE]; MAX_WIDTH + 1] = {
        let mut tables = [[0; TILE]; MAX_WIDTH + 1];
        let mut typesize = 1;
        while typesize <= P {
            let mut at = 0;
            while at < TILE {
                if at % P < typesize {
                    tables[typesize][at] = (at / P * typesize + at % P) as u8;
                }
                at += 1;
            }
            typesize += 1;
        }
        tables
    };

    /// By typesize: from slots to elements side by side.
    const COMPRESS: [[u8; TILE]; MAX_WIDTH + 1] = {
        let mut tables = [[0; TILE]; MAX_WIDTH + 1];
        let mut typesize = 1;
        while typesize <= P {
            let mut at = 0;
            while at < Self::SLOTS * typesize {
                tables[typesize][at] = (at / typesize * P + at % typesize) as u8;
                at += 1;
            }
            typesize += 1;
        }
        tables
    };

    /// For elements of `typesize` bytes.
    ///
    /// # Panics
    /// If the typesize does not fit the slots as described.
    pub(in crate::filter) fn new(typesize: usize) -> Self {
        assert!(P / 2 < typesize && typesize <= P && P <= MAX_WIDTH);
        Slotted { typesize }
    }

    /// The mask of the bytes of a vector of elements.
    #[inline(always)]
    fn mask(&self) -> u64 {
        u64::MAX >> (TILE - Self::SLOTS * self.typesize)
    }
}

// A vector is read and written at once, though the elements for its slots fill more than half of it only. What is read
// too much, or written too much before the next vector puts it right, lies in the tile, except for the last
// vector, which is masked.
impl<const P: usize> Tiles for Slotted<P> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.typesize
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Columns {
        // SAFETY: the level by the caller; the reads are in the tile as said above.
        unsafe {
            let expand = load(&Self::EXPAND[self.typesize]);
            let mut rows = [_mm512_setzero_si512(); MAX_WIDTH];
            for (v, row) in rows.iter_mut().enumerate().take(P) {
                let at = src.add(v * Self::SLOTS * self.typesize);
                let elements = if v < P - 1 {
                    _mm512_loadu_si512(at.cast())
                } else {
                    _mm512_maskz_loadu_epi8(self.mask(), at.cast())
                };
                *row = _mm512_permutexvar_epi8(expand, elements);
            }
            split::<P, REVERSED>(&mut rows, 0);
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut columns: Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; the writes are in the tile as said above.
        unsafe {
            let compress = load(&Self::COMPRESS[self.typesize]);
            join::<P>(&mut columns, 0);
            for (v, &row) in columns.iter().enumerate().take(P) {
                let at = dest.add(v * Self::SLOTS * self.typesize);
                let elements = _mm512_permutexvar_epi8(compress, row);
                if v < P - 1 {
                    _mm512_storeu_si512(at.cast(), elements);
                } else {
                    _mm512_mask_storeu_epi8(at.cast(), self.mask(), elements);
                }
            }
        }
    }
}

/// 16 bytes of elements that are at least that wide. Lane `l` works for itself on elements `16 * l..16 * (l + 1)`.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Wide {
    typesize: usize,
}

impl Wide {
    /// For elements of `typesize` bytes.
    ///
    /// # Panics
    /// If they are narrower than a tile.
    pub(in crate::filter) fn new(typesize: usize) -> Self {
        assert!(typesize >= MAX_WIDTH);
        Wide { typesize }
    }
}

impl Tiles for Wide {
    #[inline(always)]
    fn width(&self) -> usize {
        MAX_WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Columns {
        // SAFETY: the level by the caller; each read is 16 bytes of an element of the tile.
        unsafe {
            let lane = MAX_WIDTH * self.typesize;
            let mut rows = [_mm512_setzero_si512(); MAX_WIDTH];
            for (v, row) in rows.iter_mut().enumerate() {
                let element = if REVERSED { v ^ 7 } else { v };
                let at = src.add(element * self.typesize);
                *row = _mm512_zextsi128_si512(_mm_loadu_si128(at.cast()));
                let piece = _mm_loadu_si128(at.add(lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0x00f0, piece);
                let piece = _mm_loadu_si128(at.add(2 * lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0x0f00, piece);
                let piece = _mm_loadu_si128(at.add(3 * lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0xf000, piece);
            }
            for _ in 0..4 {
                rotate::<MAX_WIDTH>(&mut rows, 0);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut columns: Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; each write is 16 bytes of an element of the tile.
        unsafe {
            let lane = MAX_WIDTH * self.typesize;
            for _ in 0..4 {
                rotate::<MAX_WIDTH>(&mut columns, 0);
            }
            for (v, &row) in columns.iter().enumerate() {
                let at = dest.add(v * self.typesize);
                _mm_storeu_si128(at.cast(), _mm512_castsi512_si128(row));
                _mm_storeu_si128(at.add(lane).cast(), _mm512_extracti32x4_epi32::<1>(row));
                _mm_storeu_si128(at.add(2 * lane).cast(), _mm512_extracti32x4_epi32::<2>(row));
                _mm_storeu_si128(at.add(3 * lane).cast(), _mm512_extracti32x4_epi32::<3>(row));
            }
        }
    }
}

/// [`Wide`] for less than a tile of elements: the places of the missing ones in the columns are unspecified.
#[derive(Clone, Copy)]
pub(in crate::filter) struct WideFew {
    typesize: usize,
    elements: usize,
}

impl WideFew {
    /// For that many elements, at least one, of `typesize` bytes.
    ///
    /// # Panics
    /// If they are narrower than a tile, or none.
    pub(in crate::filter) fn new(typesize: usize, elements: usize) -> Self {
        assert!(typesize >= MAX_WIDTH && elements > 0);
        WideFew { typesize, elements }
    }
}

impl Tiles for WideFew {
    #[inline(always)]
    fn width(&self) -> usize {
        MAX_WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Columns {
        let last = self.elements - 1;
        // SAFETY: the level by the caller; each read is 16 bytes of an element that there is.
        unsafe {
            let mut rows = [_mm512_setzero_si512(); MAX_WIDTH];
            for (v, row) in rows.iter_mut().enumerate() {
                let element = if REVERSED { v ^ 7 } else { v };
                for (lane, mask) in [0x000f, 0x00f0, 0x0f00, 0xf000].into_iter().enumerate() {
                    let at = src.add((16 * lane + element).min(last) * self.typesize);
                    *row = _mm512_mask_broadcast_i32x4(*row, mask, _mm_loadu_si128(at.cast()));
                }
            }
            for _ in 0..4 {
                rotate::<MAX_WIDTH>(&mut rows, 0);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut columns: Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; each write is 16 bytes of an element that there is.
        unsafe {
            for _ in 0..4 {
                rotate::<MAX_WIDTH>(&mut columns, 0);
            }
            for (v, &row) in columns.iter().enumerate() {
                let lanes = [
                    _mm512_castsi512_si128(row),
                    _mm512_extracti32x4_epi32::<1>(row),
                    _mm512_extracti32x4_epi32::<2>(row),
                    _mm512_extracti32x4_epi32::<3>(row),
                ];
                for (lane, &piece) in lanes.iter().enumerate() {
                    let element = 16 * lane + v;
                    if element < self.elements {
                        _mm_storeu_si128(dest.add(element * self.typesize).cast(), piece);
                    }
                }
            }
        }
    }
}

/// A vector whose bytes are chosen from up to 5 others.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Choice {
    /// The place of each byte in its vector, and in bit 6 whether the vector's number is odd.
    index: [u8; TILE],
    /// Which bytes come from a vector of the number 2 or 3, and from number 4.
    masks: [u64; 2],
}

/// The choices of `places`, numbered through the vectors; with every 8 bytes in reverse order if `reversed`.
const fn choices<const M: usize>(places: [[u16; TILE]; M], reversed: bool) -> [Choice; M] {
    let mut choices = [Choice { index: [0; TILE], masks: [0; 2] }; M];
    let mut m = 0;
    while m < M {
        let mut at = 0;
        while at < TILE {
            let place = places[m][if reversed { at ^ 7 } else { at }];
            choices[m].index[at] = (place % 128) as u8;
            let pair = place as usize / 128;
            if pair > 0 {
                choices[m].masks[pair - 1] |= 1 << at;
            }
            at += 1;
        }
        m += 1;
    }
    choices
}

impl Choice {
    /// Chooses from the vectors number `first`, `first + step`, and so on, `M` of them.
    ///
    /// # Safety
    /// The machine has the AVX-512 level.
    #[inline(always)]
    unsafe fn of<const M: usize>(&self, rows: &Columns, first: usize, step: usize) -> __m512i {
        let row = |number: usize| rows[first + number * step];
        // SAFETY: the level by the caller.
        unsafe {
            let index = load(&self.index);
            let mut chosen = _mm512_permutex2var_epi8(row(0), index, row(1));
            if M == 3 {
                chosen = _mm512_mask_permutexvar_epi8(chosen, self.masks[0], index, row(2));
            }
            if M == 5 {
                let others = _mm512_permutex2var_epi8(row(2), index, row(3));
                chosen = _mm512_mask_mov_epi8(chosen, self.masks[0], others);
                chosen = _mm512_mask_permutexvar_epi8(chosen, self.masks[1], index, row(4));
            }
            chosen
        }
    }
}

/// Turns the `N` vectors from `first` on, in which elements of `N` bytes lie one after the other, into their columns, in
/// each of which, if `REVERSED`, every 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn split<const N: usize, const REVERSED: bool>(
    rows: &mut [__m512i],
    first: usize,
) {
    // SAFETY: the level by the caller.
    unsafe {
        if N <= 4 {
            for round in 0..N.ilog2() {
                deinterleave::<N>(rows, first, REVERSED && round + 1 == N.ilog2());
            }
        } else {
            for _ in 0..4 {
                rotate::<N>(rows, first);
            }
            let order =
                if REVERSED { &const { gathered::<N>(true) } } else { &const { gathered::<N>(false) } };
            for row in &mut rows[first..first + N] {
                *row = _mm512_permutexvar_epi8(load(order), *row);
            }
        }
    }
}

/// The inverse of [`split`] (without reversal).
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn join<const N: usize>(rows: &mut [__m512i], first: usize) {
    if N == 1 {
        return;
    }
    for row in &mut rows[first..first + N] {
        // SAFETY: the level by the caller.
        *row = unsafe { _mm512_permutexvar_epi8(load(&const { scattered::<N>() }), *row) };
    }
    for _ in 0..N.ilog2() {
        // SAFETY: the level by the caller.
        unsafe { rotate::<N>(rows, first) };
    }
}

/// Moves all bytes of even places in the `N` vectors from `first` on before all those of odd places; with every 8 bytes in
/// reverse order afterwards if `reversed`.
///
/// This rotates the bits of a byte's address; after `log2(N)` rounds the place of the byte in its element has become
/// the number of the vector.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn deinterleave<const N: usize>(rows: &mut [__m512i], first: usize, reversed: bool) {
    let (even, odd) = if reversed { (&EVEN_REVERSED, &ODD_REVERSED) } else { (&EVEN, &ODD) };
    let mut before = [rows[first]; N];
    before.copy_from_slice(&rows[first..first + N]);
    for i in 0..N / 2 {
        let (a, b) = (before[2 * i], before[2 * i + 1]);
        // SAFETY: the level by the caller.
        unsafe {
            rows[first + i] = _mm512_permutex2var_epi8(a, load(even), b);
            rows[first + N / 2 + i] = _mm512_permutex2var_epi8(a, load(odd), b);
        }
    }
}

/// Rotates, in each lane of the `N` vectors from `first` on, the bits of a byte's address: the upper bit of the place in
/// the lane becomes the lower bit of the number of the vector, whose upper bit becomes the lower bit of the place.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn rotate<const N: usize>(rows: &mut [__m512i], first: usize) {
    let mut before = [rows[first]; N];
    before.copy_from_slice(&rows[first..first + N]);
    for i in 0..N / 2 {
        let (a, b) = (before[i], before[i + N / 2]);
        // SAFETY: the level by the caller.
        unsafe {
            rows[first + 2 * i] = _mm512_unpacklo_epi8(a, b);
            rows[first + 2 * i + 1] = _mm512_unpackhi_epi8(a, b);
        }
    }
}

/// The order that is left to put right after four rounds of [`rotate`] on `N` vectors of elements of `N` bytes: a lane
/// of a column holds the `16 / N` elements that were in that lane of the first vector, then those of the second, and so on.
const fn gathered<const N: usize>(reversed: bool) -> [u8; TILE] {
    let part = 16 / N;
    table!(at => {
        let element = if reversed { at ^ 7 } else { at };
        let (vector, lane) = (element / (4 * part), element / part % 4);
        lane * 16 + vector * part + element % part
    })
}

/// The inverse of [`gathered`] (without reversal): what `log2(N)` rounds of [`rotate`] turn into elements.
const fn scattered<const N: usize>() -> [u8; TILE] {
    let part = 16 / N;
    table!(at => {
        let (lane, vector) = (at / 16, at % 16 / part);
        (vector * 4 + lane) * part + at % part
    })
}

/// A table of byte numbers as a vector.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn load(table: &[u8; TILE]) -> __m512i {
    // SAFETY: the level by the caller; the table is as long as a vector.
    unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
}

static EVEN: [u8; TILE] = table!(at => 2 * at);
static ODD: [u8; TILE] = table!(at => 2 * at + 1);
static EVEN_REVERSED: [u8; TILE] = table!(at => 2 * (at ^ 7));
static ODD_REVERSED: [u8; TILE] = table!(at => 2 * (at ^ 7) + 1);
static REVERSE: [u8; TILE] = table!(at => at ^ 7);
