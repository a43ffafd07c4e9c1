//! Calls of every function that reads a chunk, on arbitrary bytes.

use crate::CAPACITY;
use crate::support::calls::{DEST_FILL_BYTE, Header, OwnedContext, dparams};
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::random::Random;

/// Lengths and positions that overflow or are at a limit of the format.
pub const EXTREMES: [i32; 12] =
    [0, 1, -1, 255, 32_768, 65_536, 536_866_816, 1 << 30, i32::MAX - 31, i32::MAX, i32::MIN, -255];

/// Upper limit in bytes for the content of a chunk whose variable-length blocks are read.
const MAX_BLOCKS_NBYTES: i32 = 16 << 20;

/// Contexts and buffers that are reused for all inputs: the state that contexts keep must not change results.
pub struct Reader {
    library: &'static Library,
    serial: OwnedContext<'static>,
    parallel: OwnedContext<'static>,
    src: GuardedBuffer,
    dest: GuardedBuffer,
}

/// A chunk, its header, and its content.
pub struct Chunk<'a> {
    /// The bytes of the chunk, adjacent to an inaccessible page.
    pub bytes: &'a [u8],
    /// The header, if the chunk has at least 32 bytes.
    pub header: Option<Header>,
    /// The content, if the chunk decodes and the content is not too long.
    pub content: Option<Vec<u8>>,
    at_end: bool,
}

impl Reader {
    /// Returns a reader for the linked library.
    pub fn new(library: &'static Library) -> Reader {
        Reader {
            library,
            serial: OwnedContext::for_decompression(library, dparams(1)),
            parallel: OwnedContext::for_decompression(library, dparams(3)),
            src: GuardedBuffer::new(2 * CAPACITY),
            dest: GuardedBuffer::new(CAPACITY),
        }
    }

