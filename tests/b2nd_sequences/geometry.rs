//! The geometry of an array by the formulas of b2nd.md 2, with plain loops and without a library.

use crate::support::array::ArraySpec;

/// Shape, chunkshape, blockshape and the size of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub shape: Vec<i64>,
    pub chunkshape: Vec<i64>,
    pub blockshape: Vec<i64>,
    pub typesize: usize,
}

/// Rounds `length` up to a multiple of `step`; returns 0 for a step of 0.
fn round_up(length: i64, step: i64) -> i64 {
    if step == 0 { 0 } else { (length + step - 1) / step * step }
}

/// Returns the position in C order.
pub fn flat_index(coords: &[i64], shape: &[i64]) -> i64 {
    let mut index = 0;
    for (coord, length) in coords.iter().zip(shape) {
        index = index * length + coord;
    }
    index
}

/// Calls `call` with every coordinate of a shape, in C order.
pub fn for_each_coord(shape: &[i64], mut call: impl FnMut(&[i64])) {
    if shape.contains(&0) {
        return;
    }
    let mut at = vec![0; shape.len()];
    loop {
        call(&at);
        let mut dim = shape.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            at[dim] += 1;
            if at[dim] < shape[dim] {
                break;
            }
            at[dim] = 0;
        }
    }
}

/// Returns the sum of two coordinates.
pub fn add_coords(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Returns the extents of a box.
pub fn extents(start: &[i64], stop: &[i64]) -> Vec<i64> {
    start.iter().zip(stop).map(|(start, stop)| stop - start).collect()
}

impl Geometry {
    pub fn of(spec: &ArraySpec) -> Geometry {
        Geometry {
            shape: spec.shape.clone(),
            chunkshape: spec.chunkshape.iter().map(|&length| i64::from(length)).collect(),
            blockshape: spec.blockshape.iter().map(|&length| i64::from(length)).collect(),
            typesize: spec.params.typesize as usize,
        }
    }

    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    pub fn extshape(&self) -> Vec<i64> {
        self.shape.iter().zip(&self.chunkshape).map(|(&length, &chunk)| round_up(length, chunk)).collect()
    }

    pub fn extchunkshape(&self) -> Vec<i64> {
        self.chunkshape
            .iter()
            .zip(&self.blockshape)
            .map(|(&chunk, &block)| if chunk == 0 { 0 } else { round_up(chunk, block) })
            .collect()
    }

    /// Returns the number of chunks in each dimension.
    pub fn chunk_grid(&self) -> Vec<i64> {
        let ext = self.extshape();
        ext.iter()
            .zip(&self.chunkshape)
            .map(|(ext, &chunk)| if chunk == 0 { 0 } else { ext / chunk })
            .collect()
    }

    /// Returns the number of blocks of a chunk in each dimension.
    pub fn block_grid(&self) -> Vec<i64> {
        let ext = self.extchunkshape();
        ext.iter()
            .zip(&self.blockshape)
            .map(|(ext, &block)| if block == 0 { 0 } else { ext / block })
            .collect()
    }

    pub fn nitems(&self) -> i64 {
        self.shape.iter().product()
    }

    pub fn nbytes(&self) -> usize {
        self.nitems() as usize * self.typesize
    }

    /// Returns the size of a chunk with its padding, in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.extchunkshape().iter().product::<i64>() as usize * self.typesize
    }

    pub fn nchunks(&self) -> usize {
        if self.nitems() == 0 { 0 } else { self.chunk_grid().iter().product::<i64>() as usize }
    }

    /// Returns the number of the chunk and the byte offset in it (b2nd.md 2.4), for coordinates below the extended
    /// shape.
    pub fn chunk_and_offset(&self, coords: &[i64]) -> (usize, usize) {
        let mut chunk = Vec::new();
        let mut block = Vec::new();
        let mut item = Vec::new();
        for (dim, &coord) in coords.iter().enumerate() {
            chunk.push(coord / self.chunkshape[dim]);
            block.push(coord % self.chunkshape[dim] / self.blockshape[dim]);
            item.push(coord % self.chunkshape[dim] % self.blockshape[dim]);
        }
        let items_of_block: i64 = self.blockshape.iter().product();
        let position =
            flat_index(&block, &self.block_grid()) * items_of_block + flat_index(&item, &self.blockshape);
        (flat_index(&chunk, &self.chunk_grid()) as usize, position as usize * self.typesize)
    }

    /// Returns whether a box is a chunk whose bytes are those of the box (b2nd.md 6.4).
    pub fn is_whole_chunk(&self, start: &[i64], stop: &[i64]) -> bool {
        for dim in 0..self.ndim() {
            let chunk = self.chunkshape[dim];
            if chunk == 0
                || start[dim] % chunk != 0
                || stop[dim] - start[dim] != chunk
                || chunk % self.blockshape[dim] != 0
            {
                return false;
            }
        }
        let first = self.blockshape.iter().position(|&length| length != 1).unwrap_or(self.ndim());
        (first + 1..self.ndim()).all(|dim| self.blockshape[dim] == self.chunkshape[dim])
    }

    /// Returns the content of the metalayer (b2nd.md 3).
    pub fn metalayer_bytes(&self, dtype: &[u8], format: i8) -> Vec<u8> {
        let ndim = self.ndim() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90u8.wrapping_add(ndim)];
        for length in &self.shape {
            bytes.push(0xD3);
            bytes.extend(length.to_be_bytes());
        }
        for lengths in [&self.chunkshape, &self.blockshape] {
            bytes.push(0x90u8.wrapping_add(ndim));
            for &length in lengths {
                bytes.push(0xD2);
                bytes.extend((length as i32).to_be_bytes());
            }
        }
        bytes.extend([format as u8, 0xDB]);
        bytes.extend((dtype.len() as i32).to_be_bytes());
        bytes.extend(dtype);
        bytes
    }
}
