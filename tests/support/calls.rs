//! Safe wrappers for the chunk functions of a loaded library: they take slices, return vectors, free contexts, and
//! place a canary after every destination. They do not check results.

use std::ffi::c_void;
use std::ptr;

use blosc2::abi::{CBool, blosc2_cparams, blosc2_dparams};

use super::library::{Context, Library};

/// The fields of `blosc2_cparams` except the pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    pub codec: u8,
    pub codec_meta: u8,
    pub clevel: u8,
    pub use_dict: bool,
    pub typesize: i32,
    pub nthreads: i16,
    pub blocksize: i32,
    pub splitmode: i32,
    pub filters: [u8; 6],
    pub filters_meta: [u8; 6],
}

impl Default for Params {
    /// The defaults of the ABI (chunk.md 5.1).
    fn default() -> Params {
        Params {
            codec: 0,
            codec_meta: 0,
            clevel: 5,
            use_dict: false,
            typesize: 8,
            nthreads: 1,
            blocksize: 0,
            splitmode: 4,
            filters: [0, 0, 0, 0, 0, 1],
            filters_meta: [0; 6],
        }
    }
}

impl Params {
    pub fn cparams(&self) -> blosc2_cparams {
        blosc2_cparams {
            compcode: self.codec,
            compcode_meta: self.codec_meta,
            clevel: self.clevel,
            use_dict: self.use_dict.into(),
            typesize: self.typesize,
            nthreads: self.nthreads,
            blocksize: self.blocksize,
            splitmode: self.splitmode,
            schunk: ptr::null_mut(),
            filters: self.filters,
            filters_meta: self.filters_meta,
            prefilter: None,
            preparams: ptr::null_mut(),
            tuner_params: ptr::null_mut(),
            tuner_id: 0,
            instr_codec: CBool::FALSE,
            codec_params: ptr::null_mut(),
            filter_params: [ptr::null_mut(); 6],
        }
    }
}

/// Returns `blosc2_dparams` with `nthreads` threads.
pub fn dparams(nthreads: i16) -> blosc2_dparams {
    blosc2_dparams {
        nthreads,
        schunk: ptr::null_mut(),
        postfilter: None,
        postparams: ptr::null_mut(),
        typesize: 8,
    }
}

/// The bytes, or the return code: negative for an error of the library, zero if the destination was too small.
pub type BytesResult = Result<Vec<u8>, i32>;

/// The length of a slice in the ABI's type.
pub fn len32(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).expect("a test buffer below 2 GiB")
}

/// A context that is freed when dropped.
pub struct OwnedContext<'a> {
    library: &'a Library,
    raw: Context,
}

