//! Matches: the limits of the format, and comparing bytes with earlier ones.

/// The shortest and the longest match of deflate in bytes, and the largest distance (RFC 1951 3.2.5).
pub(super) const LEAST: usize = 3;
pub(super) const MOST: usize = 258;
pub(crate) const REACH: usize = 1 << 15;
/// The largest distance of a match of levels 2 to 9, in bytes: that of zlib, which needs 262 bytes of its window for what
/// follows.
pub(super) const FARTHEST: usize = REACH - 262;
/// The shortest run of one byte, in bytes: positions of a run from which fewer bytes are left are entered as words.
pub(super) const LEAST_RUN: usize = 4;

/// A repetition of earlier bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Match {
    /// Length in bytes; 0 if there is no match.
    pub len: usize,
    /// How many bytes before its position the earlier bytes are.
    pub distance: usize,
}

/// Returns the four bytes at `at`, or `None` near the end of `src`.
#[inline(always)]
pub(super) fn word(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// Returns the four bytes at `at`, the first one lowest.
///
/// # Panics
/// If fewer than four bytes are there.
#[inline(always)]
pub(super) fn read32(src: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(src[at..at + 4].try_into().expect("four bytes"))
}

/// Returns the eight bytes at `at`, the first one lowest.
///
/// # Panics
/// If fewer than eight bytes are there.
#[inline(always)]
pub(super) fn read64(src: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(src[at..at + 8].try_into().expect("eight bytes"))
}

/// Returns whether four bytes are a run.
#[inline(always)]
pub(super) fn is_run(word: u32) -> bool {
    word == word.rotate_left(8)
}

/// Returns the number of bytes from `at` on that equal those `distance` before, up to the end of `src`.
#[inline(always)]
pub(super) fn matching(src: &[u8], at: usize, distance: usize) -> usize {
    matching_up_to(src, at, distance, src.len())
}

/// Returns the number of bytes from `at` on that equal those `distance` before, up to the position `end`.
#[inline(always)]
pub(super) fn matching_up_to(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
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

/// Returns the number of bytes from `at` on that equal the byte at `at`, up to the position `end`, which is behind `at`.
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

/// Returns the lengths of the matches, each of [`LEAST`]`..=`[`MOST`] bytes, that a match of `len` bytes is written as.
pub(super) fn parts(len: usize) -> impl Iterator<Item = u16> {
    let mut left = len;
    std::iter::from_fn(move || {
        // The last part must not be shorter than `LEAST`.
        let part = match left.checked_sub(MOST) {
            Some(1..LEAST) => left - LEAST,
            _ => left.min(MOST),
        };
        left -= part;
        (part > 0).then_some(part as u16)
    })
}
