//! The checksums of the units of a stored chunk, and the record that holds them (`frame.md` 2.14).
//!
//! A unit has 4 KiB; the last unit of a chunk has the rest, too. The checksum of a chunk with a record is that of the
//! record, so a record that was read is known to be right by the table of checksums, and a reader checks only the units
//! that it reads. All checksums are CRC-32C.

#![forbid(unsafe_code)]

use super::checksums::expect;
use crate::crc32c::{self, checksum};
use crate::error::Result;
use crate::fallible;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of a unit in bytes: the page in which the system reads files. Records have 1/1024 of the length of the chunks.
const UNIT_LEN: usize = 4 << 10;
/// Minimum length, in bytes, of a chunk with a record. A shorter chunk is read whole, which is at most three units more than
/// a block needs.
pub(in crate::frame) const MIN_RECORDED_LEN: u64 = 16 << 10;
/// Size of the checksum of a unit in a record, in bytes.
const SUM_LEN: usize = 4;

/// Returns the length of the record of a chunk of `chunk_len` bytes, in bytes; 0 for a chunk without one.
pub(in crate::frame) fn record_len(chunk_len: u64) -> u64 {
    if chunk_len < MIN_RECORDED_LEN { 0 } else { chunk_len / UNIT_LEN as u64 * SUM_LEN as u64 }
}

/// Returns the range of unit `unit` in a chunk of `chunk_len` bytes.
fn unit_range(unit: usize, chunk_len: usize) -> Range<usize> {
    let start = unit * UNIT_LEN;
    start..if chunk_len - start < 2 * UNIT_LEN { chunk_len } else { start + UNIT_LEN }
}

/// Returns the range of the units, of a chunk of `chunk_len` bytes with a record, that have the bytes of `range`.
pub(in crate::frame) fn units_of(range: Range<u64>, chunk_len: u64) -> Range<u64> {
    let last = (chunk_len / UNIT_LEN as u64).saturating_sub(1);
    let [first, end] = [range.start, range.end.saturating_sub(1)].map(|at| (at / UNIT_LEN as u64).min(last));
    first * UNIT_LEN as u64..if end == last { chunk_len } else { (end + 1) * UNIT_LEN as u64 }
}

/// Returns the record of a chunk; empty for a chunk without one.
pub(in crate::frame) fn record_of(chunk: &[u8]) -> Result<Vec<u8>> {
    let len = record_len(chunk.len() as u64) as usize;
    let mut record = fallible::vec_with_capacity(len)?;
    for unit in 0..len / SUM_LEN {
        record.extend_from_slice(&checksum(&chunk[unit_range(unit, chunk.len())]).to_le_bytes());
    }
    Ok(record)
}

pub(in crate::frame) fn checksum_with_record(chunk: &[u8], record: &[u8]) -> u32 {
    checksum(if record.is_empty() { chunk } else { record })
}

pub(in crate::frame) fn chunk_checksum(chunk: &[u8]) -> u32 {
    let units = record_len(chunk.len() as u64) as usize / SUM_LEN;
    if units == 0 {
        return checksum(chunk);
    }
    (0..units).fold(0, |sum, unit| {
        crc32c::append(sum, &checksum(&chunk[unit_range(unit, chunk.len())]).to_le_bytes())
    })
}

/// The checksums of the units of a chunk, and which of the units were checked.
#[derive(Debug)]
pub(in crate::frame) struct UnitChecks {
    pub(in crate::frame) chunk_checksum: u32,
    chunk_len: usize,
    sums: Vec<u32>,
    /// One bit for each unit.
    is_verified: Vec<AtomicU64>,
}

