//! The items of a part of an array as a stream, in C order.

use crate::boxes::{BOX_NBYTES, Boxes, box_nbytes};
use crate::ranges::Selection;
use blosc2::AnyArray;
use std::io::{self, BufRead, Read};
use std::ops::Range;

/// Size in bytes of the items that are selected by lists of positions at once: a list has 8 bytes for each position.
const SELECTED_NBYTES: u64 = 4 << 20;

/// The bytes of the items of a part of an array, as [`Read`] and [`BufRead`], whose pieces are whole items.
pub(crate) struct ArrayReader<'a> {
    array: &'a AnyArray,
    boxes: Boxes,
    /// A part without ranges, whose boxes are numbers of positions.
    positions: Option<&'a Selection>,
    /// The items of a box; the memory is used again for the next.
    items: Vec<u8>,
    /// Number of bytes of `items` that were consumed.
    position: usize,
}

impl<'a> ArrayReader<'a> {
    /// Returns the items of a part of the array.
    pub(crate) fn new(array: &'a AnyArray, selection: &'a Selection) -> ArrayReader<'a> {
        match selection.ranges() {
            Some(ranges) => ArrayReader::of_ranges(array, &ranges),
            None => {
                let counts = selection.counts();
                let boxes = Boxes::in_order(&counts, array.chunkshape(), array.typesize(), SELECTED_NBYTES);
                ArrayReader { array, boxes, positions: Some(selection), items: Vec::new(), position: 0 }
            }
        }
    }

    /// Returns all items.
    pub(crate) fn of_array(array: &'a AnyArray) -> ArrayReader<'a> {
        let whole: Vec<Range<u64>> = array.shape().iter().map(|&extent| 0..extent).collect();
        ArrayReader::of_ranges(array, &whole)
    }

    fn of_ranges(array: &'a AnyArray, ranges: &[Range<u64>]) -> ArrayReader<'a> {
        let boxes = Boxes::in_order(ranges, array.chunkshape(), array.typesize(), BOX_NBYTES);
        ArrayReader { array, boxes, positions: None, items: Vec::new(), position: 0 }
    }
}

/// Reads the items of a box into `dest`, which gets their length.
pub(crate) fn read_box(array: &AnyArray, current: &[Range<u64>], dest: &mut Vec<u8>) -> io::Result<()> {
    resize_to_box(dest, current, array.typesize())?;
    Ok(array.read_bytes_into(current, dest)?)
}

/// Gives `dest` the length of the items of a box.
pub(crate) fn resize_to_box(dest: &mut Vec<u8>, current: &[Range<u64>], typesize: usize) -> io::Result<()> {
    let len = box_nbytes(current, typesize)
        .map_err(|message| io::Error::new(io::ErrorKind::OutOfMemory, message))?;
    resize(dest, len)
}

/// Gives `dest` a length in bytes.
pub(crate) fn resize(dest: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let additional = len.saturating_sub(dest.len());
    dest.try_reserve_exact(additional)
        .map_err(|_| io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for {len} bytes")))?;
    dest.resize(len, 0);
    Ok(())
}

impl BufRead for ArrayReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position == self.items.len()
            && let Some(current) = self.boxes.next()
        {
            match self.positions {
                None => read_box(self.array, &current, &mut self.items)?,
                Some(selection) => self.items = self.array.select_bytes(&selection.positions(&current))?,
            }
            self.position = 0;
        }
        Ok(&self.items[self.position..])
    }

    fn consume(&mut self, amount: usize) {
        self.position = (self.position + amount).min(self.items.len());
    }
}

impl Read for ArrayReader<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let len = rest.len().min(dest.len());
        dest[..len].copy_from_slice(&rest[..len]);
        self.consume(len);
        Ok(len)
    }
}
