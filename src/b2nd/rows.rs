//! Nested loops that copy or fill rows of bytes: all rows have the same length, and each loop has a step for the source
//! and one for the destination. [`boxes`](super::boxes) converts boxes to rows.
//!
//! Uses `unsafe`: a destination that several threads write cannot be a slice, since the rows of other threads lie
//! between those of one thread.

use super::MAX_DIM;
use crate::error::{Result, ensure, err};
use crate::filter::copy::copy_to_uninit;
use crate::filter::cpu;
use crate::out_buffer::OutBuffer;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128i as Bytes16, __m256i as Bytes32, __m512i as Bytes64};
use std::marker::PhantomData;
use std::ops::Range;
use std::{ptr, slice};

// The units in which rows are copied; on x86-64 SIMD registers, because the compiler copies arrays of bytes by way of
// the stack.
#[cfg(not(target_arch = "x86_64"))]
type Bytes16 = [u64; 2];
#[cfg(not(target_arch = "x86_64"))]
type Bytes32 = [u64; 4];
#[cfg(not(target_arch = "x86_64"))]
type Bytes64 = [u64; 8];

/// A loop over rows, or over an inner loop. Steps are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Number of iterations.
    pub count: usize,
    /// Step from one iteration to the next in the source.
    pub src_step: usize,
    /// Step from one iteration to the next in the destination.
    pub dst_step: usize,
}

/// Rows of bytes, whose offsets are defined by nested loops. The ends of source and destination are computed in
/// advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Length of a row in bytes; 0 if there are no rows.
    len: usize,
    depth: usize,
    /// The innermost first.
    loops: [Loop; MAX_DIM],
    /// Byte range from the start of the first row to the end of the last.
    src: Range<usize>,
    dst: Range<usize>,
}

/// One row: its offsets in source and destination, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowSpan {
    /// Offset in the source, in bytes.
    pub src: usize,
    /// Offset in the destination, in bytes.
    pub dst: usize,
    /// Length in bytes.
    pub len: usize,
}

/// Returns the offset behind the last byte of all rows; `None` when it overflows `isize`.
fn end_offset(start: usize, len: usize, steps: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
    let mut end = start.checked_add(len)?;
    for (count, step) in steps {
        end = end.checked_add(count.checked_sub(1)?.checked_mul(step)?)?;
    }
    isize::try_from(end).is_ok().then_some(end)
}

impl Rows {
    pub(crate) fn empty() -> Rows {
        Rows { len: 0, depth: 0, loops: [Loop::default(); MAX_DIM], src: 0..0, dst: 0..0 }
    }

    /// Returns the rows of `len` bytes from the offsets `src` and `dst` on. The innermost loop comes first.
    pub(crate) fn new(len: usize, loops: &[Loop], src: usize, dst: usize) -> Result<Rows> {
        ensure!(loops.len() <= MAX_DIM, InvalidParam, "{} loops, expected at most {MAX_DIM}", loops.len());
        if len == 0 || loops.iter().any(|of| of.count == 0) {
            return Ok(Rows::empty());
        }
        let src_end = end_offset(src, len, loops.iter().map(|of| (of.count, of.src_step)));
        let dst_end = end_offset(dst, len, loops.iter().map(|of| (of.count, of.dst_step)));
        let (Some(src_end), Some(dst_end)) = (src_end, dst_end) else {
            return Err(err!(
                InvalidParam,
                "rows of {len} bytes in {loops:?} from offsets {src} and {dst} on, expected ends of at most {}",
                isize::MAX
            ));
        };
        let mut rows =
            Rows { len, depth: loops.len(), src: src..src_end, dst: dst..dst_end, ..Rows::empty() };
        rows.loops[..loops.len()].copy_from_slice(loops);
        Ok(rows)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the length of a row in bytes.
    #[cfg(test)]
    pub(crate) fn row_len(&self) -> usize {
        self.len
    }

    pub(crate) fn count(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.loops[..self.depth].iter().fold(1usize, |count, of| count.saturating_mul(of.count))
    }

    /// Returns the byte range of the source from the first to the last byte that is read.
    pub(crate) fn src_range(&self) -> Range<usize> {
        self.src.clone()
    }

    /// Returns the byte range of the destination from the first to the last byte that is written.
    #[cfg(test)]
    pub(crate) fn dst_range(&self) -> Range<usize> {
        self.dst.clone()
    }

    /// Returns the rows one by one, in the order in which they are copied.
    pub(crate) fn iter(&self) -> RowIter<'_> {
        let next = (!self.is_empty()).then_some((self.src.start, self.dst.start));
        RowIter { rows: self, position: [0; MAX_DIM], next }
    }