impl UnitChecks {
    /// Reads the record of a chunk of `chunk_len` bytes. Returns `None` for bytes that are not the record of a chunk with
    /// the checksum `expected`.
    pub(in crate::frame) fn parse(
        record: &[u8],
        chunk_len: usize,
        expected: u32,
    ) -> Result<Option<UnitChecks>> {
        if record.is_empty()
            || record.len() as u64 != record_len(chunk_len as u64)
            || checksum(record) != expected
        {
            return Ok(None);
        }
        let sums = record.as_chunks::<SUM_LEN>().0.iter().map(|sum| u32::from_le_bytes(*sum));
        let sums = fallible::collect(sums)?;
        let is_verified = fallible::collect((0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)))?;
        Ok(Some(UnitChecks { chunk_checksum: expected, chunk_len, sums, is_verified }))
    }

    /// Returns the range, in the chunk, of the units that have `len` bytes at `position`; `None` if all of them were
    /// checked, and if the chunk does not have these bytes.
    pub(in crate::frame) fn unchecked_range(&self, position: u64, len: usize) -> Option<Range<usize>> {
        let start = usize::try_from(position).ok()?;
        let end = start.checked_add(len).filter(|&end| end <= self.chunk_len && len > 0)?;
        let last = self.sums.len() - 1;
        let (first, last) = ((start / UNIT_LEN).min(last), ((end - 1) / UNIT_LEN).min(last));
        (!(first..=last).all(|unit| self.is_checked(unit)))
            .then(|| unit_range(first, self.chunk_len).start..unit_range(last, self.chunk_len).end)
    }

    fn is_checked(&self, unit: usize) -> bool {
        self.is_verified[unit / 64].load(Ordering::Relaxed) & 1 << (unit % 64) != 0
    }

    pub(in crate::frame) fn are_checked(&self) -> bool {
        (0..self.sums.len()).all(|unit| self.is_checked(unit))
    }

    /// Returns the ranges of the units of `chunk` with another checksum.
    pub(in crate::frame) fn damaged_ranges(&self, chunk: &[u8]) -> Result<Vec<Range<usize>>> {
        let ranges = (0..self.sums.len()).map(|unit| unit_range(unit, self.chunk_len));
        let is_damaged = |(range, sum): &(Range<usize>, &u32)| {
            chunk.get(range.clone()).is_none_or(|bytes| checksum(bytes) != **sum)
        };
        fallible::collect(ranges.zip(&self.sums).filter(is_damaged).map(|(range, _)| range))
    }

    /// Checks the units whose bytes, in one or more parts, begin at byte `start` of the chunk, the start of a unit. Bytes of
    /// an incomplete unit at the end are not checked.
    pub(in crate::frame) fn check(&self, start: usize, parts: &[&[u8]]) -> Result<()> {
        let mut parts = parts.iter().copied();
        let mut rest: &[u8] = &[];
        for (unit, &expected) in self.sums.iter().enumerate().skip(start / UNIT_LEN) {
            let range = unit_range(unit, self.chunk_len);
            let mut sum = 0;
            let mut missing = range.len();
            while missing > 0 {
                if rest.is_empty() {
                    let Some(next) = parts.next() else { return Ok(()) };
                    rest = next;
                }
                let (part, behind) = rest.split_at(missing.min(rest.len()));
                sum = crc32c::append(sum, part);
                missing -= part.len();
                rest = behind;
            }
            let part = format_args!("bytes {} to {} of the chunk", range.start, range.end);
            expect(part, expected, sum)?;
            self.is_verified[unit / 64].fetch_or(1 << (unit % 64), Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunk(len: usize) -> Vec<u8> {
        (0..len as u64).map(|n| (n * n / 7) as u8).collect()
    }

    #[test]
    fn units_of_a_range_are_those_that_are_checked() {
        for len in [MIN_RECORDED_LEN, 20_479, 20_480, 30_000] {
            for range in [0..1, 4095..4097, 8192..12_288, 12_288..12_289, len - 1..len, 0..len] {
                let units = (0..(len / UNIT_LEN as u64) as usize).map(|unit| unit_range(unit, len as usize));
                let touched =
                    |unit: &Range<usize>| (unit.start as u64) < range.end && range.start < unit.end as u64;
                let touched: Vec<_> = units.filter(touched).collect();
                let expected = touched[0].start as u64..touched[touched.len() - 1].end as u64;
                assert_eq!(units_of(range.clone(), len), expected, "{range:?} of {len}");
            }
        }
    }

    #[test]
    fn records_have_a_thousandth_of_the_chunk() {
        for len in [0, 32, 16 << 10, (16 << 10) - 1, (20 << 10) - 1, (20 << 10) + 1, 1 << 20, (5 << 20) + 77]
        {
            let chunk = chunk(len);
            let record = record_of(&chunk).unwrap();
            assert_eq!(record.len() as u64, record_len(len as u64));
            assert!(record.len() <= len / 1024 && record.is_empty() == (len < 16 << 10));
            assert_eq!(checksum_with_record(&chunk, &record), chunk_checksum(&chunk));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 200 }))]
        #[test]
        fn a_flipped_bit_is_found_in_its_unit_only(
            len in (16 << 10)..(40_usize << 10),
            flip in any::<prop::sample::Index>(),
            position in any::<prop::sample::Index>(),
            part in 1..9000_usize,
        ) {
            let whole = chunk(len);
            let checks = UnitChecks::parse(&record_of(&whole).unwrap(), len, chunk_checksum(&whole)).unwrap();
            let checks = checks.expect("a record");
            let mut damaged = whole.clone();
            let bit = flip.index(8 * len);
            damaged[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(chunk_checksum(&damaged), checks.chunk_checksum);
            let start = position.index(len);
            let part = part.min(len - start);
            let range = checks.unchecked_range(start as u64, part).expect("unchecked bytes");
            prop_assert!(range.start <= start && range.end >= start + part && range.len() < part + (12 << 10));
            let is_damaged = range.contains(&(bit / 8));
            prop_assert_eq!(checks.check(range.start, &[&damaged[range.clone()]]).is_err(), is_damaged);
            prop_assert_eq!(checks.unchecked_range(start as u64, part).is_some(), is_damaged);
            let (first, second) = whole[range.clone()].split_at(start - range.start);
            prop_assert!(checks.check(range.start, &[first, second]).is_ok());
            prop_assert_eq!(checks.unchecked_range(start as u64, part), None);
            prop_assert_eq!(checks.unchecked_range(len as u64, 1), None);
        }

        #[test]
        fn other_bytes_are_no_record(flip in any::<prop::sample::Index>(), cut in 0..40_usize) {
            let whole = chunk(36 << 10);
            let (record, sum) = (record_of(&whole).unwrap(), chunk_checksum(&whole));
            let mut other = record.clone();
            let bit = flip.index(8 * record.len());
            other[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(UnitChecks::parse(&other, whole.len(), sum).unwrap().is_none());
            let cut = &record[..cut.min(record.len() - 1)];
            prop_assert!(UnitChecks::parse(cut, whole.len(), sum).unwrap().is_none());
        }
    }
}
