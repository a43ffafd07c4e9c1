//! The expected contents of an array: the bytes of every chunk with their padding, changed by the rules of b2nd.md
//! 2.5, 6.4, 6.7, 6.13 and 6.14 with plain loops. Predicts return codes and destinations.

use super::geometry::{Geometry, add_coords, extents, flat_index, for_each_coord};
use super::known_defects::KnownDefect::{self, *};
use crate::support::calls::DEST_FILL_BYTE;

/// The expected return code, and the expected contents of the destination.
pub type ExpectedRead = (i32, Vec<u8>);

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Model {
    pub geometry: Geometry,
    pub chunks: Vec<Vec<u8>>,
}

/// A box, and its position in a buffer.
#[derive(Clone, Debug)]
pub struct Slice {
    pub start: Vec<i64>,
    pub stop: Vec<i64>,
    pub buffershape: Vec<i64>,
    pub buffersize: i64,
}

impl Slice {
    /// A box with a buffer of exactly its shape.
    pub fn exact(start: Vec<i64>, stop: Vec<i64>, typesize: usize) -> Slice {
        let buffershape = extents(&start, &stop);
        let buffersize = buffershape.iter().product::<i64>() * typesize as i64;
        Slice { start, stop, buffershape, buffersize }
    }

    /// Returns the number of bytes up to the last item of the box in the buffer.
    pub fn min_buffer_bytes(&self, typesize: usize) -> usize {
        let extents = extents(&self.start, &self.stop);
        if extents.iter().any(|&extent| extent <= 0) {
            return 0;
        }
        let last: Vec<i64> = extents.iter().map(|extent| extent - 1).collect();
        (flat_index(&last, &self.buffershape) as usize + 1) * typesize
    }

    /// Returns whether the items are contiguous in the buffer.
    fn is_packed(&self) -> bool {
        let extents = extents(&self.start, &self.stop);
        extents.iter().zip(&self.buffershape).skip(1).all(|(extent, length)| extent == length)
    }
}

impl Model {
    /// An array in which every byte of every chunk is part of the repeated value.
    pub fn full(geometry: Geometry, value: &[u8]) -> Model {
        let chunk: Vec<u8> = value.iter().copied().cycle().take(geometry.chunk_bytes()).collect();
        let chunks = vec![chunk; geometry.nchunks()];
        Model { geometry, chunks }
    }

    pub fn zeros(geometry: Geometry) -> Model {
        let zero = vec![0; geometry.typesize];
        Model::full(geometry, &zero)
    }

    pub fn from_items(geometry: Geometry, items: &[u8]) -> Model {
        let mut model = Model::zeros(geometry);
        let (start, stop) = (vec![0; model.geometry.ndim()], model.geometry.shape.clone());
        let slice = Slice::exact(start, stop, model.geometry.typesize);
        let rc = model.set(&slice, items);
        assert_eq!(rc, Ok(0));
        model
    }

    pub fn item(&self, coords: &[i64]) -> &[u8] {
        let (chunk, at) = self.geometry.chunk_and_offset(coords);
        &self.chunks[chunk][at..at + self.geometry.typesize]
    }

    /// Returns all items in C order.
    pub fn items(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for_each_coord(&self.geometry.shape, |coords| items.extend(self.item(coords)));
        items
    }

    /// Returns the chunks that a box intersects (b2nd.md 6.8), by position in the grid.
    fn intersected_chunks(&self, start: &[i64], stop: &[i64]) -> Vec<Vec<i64>> {
        let g = &self.geometry;
        let mut found = Vec::new();
        if g.nitems() == 0 {
            return found;
        }
        for_each_coord(&g.chunk_grid(), |at| {
            let touches = (0..g.ndim()).all(|dim| {
                let first = at[dim] * g.chunkshape[dim];
                let end = (first + g.chunkshape[dim]).min(g.shape[dim]);
                first < stop[dim] && start[dim] < end
            });
            if touches {
                found.push(at.to_vec());
            }
        });
        found
    }

