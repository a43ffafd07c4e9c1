//! A NumPy file, or a file of raw items with a shape and a type, whose parts are read.

use crate::array_reader::resize_to_box;
use crate::boxes::{for_each_run, from_fortran_order};
use crate::error::{Failure, WithPath};
use crate::npy::Header;
use crate::source::Bytes;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// An open file.
pub(crate) struct NpyFile<'a> {
    /// For errors.
    path: &'a Path,
    file: Bytes,
    pub header: Header,
    /// Offset of the first item in bytes.
    offset: u64,
    /// Items in Fortran order, before they are copied; the memory is used again.
    spare: Vec<u8>,
}

impl<'a> NpyFile<'a> {
    /// Reads the header of a file, unless it is `given` for a file without one, and checks that the file has the length that
    /// it states. `path` is the name in errors.
    pub(crate) fn new(
        mut file: Bytes,
        path: &'a Path,
        given: Option<Header>,
    ) -> Result<NpyFile<'a>, Failure> {
        let (header, offset) = match given {
            Some(header) => (header, 0),
            None => {
                Header::read(&mut BufReader::new(&mut file)).map_err(|error| Failure::file(path, error))?
            }
        };
        let expected = header.nbytes().map_err(|error| Failure::file(path, error))?;
        let found = file.len().with_path(path)?.saturating_sub(offset);
        if found != expected {
            return Err(Failure::file(
                path,
                format!(
                    "{found} bytes of items, expected {expected} for the shape {:?} and the type {}",
                    header.shape, header.dtype
                ),
            ));
        }
        Ok(NpyFile { path, file, header, offset, spare: Vec::new() })
    }

    /// Reads the items of a box into `dest`, in C order.
    pub(crate) fn read_box(&mut self, current: &[Range<u64>], dest: &mut Vec<u8>) -> Result<(), Failure> {
        let typesize = self.header.dtype.size();
        resize_to_box(dest, current, typesize).with_path(self.path)?;
        if !self.header.fortran_order {
            return self.read_runs(&self.header.shape.clone(), current, dest);
        }
        // In Fortran order, the file is in C order with the dimensions reversed.
        let shape: Vec<u64> = self.header.shape.iter().rev().copied().collect();
        let reversed: Vec<Range<u64>> = current.iter().rev().cloned().collect();
        let mut spare = std::mem::take(&mut self.spare);
        resize_to_box(&mut spare, current, typesize).with_path(self.path)?;
        self.read_runs(&shape, &reversed, &mut spare)?;
        from_fortran_order(&spare, current, typesize, dest);
        self.spare = spare;
        Ok(())
    }

    /// Reads the items of a box of an array of that shape, in the order of the file.
    fn read_runs(&mut self, shape: &[u64], current: &[Range<u64>], dest: &mut [u8]) -> Result<(), Failure> {
        let (file, start) = (&mut self.file, self.offset);
        for_each_run(shape, current, self.header.dtype.size(), |offset, within| {
            file.seek(SeekFrom::Start(start + offset))?;
            file.read_exact(&mut dest[within])
        })
        .with_path(self.path)
    }
}
