//! Comparison with the reference library, through chunks of one unfiltered block: the stream begins after the header,
//! the single block start and the stream's size.

use super::data::{KINDS, Random, generate_sample};
use super::*;
use crate::reference_library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

const HEADER_LEN: usize = 32;
/// The offset in bytes of the stream in a chunk of one unsplit block.
const STREAM_OFFSET: usize = HEADER_LEN + 4 + 4;
/// Bit of the header's flags (byte 2) that says that the chunk is a plain copy.
const MEMCPYED: u8 = 0x2;
const NEVER_SPLIT: c_int = 2;

struct Reference(libloading::Library);

type Compress = unsafe extern "C" fn(c_int, c_int, i32, *const c_void, i32, *mut c_void, i32) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, i32, *mut c_void, i32) -> c_int;

impl Reference {
    fn load(path: &Path) -> Reference {
        // SAFETY: a C library without unusual initialisers; the symbols have the types of the public ABI.
        unsafe {
            let library = libloading::Library::new(path).expect("the reference library loads");
            library.get::<unsafe extern "C" fn()>(c"blosc2_init").unwrap()();
            let name: &CStr = c"blosclz";
            let set = library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(c"blosc1_set_compressor");
            assert_eq!(set.unwrap()(name.as_ptr()), 0);
            let set = library.get::<unsafe extern "C" fn(c_int)>(c"blosc1_set_splitmode").unwrap();
            set(NEVER_SPLIT);
            Reference(library)
        }
    }

    /// Returns the stream of one block; an empty one if the encoder gave up. Returns `None` if the chunk holds no
    /// stream, because the block is one repeated byte.
    fn encode(&self, clevel: i32, src: &[u8], maxout: usize) -> Option<Vec<u8>> {
        let mut chunk = vec![0; STREAM_OFFSET + maxout];
        // SAFETY: both buffers have the sizes that are given along.
        let size = unsafe {
            self.0.get::<unsafe extern "C" fn(usize)>(c"blosc1_set_blocksize").unwrap()(src.len());
            let compress = self.0.get::<Compress>(c"blosc2_compress").unwrap();
            let (from, to) = (src.as_ptr().cast(), chunk.as_mut_ptr().cast());
            compress(clevel, 0, 1, from, src.len() as i32, to, chunk.len() as i32)
        };
        if size <= 0 || chunk[2] & MEMCPYED != 0 {
            return Some(Vec::new());
        }
        let field = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().unwrap());
        if (size as usize) < STREAM_OFFSET {
            return None;
        }
        assert_eq!((field(8), field(HEADER_LEN)), (src.len() as i32, HEADER_LEN as i32 + 4), "one block");
        let csize = usize::try_from(field(STREAM_OFFSET - 4)).ok().filter(|&n| n > 0)?;
        let stream = if csize == src.len() {
            Vec::new()
        } else {
            chunk[STREAM_OFFSET..STREAM_OFFSET + csize].to_vec()
        };
        Some(stream)
    }

    /// Decodes `stream` from a chunk that is built around it; the header is that of `chunk_of`, with the sizes
    /// replaced.
    fn decode(&self, chunk_of: &[u8], stream: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let mut chunk = chunk_of[..HEADER_LEN].to_vec();
        chunk[4..8].copy_from_slice(&(capacity as i32).to_le_bytes());
        chunk[8..12].copy_from_slice(&(capacity as i32).to_le_bytes());
        chunk[12..16].copy_from_slice(&((STREAM_OFFSET + stream.len()) as i32).to_le_bytes());
        chunk.extend((HEADER_LEN as i32 + 4).to_le_bytes());
        chunk.extend((stream.len() as i32).to_le_bytes());
        chunk.extend_from_slice(stream);
        let mut dest = vec![0; capacity];
        // SAFETY: both buffers have the sizes that are given along.
        let size = unsafe {
            let decompress = self.0.get::<Decompress>(c"blosc2_decompress").unwrap();
            let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
            decompress(from, chunk.len() as i32, to, capacity as i32)
        };
        (size == capacity as c_int).then_some(dest)
    }

    /// Returns the header of a chunk with a stream.
    fn stream_chunk_header(&self) -> Vec<u8> {
        let src = b"header of a chunk".repeat(100);
        let mut chunk = vec![0; src.len() + HEADER_LEN];
        // SAFETY: both buffers have the sizes that are given along.
        unsafe {
            self.0.get::<unsafe extern "C" fn(usize)>(c"blosc1_set_blocksize").unwrap()(src.len());
            let compress = self.0.get::<Compress>(c"blosc2_compress").unwrap();
            let (from, to) = (src.as_ptr().cast(), chunk.as_mut_ptr().cast());
            assert!(compress(9, 0, 1, from, src.len() as i32, to, chunk.len() as i32) > 0);
        }
        chunk.truncate(HEADER_LEN);
        chunk
    }
}

/// A single test, because the library's settings are global.
#[test]
fn both_directions_agree_with_the_reference() {
    let Some(path) = reference_library::path() else { return };
    let reference = Reference::load(&path);
    let mut random = Random(7);
    let mut tables = HashTables::new().unwrap();
    let header = reference.stream_chunk_header();
    let (mut streams, mut refused) = (0, 0);
    for round in 0..600 {
        let len = 33 + random.below(1 << (4 + round % 14));
        let src = generate_sample(&mut random, round % KINDS, len);
        let clevel = 1 + random.below(9) as i32;
        let maxout = if round % 3 == 0 { 1 + random.below(len) } else { len };
        let Some(expected) = reference.encode(clevel, &src, maxout) else { continue };
        let mut stream = compress_guarded(&mut tables, Release::V2_5_3, clevel, &src, maxout);
        if stream.len() == len {
            stream.clear();
        }
        assert!(stream == expected, "round {round}: {len} bytes, clevel {clevel}, maxout {maxout}");
        if stream.is_empty() {
            continue;
        }
        streams += 1;
        for damages in 0..3 {
            let mut stream = stream.clone();
            for _ in 0..damages {
                let at = random.below(stream.len());
                stream[at] ^= 1 << random.below(8);
            }
            let ours = decompress_guarded(&stream, len).filter(|out| out.len() == len);
            refused += usize::from(ours.is_none());
            assert!(ours == reference.decode(&header, &stream, len), "round {round}, {damages} damages");
        }
    }
    assert!(streams > 200 && refused > 50, "{streams} streams, {refused} refused");
}