    pub fn intersected_nchunks(&self, start: &[i64], stop: &[i64]) -> Vec<i64> {
        self.intersected_chunks(start, stop)
            .iter()
            .map(|at| flat_index(at, &self.geometry.chunk_grid()))
            .collect()
    }

    /// The checks of b2nd.md 6.4 in their order; `Ok(false)`: nothing to transfer.
    fn check_slice(&self, slice: &Slice) -> Result<bool, i32> {
        let g = &self.geometry;
        if g.ndim() == 0 {
            return Ok(true);
        }
        if g.nitems() == 0 {
            return Ok(false);
        }
        let extents = extents(&slice.start, &slice.stop);
        if extents.iter().zip(&slice.buffershape).any(|(extent, length)| extent > length) {
            return Err(-12);
        }
        if slice.buffersize < extents.iter().product::<i64>() * g.typesize as i64 {
            return Err(-12);
        }
        Ok(true)
    }

    /// Predicts a read into a destination of `room` bytes.
    pub fn get(&self, slice: &Slice, room: usize) -> Result<ExpectedRead, KnownDefect> {
        let g = &self.geometry;
        let mut dest = vec![DEST_FILL_BYTE; room];
        if slice.buffersize < 0 {
            return Ok((-12, dest));
        }
        dest[..slice.buffersize as usize].fill(0);
        match self.check_slice(slice) {
            Err(code) => return Ok((code, dest)),
            Ok(false) => return Ok((0, dest)),
            Ok(true) => {}
        }
        let whole = g.ndim() > 0 && g.is_whole_chunk(&slice.start, &slice.stop);
        if whole && !slice.is_packed() {
            return Err(WholeChunkBuffershape);
        }
        for_each_coord(&extents(&slice.start, &slice.stop), |m| {
            let coords = add_coords(&slice.start, m);
            let inside = coords.iter().zip(&g.shape).all(|(coord, length)| coord < length);
            if inside || whole {
                let at = flat_index(m, &slice.buffershape) as usize * g.typesize;
                dest[at..at + g.typesize].copy_from_slice(self.item(&coords));
            }
        });
        Ok((0, dest))
    }

    /// Predicts a write.
    pub fn set(&mut self, slice: &Slice, items: &[u8]) -> Result<i32, KnownDefect> {
        if slice.buffersize < 0 {
            return Ok(-12);
        }
        match self.check_slice(slice) {
            Err(code) => return Ok(code),
            Ok(false) => return Ok(0),
            Ok(true) => {}
        }
        let g = self.geometry.clone();
        let whole = g.ndim() > 0 && g.is_whole_chunk(&slice.start, &slice.stop);
        if whole && !slice.is_packed() {
            return Err(WholeChunkBuffershape);
        }
        for at in self.intersected_chunks(&slice.start, &slice.stop) {
            let covered = (0..g.ndim()).all(|dim| {
                let first = at[dim] * g.chunkshape[dim];
                let end = (first + g.chunkshape[dim]).min(g.shape[dim]);
                slice.start[dim] <= first && end <= slice.stop[dim]
            });
            if covered {
                self.chunks[flat_index(&at, &g.chunk_grid()) as usize].fill(0);
            }
        }
        for_each_coord(&extents(&slice.start, &slice.stop), |m| {
            let coords = add_coords(&slice.start, m);
            let inside = coords.iter().zip(&g.shape).all(|(coord, length)| coord < length);
            if inside || whole {
                let from = flat_index(m, &slice.buffershape) as usize * g.typesize;
                let (chunk, at) = g.chunk_and_offset(&coords);
                self.chunks[chunk][at..at + g.typesize].copy_from_slice(&items[from..from + g.typesize]);
            }
        });
        Ok(0)
    }

