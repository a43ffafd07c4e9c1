//! The sizes of the chunks of the new frame, and zeros in the places of lost chunks.

use super::copy::ChunkCopy;
use super::index::LOST;
use super::numbers::not_found;
use super::output::NewFrame;
use super::sizes::{
    FixedSizes, StatedSizes, UNKNOWN, UncompressedSizes, fit_fixed_sizes, share_missing_bytes,
};
use crate::chunk::SpecialValue;
use crate::chunk::zero_runs::encode_zero_runs;
use crate::error::{Result, err};
use crate::fallible;
use crate::frame::format::header::{FrameHeader, MAX_CHUNKS};
use crate::frame::format::index::{IndexEntry, Offsets, decode_entry, encode_entry};
use crate::frame::recovery::check::parts;
use crate::frame::recovery::check::report::{DamagePlace, FramePart, Reporter};
use std::ops::Range;

/// The number of chunks that may be missing beside those that were found, which the header counts.
const MAX_MISSING: usize = 1 << 16;
/// The number of lost chunks that can be filled with stored zeros, in a frame with chunks of different sizes, and how many
/// more for each whole chunk: a damaged index of a few bytes can claim any number.
const MAX_STORED_ZEROS: usize = 1 << 10;
/// See [`MAX_STORED_ZEROS`].
const MAX_STORED_ZEROS_PER_CHUNK: usize = 16;

/// Factor of the largest known size of a chunk up to which a lost chunk may be larger.
const MAX_SIZE_FACTOR: i64 = 16;

impl ChunkCopy {
    /// Moves the chunk that is shorter than the others to the end. It was the last one, unless the frame was reordered;
    /// its place may precede those of chunks that were inserted or replaced later.
    pub(super) fn move_short_chunk_last(&mut self, stated: &FrameHeader) {
        let (Offsets::List(codes), UncompressedSizes::List(sizes)) = (&mut self.offsets, &mut self.sizes)
        else {
            return;
        };
        let is_short = |&size: &i32| (0..stated.chunksize).contains(&size);
        if sizes.iter().filter(|&size| is_short(size)).count() == 1
            && let Some(at) = sizes.iter().position(is_short)
        {
            codes[at..].rotate_left(1);
            sizes[at..].rotate_left(1);
            self.claimed.iter_mut().filter(|(n, _)| *n > at as u64).for_each(|(n, _)| *n -= 1);
        }
    }

    /// Adds lost chunks for those that the header counts and that were not found: before the last chunk if that is
    /// shorter than the others, otherwise at the end. So the sum of the sizes is that in the header, and each item of an
    /// array has a chunk. Reports these chunks.
    pub(super) fn add_missing(&mut self, stated: &FrameHeader, reporter: &mut Reporter<'_>) -> Result<()> {
        let (Offsets::List(codes), UncompressedSizes::List(sizes)) = (&mut self.offsets, &mut self.sizes)
        else {
            return Ok(());
        };
        if stated.chunksize <= 0 {
            return Ok(());
        }
        let nchunks = stated.nchunks(|| Ok(0)).unwrap_or(0).min(MAX_CHUNKS);
        let missing = usize::try_from(nchunks).unwrap_or(0).saturating_sub(codes.len());
        // The header of a damaged frame can state any number.
        if missing > MAX_MISSING + codes.len() {
            return Ok(());
        }
        let has_short_end = sizes.last().is_some_and(|&size| (0..stated.chunksize).contains(&size));
        let at = if has_short_end { codes.len() - 1 } else { codes.len() };
        insert_equal(codes, at, LOST, missing)?;
        insert_equal(sizes, at, UNKNOWN, missing)?;
        let stated =
            StatedSizes { nbytes: stated.nbytes, chunksize: stated.chunksize, typesize: stated.typesize };
        if fit_fixed_sizes(&self.sizes, &stated).is_none_or(|fixed| fixed.chunksize != stated.chunksize) {
            // The chunks that were found contradict the header, and so may the number of the missing ones.
            self.remove(at..at + missing);
            return Ok(());
        }
        (at..at + missing)
            .try_for_each(|n| reporter.report_chunk(n as u64, DamagePlace::unknown(), &not_found()))
    }

    fn remove(&mut self, range: Range<usize>) {
        if let (Offsets::List(codes), UncompressedSizes::List(sizes)) = (&mut self.offsets, &mut self.sizes) {
            codes.drain(range.clone());
            sizes.drain(range);
        }
    }