    fn check_range(&self, what: &str, range: &Range<usize>, len: usize) -> Result<()> {
        if range.end > len {
            return Err(err!(InvalidParam, "the {what} has {len} bytes, expected at least {}", range.end));
        }
        Ok(())
    }

    /// Copies the rows.
    ///
    /// # Errors
    /// `InvalidParam` when they exceed the source or the destination; nothing is copied then.
    pub(crate) fn copy(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.check_range("source", &self.src, src.len())?;
        self.check_range("destination", &self.dst, dst.len())?;
        // SAFETY: all rows lie in the two slices.
        unsafe { self.copy_between(src.as_ptr(), dst.as_mut_ptr()) };
        Ok(())
    }

    /// As [`copy`](Self::copy), into memory that may be uninitialised.
    pub(crate) fn copy_to_uninit(&self, src: &[u8], mut dst: OutBuffer<'_>) -> Result<()> {
        let len = dst.len();
        // SAFETY: the destination is borrowed mutably.
        unsafe { self.copy_shared(src, dst.as_mut_ptr(), len) }
    }

    /// Copies the rows into a destination of `len` bytes, of which other threads may use other bytes at the same time.
    ///
    /// # Safety
    /// `dst` points at `len` writable bytes, and no other code uses the bytes of these rows during the call.
    pub(crate) unsafe fn copy_shared(&self, src: &[u8], dst: *mut u8, len: usize) -> Result<()> {
        self.check_range("source", &self.src, src.len())?;
        self.check_range("destination", &self.dst, len)?;
        // SAFETY: the checks above: all rows lie in the slice and in the `len` bytes of the destination, which the
        // caller guarantees.
        unsafe { self.copy_between(src.as_ptr(), dst) };
        Ok(())
    }