    /// Predicts an orthogonal read into a destination of `room` bytes (b2nd.md 6.7).
    pub fn get_orthogonal(
        &self,
        selection: &[Vec<i64>],
        buffershape: &[i64],
        room: usize,
        buffersize: i64,
    ) -> ExpectedRead {
        let g = &self.geometry;
        let mut dest = vec![DEST_FILL_BYTE; room];
        let code = self.check_selection(selection, buffersize);
        if code < 0 {
            return (code, dest);
        }
        let sizes: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
        for_each_coord(&sizes, |m| {
            let coords: Vec<i64> = m.iter().zip(selection).map(|(&m, list)| list[m as usize]).collect();
            let at = flat_index(m, buffershape) as usize * g.typesize;
            dest[at..at + g.typesize].copy_from_slice(self.item(&coords));
        });
        (0, dest)
    }

    fn check_selection(&self, selection: &[Vec<i64>], buffersize: i64) -> i32 {
        let shape = &self.geometry.shape;
        if selection.iter().zip(shape).any(|(list, length)| list.iter().any(|value| value > length)) {
            return -33;
        }
        let items: usize = selection.iter().map(Vec::len).product();
        if ((items * self.geometry.typesize) as i64) < buffersize { -12 } else { 0 }
    }

    /// Predicts an orthogonal write: in each dimension the last of equal coordinates takes effect.
    pub fn set_orthogonal(
        &mut self,
        selection: &[Vec<i64>],
        items: &[u8],
        buffershape: &[i64],
        buffersize: i64,
    ) -> i32 {
        let code = self.check_selection(selection, buffersize);
        if code < 0 {
            return code;
        }
        let g = self.geometry.clone();
        let sizes: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
        for_each_coord(&sizes, |m| {
            let wins =
                m.iter().zip(selection).all(|(&m, list)| !list[m as usize + 1..].contains(&list[m as usize]));
            if wins {
                let coords: Vec<i64> = m.iter().zip(selection).map(|(&m, list)| list[m as usize]).collect();
                let from = flat_index(m, buffershape) as usize * g.typesize;
                let (chunk, at) = g.chunk_and_offset(&coords);
                self.chunks[chunk][at..at + g.typesize].copy_from_slice(&items[from..from + g.typesize]);
            }
        });
        0
    }

    /// Predicts a read of items by flat positions (b2nd.md 6.6).
    pub fn get_sparse(&self, coords: &[i64], room: usize, buffersize: i64) -> ExpectedRead {
        let g = &self.geometry;
        let mut dest = vec![DEST_FILL_BYTE; room];
        if coords.is_empty() {
            return (0, dest);
        }
        if buffersize < (coords.len() * g.typesize) as i64 || g.ndim() == 0 {
            return (-12, dest);
        }
        if coords.iter().any(|coord| !(0..g.nitems()).contains(coord)) {
            return (-12, dest);
        }
        for (at, &coord) in coords.iter().enumerate() {
            let mut rest = coord;
            let mut position = vec![0; g.ndim()];
            for dim in (0..g.ndim()).rev() {
                position[dim] = rest % g.shape[dim];
                rest /= g.shape[dim];
            }
            dest[at * g.typesize..(at + 1) * g.typesize].copy_from_slice(self.item(&position));
        }
        (0, dest)
    }

