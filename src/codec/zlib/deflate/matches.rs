//! Matches: the limits of the format, and the comparison of bytes with earlier ones.

/// The shortest and the longest match of deflate in bytes, and the largest distance (RFC 1951 3.2.5).
pub(super) const MIN_MATCH: usize = 3;
pub(super) const MAX_MATCH: usize = 258;
pub(crate) const MAX_DISTANCE: usize = 1 << 15;
/// The largest distance of a match of levels 2 to 9, in bytes: that of zlib, which needs 262 bytes of its window as
/// lookahead.
pub(super) const MAX_SEARCH_DISTANCE: usize = MAX_DISTANCE - 262;
/// The shortest run of one byte, in bytes. A position of a run with fewer bytes of the run left is inserted as a word.
pub(super) const MIN_RUN_LEN: usize = 4;

/// A repetition of earlier bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Match {
    /// Length in bytes; 0 if there is no match.
    pub len: usize,
    /// The distance, in bytes, to the earlier bytes.
    pub distance: usize,
}

/// Returns the four bytes at `at`, or `None` near the end of `src`.
#[inline(always)]
pub(super) fn try_read32(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// Returns the four bytes at `at` as a little-endian number.
///
/// # Panics
/// If fewer than four bytes are left at `at`.
#[inline(always)]
pub(super) fn read32(src: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(src[at..at + 4].try_into().expect("a slice of 4 bytes"))
}

/// Returns the eight bytes at `at` as a little-endian number.
///
/// # Panics
/// If fewer than eight bytes are left at `at`.
#[inline(always)]
pub(super) fn read64(src: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(src[at..at + 8].try_into().expect("a slice of 8 bytes"))
}

/// Returns whether the four bytes of `word` are equal.
#[inline(always)]
pub(super) fn is_run(word: u32) -> bool {
    word == word.rotate_left(8)
}

/// Returns the number of bytes from `at` on that equal those `distance` before, up to the end of `src`.
#[inline(always)]
pub(super) fn match_length(src: &[u8], at: usize, distance: usize) -> usize {
    match_length_up_to(src, at, distance, src.len())
}

/// Returns the number of bytes from `at` on that equal those `distance` before, up to the position `end`.
#[inline(always)]
pub(super) fn match_length_up_to(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let (here, there) = (&src[at..end], &src[at - distance..end - distance]);
    let mut len = 0;
    // Most matches are short; the others are compared in larger pieces.
    for (a, b) in here.as_chunks::<8>().0.iter().zip(there.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return len + differ.trailing_zeros() as usize / 8;
        }
        len += 8;
        if len == 32 {
            let (here, there) = (here[len..].as_chunks::<32>().0, there[len..].as_chunks::<32>().0);
            len += 32 * here.iter().zip(there).take_while(|(a, b)| a == b).count();
            break;
        }
    }
    for (a, b) in here[len..].as_chunks::<8>().0.iter().zip(there[len..].as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return len + differ.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + here[len..].iter().zip(&there[len..]).take_while(|(a, b)| a == b).count()
}

/// Returns the number of bytes from `at` on that equal the byte at `at`, up to the position `end`, which is behind
/// `at`.
#[inline]
pub(super) fn run_length(src: &[u8], at: usize, end: usize) -> usize {
    let bytes = &src[at..end];
    let (byte, word) = (bytes[0], u64::from_ne_bytes([bytes[0]; 8]));
    let is_run = |chunk: &&[u8; 64]| {
        chunk.as_chunks::<8>().0.iter().fold(0, |differ, part| differ | (u64::from_ne_bytes(*part) ^ word))
            == 0
    };
    let mut len = 64 * bytes.as_chunks().0.iter().take_while(is_run).count();
    len +=
        8 * bytes[len..].as_chunks().0.iter().take_while(|part| u64::from_ne_bytes(**part) == word).count();
    len + bytes[len..].iter().take_while(|it| **it == byte).count()
}

/// Returns the lengths of the matches, each of [`MIN_MATCH`]`..=`[`MAX_MATCH`] bytes, into which a match of `len` bytes
/// is split.
pub(super) fn split_match(len: usize) -> impl Iterator<Item = u16> {
    let mut left = len;
    std::iter::from_fn(move || {
        // The last part must not be shorter than `MIN_MATCH`.
        let part = match left.checked_sub(MAX_MATCH) {
            Some(1..MIN_MATCH) => left - MIN_MATCH,
            _ => left.min(MAX_MATCH),
        };
        left -= part;
        (part > 0).then_some(part as u16)
    })
}
