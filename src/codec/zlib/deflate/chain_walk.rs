//! The comparison of a position with the candidates of a hash chain.

use super::hash_chain::Ring;
use super::matches::{MAX_SEARCH_DISTANCE, Match, match_length_up_to, read64};

/// The limits of one search.
pub(super) struct SearchLimits {
    /// The greatest number of candidates that are compared.
    pub candidates: u32,
    /// The number of last positions with the same first four bytes that may be the source of a match.
    pub positions: u32,
    /// A match of this length in bytes, or more, ends the search.
    pub nice_len: usize,
    /// The longest match in bytes.
    pub max_len: usize,
}

/// The decision on a candidate that may match longer than those before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Take,
    Skip,
    /// Neither this candidate nor those behind it in the chain are taken.
    Stop,
}

/// The position that candidates are compared with, and the limits.
pub(super) struct ChainWalk<'a> {
    pub src: &'a [u8],
    /// The position, at which eight or more bytes are left.
    pub at: usize,
    pub limits: &'a SearchLimits,
}

impl ChainWalk<'_> {
    /// Compares up to `steps` candidates, at least one, from `position` on along the chain `prev_distances`, and
    /// subtracts their number from `steps`. Each match that is longer than `found`, which must be shorter than
    /// `limits.max_len`, replaces it. Returns the next candidate; `None` if there is none, if a match has the length
    /// `limits.nice_len`, or if `judge` returns [`Verdict::Stop`]. `judge` is called with the positions of
    /// candidates that may match longer than `found`: their first bytes are equal, and those at the end of `found`.
    #[inline(always)]
    pub(super) fn compare_candidates(
        &self,
        prev_distances: &Ring,
        mut position: usize,
        steps: &mut u32,
        found: &mut Match,
        judge: impl Fn(usize) -> Verdict,
    ) -> Option<usize> {
        let &ChainWalk { src, at, limits } = self;
        let here = read64(src, at);
        assert!(position < at);
        let earlier = |at: usize| {
            // SAFETY: positions only become smaller, so `at` is less than `self.at`, or than `self.at` + `tail`, at
            // which eight bytes are left, as the calls of `read64` have checked. Bounds checks here would cost 8 % of
            // the time of a search.
            u64::from_le(unsafe { src.as_ptr().add(at).cast::<u64>().read_unaligned() })
        };
        let lowest = at.saturating_sub(MAX_SEARCH_DISTANCE) as isize;
        // Continues with the next candidate.
        macro_rules! next {
            () => {
                let next = position as isize - prev_distances.get(position) as isize;
                if next < lowest {
                    return None;
                }
                position = next as usize;
                *steps -= 1;
                if *steps == 0 {
                    return Some(position);
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
            match judge(position) {
                Verdict::Take => {
                    let end = at + limits.max_len.max(8);
                    let len = len.unwrap_or_else(|| 8 + match_length_up_to(src, at + 8, at - position, end));
                    if len > found.len {
                        *found = Match { len: len.min(limits.max_len), distance: at - position };
                        if found.len >= limits.nice_len {
                            return None;
                        }
                    }
                }
                Verdict::Skip => {}
                Verdict::Stop => return None,
            }
            next!();
        }
    }
}