    /// Marks chunks as lost that have another size than their numbers require, if most chunks agree with the header, and
    /// the sum of the sizes does not. Reports these chunks.
    pub(super) fn drop_contradictions(
        &mut self,
        stated: &FrameHeader,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        let (Offsets::List(codes), UncompressedSizes::List(sizes)) = (&mut self.offsets, &mut self.sizes)
        else {
            return Ok(());
        };
        let count = sizes.len() as u64;
        let has_count = stated.chunksize > 0 && stated.nchunks(|| Ok(0)).ok() == i64::try_from(count).ok();
        let known = sizes.iter().filter(|&&size| size != UNKNOWN).count();
        let agreeing = sizes.iter().filter(|&&size| size == stated.chunksize).count();
        if !has_count || 2 * agreeing <= known {
            return Ok(());
        }
        let expected = |n: u64| parts::expected_nbytes(stated, n, count);
        let sizes_with_guesses =
            (0u64..).zip(&*sizes).map(|(n, &size)| if size == UNKNOWN { expected(n) } else { size });
        if sizes_with_guesses.map(i64::from).sum::<i64>() == stated.nbytes {
            return Ok(());
        }
        for (n, (code, size)) in (0u64..).zip(codes.iter_mut().zip(sizes)) {
            let (found, expected) = (*size, stated.chunksize);
            if found != UNKNOWN && !parts::is_possible_nbytes(stated, n, count, found) {
                (*code, *size) = (LOST, UNKNOWN);
                self.saved = self.saved.saturating_sub(1);
                let error = err!(Data, "the chunk has {found} uncompressed bytes, expected {expected}");
                reporter.report_chunk(n, DamagePlace::unknown(), &error)?;
            }
        }
        Ok(())
    }

    /// Sets the sizes in the header and fills the places of lost chunks.
    pub(super) fn set_sizes(
        &mut self,
        stated: &FrameHeader,
        frame: &mut NewFrame,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        if self.offsets.len() == 0 {
            (self.header.nbytes, self.header.cbytes) = (0, 0);
            return Ok(());
        }
        let stated = StatedSizes {
            nbytes: stated.nbytes,
            chunksize: stated.chunksize,
            typesize: self.header.typesize,
        };
        match fit_fixed_sizes(&self.sizes, &stated) {
            Some(FixedSizes { chunksize, nbytes }) => {
                (self.header.chunksize, self.header.nbytes) = (chunksize, nbytes);
                self.fill_fixed(reporter)?;
                self.store_last_zeros(chunksize, frame)
            }
            None => {
                self.header.chunksize = 0;
                self.fill_variable(&stated, frame, reporter)
            }
        }
    }

