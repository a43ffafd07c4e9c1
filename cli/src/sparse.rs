//! Files with holes in place of zeros.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

/// Size in bytes of the blocks of common file systems: a hole has whole blocks.
const BLOCK: u64 = 4096;

/// Writes a new file from its begin. Blocks of zeros are left out, if it `has_holes`.
pub(crate) struct SparseWriter<'a> {
    file: &'a File,
    has_holes: bool,
    /// Number of bytes that were written or left out.
    position: u64,
    /// Number of bytes up to the end of the last ones that were written.
    written: u64,
}

impl<'a> SparseWriter<'a> {
    pub(crate) fn new(file: &'a File, has_holes: bool) -> SparseWriter<'a> {
        SparseWriter { file, has_holes, position: 0, written: 0 }
    }

    /// Gives the file its length, if it ends with a hole.
    pub(crate) fn finish(self) -> io::Result<()> {
        if self.written < self.position { self.file.set_len(self.position) } else { Ok(()) }
    }
}

impl Write for SparseWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for range in parts(self.position, bytes, self.has_holes) {
            let start = self.position + range.start as u64;
            if start != self.written {
                self.file.seek(SeekFrom::Start(start))?;
            }
            self.file.write_all(&bytes[range.clone()])?;
            self.written = start + range.len() as u64;
        }
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes `bytes` to their place in a file of zeros. Blocks of zeros are left out, if it `has_holes`.
pub(crate) fn write_at(file: &mut File, position: u64, bytes: &[u8], has_holes: bool) -> io::Result<()> {
    for range in parts(position, bytes, has_holes) {
        file.seek(SeekFrom::Start(position + range.start as u64))?;
        file.write_all(&bytes[range])?;
    }
    Ok(())
}

/// Returns the parts of `bytes`, whose offset in a file is `position`, that are not in blocks of zeros; all of them without
/// holes.
fn parts(position: u64, bytes: &[u8], has_holes: bool) -> Vec<Range<usize>> {
    if !has_holes {
        return std::iter::once(0..bytes.len()).collect();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let to_end = BLOCK - (position + start as u64) % BLOCK;
        let end = bytes.len().min(start + to_end as usize);
        if !is_zero(&bytes[start..end]) {
            match parts.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => parts.push(start..end),
            }
        }
        start = end;
    }
    parts
}

/// Returns whether all bytes are 0.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    // The comparison of slices uses whole registers.
    const ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];
    bytes.chunks(ZEROS.len()).all(|part| part == &ZEROS[..part.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    proptest! {
        #[test]
        fn the_content_is_that_which_was_written(
            parts in prop::collection::vec((0usize..10_000, any::<bool>()), 0..10),
            has_holes: bool,
        ) {
            let mut file = tempfile::tempfile().unwrap();
            let mut writer = SparseWriter::new(&file, has_holes);
            let mut content = Vec::new();
            for (len, is_zero) in parts {
                let part = vec![u8::from(!is_zero); len];
                writer.write_all(&part).unwrap();
                content.extend(part);
            }
            writer.finish().unwrap();
            let mut found = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut found).unwrap();
            prop_assert!(found == content);
        }
    }
}