impl<'a> OwnedContext<'a> {
    /// Creates a compression context; returns `None` if the library rejects the parameters.
    pub fn for_compression(library: &'a Library, cparams: blosc2_cparams) -> Option<OwnedContext<'a>> {
        // SAFETY: a struct by value whose pointers are NULL or valid (the caller ensures this for prefilter
        // parameters).
        let raw = unsafe { (library.blosc2_create_cctx)(cparams) };
        (!raw.is_null()).then(|| OwnedContext { library, raw })
    }

    pub fn for_decompression(library: &'a Library, dparams: blosc2_dparams) -> OwnedContext<'a> {
        // SAFETY: as in `for_compression`.
        let raw = unsafe { (library.blosc2_create_dctx)(dparams) };
        assert!(!raw.is_null(), "{}: no decompression context", library.name);
        OwnedContext { library, raw }
    }

    pub fn raw(&self) -> Context {
        self.raw
    }

    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> i32 {
        // SAFETY: a live context and two slices with their true lengths.
        unsafe {
            (self.library.blosc2_compress_ctx)(
                self.raw,
                src.as_ptr().cast(),
                len32(src),
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> i32 {
        // SAFETY: as in `compress`.
        unsafe {
            (self.library.blosc2_decompress_ctx)(
                self.raw,
                chunk.as_ptr().cast(),
                len32(chunk),
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    pub fn getitem(&mut self, chunk: &[u8], start: i32, nitems: i32, dest: &mut [u8]) -> i32 {
        // SAFETY: as in `compress`.
        unsafe {
            (self.library.blosc2_getitem_ctx)(
                self.raw,
                chunk.as_ptr().cast(),
                len32(chunk),
                start,
                nitems,
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    pub fn getitem_bytes(&mut self, chunk: &[u8], start: i32, nbytes: i32, dest: &mut [u8]) -> i32 {
        // SAFETY: as in `compress`.
        unsafe {
            (self.library.blosc2_getitem_bytes_ctx)(
                self.raw,
                chunk.as_ptr().cast(),
                len32(chunk),
                start,
                nbytes,
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    pub fn set_maskout(&mut self, mask: &mut [u8]) -> i32 {
        // SAFETY: the library copies `mask.len()` bytes.
        unsafe { (self.library.blosc2_set_maskout)(self.raw, mask.as_mut_ptr(), len32(mask)) }
    }

    pub fn vlcompress(&mut self, blocks: &[Vec<u8>], dest: &mut [u8]) -> i32 {
        let sources: Vec<*const c_void> = blocks.iter().map(|block| block.as_ptr().cast()).collect();
        let sizes: Vec<i32> = blocks.iter().map(|block| len32(block)).collect();
        // SAFETY: two arrays of `blocks.len()` entries, each source of its stated size.
        unsafe {
            (self.library.blosc2_vlcompress_ctx)(
                self.raw,
                sources.as_ptr(),
                sizes.as_ptr(),
                sizes.len() as i32,
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    /// Returns all blocks of a variable-length chunk, or the error code.
    pub fn vldecompress(&mut self, chunk: &[u8], maxblocks: usize) -> Result<Vec<Vec<u8>>, i32> {
        let mut dests = vec![ptr::null_mut::<c_void>(); maxblocks];
        let mut sizes = vec![-77i32; maxblocks];
        // SAFETY: two arrays of `maxblocks` entries.
        let rc = unsafe {
            (self.library.blosc2_vldecompress_ctx)(
                self.raw,
                chunk.as_ptr().cast(),
                len32(chunk),
                dests.as_mut_ptr(),
                sizes.as_mut_ptr(),
                maxblocks as i32,
            )
        };
        if rc < 0 {
            let left = dests.iter().filter(|dest| !dest.is_null()).count();
            assert_eq!(left, 0, "{}: blocks left behind after error {rc}", self.library.name);
            return Err(rc);
        }
        assert!(rc as usize <= maxblocks, "{}: {rc} blocks of {maxblocks}", self.library.name);
        Ok((0..rc as usize).map(|i| take_malloced(dests[i].cast(), sizes[i])).collect())
    }

    /// Returns one block of a variable-length chunk, or the error code.
    pub fn vldecompress_block(&mut self, chunk: &[u8], nblock: i32) -> BytesResult {
        let mut dest = ptr::null_mut::<u8>();
        let mut size = -77i32;
        // SAFETY: two valid out-pointers.
        let rc = unsafe {
            (self.library.blosc2_vldecompress_block_ctx)(
                self.raw,
                chunk.as_ptr().cast(),
                len32(chunk),
                nblock,
                &mut dest,
                &mut size,
            )
        };
        if rc < 0 {
            return Err(rc);
        }
        assert_eq!(rc, size, "{}: return value and size of a block", self.library.name);
        Ok(take_malloced(dest, size))
    }

    /// Returns the parameters that the library reports for the context.
    pub fn cparams(&self) -> blosc2_cparams {
        let mut cparams = Params::default().cparams();
        // SAFETY: a live context and a valid out-pointer.
        let rc = unsafe { (self.library.blosc2_ctx_get_cparams)(self.raw, &mut cparams) };
        assert_eq!(rc, 0);
        cparams
    }

    pub fn dparams(&self) -> blosc2_dparams {
        let mut dparams = dparams(77);
        // SAFETY: as in `cparams`.
        let rc = unsafe { (self.library.blosc2_ctx_get_dparams)(self.raw, &mut dparams) };
        assert_eq!(rc, 0);
        dparams
    }
}

impl Drop for OwnedContext<'_> {
    fn drop(&mut self) {
        // SAFETY: the context came from this library and is freed once.
        unsafe { (self.library.blosc2_free_ctx)(self.raw) };
    }
}

/// Copies a buffer that a library allocated with `malloc`, and frees it.
fn take_malloced(data: *mut u8, size: i32) -> Vec<u8> {
    assert!(!data.is_null() && size >= 0, "a result buffer: {data:?}, {size} bytes");
    // SAFETY: the library allocated `size` bytes at `data` and passed the ownership to the caller.
    unsafe {
        let bytes = std::slice::from_raw_parts(data, size as usize).to_vec();
        libc::free(data.cast());
        bytes
    }
}

const CANARY: u8 = 0xA5;
const CANARY_LEN: usize = 256;
/// Fill byte of a destination before a call.
pub const DEST_FILL_BYTE: u8 = 0xCC;

/// Calls `call` with a destination of `destsize` bytes and checks the bytes behind it.
pub fn with_destination(destsize: usize, call: impl FnOnce(&mut [u8]) -> i32) -> (i32, Vec<u8>) {
    let mut dest = vec![DEST_FILL_BYTE; destsize];
    dest.resize(destsize + CANARY_LEN, CANARY);
    let rc = call(&mut dest[..destsize]);
    assert!(
        dest[destsize..].iter().all(|&byte| byte == CANARY),
        "a write past a destination of {destsize} bytes (return value {rc})"
    );
    assert!(rc <= destsize as i32, "returned {rc} for a destination of {destsize} bytes");
    dest.truncate(destsize);
    (rc, dest)
}

fn to_bytes_result(result: (i32, Vec<u8>)) -> BytesResult {
    let (rc, mut dest) = result;
    if rc < 0 {
        return Err(rc);
    }
    dest.truncate(rc as usize);
    Ok(dest)
}

/// Compresses once with a fresh context. `Err(0)`: the destination was too small. The library gets a copy of `src`; a
/// call that changes the copy fails the test unless `may_change_source`.
pub fn compress_copy(
    library: &Library,
    params: &Params,
    src: &[u8],
    destsize: usize,
    may_change_source: bool,
) -> BytesResult {
    let mut context = OwnedContext::for_compression(library, params.cparams())
        .unwrap_or_else(|| panic!("{}: no context for {params:?}", library.name));
    let copy = src.to_vec();
    let result = to_bytes_result(with_destination(destsize, |dest| context.compress(&copy, dest)));
    assert!(may_change_source || copy == src, "{}: the source was written to", library.name);
    match result {
        Ok(chunk) if chunk.is_empty() => Err(0),
        other => other,
    }
}

/// As [`compress_copy`]; the source must not be changed.
pub fn compress(library: &Library, params: &Params, src: &[u8], destsize: usize) -> BytesResult {
    compress_copy(library, params, src, destsize, false)
}

/// Decompresses once with a fresh context.
pub fn decompress(library: &Library, nthreads: i16, chunk: &[u8], destsize: usize) -> BytesResult {
    let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
    to_bytes_result(with_destination(destsize, |dest| context.decompress(chunk, dest)))
}

/// Reads a part of a chunk once with a fresh decompression context.
pub fn getitem(
    library: &Library,
    nthreads: i16,
    chunk: &[u8],
    start: i32,
    nitems: i32,
    destsize: usize,
) -> BytesResult {
    let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
    to_bytes_result(with_destination(destsize, |dest| context.getitem(chunk, start, nitems, dest)))
}

/// As [`getitem`], with start and length in bytes.
pub fn getitem_bytes(
    library: &Library,
    chunk: &[u8],
    start: i32,
    nbytes: i32,
    destsize: usize,
) -> BytesResult {
    let mut context = OwnedContext::for_decompression(library, dparams(1));
    to_bytes_result(with_destination(destsize, |dest| context.getitem_bytes(chunk, start, nbytes, dest)))
}

/// Compresses a variable-length chunk once with a fresh context. `Err(0)`: the destination was too small.
pub fn vlcompress(library: &Library, params: &Params, blocks: &[Vec<u8>], destsize: usize) -> BytesResult {
    let mut context = OwnedContext::for_compression(library, params.cparams())
        .unwrap_or_else(|| panic!("{}: no context for {params:?}", library.name));
    let copy = blocks.to_vec();
    match to_bytes_result(with_destination(destsize, |dest| context.vlcompress(&copy, dest))) {
        Ok(chunk) if chunk.is_empty() => Err(0),
        other => other,
    }
}

/// The kind of a special chunk, with the repeated value if there is one.
#[derive(Clone, Copy, Debug)]
pub enum Special<'a> {
    Zeros,
    Nans,
    Uninit,
    Value(&'a [u8]),
}

/// Creates a special chunk (chunk.md 3.12).
pub fn special_chunk(
    library: &Library,
    params: &Params,
    special: Special,
    nbytes: i32,
    destsize: usize,
) -> BytesResult {
    let cparams = params.cparams();
    to_bytes_result(with_destination(destsize, |dest| {
        let (out, len) = (dest.as_mut_ptr().cast::<c_void>(), dest.len() as i32);
        // SAFETY: a destination of its stated length; a value of `typesize` bytes (ensured by the caller).
        unsafe {
            match special {
                Special::Zeros => (library.blosc2_chunk_zeros)(cparams, nbytes, out, len),
                Special::Nans => (library.blosc2_chunk_nans)(cparams, nbytes, out, len),
                Special::Uninit => (library.blosc2_chunk_uninit)(cparams, nbytes, out, len),
                Special::Value(value) => {
                    assert_eq!(value.len(), params.typesize as usize);
                    (library.blosc2_chunk_repeatval)(cparams, nbytes, out, len, value.as_ptr().cast())
                }
            }
        }
    }))
}

/// The flag in `blosc2_flags` for the byte order of this machine: 2 on a big-endian one.
pub const BYTE_ORDER_FLAG: u8 = if cfg!(target_endian = "big") { 2 } else { 0 };

/// The 16 or 32 header bytes of a chunk, as fields (chunk.md 1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub version: u8,
    pub versionlz: u8,
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: i32,
    pub blocksize: i32,
    pub cbytes: i32,
    pub filters: [u8; 6],
    pub udcompcode: u8,
    pub compcode_meta: u8,
    pub filters_meta: [u8; 6],
    pub flags2: u8,
    pub blosc2_flags: u8,
}

impl Header {
    pub fn parse(chunk: &[u8]) -> Header {
        let word = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes"));
        let six = |at: usize| chunk[at..at + 6].try_into().expect("six bytes");
        Header {
            version: chunk[0],
            versionlz: chunk[1],
            flags: chunk[2],
            typesize: chunk[3],
            nbytes: word(4),
            blocksize: word(8),
            cbytes: word(12),
            filters: six(0x10),
            udcompcode: chunk[0x16],
            compcode_meta: chunk[0x17],
            filters_meta: six(0x18),
            flags2: chunk[0x1E],
            blosc2_flags: chunk[0x1F],
        }
    }

    pub fn is_memcpyed(&self) -> bool {
        self.flags & 2 != 0
    }

    pub fn special(&self) -> u8 {
        (self.blosc2_flags >> 4) & 7
    }

    pub fn uses_dictionary(&self) -> bool {
        self.blosc2_flags & 1 != 0
    }
}