    /// Makes lost chunks and invalid special chunks zeros, which have no bytes in a frame with chunks of one size.
    fn fill_fixed(&mut self, reporter: &mut Reporter<'_>) -> Result<()> {
        let zeros = encode_entry(IndexEntry::Special(SpecialValue::Zero));
        let count = self.offsets.len() as u64;
        if let Offsets::Uniform { code, .. } = &mut self.offsets {
            let checked = [false, true].map(|is_last| parts::check_special(&self.header, *code, is_last));
            if *code >= 0 {
                return Ok(());
            }
            match checked.into_iter().find_map(Result::err) {
                None => self.saved += count,
                Some(error) => {
                    let is_reported = *code == LOST;
                    *code = zeros;
                    if !is_reported {
                        reporter.report_part(FramePart::Index, DamagePlace::unknown(), &error)?;
                    }
                }
            }
            return Ok(());
        }
        let Offsets::List(list) = &mut self.offsets else { return Ok(()) };
        for (n, code) in (0u64..).zip(list).filter(|(_, code)| **code < 0) {
            match parts::check_special(&self.header, *code, n + 1 == count) {
                Ok(_) => self.saved += 1,
                Err(error) => {
                    let is_reported = *code == LOST;
                    *code = zeros;
                    if !is_reported {
                        reporter.report_chunk(n, DamagePlace::unknown(), &error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores the last chunk of zeros with its bytes if a chunk before it is shorter than the others. Readers would take
    /// it for the shorter chunk otherwise (`frame.md` 1.4).
    fn store_last_zeros(&mut self, chunksize: i32, frame: &mut NewFrame) -> Result<()> {
        let is_short = |size: i32| size != UNKNOWN && size != chunksize;
        let (Offsets::List(codes), UncompressedSizes::List(sizes)) = (&mut self.offsets, &self.sizes) else {
            return Ok(());
        };
        let is_zeros = |code: i64| {
            let zeros = [SpecialValue::Zero, SpecialValue::Uninit].map(IndexEntry::Special);
            decode_entry(code).is_ok_and(|entry| zeros.contains(&entry))
        };
        let Some(last) = codes.last_mut().filter(|code| is_zeros(**code)) else { return Ok(()) };
        if sizes.iter().any(|&size| is_short(size)) {
            *last = frame.append(&encode_zero_runs(chunksize)?)?;
        }
        Ok(())
    }

    /// Stores zeros in the place of lost chunks and of chunks without bytes, whose sizes are not known.
    fn fill_variable(
        &mut self,
        stated: &StatedSizes,
        frame: &mut NewFrame,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        let unknown = self.sizes.iter().filter(|&size| size == UNKNOWN).count();
        let known = self.offsets.len() - unknown;
        let limit = MAX_STORED_ZEROS.saturating_add(known.saturating_mul(MAX_STORED_ZEROS_PER_CHUNK));
        if unknown > limit {
            return Err(err!(Data, "{unknown} chunks of unknown sizes are lost, expected at most {limit}"));
        }
        let mut sizes = fallible::collect(self.sizes.iter())?;
        set_unknown_sizes(&mut sizes, &self.claimed, unknown, stated);
        let mut codes = fallible::collect(self.offsets.iter())?;
        for (n, (code, &size)) in
            (0u64..).zip(codes.iter_mut().zip(&sizes)).filter(|(_, (code, _))| **code < 0)
        {
            if *code != LOST {
                let error = match decode_entry(*code) {
                    Ok(_) => err!(InvalidHeader, "the size of a chunk without bytes is not known"),
                    Err(error) => error,
                };
                reporter.report_chunk(n, DamagePlace::unknown(), &error)?;
            }
            *code = frame.append(&encode_zero_runs(size)?)?;
        }
        self.offsets = Offsets::List(codes);
        self.header.nbytes = sizes.iter().map(|&size| i64::from(size)).sum();
        Ok(())
    }
}

/// Returns the largest sum of the sizes of `unknown` lost chunks, in bytes, that is plausible beside the known sizes: the
/// sum in a damaged header can have any value, and the new frame would have gigabytes of zeros.
fn plausible_size(sizes: &[i32], unknown: usize) -> i64 {
    match sizes.iter().max() {
        Some(&largest) if largest > 0 => {
            let limit = i64::from(largest).saturating_mul(MAX_SIZE_FACTOR);
            limit.saturating_mul(i64::try_from(unknown).unwrap_or(i64::MAX))
        }
        _ => i64::MAX,
    }
}

/// Inserts `count` times the same element.
fn insert_equal<T: Clone>(list: &mut Vec<T>, at: usize, element: T, count: usize) -> Result<()> {
    fallible::reserve(list, count)?;
    list.splice(at..at, std::iter::repeat_n(element, count));
    Ok(())
}

/// Sets the sizes of lost chunks: those that their headers give, if they have the sum that the header of the frame gives,
/// otherwise equal ones.
fn set_unknown_sizes(sizes: &mut [i32], claimed: &[(u64, i32)], unknown: usize, stated: &StatedSizes) {
    let known: i64 = sizes.iter().filter(|&&size| size != UNKNOWN).map(|&size| i64::from(size)).sum();
    let missing = stated.nbytes.saturating_sub(known);
    let sum: i64 = claimed.iter().map(|&(_, size)| i64::from(size)).sum();
    if claimed.len() == unknown && sum == missing && claimed.iter().all(|&(_, size)| size > 0) {
        for &(n, size) in claimed {
            if let Some(place) = usize::try_from(n).ok().and_then(|n| sizes.get_mut(n)) {
                *place = size;
            }
        }
        return;
    }
    let shares = share_missing_bytes(missing.min(plausible_size(sizes, unknown)), unknown, stated.typesize);
    for (place, share) in sizes.iter_mut().filter(|size| **size == UNKNOWN).zip(shares) {
        *place = share;
    }
}