    /// Copies the rows one after the other, each with the semantics of `memmove`: a row's source and destination may
    /// overlap.
    ///
    /// # Safety
    /// The rows of the source can be read from `src`, those of the destination written from `dst`, and no other code
    /// uses the latter during the call.
    pub(crate) unsafe fn copy_between(&self, src: *const u8, dst: *mut u8) {
        #[cfg(target_arch = "x86_64")]
        if self.len >= MIN_AVX2_ROW && is_x86_feature_detected!("avx2") {
            // SAFETY: the caller upholds the same contract, and AVX2 is available.
            return unsafe { self.copy_between_avx2(src, dst) };
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { self.copy_rows_inlined(src, dst) }
    }

    /// As [`copy_between`](Self::copy_between), compiled for AVX2, with 32-byte registers.
    ///
    /// # Safety
    /// As [`copy_between`](Self::copy_between).
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn copy_between_avx2(&self, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller upholds the same contract.
        unsafe { self.copy_rows_inlined(src, dst) }
    }

    /// As [`copy_between`](Self::copy_between), inlined, so that it uses the target features of the caller.
    ///
    /// # Safety
    /// As [`copy_between`](Self::copy_between).
    #[inline(always)]
    unsafe fn copy_rows_inlined(&self, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller upholds the same contract.
        unsafe {
            match self.len {
                0 => {}
                1 => self.for_each_row(src, dst, ExactRow::<u8>::NEW),
                2 => self.for_each_row(src, dst, ExactRow::<u16>::NEW),
                4 => self.for_each_row(src, dst, ExactRow::<u32>::NEW),
                8 => self.for_each_row(src, dst, ExactRow::<u64>::NEW),
                16 => self.for_each_row(src, dst, ExactRow::<Bytes16>::NEW),
                32 => self.for_each_row(src, dst, ExactRow::<Bytes32>::NEW),
                64 => self.for_each_row(src, dst, ExactRow::<Bytes64>::NEW),
                3 => self.for_each_row(src, dst, HeadTailRow::<u16>::new(self.len)),
                5..8 => self.for_each_row(src, dst, HeadTailRow::<u32>::new(self.len)),
                9..16 => self.for_each_row(src, dst, HeadTailRow::<u64>::new(self.len)),
                17..32 => self.for_each_row(src, dst, HeadTailRow::<Bytes16>::new(self.len)),
                33..64 => self.for_each_row(src, dst, HeadTailRow::<Bytes32>::new(self.len)),
                65..128 => self.for_each_row(src, dst, HeadTailRow::<Bytes64>::new(self.len)),
                len => self.for_each_row(src, dst, LongRow(len)),
            }
        }
    }

    /// Fills the rows of the destination with copies of `value`. The length of a row is a multiple of that of `value`.
    ///
    /// # Errors
    /// `InvalidParam` when the rows exceed the destination, or their length is not a multiple of that of `value`.
    #[cfg(test)]
    pub(crate) fn fill(&self, dst: &mut [u8], value: &[u8]) -> Result<()> {
        let len = dst.len();
        // SAFETY: the slice is borrowed mutably.
        unsafe { self.fill_shared(dst.as_mut_ptr(), len, value) }
    }

    /// Fills the rows of a destination of `len` bytes with copies of `value`. Other threads may use other bytes of the
    /// destination at the same time.
    ///
    /// # Safety
    /// `dst` points at `len` writable bytes, and no other code uses the bytes of these rows during the call.
    pub(crate) unsafe fn fill_shared(&self, dst: *mut u8, len: usize, value: &[u8]) -> Result<()> {
        self.check_range("destination", &self.dst, len)?;
        let Some((&byte, others)) = value.split_first() else {
            return Err(err!(InvalidParam, "`value` has 0 bytes, expected at least 1"));
        };
        ensure!(
            self.len.is_multiple_of(value.len()),
            InvalidParam,
            "rows of {} bytes, expected a multiple of the length of `value`, {}",
            self.len,
            value.len(),
        );
        if self.is_empty() {
            return Ok(());
        }
        let mut rows = self.clone();
        for of in &mut rows.loops {
            of.src_step = 0;
        }
        if others.iter().all(|&other| other == byte) {
            // SAFETY: the rows lie in the destination, which the caller guarantees to be writable; no source is read.
            unsafe { rows.for_each_row(dst, dst, ConstantRow { byte, len: self.len }) };
            return Ok(());
        }
        // Fills the first row: one value, and then copies of the part that is filled, in pieces of at most
        // `MAX_FILL_COPY` bytes.
        let first = self.dst.start;
        let mut done = value.len();
        // SAFETY: the first row lies in the destination, and `done` stays inside it; the value lies elsewhere, or at
        // least no other code writes it.
        unsafe {
            ptr::copy(value.as_ptr(), dst.add(first), done);
            while done < self.len {
                let piece =
                    (self.len - done).min(done).min((MAX_FILL_COPY / value.len()).max(1) * value.len());
                ptr::copy_nonoverlapping(dst.add(first), dst.add(first + done), piece);
                done += piece;
            }
        }
        rows.src = first..first + self.len;
        // SAFETY: the source of all rows is the first of them.
        unsafe { rows.copy_between(dst, dst) };
        Ok(())
    }

    /// Returns the prefetch distance in source and destination, in bytes: to the row at the same position in the next
    /// run of the innermost loop, or, if that loop is longer than `MAX_PREFETCH_DISTANCE` bytes, to a later row of the
    /// same run.
    fn prefetch_distance(&self) -> (usize, usize) {
        let [inner, outer, ..] = self.loops;
        if self.depth > 1 && inner.count.saturating_mul(self.len) <= MAX_PREFETCH_DISTANCE {
            return (outer.src_step, outer.dst_step);
        }
        let rows = (MAX_PREFETCH_DISTANCE / 4).div_ceil(self.len.max(1));
        (inner.src_step.wrapping_mul(rows), inner.dst_step.wrapping_mul(rows))
    }

    /// Calls `row` for every row.
    ///
    /// # Safety
    /// As [`copy_between`](Self::copy_between), and `row` handles rows of this length.
    #[inline(always)]
    unsafe fn for_each_row<R: RowCopy>(&self, src: *const u8, dst: *mut u8, row: R) {
        let inner = if self.depth == 0 { Loop { count: 1, ..Loop::default() } } else { self.loops[0] };
        let outer = &self.loops[1..self.depth.max(1)];
        let mut position = [0usize; MAX_DIM];
        let (mut from, mut to) = (src.wrapping_add(self.src.start), dst.wrapping_add(self.dst.start));
        let (src_ahead, dst_ahead) = self.prefetch_distance();
        loop {
            let (mut s, mut d) = (from, to);
            for _ in 0..inner.count {
                row.prefetch(s.wrapping_add(src_ahead), d.wrapping_add(dst_ahead));
                // SAFETY: one of the rows, all of which end before the ends that `new` has computed.
                unsafe { row.copy(s, d) };
                s = s.wrapping_add(inner.src_step);
                d = d.wrapping_add(inner.dst_step);
            }
            let mut dim = 0;
            loop {
                let Some(of) = outer.get(dim) else { return };
                position[dim] += 1;
                from = from.wrapping_add(of.src_step);
                to = to.wrapping_add(of.dst_step);
                if position[dim] < of.count {
                    break;
                }
                from = from.wrapping_sub(of.src_step.wrapping_mul(of.count));
                to = to.wrapping_sub(of.dst_step.wrapping_mul(of.count));
                position[dim] = 0;
                dim += 1;
            }
        }
    }
}

/// The byte ranges of the source that are read.
impl crate::pipeline::decompress::ByteRanges for Rows {
    fn count_and_nbytes(&self) -> (usize, usize) {
        (self.count(), self.count().saturating_mul(self.len))
    }