    /// Copies the chunk so that it is adjacent to an inaccessible page, decodes it, and calls `body` with it.
    pub fn with_chunk(
        &mut self,
        data: &[u8],
        random: &mut Random,
        body: impl FnOnce(&mut Reader, &Chunk<'_>),
    ) {
        if data.len() > 2 * CAPACITY {
            return;
        }
        // `body` borrows the reader mutably and the chunk at the same time: takes the buffer out of the reader.
        let mut src = std::mem::replace(&mut self.src, GuardedBuffer::new(1));
        let at_end = !random.one_in(4);
        let bytes = src.edge_bytes(data.len(), at_end);
        bytes.copy_from_slice(data);
        if random.one_in(20) {
            self.serial = OwnedContext::for_decompression(self.library, dparams(1));
        }
        let header = (data.len() >= 32).then(|| Header::parse(data));
        let mut chunk = Chunk { bytes, header, content: None, at_end };
        let claimed = match data.get(4..8) {
            Some(field) => i32::from_le_bytes(field.try_into().expect("four bytes")),
            None => 0,
        };
        if (0..=CAPACITY as i32).contains(&claimed) {
            let size = claimed as usize;
            chunk.content = self.decompress(&chunk, size, false);
            if random.one_in(8) {
                let parallel = self.decompress(&chunk, size, true);
                assert!(
                    parallel.is_some() == chunk.content.is_some(),
                    "success depends on the number of threads"
                );
                assert!(parallel == chunk.content, "the bytes depend on the number of threads");
            }
            if size > 0 {
                let short = random.below(size);
                assert!(self.decompress(&chunk, short, false).is_none(), "{size} bytes in {short}");
            }
            let long = size + random.below(CAPACITY - size + 1);
            let again = self.decompress(&chunk, long, false);
            assert!(again == chunk.content, "the result depends on the size of the destination");
        } else {
            let found = self.decompress(&chunk, CAPACITY, false);
            assert!(found.is_none(), "{claimed} bytes in {CAPACITY}");
        }
        body(self, &chunk);
        assert!(chunk.bytes == data, "the chunk was written to");
        self.src = src;
    }

    fn decompress(&mut self, chunk: &Chunk<'_>, destsize: usize, parallel: bool) -> Option<Vec<u8>> {
        let context = if parallel { &mut self.parallel } else { &mut self.serial };
        let dest = self.dest.edge_bytes(destsize, chunk.at_end);
        dest.fill(DEST_FILL_BYTE);
        let rc = context.decompress(chunk.bytes, dest);
        assert!(rc <= destsize as i32, "decompress: {rc} bytes into {destsize}");
        let len = usize::try_from(rc).ok()?;
        let nbytes = i32::from_le_bytes(chunk.bytes[4..8].try_into().expect("four bytes"));
        assert_eq!(rc, nbytes, "result of decompress (left) and `nbytes` of the header (right)");
        assert!(dest[len..].iter().all(|&byte| byte == DEST_FILL_BYTE), "bytes behind the content");
        Some(dest[..len].to_vec())
    }

    /// Decodes with a mask that skips some blocks.
    pub fn read_masked(&mut self, chunk: &Chunk<'_>, random: &mut Random) {
        let Some(header) = &chunk.header else { return };
        if !(0..=CAPACITY as i32).contains(&header.nbytes) {
            return;
        }
        let nbytes = header.nbytes as usize;
        let nblocks = nbytes.div_ceil(header.blocksize.max(1) as usize).min(5000);
        let mut mask: Vec<u8> = (0..nblocks).map(|_| random.byte() & 1).collect();
        let context = if random.one_in(4) { &mut self.parallel } else { &mut self.serial };
        assert_eq!(context.set_maskout(&mut mask), 0);
        let dest = self.dest.edge_bytes(nbytes, chunk.at_end);
        dest.fill(DEST_FILL_BYTE);
        let rc = context.decompress(chunk.bytes, dest);
        assert!(rc < 0 || rc == header.nbytes, "masked: {rc}");
        // The position of a variable-length block does not follow from the block size.
        if let (Some(whole), true) =
            (&chunk.content, rc >= 0 && header.flags2 & 1 == 0 && header.flags & 5 == 5)
        {
            let blocksize = header.blocksize as usize;
            for (nblock, masked) in mask.iter().enumerate() {
                let block = nblock * blocksize..((nblock + 1) * blocksize).min(nbytes);
                let right = if *masked == 0 {
                    dest[block.clone()] == whole[block]
                } else {
                    dest[block].iter().all(|&byte| byte == DEST_FILL_BYTE)
                };
                assert!(right, "block {nblock}, masked: {masked}");
            }
        }
    }

    /// Reads items with the function that counts in items and the one that counts in bytes.
    pub fn read_items(&mut self, chunk: &Chunk<'_>, random: &mut Random) {
        let unit = if chunk.bytes.len() >= 16 { i32::from(chunk.bytes[3]).max(1) } else { 1 };
        let nitems = chunk.content.as_ref().map_or(100, Vec::len) / unit as usize + 2;
        let draw = |random: &mut Random| match random.below(12) {
            0 => *random.pick(&EXTREMES),
            _ => random.below(nitems) as i32,
        };
        let (start, count) = (draw(random), draw(random));
        let exact = i64::from(count) * i64::from(unit);
        let destsize = match random.below(4) {
            0 => random.below(2000),
            _ => exact.clamp(0, CAPACITY as i64) as usize,
        };
        for in_bytes in [false, true] {
            let context = if random.one_in(8) { &mut self.parallel } else { &mut self.serial };
            let dest = self.dest.edge_bytes(destsize, chunk.at_end);
            dest.fill(DEST_FILL_BYTE);
            let (start, count, unit) = if in_bytes {
                (start.wrapping_mul(unit), count.wrapping_mul(unit), 1)
            } else {
                (start, count, unit)
            };
            let rc = if in_bytes {
                context.getitem_bytes(chunk.bytes, start, count, dest)
            } else {
                context.getitem(chunk.bytes, start, count, dest)
            };
            let what = format!("getitem({start}, {count}) of {unit} bytes into {destsize}: {rc}");
            assert!(rc <= destsize as i32, "{what}");
            let Ok(len) = usize::try_from(rc) else {
                self.assert_failure_expected(chunk, (start, count, unit), destsize, &what);
                continue;
            };
            assert_eq!(len as i64, i64::from(count) * i64::from(unit), "{what}");
            assert!(dest[len..].iter().all(|&byte| byte == DEST_FILL_BYTE), "{what}: bytes behind the items");
            if let (Some(whole), true) = (&chunk.content, len > 0) {
                let from = start as usize * unit as usize;
                assert!(dest[..len] == whole[from..from + len], "{what}: other bytes than decompress");
            }
        }
    }

    /// Panics if the whole chunk decodes and the items are inside it. Called after a partial read has failed.
    fn assert_failure_expected(
        &self,
        chunk: &Chunk<'_>,
        (start, count, unit): (i32, i32, i32),
        destsize: usize,
        what: &str,
    ) {
        let (Some(whole), Some(header)) = (&chunk.content, &chunk.header) else { return };
        // Special and variable-length chunks, and chunks with short headers, have other limits for items.
        if header.flags2 & 1 != 0 || header.special() != 0 || header.flags & 5 != 5 || start < 0 || count < 0
        {
            return;
        }
        let whole_items =
            whole.len() % unit as usize == 0 && header.blocksize % i32::from(header.typesize) == 0;
        let end = (i64::from(start) + i64::from(count)) * i64::from(unit);
        let inside = end <= whole.len() as i64 && i64::from(count) * i64::from(unit) <= destsize as i64;
        let aligned = start % i32::from(header.typesize) == 0 && count % i32::from(header.typesize) == 0;
        assert!(!(inside && whole_items && (unit > 1 || aligned)), "{what}, and decompress succeeds");
    }

    /// Calls the functions for variable-length blocks.
    pub fn read_variable_length(&mut self, chunk: &Chunk<'_>, random: &mut Random) {
        // A few bytes of Zstandard can validly decode to as much as the header claims, which takes too long.
        if chunk.header.as_ref().is_some_and(|header| header.nbytes > MAX_BLOCKS_NBYTES) {
            return;
        }
        let (mut nblocks, source) = (-1, chunk.bytes);
        // SAFETY: the source is valid for reads of its length, and the out-pointer is valid.
        let rc = unsafe {
            (self.library.blosc2_vlchunk_get_nblocks)(
                source.as_ptr().cast(),
                source.len() as i32,
                &mut nblocks,
            )
        };
        assert!(rc <= 0, "vlchunk_get_nblocks: {rc}");
        let stated = chunk.header.as_ref().map_or(1, |header| header.blocksize.clamp(1, 2000));
        let most = if random.one_in(4) { 1 + random.below(100) as i32 } else { stated };
        let context = if random.one_in(8) { &mut self.parallel } else { &mut self.serial };
        if let Ok(blocks) = context.vldecompress(source, most as usize) {
            assert_eq!((rc, blocks.len() as i32), (0, nblocks), "the number of blocks");
            let all = blocks.concat();
            assert!(
                chunk.content.as_ref().is_none_or(|whole| *whole == all),
                "the blocks differ from the whole chunk"
            );
            let nblock = random.below(blocks.len());
            let block = self.serial.vldecompress_block(source, nblock as i32);
            assert_eq!(block.as_ref(), Ok(&blocks[nblock]), "vldecompress_block({nblock})");
        }
        let nblock = if random.one_in(5) { *random.pick(&EXTREMES) } else { random.below(16) as i32 };
        let _ = self.serial.vldecompress_block(source, nblock);
    }

    /// Calls the functions that take no length and read 16 bytes.
    pub fn inspect(&self, source: &[u8]) {
        let (library, mut size) = (self.library, 77usize);
        let chunk = source.as_ptr().cast();
        // SAFETY: the source is valid for reads of its length, and the out-pointer is valid.
        let rc = unsafe { (library.blosc1_cbuffer_validate)(chunk, source.len(), &mut size) };
        assert!(rc <= 0 && (rc == 0 || size == 0), "validate: {rc}, {size}");
        if source.len() < 16 {
            return;
        }
        let (mut nbytes, mut cbytes, mut blocksize) = (-1, -1, -1);
        let (mut typesize, mut flags, mut version, mut versionlz) = (77usize, -1, -1, -1);
        // SAFETY: 16 bytes are readable and the out-pointers are valid; the returned name is a static string or NULL.
        unsafe {
            let rc = (library.blosc2_cbuffer_sizes)(chunk, &mut nbytes, &mut cbytes, &mut blocksize);
            assert!(rc == 0 || rc == -11 && (nbytes, cbytes, blocksize) == (0, 0, 0), "sizes: {rc}");
            (library.blosc1_cbuffer_metainfo)(chunk, &mut typesize, &mut flags);
            (library.blosc2_cbuffer_versions)(chunk, &mut version, &mut versionlz);
            let name = (library.blosc2_cbuffer_complib)(chunk);
            assert!(name.is_null() || !std::ffi::CStr::from_ptr(name).to_bytes().is_empty());
        }
        assert!(typesize <= 255 && (0..=255).contains(&flags));
        assert!((0..=255).contains(&version) && (0..=255).contains(&versionlz));
    }

    /// Calls the functions of Blosc 1, which take no length and trust the header: the source has the length in its
    /// header.
    pub fn read_without_sizes(&mut self, chunk: &Chunk<'_>, random: &mut Random) {
        let Some(header) = &chunk.header else { return };
        if header.cbytes != chunk.bytes.len() as i32 || !(0..=CAPACITY as i32).contains(&header.nbytes) {
            return;
        }
        let (library, source) = (self.library, chunk.bytes.as_ptr().cast());
        let nbytes = header.nbytes as usize;
        let dest = self.dest.edge_bytes(nbytes, chunk.at_end);
        dest.fill(DEST_FILL_BYTE);
        // SAFETY: the source has the length in its header, and `dest` is valid for writes of `nbytes` bytes.
        let rc = unsafe { (library.blosc1_decompress)(source, dest.as_mut_ptr().cast(), nbytes) };
        assert_eq!(
            rc > 0,
            chunk.content.as_ref().is_some_and(|whole| !whole.is_empty()),
            "blosc1_decompress: {rc}"
        );
        assert!(chunk.content.as_ref().is_none_or(|whole| *dest == *whole), "blosc1_decompress: other bytes");
        let unit = usize::from(header.typesize).max(1);
        let start = random.below(nbytes / unit + 2);
        let count = random.below(CAPACITY / unit / 4);
        let dest = self.dest.edge_bytes(count * unit, chunk.at_end);
        // SAFETY: as above; `dest` has space for `count` items.
        let rc =
            unsafe { (library.blosc1_getitem)(source, start as i32, count as i32, dest.as_mut_ptr().cast()) };
        if let (Some(whole), Ok(len)) = (&chunk.content, usize::try_from(rc))
            && len > 0
        {
            assert_eq!(len, count * unit, "blosc1_getitem");
            assert!(*dest == whole[start * unit..][..len], "blosc1_getitem: other bytes");
        }
    }
}