    /// Predicts a change of the shape (b2nd.md 6.14).
    pub fn resize(&mut self, shape: &[i64], start: Option<&[i64]>) -> Result<i32, KnownDefect> {
        let g = self.geometry.clone();
        let old = &g.shape;
        if let Some(start) = start {
            for dim in 0..g.ndim() {
                if start[dim] > old[dim] {
                    return Ok(-12);
                }
                let grows = shape[dim] > old[dim] && start[dim] != old[dim];
                let shrinks = shape[dim] < old[dim] && start[dim] + old[dim] - shape[dim] != old[dim];
                if !grows && !shrinks {
                    continue;
                }
                if g.chunkshape[dim] == 0 {
                    return Err(DivisionByZero);
                }
                if start[dim] % g.chunkshape[dim] != 0 || (shape[dim] - old[dim]) % g.chunkshape[dim] != 0 {
                    return Ok(-12);
                }
                if shrinks && start[dim] + old[dim] - shape[dim] > old[dim] {
                    return Err(DeletePastEnd);
                }
            }
        }
        if shape.iter().any(|&length| length < 0) {
            return Ok(-12);
        }
        let smaller: Vec<i64> = old.iter().zip(shape).map(|(&old, &new)| old.min(new)).collect();
        if shape != old && g.chunkshape.contains(&0) {
            // Also when shrinking, which the document does not state.
            return Err(DivisionByZero);
        }
        if smaller != *old {
            let mut kept = Vec::new();
            let first = start.unwrap_or(&smaller);
            if g.nitems() > 0 {
                for_each_coord(&g.chunk_grid(), |at| {
                    let goes = (0..g.ndim()).any(|dim| {
                        let position = at[dim] * g.chunkshape[dim];
                        first[dim] <= position && position < first[dim] + old[dim] - smaller[dim]
                    });
                    if !goes {
                        kept.push(self.chunks[flat_index(at, &g.chunk_grid()) as usize].clone());
                    }
                });
            }
            self.chunks = kept;
            self.geometry.shape = smaller.clone();
        }
        if smaller != shape {
            self.geometry.shape = shape.to_vec();
            let first = start.unwrap_or(&smaller);
            let needed = self.geometry.nchunks();
            if needed != self.chunks.len() {
                let zero = vec![0; g.chunk_bytes()];
                let mut number = 0;
                let chunks = &mut self.chunks;
                for_each_coord(&self.geometry.chunk_grid(), |at| {
                    let comes = (0..g.ndim()).any(|dim| {
                        let position = at[dim] * g.chunkshape[dim];
                        first[dim] <= position && position < first[dim] + shape[dim] - smaller[dim]
                    });
                    if comes {
                        chunks.insert(number, zero.clone());
                    }
                    number += 1;
                });
            }
        }
        assert_eq!(
            self.chunks.len(),
            self.geometry.nchunks(),
            "numbers of chunks of the model (left) and of its geometry (right)"
        );
        Ok(0)
    }

    /// Returns the size in bytes of a slab that is one item thick along `axis`.
    pub fn slab_bytes(&self, axis: usize) -> i64 {
        let others = self.geometry.shape.iter().enumerate().filter(|&(dim, _)| dim != axis);
        others.map(|(_, length)| length).product::<i64>() * self.geometry.typesize as i64
    }

    pub fn insert(&mut self, items: &[u8], axis: usize, at: i64) -> Result<i32, KnownDefect> {
        if axis >= self.geometry.ndim() {
            return Ok(-12);
        }
        let slab = self.slab_bytes(axis);
        if slab == 0 {
            return Err(DivisionByZero);
        }
        if items.len() as i64 % slab != 0 {
            return Ok(-12);
        }
        let count = items.len() as i64 / slab;
        let old = self.geometry.shape.clone();
        let mut shape = old.clone();
        shape[axis] += count;
        let mut start = vec![0; old.len()];
        start[axis] = at;
        let code = self.resize(&shape, (at != old[axis]).then_some(&start))?;
        if code < 0 {
            return Ok(code);
        }
        let mut stop = old;
        stop[axis] = at + count;
        let slice = Slice::exact(start, stop, self.geometry.typesize);
        self.set(&slice, items)
    }

    pub fn append(&mut self, items: &[u8], axis: usize) -> Result<i32, KnownDefect> {
        let g = &self.geometry;
        if g.chunkshape.contains(&0) {
            return Err(DivisionByZero);
        }
        let flat = g.chunkshape.iter().zip(&g.blockshape).skip(1).all(|(chunk, block)| chunk == block);
        if axis == 0 && flat && items.len() == g.chunk_bytes() {
            let right = g.ndim() > 0
                && g.chunkshape[0] != 0
                && g.shape[0] % g.chunkshape[0] == 0
                && g.chunkshape[0] % g.blockshape[0] == 0
                && g.shape.iter().zip(&g.chunkshape).skip(1).all(|(length, chunk)| length == chunk);
            if !right {
                return Err(AppendAccelerated);
            }
        }
        let Some(&end) = g.shape.get(axis) else { return Ok(-12) };
        self.insert(items, axis, end)
    }

