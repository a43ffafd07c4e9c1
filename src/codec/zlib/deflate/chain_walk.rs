//! The comparison of a position with the candidates of a hash chain.

use super::hash_chain::Ring;
use super::matches::{Match, match_length_up_to, read64};

pub(super) struct SearchLimits {
    /// The greatest number of candidates that are compared.
    pub candidates: u32,
    /// The number of last positions of runs of the same byte that may be the source of a match.
    pub positions: u32,
    /// A match of this length in bytes, or more, ends the search.
    pub nice_len: usize,
    /// The length of the longest match in bytes.
    pub max_len: usize,
}

/// A position that may be the source of a match.
#[derive(Clone, Copy)]
pub(super) struct ChainCandidate {
    pub position: usize,
    /// The number of bytes from `position` to the word whose chain leads to further candidates.
    pub offset: usize,
}

/// The position that candidates are compared with, and the limits.
pub(super) struct ChainWalk<'a> {
    pub src: &'a [u8],
    /// The position, at which eight or more bytes are left.
    pub at: usize,
    /// The first position that may be the source of a match.
    pub lowest: usize,
    pub limits: &'a SearchLimits,
}

impl ChainWalk<'_> {
    /// Compares up to `steps` candidates, at least one, from `first` on along the chain `prev_distances`, up to the
    /// first one that matches longer than `found`, which must be shorter than `max_len`. That match replaces `found`.
    /// Subtracts the number of candidates from `steps`. Returns the next candidate; `None` if there is none, or if the
    /// match has the length `nice_len`.
    #[inline(always)]
    pub(super) fn find_longer(
        &self,
        prev_distances: &Ring,
        first: ChainCandidate,
        steps: &mut u32,
        found: &mut Match,
    ) -> Option<ChainCandidate> {
        let &ChainWalk { src, at, lowest, limits: &SearchLimits { nice_len, max_len, .. } } = self;
        let ChainCandidate { mut position, offset } = first;
        let here = read64(src, at);
        assert!(position < at);
        let earlier = |at: usize| {
            // SAFETY: positions only become smaller, so `at` is less than `self.at`, or than `self.at` + `tail`, at
            // which eight bytes are left, as the calls of `read64` have checked. Bounds checks here would cost 8 % of
            // the time of a search.
            u64::from_le(unsafe { src.as_ptr().add(at).cast::<u64>().read_unaligned() })
        };
        // Continues with the next candidate.
        macro_rules! next {
            () => {
                let next = position as isize - prev_distances.get(position + offset) as isize;
                *steps -= 1;
                if next < lowest as isize {
                    return None;
                }
                position = next as usize;
                if *steps == 0 {
                    return Some(ChainCandidate { position, offset });
                }
            };
        }
        loop {
            let len = if found.len < 8 {
                // The mask of the bytes that must be equal in a longer match.
                let mask = u64::MAX >> (56 - 8 * found.len);
                let differ = loop {
                    let differ = here ^ earlier(position);
                    if differ & mask == 0 {
                        break differ;
                    }
                    next!();
                };
                if differ == 0 { None } else { Some(differ.trailing_zeros() as usize / 8) }
            } else {
                // A longer match has the same eight bytes at its end, the last of which is behind the end of `found`.
                let tail = found.len - 7;
                let end = read64(src, at + tail);
                while earlier(position + tail) != end || earlier(position) != here {
                    next!();
                }
                None
            };
            let end = at + max_len.max(8);
            let len = len.unwrap_or_else(|| 8 + match_length_up_to(src, at + 8, at - position, end));
            if len > found.len {
                *found = Match { len: len.min(max_len), distance: at - position };
                if found.len >= nice_len {
                    return None;
                }
                next!();
                return Some(ChainCandidate { position, offset });
            }
            next!();
        }
    }

    /// As [`find_longer`](Self::find_longer), as a function of its own: the loop needs nearly all registers.
    #[inline(never)]
    pub(super) fn find_longer_far(
        &self,
        prev_distances: &Ring,
        first: ChainCandidate,
        steps: &mut u32,
        found: &mut Match,
    ) -> Option<ChainCandidate> {
        let (mut left, mut longer) = (*steps, *found);
        let next = self.find_longer(prev_distances, first, &mut left, &mut longer);
        (*steps, *found) = (left, longer);
        next
    }
}