    fn for_each(&self, then: &mut dyn FnMut(Range<usize>)) {
        self.iter().for_each(|row| then(row.src..row.src + row.len));
    }
}

/// Row length, in bytes, from which rows are copied with `copy_to_uninit`, because the C library's `memmove` may be
/// slow.
const MIN_BULK_COPY: usize = 2048;

/// Row length, in bytes, from which rows are copied with 32-byte registers.
#[cfg(target_arch = "x86_64")]
const MIN_AVX2_ROW: usize = 32;

/// Upper limit for the prefetch distance, in bytes of rows.
const MAX_PREFETCH_DISTANCE: usize = 8192;
/// Upper limit for the bytes of a row that are prefetched: the hardware prefetcher fetches the rest of a longer row.
const MAX_PREFETCHED_BYTES: usize = 512;
const CACHE_LINE: usize = 64;

/// Upper limit, in bytes, for one copy of a fill pattern, so that its source stays in the L1 cache.
const MAX_FILL_COPY: usize = 8192;

/// Copies rows of one kind or length.
trait RowCopy: Copy {
    /// Copies a row.
    ///
    /// # Safety
    /// `src` is readable and `dst` writable for the length of the row. They may overlap.
    unsafe fn copy(self, src: *const u8, dst: *mut u8);

