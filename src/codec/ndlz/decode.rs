//! The decoder (`codecs.md` 8.3).
//!
//! Streams are not trusted: every piece is checked to lie in the stream, and every row in the block.

use super::stream::{
    CELL, HEADER_LEN, LITERAL, NDIM, PAIR, PAIR_OF_8, Place, SAME, TRIPLE, TRIPLE_OF_8, TRIPLES, TWO_PAIRS,
    grid,
};

/// A stream with the place that is read next.
struct Reader<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let bytes = self.stream.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(bytes)
    }

    fn take_some(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.stream.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    /// What an offset that comes next refers to; it counts back from the token at `token`.
    fn target(&mut self, token: usize, len: usize) -> Option<&'a [u8]> {
        let offset = usize::from(u16::from_le_bytes(*self.take()?));
        let start = token.checked_sub(offset)?;
        self.stream.get(start..start + len)
    }
}

/// Decodes a stream in cells of `C` bytes a side, 4 or 8; the size of the block, or `None` for a bad stream.
pub fn decode<const C: usize>(stream: &[u8], dest: &mut [u8]) -> Option<usize> {
    let mut reader = Reader { stream, at: 0 };
    let header: &[u8; HEADER_LEN] = reader.take()?;
    if header[0] != NDIM {
        return None;
    }
    let extent = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        usize::try_from(i32::from_le_bytes(bytes)).ok()
    };
    let shape = [extent(1)?, extent(5)?];
    let nbytes = shape[0].checked_mul(shape[1]).filter(|&nbytes| nbytes <= dest.len())?;
    if nbytes == 0 {
        return None;
    }
    let mut cell = [[0u8; C]; C];
    for place in grid::<C>(shape) {
        let token_at = reader.at;
        let [token] = *reader.take()?;
        match token {
            LITERAL | CELL => {
                let len = place.rows * place.columns;
                let bytes =
                    if token == CELL { reader.target(token_at, len)? } else { reader.take_some(len)? };
                put::<C>(bytes, &place, shape[1], dest);
                continue;
            }
            SAME => {
                let [byte] = *reader.take()?;
                for row in 0..place.rows {
                    dest[place.start + row * shape[1]..][..place.columns].fill(byte);
                }
                continue;
            }
            _ if C == 4 => rows_of_4(token, token_at, &mut reader, &mut cell)?,
            _ => rows_of_8(token, token_at, &mut reader, &mut cell)?,
        }
        // A cell at an edge takes its rows from the start of the whole one, one right behind the other.
        put::<C>(&cell.as_flattened()[..place.rows * place.columns], &place, shape[1], dest);
    }
    Some(nbytes)
}

/// Copies the rows of a cell into the block, whose rows are `width` bytes long.
#[inline(always)]
fn put<const C: usize>(bytes: &[u8], place: &Place, width: usize, dest: &mut [u8]) {
    let mut start = place.start;
    if place.columns == C {
        for row in bytes.as_chunks::<C>().0 {
            dest[start..start + C].copy_from_slice(row);
            start += width;
        }
        return;
    }
    for row in bytes.chunks_exact(place.columns) {
        dest[start..start + row.len()].copy_from_slice(row);
        start += width;
    }
}

/// Reads a cell of 4 rows of which some are found elsewhere. The reference ignores bits of tokens that no encoder sets, and
/// takes pairs of rows in any order.
fn rows_of_4<const C: usize>(
    token: u8,
    token_at: usize,
    reader: &mut Reader<'_>,
    cell: &mut [[u8; C]; C],
) -> Option<()> {
    let is_one_of = |rows: &[usize], row: usize| rows.iter().position(|&r| r == row);
    match token {
        TRIPLE.. => {
            let (_, rows) = TRIPLES.iter().find(|(known, _)| *known == token & !7)?;
            let found = reader.target(token_at, 3 * C)?;
            fill(cell, |row| is_one_of(rows, row).map(|n| &found[n * C..]), reader)
        }
        PAIR..0xc0 => {
            let code = usize::from(token - PAIR);
            let rows =
                if code == 0 { [2, 3] } else { [code >> 5, (code >> 3).wrapping_sub(4 * (code >> 5))] };
            let found = reader.target(token_at, 2 * C)?;
            fill(cell, |row| is_one_of(&rows, row).map(|n| &found[n * C..]), reader)
        }
        0x28..0x40 => {
            let other = usize::from((token - TWO_PAIRS) >> 3);
            let found = reader.target(token_at, 2 * C)?;
            let others = reader.target(token_at, 2 * C)?;
            let (mut first, mut second) = (found.chunks_exact(C), others.chunks_exact(C));
            for (row, bytes) in cell.iter_mut().enumerate() {
                let from = if row == 0 || row == other { &mut first } else { &mut second };
                bytes.copy_from_slice(from.next()?);
            }
            Some(())
        }
        _ => None,
    }
}

/// Reads a cell of 8 rows of which two or three in a row are found elsewhere.
fn rows_of_8<const C: usize>(
    token: u8,
    token_at: usize,
    reader: &mut Reader<'_>,
    cell: &mut [[u8; C]; C],
) -> Option<()> {
    let (first, count) = match token {
        TRIPLE_OF_8..=0xad => (usize::from(token - TRIPLE_OF_8), 3),
        PAIR_OF_8..=0x8e => (usize::from(token - PAIR_OF_8), 2),
        _ => return None,
    };
    let found = reader.target(token_at, count * C)?;
    fill(cell, |row| row.checked_sub(first).filter(|&n| n < count).map(|n| &found[n * C..]), reader)
}

/// Takes each row from where `found` says, or else from the stream.
fn fill<'f, const C: usize>(
    cell: &mut [[u8; C]; C],
    found: impl Fn(usize) -> Option<&'f [u8]>,
    reader: &mut Reader<'_>,
) -> Option<()> {
    for (row, bytes) in cell.iter_mut().enumerate() {
        *bytes = match found(row) {
            Some(found) => *found.first_chunk()?,
            None => *reader.take()?,
        };
    }
    Some(())
}