    pub fn delete(&mut self, axis: usize, at: i64, count: i64) -> Result<i32, KnownDefect> {
        let old = self.geometry.shape.clone();
        if axis >= old.len() {
            return Ok(-12);
        }
        let mut shape = old.clone();
        shape[axis] -= count;
        let mut start = vec![0; old.len()];
        start[axis] = at;
        self.resize(&shape, (at != old[axis] - count).then_some(&start))
    }

    /// Returns the same items with other partitions: a copy that is made item by item.
    pub fn copy_box(&self, geometry: Geometry, start: &[i64]) -> Model {
        let mut items = Vec::new();
        for_each_coord(&geometry.shape, |coords| items.extend(self.item(&add_coords(start, coords))));
        Model::from_items(geometry, &items)
    }

    /// Returns this array with the partitions of another geometry (b2nd.md 6.12).
    pub fn with_partitions(&self, chunk: &[i64], block: &[i64]) -> Model {
        let g = &self.geometry;
        if g.chunkshape == chunk && g.blockshape == block {
            return self.clone();
        }
        let geometry = Geometry { chunkshape: chunk.to_vec(), blockshape: block.to_vec(), ..g.clone() };
        self.copy_box(geometry, &vec![0; g.ndim()])
    }

    /// Appends `second` to this array, which is a copy of `first` (b2nd.md 6.13).
    pub fn extend(&mut self, first: &Geometry, second: &Model, axis: usize) -> Result<i32, KnownDefect> {
        let (from, old) = (&second.geometry, self.geometry.shape.clone());
        if self.geometry.chunkshape.contains(&0) {
            // Even if nothing is added.
            return Err(DivisionByZero);
        }
        let mut shape = old.clone();
        shape[axis] += from.shape[axis];
        let whole = old[axis] % self.geometry.chunkshape[axis] == 0;
        let blocks = from.blockshape == self.geometry.blockshape && whole;
        let verbatim = first.chunkshape == from.chunkshape && blocks;
        if verbatim != (self.geometry.chunkshape == from.chunkshape && blocks) {
            return Err(ConcatenateAlignment);
        }
        let code = self.resize(&shape, None)?;
        if code < 0 {
            return Ok(code);
        }
        let grid = self.geometry.chunk_grid();
        let mut defect = None;
        let mut places = Vec::new();
        if from.nitems() > 0 {
            for_each_coord(&from.chunk_grid(), |at| places.push(at.to_vec()));
        }
        for (number, at) in places.iter().enumerate() {
            if verbatim {
                let mut to = at.clone();
                to[axis] += old[axis] / self.geometry.chunkshape[axis];
                self.chunks[flat_index(&to, &grid) as usize] = second.chunks[number].clone();
                continue;
            }
            let start: Vec<i64> = at.iter().zip(&from.chunkshape).map(|(at, chunk)| at * chunk).collect();
            let stop: Vec<i64> = add_coords(&start, &from.chunkshape)
                .iter()
                .zip(&from.shape)
                .map(|(&stop, &end)| stop.min(end))
                .collect();
            let buffersize = second.chunks[number].len() as i64;
            let read = Slice { start, stop, buffershape: from.chunkshape.clone(), buffersize };
            let (_, items) = second.get(&read, buffersize as usize)?;
            let mut write = read;
            write.start[axis] += old[axis];
            write.stop[axis] += old[axis];
            defect = self.set(&write, &items).err().or(defect);
        }
        defect.map_or(Ok(0), Err)
    }
}