    /// Prefetches the cache lines of a row at `src` and `dst`, which may be any addresses.
    #[inline(always)]
    fn prefetch(self, _src: *const u8, _dst: *mut u8) {}
}

/// A row of the length of a `T`, a type for which all bit patterns are valid.
#[derive(Clone, Copy)]
struct ExactRow<T>(PhantomData<T>);

impl<T> ExactRow<T> {
    const NEW: Self = ExactRow(PhantomData);
}

impl<T: Copy> RowCopy for ExactRow<T> {
    #[inline(always)]
    unsafe fn copy(self, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller guarantees that the bytes of a `T` are readable and writable.
        unsafe { dst.cast::<T>().write_unaligned(src.cast::<T>().read_unaligned()) }
    }
}

/// A row of one to two times the length of a `T`, a type for which all bit patterns are valid. Its first and its last
/// bytes are copied as one `T` each; these may overlap.
#[derive(Clone, Copy)]
struct HeadTailRow<T> {
    /// Offset of the last `T` in the row, in bytes.
    tail_offset: usize,
    parts: PhantomData<T>,
}

impl<T> HeadTailRow<T> {
    #[inline(always)]
    fn new(len: usize) -> Self {
        HeadTailRow { tail_offset: len - size_of::<T>(), parts: PhantomData }
    }
}

impl<T: Copy> RowCopy for HeadTailRow<T> {
    #[inline(always)]
    unsafe fn copy(self, src: *const u8, dst: *mut u8) {
        // SAFETY: both parts lie in the row, which is not shorter than a `T`; the caller guarantees access to the
        // row.
        unsafe {
            let first = src.cast::<T>().read_unaligned();
            let last = src.add(self.tail_offset).cast::<T>().read_unaligned();
            dst.cast::<T>().write_unaligned(first);
            dst.add(self.tail_offset).cast::<T>().write_unaligned(last);
        }
    }
}

/// A row of any length.
#[derive(Clone, Copy)]
struct LongRow(usize);

impl RowCopy for LongRow {
    #[inline(always)]
    fn prefetch(self, src: *const u8, dst: *mut u8) {
        for line in (0..self.0.min(MAX_PREFETCHED_BYTES)).step_by(CACHE_LINE) {
            cpu::prefetch(src.wrapping_add(line));
            cpu::prefetch_for_write(dst.wrapping_add(line));
        }
    }

    #[inline(always)]
    unsafe fn copy(self, src: *const u8, dst: *mut u8) {
        let is_bulk = self.0 >= MIN_BULK_COPY && (src as usize).abs_diff(dst as usize) >= self.0;
        // SAFETY: by the contract of `copy` `src` is readable and `dst` writable for the length of the row; slices
        // are made only where they do not overlap.
        unsafe {
            if is_bulk {
                let (from, to) =
                    (slice::from_raw_parts(src, self.0), slice::from_raw_parts_mut(dst.cast(), self.0));
                copy_to_uninit(from, to);
            } else {
                ptr::copy(src, dst, self.0);
            }
        }
    }
}

/// A row that is filled with one byte; the source is not read.
#[derive(Clone, Copy)]
struct ConstantRow {
    byte: u8,
    len: usize,
}

impl RowCopy for ConstantRow {
    #[inline(always)]
    unsafe fn copy(self, _src: *const u8, dst: *mut u8) {
        // SAFETY: by the contract of `copy` `dst` is writable for the length of the row.
        unsafe { dst.write_bytes(self.byte, self.len) }
    }
}

/// Iterator over the rows of a [`Rows`].
#[derive(Clone, Debug)]
pub(crate) struct RowIter<'a> {
    rows: &'a Rows,
    position: [usize; MAX_DIM],
    next: Option<(usize, usize)>,
}

