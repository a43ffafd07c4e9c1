//! The geometry of an array by the formulas of b2nd.md 2, with plain loops and without a library.

use crate::support::array::Spec;

/// Shape, chunkshape, blockshape and the size of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub shape: Vec<i64>,
    pub chunk: Vec<i64>,
    pub block: Vec<i64>,
    pub typesize: usize,
}

/// Rounds `length` up to a multiple of `step`; returns 0 for a step of 0.
fn rounded(length: i64, step: i64) -> i64 {
    if step == 0 { 0 } else { (length + step - 1) / step * step }
}

/// Returns the position in C order.
pub fn index_of(coords: &[i64], shape: &[i64]) -> i64 {
    let mut index = 0;
    for (coord, length) in coords.iter().zip(shape) {
        index = index * length + coord;
    }
    index
}

/// Calls `call` with every coordinate of a shape, in C order.
pub fn each(shape: &[i64], mut call: impl FnMut(&[i64])) {
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
pub fn plus(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Returns the extents of a box.
pub fn extents(start: &[i64], stop: &[i64]) -> Vec<i64> {
    start.iter().zip(stop).map(|(start, stop)| stop - start).collect()
}

impl Geometry {
    pub fn of(spec: &Spec) -> Geometry {
        Geometry {
            shape: spec.shape.clone(),
            chunk: spec.chunkshape.iter().map(|&length| i64::from(length)).collect(),
            block: spec.blockshape.iter().map(|&length| i64::from(length)).collect(),
            typesize: spec.params.typesize as usize,
        }
    }

    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    pub fn extshape(&self) -> Vec<i64> {
        self.shape.iter().zip(&self.chunk).map(|(&length, &chunk)| rounded(length, chunk)).collect()
    }

    pub fn extchunk(&self) -> Vec<i64> {
        self.chunk
            .iter()
            .zip(&self.block)
            .map(|(&chunk, &block)| if chunk == 0 { 0 } else { rounded(chunk, block) })
            .collect()
    }

    /// Returns the number of chunks in each dimension.
    pub fn grid(&self) -> Vec<i64> {
        let ext = self.extshape();
        ext.iter().zip(&self.chunk).map(|(ext, &chunk)| if chunk == 0 { 0 } else { ext / chunk }).collect()
    }

    /// Returns the number of blocks of a chunk in each dimension.
    pub fn blocks(&self) -> Vec<i64> {
        let ext = self.extchunk();
        ext.iter().zip(&self.block).map(|(ext, &block)| if block == 0 { 0 } else { ext / block }).collect()
    }

    pub fn nitems(&self) -> i64 {
        self.shape.iter().product()
    }

    pub fn nbytes(&self) -> usize {
        self.nitems() as usize * self.typesize
    }

    /// Returns the size of a chunk with its padding, in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.extchunk().iter().product::<i64>() as usize * self.typesize
    }

    pub fn nchunks(&self) -> usize {
        if self.nitems() == 0 { 0 } else { self.grid().iter().product::<i64>() as usize }
    }

    /// Returns the number of the chunk and the byte offset in it (b2nd.md 2.4), for coordinates below the extended
    /// shape.
    pub fn place(&self, coords: &[i64]) -> (usize, usize) {
        let mut chunk = Vec::new();
        let mut block = Vec::new();
        let mut item = Vec::new();
        for (dim, &coord) in coords.iter().enumerate() {
            chunk.push(coord / self.chunk[dim]);
            block.push(coord % self.chunk[dim] / self.block[dim]);
            item.push(coord % self.chunk[dim] % self.block[dim]);
        }
        let items_of_block: i64 = self.block.iter().product();
        let position = index_of(&block, &self.blocks()) * items_of_block + index_of(&item, &self.block);
        (index_of(&chunk, &self.grid()) as usize, position as usize * self.typesize)
    }

    /// Returns whether a box is a chunk whose bytes are those of the box (b2nd.md 6.4).
    pub fn is_whole_chunk(&self, start: &[i64], stop: &[i64]) -> bool {
        for dim in 0..self.ndim() {
            let chunk = self.chunk[dim];
            if chunk == 0
                || start[dim] % chunk != 0
                || stop[dim] - start[dim] != chunk
                || chunk % self.block[dim] != 0
            {
                return false;
            }
        }
        let first = self.block.iter().position(|&length| length != 1).unwrap_or(self.ndim());
        (first + 1..self.ndim()).all(|dim| self.block[dim] == self.chunk[dim])
    }

    /// Returns the content of the metalayer (b2nd.md 3).
    pub fn metalayer(&self, dtype: &[u8], format: i8) -> Vec<u8> {
        let ndim = self.ndim() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90u8.wrapping_add(ndim)];
        for length in &self.shape {
            bytes.push(0xD3);
            bytes.extend(length.to_be_bytes());
        }
        for lengths in [&self.chunk, &self.block] {
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
