//! The uncompressed sizes of the chunks of a repaired frame: the common chunk size, and the sizes of lost chunks.

use crate::frame::recovery::check::chunks::ChunkNumbers;

/// The size of a chunk that has no bytes, or whose bytes are lost.
pub(super) const UNKNOWN: i32 = -1;

/// The size in bytes of each chunk, or [`UNKNOWN`].
pub(super) enum UncompressedSizes {
    /// One size for each chunk.
    List(Vec<i32>),
    /// The same size for that many chunks.
    All(i32, u32),
}

impl UncompressedSizes {
    pub(super) fn len(&self) -> u64 {
        match self {
            UncompressedSizes::List(list) => list.len() as u64,
            UncompressedSizes::All(_, count) => u64::from(*count),
        }
    }

    /// Sets the size of these chunks.
    pub(super) fn set(&mut self, numbers: ChunkNumbers<'_>, nbytes: i32) {
        match (self, numbers) {
            (UncompressedSizes::List(list), numbers) => {
                numbers.iter().filter_map(|n| usize::try_from(n).ok()).for_each(|n| {
                    if let Some(place) = list.get_mut(n) {
                        *place = nbytes;
                    }
                });
            }
            (UncompressedSizes::All(all, _), _) => *all = nbytes,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        self.runs().flat_map(|(size, count)| std::iter::repeat_n(size, count as usize))
    }

    /// Returns each size with the number of chunks that have it, one after the other.
    fn runs(&self) -> impl Iterator<Item = (i32, u32)> + '_ {
        let (list, all) = match self {
            UncompressedSizes::List(list) => (&list[..], None),
            UncompressedSizes::All(size, count) => (&[][..], Some((*size, *count))),
        };
        list.iter().map(|&size| (size, 1)).chain(all.filter(|&(_, count)| count > 0))
    }
}

/// The sizes that the header of the source gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatedSizes {
    /// Sum of the sizes of all chunks; 0 if it is not known.
    pub nbytes: i64,
    /// Common size; 0 for chunks of different sizes, -1 if it is not known.
    pub chunksize: i32,
    /// Item size, 1 or more.
    pub typesize: i32,
}

/// Common size and sum of the sizes of the chunks of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FixedSizes {
    /// The common size.
    pub chunksize: i32,
    pub nbytes: i64,
}

/// What must be known about a list of sizes to try a common size.
struct Summary {
    count: u64,
    known: u64,
    largest: i32,
    last: i32,
    known_nbytes: i64,
}

impl Summary {
    fn of(sizes: &UncompressedSizes) -> Summary {
        let mut summary =
            Summary { count: sizes.len(), known: 0, largest: 0, last: UNKNOWN, known_nbytes: 0 };
        for (size, count) in sizes.runs() {
            summary.last = size;
            if size != UNKNOWN {
                summary.known += u64::from(count);
                summary.largest = summary.largest.max(size);
                summary.known_nbytes += i64::from(size) * i64::from(count);
            }
        }
        summary
    }

    fn unknown(&self) -> u64 {
        self.count - self.known
    }
}

/// Returns the common size of the chunks: the one that the header states if the chunks agree, otherwise the largest
/// size that was found, or the one that follows from the sum in the header. `None` if the chunks differ in size.
pub(super) fn fit_fixed_sizes(sizes: &UncompressedSizes, stated: &StatedSizes) -> Option<FixedSizes> {
    let summary = Summary::of(sizes);
    if summary.count == 0 {
        return None;
    }
    let fits = |&chunksize: &i32| fit(sizes, &summary, stated, chunksize);
    let has_sum = |fixed: &FixedSizes| fixed.nbytes == stated.nbytes;
    if stated.chunksize == 0 {
        // The chunks differ in size, unless the size of the known ones explains those of unknown size.
        return fits(&summary.largest).filter(|fixed| has_sum(fixed) && summary.unknown() > 0);
    }
    let candidates = [stated.chunksize, summary.largest, even_size(stated, summary.count)];
    let with_sum = candidates.iter().filter_map(fits).find(has_sum);
    with_sum.or_else(|| candidates.iter().find_map(fits))
}

/// Returns the size of chunks of which `count` have the sum that the header states.
fn even_size(stated: &StatedSizes, count: u64) -> i32 {
    let typesize = u64::from(stated.typesize.max(1).unsigned_abs());
    let items = u64::try_from(stated.nbytes).unwrap_or(0) / typesize;
    i32::try_from(items.div_ceil(count.max(1)).saturating_mul(typesize)).unwrap_or(0)
}

