//! Sequences of a stream, and what both writers need to know of matches.

/// The shortest and the longest match of deflate in bytes, and the largest distance (RFC 1951 3.2.5).
pub const LEAST: usize = 3;
pub const MOST: usize = 258;
pub const REACH: usize = 1 << 15;

/// Returns the four bytes at `at`, or `None` near the end of `src`.
#[inline(always)]
pub fn word(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// Returns the number of bytes from `at` on that are the same as those `distance` before.
#[inline(always)]
pub fn matching(src: &[u8], at: usize, distance: usize) -> usize {
    let (here, there) = (&src[at..], &src[at - distance..src.len() - distance]);
    let mut len = 0;
    for (a, b) in here.as_chunks::<8>().0.iter().zip(there.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return len + differ.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + here[len..].iter().zip(&there[len..]).take_while(|(a, b)| a == b).count()
}

/// Returns the lengths of the matches, each of [`LEAST`]`..=`[`MOST`] bytes, that a match of `len` bytes is told as.
pub fn parts(len: usize) -> impl Iterator<Item = u16> {
    let mut left = len;
    std::iter::from_fn(move || {
        // The rest may not be too short.
        let part = match left.checked_sub(MOST) {
            Some(1..LEAST) => left - LEAST,
            _ => left.min(MOST),
        };
        left -= part;
        (part > 0).then_some(part as u16)
    })
}
