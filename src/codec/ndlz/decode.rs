//! The decoder (`codecs.md` 8.3).
//!
//! Streams are untrusted: every piece is checked to lie in the stream, and every row in the block.

#![forbid(unsafe_code)]

use super::format::{
    HEADER_LEN, NDIM, ROW_TRIPLES_4, TOKEN_CONSTANT, TOKEN_LITERAL, TOKEN_MATCHED_CELL, TOKEN_PAIR_4,
    TOKEN_PAIR_8, TOKEN_TRIPLE_4, TOKEN_TRIPLE_8, TOKEN_TWO_PAIRS_4,
};

/// A stream and the current read position.
struct Reader<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn read_array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let bytes = self.stream.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(bytes)
    }

    fn read_slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.stream.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    /// Reads an offset, which counts back from the token at `token`, and returns the `len` bytes there.
    fn read_match(&mut self, token: usize, len: usize) -> Option<&'a [u8]> {
        let offset = usize::from(u16::from_le_bytes(*self.read_array()?));
        let start = token.checked_sub(offset)?;
        self.stream.get(start..start + len)
    }
}

/// Decodes a stream in cells of `C` bytes a side, 4 or 8. Returns the size of the block, or `None` for a bad stream.
pub(super) fn decode<const C: usize>(stream: &[u8], dest: &mut [u8]) -> Option<usize> {
    let mut reader = Reader { stream, at: 0 };
    let header: &[u8; HEADER_LEN] = reader.read_array()?;
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
    let [_, width] = shape;
    for band in dest[..nbytes].chunks_mut(C * width) {
        let whole = if band.len() == C * width { width / C } else { 0 };
        if whole > 0 {
            decode_whole_cells::<C>(&mut reader, band, width, whole)?;
        }
        for left in (whole * C..width).step_by(C) {
            decode_edge_cell::<C>(&mut reader, band, width, left)?;
        }
    }
    Some(nbytes)
}

/// Decodes the first `count` cells of a band of `C` rows of `width` bytes, none of which is at an edge.
#[inline(always)]
fn decode_whole_cells<const C: usize>(
    reader: &mut Reader<'_>,
    band: &mut [u8],
    width: usize,
    count: usize,
) -> Option<()> {
    let mut lines = band.chunks_exact_mut(width);
    let mut lines: [&mut [[u8; C]]; C] =
        std::array::from_fn(|_| lines.next().map_or(&mut [][..], |line| line.as_chunks_mut().0));
    let mut buffer = [[0; C]; C];
    for at in 0..count {
        let cell = read_cell(reader, C * C, &mut buffer)?;
        for (line, row) in lines.iter_mut().zip(cell.as_chunks().0) {
            line[at] = *row;
        }
    }
    Some(())
}

/// Reads the first `len` bytes of a cell, whose rows follow each other without gaps: from the stream, or from `buffer`.
#[inline(always)]
fn read_cell<'b, 'r: 'b, const C: usize>(
    reader: &mut Reader<'r>,
    len: usize,
    buffer: &'b mut [[u8; C]; C],
) -> Option<&'b [u8]> {
    let token_at = reader.at;
    let [token] = *reader.read_array()?;
    match token {
        TOKEN_LITERAL => return reader.read_slice(len),
        TOKEN_MATCHED_CELL => return reader.read_match(token_at, len),
        TOKEN_CONSTANT => {
            let [byte] = *reader.read_array()?;
            *buffer = [[byte; C]; C];
        }
        // Some rows are earlier in the stream.
        _ if C == 4 => decode_row_matches_4(token, token_at, reader, buffer)?,
        _ => decode_row_matches_8(token, token_at, reader, buffer)?,
    }
    Some(&buffer.as_flattened()[..len])
}

/// Decodes the cell at column `left` of a band of up to `C` rows of `width` bytes. The cell may have fewer rows and
/// columns than others.
fn decode_edge_cell<const C: usize>(
    reader: &mut Reader<'_>,
    band: &mut [u8],
    width: usize,
    left: usize,
) -> Option<()> {
    let columns = C.min(width - left);
    let len = band.len() / width * columns;
    let mut buffer = [[0; C]; C];
    let bytes = read_cell(reader, len, &mut buffer)?;
    for (line, row) in band.chunks_exact_mut(width).zip(bytes.chunks_exact(columns)) {
        line[left..left + columns].copy_from_slice(row);
    }
    Some(())
}

/// Reads a cell of 4 rows of which some are earlier in the stream. Like the reference, ignores bits of tokens that no
/// encoder sets, and accepts pairs of rows in any order.
fn decode_row_matches_4<const C: usize>(
    token: u8,
    token_at: usize,
    reader: &mut Reader<'_>,
    cell: &mut [[u8; C]; C],
) -> Option<()> {
    let is_one_of = |rows: &[usize], row: usize| rows.iter().position(|&r| r == row);
    match token {
        TOKEN_TRIPLE_4.. => {
            let (_, rows) = ROW_TRIPLES_4.iter().find(|(known, _)| *known == token & !7)?;
            let found = reader.read_match(token_at, 3 * C)?;
            fill_rows(cell, |row| is_one_of(rows, row).map(|n| &found[n * C..]), reader)
        }
        TOKEN_PAIR_4..0xc0 => {
            let code = usize::from(token - TOKEN_PAIR_4);
            let rows =
                if code == 0 { [2, 3] } else { [code >> 5, (code >> 3).wrapping_sub(4 * (code >> 5))] };
            let found = reader.read_match(token_at, 2 * C)?;
            fill_rows(cell, |row| is_one_of(&rows, row).map(|n| &found[n * C..]), reader)
        }
        0x28..0x40 => {
            let other = usize::from((token - TOKEN_TWO_PAIRS_4) >> 3);
            let found = reader.read_match(token_at, 2 * C)?;
            let others = reader.read_match(token_at, 2 * C)?;
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

/// Reads a cell of 8 rows of which two or three consecutive ones are earlier in the stream.
fn decode_row_matches_8<const C: usize>(
    token: u8,
    token_at: usize,
    reader: &mut Reader<'_>,
    cell: &mut [[u8; C]; C],
) -> Option<()> {
    let (first, count) = match token {
        TOKEN_TRIPLE_8..=0xad => (usize::from(token - TOKEN_TRIPLE_8), 3),
        TOKEN_PAIR_8..=0x8e => (usize::from(token - TOKEN_PAIR_8), 2),
        _ => return None,
    };
    let found = reader.read_match(token_at, count * C)?;
    fill_rows(cell, |row| row.checked_sub(first).filter(|&n| n < count).map(|n| &found[n * C..]), reader)
}

/// Fills each row with the bytes that `found` returns for it, or else with the next bytes of the stream.
fn fill_rows<'f, const C: usize>(
    cell: &mut [[u8; C]; C],
    found: impl Fn(usize) -> Option<&'f [u8]>,
    reader: &mut Reader<'_>,
) -> Option<()> {
    for (row, bytes) in cell.iter_mut().enumerate() {
        *bytes = match found(row) {
            Some(found) => *found.first_chunk()?,
            None => *reader.read_array()?,
        };
    }
    Some(())
}
