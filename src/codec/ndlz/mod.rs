//! NDLZ, the codec for blocks of two dimensions (`codecs.md` 8): the block is cut into cells of 4 x 4 or 8 x 8 bytes,
//! and rows of cells are matched with those of earlier cells.
//!
//! | module | owns |
//! |---|---|
//! | [`mod@format`] | the parts of the format that encoder and decoder share: the header and the tokens |
//! | [`encode`] | the encoder, which finds the same matches as the reference's |
//! | [`decode`] | the decoder, which accepts all streams that the reference's accepts |
//! | [`hash`] | the hash of a piece of a cell |

// Only the encoder has unsafe code: calls of functions compiled for the machine's instructions.

mod decode;
mod encode;
mod format;
mod hash;

#[cfg(test)]
mod tests;

pub(crate) use encode::NdlzTables;

use crate::chunk::Container;
use crate::error::{Result, ensure, err};
use crate::fallible;

/// Compresses `src`, an array's block of bytes in two dimensions, into `dest`, in cells of `cell` (4 or 8) bytes a
/// side. Returns the length of the stream; 0 if it is not shorter than the block.
pub(crate) fn compress(
    tables: &mut Option<NdlzTables>,
    cell: u8,
    container: Option<&Container>,
    src: &[u8],
    dest: &mut [u8],
) -> Result<usize> {
    let dest_len = dest.len();
    let refused = || {
        err!(
            Data,
            "NDLZ: source of {} and destination of {} bytes for {container:?}, \
             expected a block of two dimensions and a destination of at least {} bytes",
            src.len(),
            dest_len,
            format::HEADER_LEN
        )
    };
    ensure!(cell == 4 || cell == 8, Data, "NDLZ: the cell size is {cell}, expected 4 or 8");
    let shape = container.and_then(|c| c.blockshape).filter(|shape| shape.extents().len() == 2);
    let (nbytes, extents) =
        shape.and_then(|shape| shape.checked_extents(1, src.len())).ok_or_else(refused)?;
    if nbytes != src.len() || dest_len < format::HEADER_LEN {
        return Err(refused());
    }
    let shape = [extents[0], extents[1]];
    let tables = fallible::get_or_make(tables, NdlzTables::new)?;
    match cell {
        4 => Ok(encode::encode::<4>(tables, shape, src, dest)),
        _ => Ok(encode::encode::<8>(tables, shape, src, dest)),
    }
}

/// Decompresses a stream in cells of `cell` bytes a side. Returns the number of bytes in the stream's header; 0 if
/// the stream is bad, if the block does not fit, or for a cell other than 4 and 8.
pub(crate) fn decompress(cell: u8, src: &[u8], dest: &mut [u8]) -> usize {
    match cell {
        4 => decode::decode::<4>(src, dest).unwrap_or(0),
        8 => decode::decode::<8>(src, dest).unwrap_or(0),
        _ => 0,
    }
}