impl Iterator for RowIter<'_> {
    type Item = RowSpan;

    #[inline]
    fn next(&mut self) -> Option<RowSpan> {
        let (src, dst) = self.next?;
        let row = RowSpan { src, dst, len: self.rows.len };
        let (mut src, mut dst) = (src, dst);
        self.next = None;
        for (of, position) in self.rows.loops[..self.rows.depth].iter().zip(&mut self.position) {
            *position += 1;
            if *position < of.count {
                self.next = Some((src + of.src_step, dst + of.dst_step));
                break;
            }
            *position = 0;
            src -= of.src_step * (of.count - 1);
            dst -= of.dst_step * (of.count - 1);
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source and destination may be in one buffer: rows are copied one after the other.
    #[test]
    fn copy_between_handles_overlapping_rows_of_one_buffer() {
        // Overlapping, adjacent, and disjoint rows.
        let most = if cfg!(miri) { 250 } else { 5000 };
        let lens =
            (1..130).chain([200, 1000, MIN_BULK_COPY - 1, MIN_BULK_COPY, 5000]).filter(|&len| len <= most);
        let lens = lens.step_by(if cfg!(miri) { 16 } else { 1 });
        for (len, shift) in lens.flat_map(|len| [(len, len / 2), (len, len), (len, 2 * len + 1)]) {
            let mut buffer: Vec<u8> = (0..20 * len).map(|at| (at * 3 + at / 256) as u8).collect();
            let mut expected = buffer.clone();
            expected.copy_within(shift..shift + len, 0);
            expected.copy_within(shift + 10 * len..shift + 11 * len, 10 * len);
            let step = Loop { count: 2, src_step: 10 * len, dst_step: 10 * len };
            let rows = Rows::new(len, &[step], shift, 0).unwrap();
            let start = buffer.as_mut_ptr();
            // SAFETY: all rows lie in the buffer.
            unsafe { rows.copy_between(start, start) };
            assert_eq!(buffer, expected, "{len} {shift}");
        }
    }

    #[test]
    fn shared_copy_and_fill_check_the_lengths() {
        let rows = Rows::new(3, &[Loop { count: 2, src_step: 3, dst_step: 5 }], 1, 2).unwrap();
        let (src, mut dst) = ([1, 2, 3, 4, 5, 6, 7], [0; 10]);
        assert_eq!((rows.src_range(), rows.dst_range()), (1..7, 2..10));
        let start = dst.as_mut_ptr();
        // SAFETY: the buffer has that length, or the call is rejected.
        unsafe {
            assert!(rows.copy_shared(&src, start, 9).is_err());
            assert!(rows.copy_shared(&src[..6], start, 10).is_err());
            assert!(rows.fill_shared(start, 9, &[1]).is_err());
            rows.copy_shared(&src, start, 10).unwrap();
        }
        assert_eq!(dst, [0, 0, 2, 3, 4, 0, 0, 5, 6, 7]);
    }

    #[test]
    fn rows_with_overflowing_offsets_are_rejected() {
        let step = |count, step| Loop { count, src_step: step, dst_step: 0 };
        assert!(Rows::new(4, &[step(2, usize::MAX)], 0, 0).is_err());
        assert!(Rows::new(4, &[step(3, isize::MAX as usize)], 0, 0).is_err());
        assert!(Rows::new(4, &[], usize::MAX - 3, 0).is_err());
        assert!(Rows::new(4, &[], 0, isize::MAX as usize).is_err());
        assert!(Rows::new(1, &[step(1, 1); 17], 0, 0).is_err());
        assert_eq!(Rows::new(0, &[step(9, 9)], 5, 5).unwrap(), Rows::empty());
        assert_eq!(Rows::new(9, &[step(0, 9)], 5, 5).unwrap().iter().count(), 0);
        let whole = Rows::new(6, &[], 0, 0).unwrap();
        assert!(whole.fill(&mut [0; 6], &[1, 2, 3, 4]).is_err());
        assert!(whole.fill(&mut [0; 6], &[1, 2, 3]).is_ok());
    }
}