/// Returns the sizes of the frame if its chunks have `chunksize` bytes: all chunks except one, which may be shorter. The
/// shorter chunk is the last one, unless the header states this chunk size: the frame may have been reordered.
fn fit(
    sizes: &UncompressedSizes,
    summary: &Summary,
    stated: &StatedSizes,
    chunksize: i32,
) -> Option<FixedSizes> {
    if chunksize <= 0 || summary.largest > chunksize {
        return None;
    }
    let others = sizes.runs().filter(|&(size, _)| size != UNKNOWN && size != chunksize);
    let others: u64 = others.map(|(_, count)| u64::from(count)).sum();
    let may_be_anywhere = chunksize == stated.chunksize;
    let is_last = summary.last != UNKNOWN && summary.last != chunksize;
    if others > 1 || (others == 1 && !may_be_anywhere && !is_last) {
        return None;
    }
    let unknown = i64::try_from(summary.unknown()).ok()?;
    let mut nbytes = summary.known_nbytes.checked_add(unknown.checked_mul(i64::from(chunksize))?)?;
    // A last chunk of unknown size is as short as the sum in the header requires.
    let missing = nbytes.saturating_sub(stated.nbytes);
    if summary.last == UNKNOWN && others == 0 && (1..i64::from(chunksize)).contains(&missing) {
        nbytes = stated.nbytes;
    }
    let count = if nbytes <= 0 { 0 } else { (nbytes - 1) / i64::from(chunksize) + 1 };
    (u64::try_from(count) == Ok(summary.count)).then_some(FixedSizes { chunksize, nbytes })
}

/// Returns the sizes of `count` lost chunks among chunks of different sizes, whose sum is `missing` bytes: equal sizes
/// of whole items, and the rest for the last chunk.
pub(super) fn share_missing_bytes(missing: i64, count: usize, typesize: i32) -> impl Iterator<Item = i32> {
    let typesize = i64::from(typesize.max(1));
    let chunks = i64::try_from(count).unwrap_or(i64::MAX).max(1);
    let share = (missing.max(0) / chunks / typesize * typesize).max(typesize);
    let least = if chunks == 1 && missing > 0 { 1 } else { typesize };
    let last = missing.saturating_sub(share.saturating_mul(chunks - 1)).max(least);
    (0..count).map(move |n| {
        let size = if n + 1 == count { last } else { share };
        i32::try_from(size).unwrap_or(i32::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(sizes: &[i32], nbytes: i64, chunksize: i32) -> Option<(i32, i64)> {
        let stated = StatedSizes { nbytes, chunksize, typesize: 4 };
        fit_fixed_sizes(&UncompressedSizes::List(sizes.to_vec()), &stated)
            .map(|fixed| (fixed.chunksize, fixed.nbytes))
    }

    #[test]
    fn sizes_of_a_valid_header_are_kept() {
        assert_eq!(fixed(&[100, 100, 40], 240, 100), Some((100, 240)));
        assert_eq!(fixed(&[40, 100, 100], 240, 100), Some((100, 240)));
        assert_eq!(fixed(&[UNKNOWN, 100, UNKNOWN], 240, 100), Some((100, 240)));
        assert_eq!(fixed(&[UNKNOWN, 100, UNKNOWN], 300, 100), Some((100, 300)));
        assert_eq!(fixed(&[40], 40, 100), Some((100, 40)));
        assert_eq!(fixed(&[100, 40, 100], 240, 0), None);
        assert_eq!(fixed(&[100, 100], 200, 0), None);
        assert_eq!(fixed(&[], 0, 100), None);
    }

    #[test]
    fn a_damaged_chunksize_follows_from_the_chunks() {
        for chunksize in [101, 99, 1, 0, -1, i32::MAX] {
            assert_eq!(fixed(&[100, UNKNOWN, 100, 40], 340, chunksize), Some((100, 340)), "{chunksize}");
        }
        assert_eq!(fixed(&[UNKNOWN; 4], 340, -5), Some((88, 340)));
        assert_eq!(fixed(&[UNKNOWN; 4], 400, 7), Some((100, 400)));
    }

    #[test]
    fn a_damaged_sum_follows_from_the_chunks() {
        for nbytes in [0, -1, 339, 5000, i64::MAX] {
            assert_eq!(fixed(&[100, UNKNOWN, 100, 40], nbytes, 100), Some((100, 340)), "{nbytes}");
        }
    }

    #[test]
    fn sizes_that_are_not_known_follow_from_the_chunks() {
        assert_eq!(fixed(&[100, 100, 40], 0, -1), Some((100, 240)));
        assert_eq!(fixed(&[40, 100, 100], 0, -1), None);
        assert_eq!(fixed(&[100, 40, 40], 0, -1), None);
        let all = UncompressedSizes::All(UNKNOWN, u32::MAX);
        let stated = StatedSizes { nbytes: 10 * i64::from(u32::MAX), chunksize: 10, typesize: 2 };
        assert_eq!(fit_fixed_sizes(&all, &stated), Some(FixedSizes { chunksize: 10, nbytes: stated.nbytes }));
    }

    #[test]
    fn lost_chunks_share_the_missing_bytes() {
        let share = |missing, count| share_missing_bytes(missing, count, 4).collect::<Vec<_>>();
        assert_eq!(share(100, 1), [100]);
        assert_eq!(share(30, 3), [8, 8, 14]);
        assert_eq!(share(-5, 2), [4, 4]);
        assert_eq!(share(0, 1), [4]);
        assert_eq!(share(i64::MAX, 1), [i32::MAX]);
    }
}
