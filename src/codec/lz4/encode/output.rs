//! Writes the sequences of an LZ4 block.
//!
//! Owns the layout of tokens, lengths and offsets, and the limit of the destination. Never searches for matches.

use super::MIN_MATCH;

/// The value of a token's nibble that says that more length bytes follow.
const MAX_NIBBLE: usize = 15;
/// The size of a sequence, in bytes, if its literals need no length byte and are copied as one chunk: a token, the
/// chunk and an offset.
const SHORT_SEQUENCE_LEN: usize = 1 + SHORT_COPY_LEN + 2;
/// The size of the copy of fewer than `MAX_NIBBLE` literals, in bytes.
const SHORT_COPY_LEN: usize = 16;
/// The size of a sequence, in bytes, if its literals need one byte of length and are copied as one long chunk.
const MEDIUM_SEQUENCE_LEN: usize = 2 + LONG_COPY_LEN + 2;
/// The size of the copies of more literals, in bytes.
const LONG_COPY_LEN: usize = 32;

/// A block under construction in a destination buffer.
pub(super) struct SequenceWriter<'a> {
    dest: &'a mut [u8],
    len: usize,
}

impl<'a> SequenceWriter<'a> {
    /// Returns an empty block in `dest`.
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        SequenceWriter { dest, len: 0 }
    }

    /// Appends a sequence: the literals `src[start..end]` and a match of `length` bytes at `distance`. Returns `None`
    /// if it does not fit.
    #[inline(always)]
    pub(super) fn write_sequence(
        &mut self,
        src: &[u8],
        start: usize,
        end: usize,
        distance: usize,
        length: usize,
    ) -> Option<()> {
        debug_assert!(length >= MIN_MATCH && (1..=65535).contains(&distance));
        let literals = end - start;
        let coded = length - MIN_MATCH;
        if literals < MAX_NIBBLE
            && let Some(room) =
                self.dest.get_mut(self.len..).and_then(|dest| dest.first_chunk_mut::<SHORT_SEQUENCE_LEN>())
            && let Some(chunk) = src.get(start..).and_then(|src| src.first_chunk::<SHORT_COPY_LEN>())
        {
            room[0] = (literals << 4 | coded.min(MAX_NIBBLE)) as u8;
            room[1..=SHORT_COPY_LEN].copy_from_slice(chunk);
            room[1 + literals..][..2].copy_from_slice(&(distance as u16).to_le_bytes());
            self.len += 1 + literals + 2;
        } else if (MAX_NIBBLE..=LONG_COPY_LEN).contains(&literals)
            && let Some(room) =
                self.dest.get_mut(self.len..).and_then(|dest| dest.first_chunk_mut::<MEDIUM_SEQUENCE_LEN>())
            && let Some(chunk) = src.get(start..).and_then(|src| src.first_chunk::<LONG_COPY_LEN>())
        {
            room[0] = (MAX_NIBBLE << 4 | coded.min(MAX_NIBBLE)) as u8;
            room[1] = (literals - MAX_NIBBLE) as u8;
            room[2..2 + LONG_COPY_LEN].copy_from_slice(chunk);
            room[2 + literals..][..2].copy_from_slice(&(distance as u16).to_le_bytes());
            self.len += 2 + literals + 2;
        } else {
            self.write_literals(src, start, end, coded.min(MAX_NIBBLE))?;
            self.dest.get_mut(self.len..self.len + 2)?.copy_from_slice(&(distance as u16).to_le_bytes());
            self.len += 2;
        }
        if coded >= MAX_NIBBLE { self.write_length_bytes(coded - MAX_NIBBLE) } else { Some(()) }
    }

    /// Appends a match like [`write_sequence`](Self::write_sequence), without literals.
    #[inline(always)]
    pub(super) fn write_bare_match(&mut self, distance: usize, length: usize) -> Option<()> {
        debug_assert!(length >= MIN_MATCH && (1..=65535).contains(&distance));
        let coded = length - MIN_MATCH;
        let room = self.dest.get_mut(self.len..)?.first_chunk_mut::<3>()?;
        room[0] = coded.min(MAX_NIBBLE) as u8;
        room[1..].copy_from_slice(&(distance as u16).to_le_bytes());
        self.len += 3;
        if coded >= MAX_NIBBLE { self.write_length_bytes(coded - MAX_NIBBLE) } else { Some(()) }
    }

    /// Ends the block with the literals from `src[start]` on, and returns its length.
    pub(super) fn finish(mut self, src: &[u8], start: usize) -> Option<usize> {
        self.write_literals(src, start, src.len(), 0)?;
        Some(self.len)
    }

    /// Appends a token with the `nibble` of a match, and literals.
    #[inline]
    fn write_literals(&mut self, src: &[u8], start: usize, end: usize, nibble: usize) -> Option<()> {
        let count = end - start;
        *self.dest.get_mut(self.len)? = (count.min(MAX_NIBBLE) << 4 | nibble) as u8;
        self.len += 1;
        if count >= MAX_NIBBLE {
            self.write_length_bytes(count - MAX_NIBBLE)?;
        }
        // Copies of fixed size are faster than one of the exact size, where both buffers are long enough.
        let wide = count.next_multiple_of(LONG_COPY_LEN);
        if let (Some(to), Some(from)) =
            (self.dest.get_mut(self.len..self.len + wide), src.get(start..start + wide))
        {
            for (to, from) in to.chunks_exact_mut(LONG_COPY_LEN).zip(from.chunks_exact(LONG_COPY_LEN)) {
                to.copy_from_slice(from);
            }
        } else {
            self.dest.get_mut(self.len..self.len + count)?.copy_from_slice(&src[start..end]);
        }
        self.len += count;
        Some(())
    }

    /// Appends the length bytes for `more`, the difference between a length and the value of its nibble.
    #[inline(always)]
    fn write_length_bytes(&mut self, more: usize) -> Option<()> {
        if more < 255 {
            *self.dest.get_mut(self.len)? = more as u8;
            self.len += 1;
        } else {
            let full = more / 255;
            let room = self.dest.get_mut(self.len..self.len + full + 1)?;
            room[..full].fill(255);
            room[full] = (more % 255) as u8;
            self.len += full + 1;
        }
        Some(())
    }
}
