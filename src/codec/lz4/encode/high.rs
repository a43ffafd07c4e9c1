//! The high-compression encoder of levels 3 and above.
//!
//! Owns the choice among matches that overlap, which is LZ4HC's. Never searches for them.

use super::hash_chains::{ChainFinder, Lz4Match};
use super::output::SequenceWriter;
use super::{MAX_NARROW_INPUT, MIN_MATCH, NO_MATCH_TAIL, TablePosition};

pub(in crate::codec::lz4) use super::hash_chains::ChainTables;

/// The longest match whose length fits into a token.
const MAX_TOKEN_MATCH: usize = 18;

/// Compresses `src`, of less than 4 GiB, into `dest`. Returns the number of bytes written, or `None` if they do not
/// fit. Compares at most `attempts` candidates for each position.
pub(in crate::codec::lz4) fn compress(
    tables: &mut ChainTables,
    src: &[u8],
    dest: &mut [u8],
    attempts: u32,
) -> Option<usize> {
    if src.len() <= NO_MATCH_TAIL {
        return SequenceWriter::new(dest).finish(src, 0);
    }
    if src.len() <= MAX_NARROW_INPUT {
        encode(ChainFinder::narrow(tables, src, attempts), src, dest)
    } else {
        encode(ChainFinder::wide(tables, src, attempts), src, dest)
    }
}

fn encode<P: TablePosition>(finder: ChainFinder<'_, P>, src: &[u8], dest: &mut [u8]) -> Option<usize> {
    let mut parser = OverlapParser::new(finder, src, 0, dest);
    parser.write_matches()?;
    parser.finish()
}

/// Compresses `input[start..]` like [`compress`], with matches that may reach into the dictionary `input[..start]`,
/// which has that `id`.
pub(in crate::codec::lz4) fn compress_with_dictionary(
    tables: &mut ChainTables,
    input: &[u8],
    start: usize,
    id: u64,
    dest: &mut [u8],
    attempts: u32,
) -> Option<usize> {
    if input.len() - start <= NO_MATCH_TAIL {
        return SequenceWriter::new(dest).finish(input, start);
    }
    let finder = ChainFinder::with_dictionary(tables, input, start, id, attempts);
    let mut parser = OverlapParser::new(finder, input, start, dest);
    let done = parser.write_matches();
    parser.finder.reset_to_dictionary();
    done?;
    parser.finish()
}

/// The state of the parse of one input.
struct OverlapParser<'a, 'b, P> {
    finder: ChainFinder<'a, P>,
    src: &'a [u8],
    out: SequenceWriter<'b>,
    /// The start of the literals that have not been written.
    anchor: usize,
    /// The last position where a match may begin.
    last: usize,
}

impl<'a, 'b, P: TablePosition> OverlapParser<'a, 'b, P> {
    fn new(finder: ChainFinder<'a, P>, src: &'a [u8], start: usize, dest: &'b mut [u8]) -> Self {
        OverlapParser {
            finder,
            src,
            out: SequenceWriter::new(dest),
            anchor: start,
            last: src.len() - NO_MATCH_TAIL,
        }
    }

    /// Writes all matches. Returns `None` when they do not fit.
    fn write_matches(&mut self) -> Option<()> {
        loop {
            // Nothing comes before position 0.
            let Some(first) = self.finder.find_first(self.anchor.max(1), self.last) else { return Some(()) };
            self.resolve_overlaps(first)?;
        }
    }

    /// Writes the last literals and returns the length of the block; `None` when they do not fit.
    fn finish(self) -> Option<usize> {
        self.out.finish(self.src, self.anchor)
    }

    #[inline(always)]
    fn write_match(&mut self, found: &Lz4Match) -> Option<()> {
        self.out.write_sequence(self.src, self.anchor, found.at, found.distance, found.length)?;
        self.anchor = found.end();
        self.finder.record_distance(found.distance);
        Some(())
    }

    /// Returns a match that overlaps the last `overlap` bytes of `of` and is longer.
    #[inline(always)]
    fn find_longer(&mut self, of: &Lz4Match, overlap: usize) -> Option<Lz4Match> {
        if of.end() > self.last {
            return None;
        }
        self.finder.search::<true>(of.end() - overlap, of.at, of.length)
    }

    /// Writes `first`, or a part of it followed by a better match for the rest, and so on until no longer match
    /// overlaps the last one.
    ///
    /// Considers at most three matches, of rising lengths. Once the bytes that the first two both cover are divided
    /// between them, the first is written, and the other two move up.
    #[inline(always)]
    fn resolve_overlaps(&mut self, mut first: Lz4Match) -> Option<()> {
        let mut original = first;
        loop {
            let Some(mut second) = self.find_longer(&first, 2) else { return self.write_match(&first) };
            if original.at < first.at && second.at < first.at + original.length {
                // The second match leaves `first` fewer bytes than the match had that `first` replaced.
                first = original;
            }
            if second.at - first.at < 3 {
                // Too few bytes are left of the first match.
                first = second;
                continue;
            }
            loop {
                split_overlap(&first, &mut second);
                let Some(third) = self.find_longer(&second, 3) else {
                    first.length = first.length.min(second.at - first.at);
                    self.write_match(&first)?;
                    return self.write_match(&second);
                };
                if third.at >= first.end() + 3 {
                    // The second match stays. The number of bytes that it takes from the first is known now.
                    if second.at < first.end() {
                        if second.at - first.at < MAX_TOKEN_MATCH {
                            split_overlap(&first, &mut second);
                        }
                        first.length = second.at - first.at;
                    }
                    self.write_match(&first)?;
                    first = second;
                    second = third;
                } else if third.at < first.end() {
                    second = third;
                } else {
                    // There are too few bytes between the first and the third match for the second.
                    if second.at < first.end() {
                        let taken = first.end() - second.at;
                        if second.length < taken + MIN_MATCH {
                            second = third;
                        } else {
                            second.cut_front(taken);
                        }
                    }
                    self.write_match(&first)?;
                    original = second;
                    first = third;
                    break;
                }
            }
        }
    }
}

/// Assigns the bytes that both matches cover to the first, as far as its length fits into a token and the second
/// keeps at least `MIN_MATCH` bytes.
fn split_overlap(first: &Lz4Match, second: &mut Lz4Match) {
    let apart = second.at - first.at;
    if apart < MAX_TOKEN_MATCH {
        let length = first.length.min(MAX_TOKEN_MATCH).min(apart + second.length - MIN_MATCH);
        second.cut_front(length.saturating_sub(apart));
    }
}

impl Lz4Match {
    /// Removes the first `count` bytes.
    fn cut_front(&mut self, count: usize) {
        self.at += count;
        self.length -= count;
    }
}
