//! Comparison with the reference library: frames that it builds in memory are parsed, and every part that is built
//! again from the parsed values must have the same bytes.

use super::Random;
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2_STORAGE_DEFAULTS, CBool, blosc2_cparams,
    blosc2_schunk, blosc2_storage,
};
use crate::chunk::{ChunkHeader, SpecialValue};
use crate::frame::format::header::{FrameHeader, FrameKind};
use crate::frame::format::index::{self, IndexEncoder, encode_special};
use crate::frame::format::metalayers::{parse_header_section, parse_trailer_section};
use crate::frame::format::trailer;
use crate::reference_library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

type Schunk = *mut blosc2_schunk;

macro_rules! reference_functions {
    ($($name:ident: $type:ty;)*) => {
        /// The functions of the reference that build frames.
        struct Reference {
            $($name: $type,)*
            _library: libloading::Library,
        }

        impl Reference {
            fn load(path: &Path) -> Reference {
                // SAFETY: a C library without unusual initialisers; the symbols have the types of the public ABI.
                unsafe {
                    let library = libloading::Library::new(path).expect("the reference library loads");
                    Reference { $($name: *library.get::<$type>(stringify!($name)).unwrap(),)* _library: library }
                }
            }
        }
    };
}

reference_functions! {
    blosc2_init: unsafe extern "C" fn();
    blosc2_schunk_new: unsafe extern "C" fn(*mut blosc2_storage) -> Schunk;
    blosc2_schunk_free: unsafe extern "C" fn(Schunk) -> c_int;
    blosc2_schunk_to_buffer: unsafe extern "C" fn(Schunk, *mut *mut u8, *mut CBool) -> i64;
    blosc2_schunk_from_buffer: unsafe extern "C" fn(*mut u8, i64, CBool) -> Schunk;
    blosc2_schunk_append_buffer: unsafe extern "C" fn(Schunk, *const c_void, i32) -> i64;
    blosc2_schunk_delete_chunk: unsafe extern "C" fn(Schunk, i64) -> i64;
    blosc2_schunk_insert_chunk: unsafe extern "C" fn(Schunk, i64, *mut u8, CBool) -> i64;
    blosc2_schunk_reorder_offsets: unsafe extern "C" fn(Schunk, *mut i64) -> c_int;
    blosc2_schunk_fill_special: unsafe extern "C" fn(Schunk, i64, c_int, i32) -> i64;
    blosc2_frame_get_offsets: unsafe extern "C" fn(Schunk) -> *mut i64;
    blosc2_meta_add: unsafe extern "C" fn(Schunk, *const c_char, *mut u8, i32) -> c_int;
    blosc2_vlmeta_add: unsafe extern "C" fn(Schunk, *const c_char, *mut u8, i32, *mut blosc2_cparams) -> c_int;
    blosc2_chunk_zeros: unsafe extern "C" fn(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
}

/// A super-chunk of the reference in a frame in memory.
struct ReferenceFrame<'a> {
    reference: &'a Reference,
    schunk: Schunk,
}

impl Drop for ReferenceFrame<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the same library, freed once.
        unsafe { (self.reference.blosc2_schunk_free)(self.schunk) };
    }
}

impl ReferenceFrame<'_> {
    fn new(reference: &Reference, cparams: blosc2_cparams) -> ReferenceFrame<'_> {
        let mut cparams = cparams;
        let mut dparams = BLOSC2_DPARAMS_DEFAULTS;
        let mut storage = blosc2_storage {
            contiguous: CBool::TRUE,
            cparams: &mut cparams,
            dparams: &mut dparams,
            ..BLOSC2_STORAGE_DEFAULTS
        };
        // SAFETY: the storage and what it points at are copied.
        let schunk = unsafe { (reference.blosc2_schunk_new)(&mut storage) };
        assert!(!schunk.is_null());
        ReferenceFrame { reference, schunk }
    }

    fn bytes(&self) -> Vec<u8> {
        let (mut start, mut needs_free) = (std::ptr::null_mut(), CBool::FALSE);
        // SAFETY: the frame stays as it is until it is copied.
        unsafe {
            let len = (self.reference.blosc2_schunk_to_buffer)(self.schunk, &mut start, &mut needs_free);
            assert!(len > 0 && !needs_free.get());
            std::slice::from_raw_parts(start, len as usize).to_vec()
        }
    }

    fn offsets(&self, nchunks: usize) -> Vec<i64> {
        // SAFETY: a list of that many entries, allocated with `malloc`.
        unsafe {
            let list = (self.reference.blosc2_frame_get_offsets)(self.schunk);
            assert!(!list.is_null());
            let copy = std::slice::from_raw_parts(list, nchunks).to_vec();
            libc::free(list.cast());
            copy
        }
    }

    fn append(&self, bytes: &[u8]) {
        // SAFETY: a buffer of the size that is given along.
        let nchunks = unsafe {
            let len = bytes.len() as i32;
            (self.reference.blosc2_schunk_append_buffer)(self.schunk, bytes.as_ptr().cast(), len)
        };
        assert!(nchunks > 0);
    }

    fn add_metalayers(&self, random: &mut Random, count: usize) {
        for n in 0..count {
            let name = CString::new("m".repeat(n * 2 + n % 2)).unwrap();
            let mut content = vec![n as u8; random.below(300)];
            // SAFETY: both are copied.
            let index = unsafe {
                let (start, len) = (content.as_mut_ptr(), content.len() as i32);
                (self.reference.blosc2_meta_add)(self.schunk, name.as_ptr(), start, len)
            };
            assert_eq!(index, n as c_int);
        }
    }

    fn add_vlmetalayers(&self, random: &mut Random, count: usize) {
        for n in 0..count {
            let name = CString::new(format!("{:1$}", n, 1 + n * 2)).unwrap();
            let mut content = vec![n as u8; random.below(3000)];
            // SAFETY: both are copied; NULL means default parameters.
            let index = unsafe {
                let (start, len) = (content.as_mut_ptr(), content.len() as i32);
                let none = std::ptr::null_mut();
                (self.reference.blosc2_vlmeta_add)(self.schunk, name.as_ptr(), start, len, none)
            };
            assert_eq!(index, n as c_int);
        }
    }
}

/// The parts of a frame that the caller checks further.
struct RebuiltFrame {
    nchunks: usize,
    index: Vec<u8>,
}

/// Parses a frame, compares it with the values that the functions of the reference return, and builds header and
/// trailer again.
fn parse_and_rebuild(frame: &ReferenceFrame<'_>) -> RebuiltFrame {
    let bytes = frame.bytes();
    let header = FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap();
    header.check_for_opening(&bytes).unwrap();
    assert_eq!(header.frame_len, bytes.len() as u64);
    let head = &bytes[..header.header_len];
    let metalayers = parse_header_section(head).unwrap();
    assert!(header.build(&metalayers).unwrap() == head);
    let tail = &bytes[bytes.len() - trailer::MIN_LEN..];
    let end = bytes.len() - trailer::parse_trailer_len(tail, header.frame_len).unwrap();
    let vlmetalayers = parse_trailer_section(&bytes[end..]).unwrap();
    assert!(trailer::build(&vlmetalayers).unwrap() == bytes[end..]);
    assert_eq!(header.has_vlmetalayers, !vlmetalayers.is_empty());
    if header.nbytes == 0 {
        assert_eq!(header.header_len, end);
        return RebuiltFrame { nchunks: 0, index: Vec::new() };
    }
    let index = bytes[header.header_len + header.cbytes as usize..end].to_vec();
    let nchunks = header.nchunks(|| index::stored_nbytes(&ChunkHeader::parse(&index)?)).unwrap() as usize;
    let offsets = index::decode(&index, nchunks).unwrap();
    assert!(offsets.iter().eq(frame.offsets(nchunks)));
    RebuiltFrame { nchunks, index }
}

/// Checks that the index of these parts has the same bytes when it is encoded by this library.
fn check_same_index(parts: &RebuiltFrame, encoder: &mut IndexEncoder, capacity: usize, what: &str) {
    let offsets = index::decode(&parts.index, parts.nchunks).unwrap();
    let ours = encoder.encode(&offsets, 0, capacity).unwrap();
    assert!(
        ours == parts.index,
        "{what}: {} chunks, {} bytes, here {}: {ours:02x?} {:02x?}",
        parts.nchunks,
        parts.index.len(),
        ours.len(),
        parts.index
    );
}

/// Returns the content of a chunk: a random number of random bytes, then zeros. With `may_be_zeros`, an eighth of the
/// chunks is all zeros: once chunks differ in size, the reference cannot read a frame with a chunk of zeros.
fn random_content(random: &mut Random, len: usize, may_be_zeros: bool) -> Vec<u8> {
    let noise = if may_be_zeros && random.below(8) == 0 { 0 } else { 1 + random.below(len) };
    (0..len).map(|n| if n < noise { random.next() as u8 | 1 } else { 0 }).collect()
}

fn check_random_frames(reference: &Reference) {
    let mut random = Random(11);
    for round in 0..24 {
        let cparams = blosc2_cparams {
            typesize: [1, 4, 8, 300][round % 4],
            compcode: [0, 1, 2, 4, 5][round % 5],
            clevel: (round % 10) as u8,
            splitmode: 1 + (round % 4) as i32,
            filters: [0, 0, 0, 0, [0, 3][round % 2], [0, 1, 2][round % 3]],
            filters_meta: [0, 0, 0, 1, 2, 3],
            compcode_meta: round as u8,
            blocksize: [0, 512][round / 2 % 2],
            ..BLOSC2_CPARAMS_DEFAULTS
        };
        let frame = ReferenceFrame::new(reference, cparams);
        parse_and_rebuild(&frame);
        frame.add_metalayers(&mut random, round % 17 % 16);
        parse_and_rebuild(&frame);
        let fixed = round % 2 == 0;
        let mut encoder = IndexEncoder::new();
        for step in 0..160 {
            let len = if fixed { 1200 } else { 300 * (1 + random.below(8)) };
            let nchunks = parse_and_rebuild(&frame).nchunks;
            match random.below(9) {
                0 if nchunks > 1 => {
                    let at = random.below(nchunks) as i64;
                    // SAFETY: a chunk that is there.
                    let left = unsafe { (reference.blosc2_schunk_delete_chunk)(frame.schunk, at) };
                    assert_eq!(left as usize, nchunks - 1);
                    check_same_index(&parse_and_rebuild(&frame), &mut encoder, nchunks, "delete");
                }
                1 if nchunks > 1 => {
                    let mut order: Vec<i64> = (0..nchunks as i64).collect();
                    for n in 1..nchunks {
                        order.swap(n, random.below(n + 1));
                    }
                    // SAFETY: as many entries as chunks.
                    let code = unsafe {
                        (reference.blosc2_schunk_reorder_offsets)(frame.schunk, order.as_mut_ptr())
                    };
                    assert_eq!(code, 0);
                    check_same_index(&parse_and_rebuild(&frame), &mut encoder, nchunks, "reorder");
                }
                2 if fixed && nchunks > 0 => {
                    let mut chunk = [0u8; 32];
                    let at = random.below(nchunks) as i64;
                    // SAFETY: a chunk of 32 bytes, which is copied.
                    let now = unsafe {
                        (reference.blosc2_chunk_zeros)(cparams, 1200, chunk.as_mut_ptr().cast(), 32);
                        let start = chunk.as_mut_ptr();
                        (reference.blosc2_schunk_insert_chunk)(frame.schunk, at, start, CBool::TRUE)
                    };
                    assert_eq!(now as usize, nchunks + 1);
                    check_same_index(&parse_and_rebuild(&frame), &mut encoder, nchunks + 1, "insert");
                }
                _ => {
                    frame.append(&random_content(&mut random, len, fixed));
                    let parts = parse_and_rebuild(&frame);
                    check_same_index(&parts, &mut encoder, parts.nchunks, "append");
                }
            }
            if step == 80 {
                frame.add_vlmetalayers(&mut random, round % 17);
            }
        }
    }
}

fn check_long_indexes(reference: &Reference) {
    let frame = ReferenceFrame::new(reference, BLOSC2_CPARAMS_DEFAULTS);
    let mut random = Random(13);
    let mut encoder = IndexEncoder::new();
    for n in 0..2048 {
        let len = 8 * (1 + random.below(8));
        frame.append(&random_content(&mut random, len, false));
        if n % 100 == 99 || n >= 2046 {
            let parts = parse_and_rebuild(&frame);
            check_same_index(&parts, &mut encoder, parts.nchunks, "append");
        }
    }
    // An index of more than one block: this library decodes that of the reference, and the reference that of this
    // library.
    for _ in 0..2100 {
        frame.append(&random_content(&mut random, 16, false));
    }
    let parts = parse_and_rebuild(&frame);
    assert_eq!(parts.nchunks, 4148);
    let bytes = frame.bytes();
    let header = FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap();
    let at = header.header_len + header.cbytes as usize;
    let offsets = index::decode(&parts.index, parts.nchunks).unwrap();
    let chunk = encoder.encode(&offsets, 2048, parts.nchunks).unwrap();
    assert!(chunk.len() <= parts.index.len() + 64, "{} bytes, {}", chunk.len(), parts.index.len());
    let len = at + chunk.len() + trailer::EMPTY_LEN;
    let header = FrameHeader { frame_len: len as u64, ..header };
    let ours = [&header.build(&[]).unwrap(), &bytes[97..at], &chunk, &trailer::build(&[]).unwrap()].concat();
    let opened = open_reference_frame(reference, &ours).expect("the reference opens our frame");
    assert!(opened.0.offsets(4148).into_iter().eq(offsets.iter()));
}

/// Opens a frame in memory. The caller keeps the returned bytes as long as the frame is open.
fn open_reference_frame<'a>(
    reference: &'a Reference,
    bytes: &[u8],
) -> Option<(ReferenceFrame<'a>, Box<[u8]>)> {
    let mut copy: Box<[u8]> = bytes.into();
    // SAFETY: the bytes live as long as the super-chunk, which is dropped first and does not free them.
    let schunk =
        unsafe { (reference.blosc2_schunk_from_buffer)(copy.as_mut_ptr(), copy.len() as i64, CBool::FALSE) };
    (!schunk.is_null()).then(|| (ReferenceFrame { reference, schunk }, copy))
}

fn check_special_frames(reference: &Reference) {
    for (kind, id) in [(SpecialValue::Zero, 1), (SpecialValue::Nan, 2), (SpecialValue::Uninit, 4)] {
        for nitems in [1, 25, 1000, 1_000_000, 50_000_000i64] {
            let frame =
                ReferenceFrame::new(reference, blosc2_cparams { typesize: 4, ..BLOSC2_CPARAMS_DEFAULTS });
            // SAFETY: an empty super-chunk.
            let nchunks = unsafe { (reference.blosc2_schunk_fill_special)(frame.schunk, nitems, id, 40) };
            assert_eq!(nchunks, (nitems + 9) / 10);
            let bytes = frame.bytes();
            let ours = encode_special(kind, nchunks as usize).unwrap();
            assert!(bytes[97..137] == ours, "{kind:?} {nitems}");
            let parts = parse_and_rebuild(&frame);
            assert_eq!(parts.index, ours);
        }
    }
}

/// Changes random bytes of the metalayer sections: a frame must parse here if and only if the reference opens it.
fn check_damaged_metalayers(reference: &Reference) {
    let mut random = Random(17);
    let (mut opened, mut refused) = (0, 0);
    for round in 0..1500 {
        let frame = ReferenceFrame::new(reference, BLOSC2_CPARAMS_DEFAULTS);
        frame.add_metalayers(&mut random, 1 + round % 3);
        frame.add_vlmetalayers(&mut random, round % 3);
        let mut bytes = frame.bytes();
        let head = FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap().header_len;
        for _ in 0..1 + random.below(2) {
            let at = match random.below(2) {
                0 => 87 + random.below((head - 87).min(60)),
                _ => head + random.below((bytes.len() - head - 25).min(60)),
            };
            bytes[at] =
                if random.below(2) == 0 { bytes[at] ^ 1 << random.below(8) } else { random.next() as u8 };
        }
        let theirs = open_reference_frame(reference, &bytes).is_some();
        let header = parse_header_section(&bytes[..head]);
        let end = parse_trailer_section(&bytes[head..]);
        let ours = header.is_ok() && end.is_ok();
        assert_eq!(ours, theirs, "round {round}: {header:?} {end:?}");
        opened += usize::from(ours);
        refused += usize::from(!ours);
    }
    assert!(opened > 100 && refused > 100, "{opened} opened, {refused} refused");
}

/// Changes bytes of the fixed part: a frame must pass the checks here if and only if the reference opens it.
fn check_damaged_headers(reference: &Reference) {
    let frame = ReferenceFrame::new(reference, BLOSC2_CPARAMS_DEFAULTS);
    frame.append(&[7; 400]);
    let good = frame.bytes();
    let (mut opened, mut refused) = (0, 0);
    let mut check = |pos: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[pos..pos + bytes.len()].copy_from_slice(bytes);
        let ours = FrameHeader::parse(&bad, FrameKind::Contiguous).and_then(|header| {
            header.check_for_opening(&bad)?;
            header.nchunks(|| Ok(8))
        });
        let theirs = open_reference_frame(reference, &bad).is_some();
        assert_eq!(ours.is_ok(), theirs, "{bytes:02x?} at {pos}: {ours:?}");
        opened += usize::from(theirs);
        refused += usize::from(!theirs);
    };
    for byte in 0..=255 {
        // General flags, type, split mode, filters, other flags.
        for pos in [25, 26, 28, 70, 85, 86] {
            check(pos, &[byte]);
        }
    }
    for pos in [0, 1, 10, 15, 24, 29, 38, 47, 52, 57, 62, 65, 68, 69] {
        check(pos, &[0x55]);
    }
    for typesize in [i32::MIN, -1, 0, 1, 4, 255, 256, i32::MAX] {
        check(48, &typesize.to_be_bytes());
    }
    for chunksize in [i32::MIN, -1] {
        check(58, &chunksize.to_be_bytes());
    }
    for len in [i32::MIN, -1, 0, 86, good.len() as i32 + 1, i32::MAX] {
        check(11, &len.to_be_bytes());
    }
    assert!(opened > 500 && refused > 500, "{opened} opened, {refused} refused");
}

/// A single test, since the state of the reference library is global.
#[test]
fn rebuilt_reference_frames_have_the_same_bytes() {
    let Some(path) = reference_library::path() else { return };
    let reference = Reference::load(&path);
    // SAFETY: no other thread uses this library.
    unsafe { (reference.blosc2_init)() };
    check_special_frames(&reference);
    check_random_frames(&reference);
    check_long_indexes(&reference);
    check_damaged_metalayers(&reference);
    check_damaged_headers(&reference);
}

/// Set in the child process that runs with the tested environment variables.
const CHILD_PROCESS_VARIABLE: &str = "BLOSC2_FRAME_TEST_CHILD";

/// Environment variables override parameters of the index, too. Each value is tested in a separate process, since other
/// tests read the variables as well.
#[test]
fn environment_variables_change_the_index_as_in_the_reference() {
    let Some(path) = reference_library::path() else { return };
    if std::env::var_os(CHILD_PROCESS_VARIABLE).is_some() {
        let reference = Reference::load(&path);
        // SAFETY: no other thread uses this library.
        unsafe { (reference.blosc2_init)() };
        return check_environment_frames(&reference);
    }
    let variables = [
        ("BLOSC_CLEVEL", "1"),
        ("BLOSC_CLEVEL", "9"),
        ("BLOSC_CLEVEL", "0"),
        ("BLOSC_SHUFFLE", "NOSHUFFLE"),
        ("BLOSC_SHUFFLE", "BITSHUFFLE"),
        ("BLOSC_DELTA", "1"),
        ("BLOSC_TYPESIZE", "4"),
        ("BLOSC_BLOCKSIZE", "64"),
        ("BLOSC_SPLITMODE", "ALWAYS"),
        ("BLOSC_COMPRESSOR", "lz4"),
        ("BLOSC_COMPRESSOR", "zstd"),
    ];
    for (name, value) in variables {
        let test = "frame::tests::reference::environment_variables_change_the_index_as_in_the_reference";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child
            .args([test, "--exact", "--nocapture"])
            .env(CHILD_PROCESS_VARIABLE, "1")
            .env("BLOSC_NTHREADS", "1");
        let output = child.env(name, value).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{name}={value}: {text}");
    }
}

fn check_environment_frames(reference: &Reference) {
    let frame = ReferenceFrame::new(reference, BLOSC2_CPARAMS_DEFAULTS);
    let mut random = Random(19);
    let mut encoder = IndexEncoder::new();
    for n in 0..300 {
        let len = 600 + 8 * random.below(100);
        frame.append(&random_content(&mut random, len, false));
        let parts = parse_and_rebuild(&frame);
        if n % 10 != 9 {
            continue;
        }
        check_same_index(&parts, &mut encoder, parts.nchunks, "environment");
    }
    let header = ChunkHeader::parse(&parse_and_rebuild(&frame).index).unwrap();
    let set = |name: &str| std::env::var(name).ok();
    let uncoded = set("BLOSC_CLEVEL").as_deref() == Some("0");
    assert!(header.is_memcpyed() || !uncoded);
    assert_eq!(header.filters[4] == 3, set("BLOSC_DELTA").is_some());
    assert_eq!(header.filters[5] != 1, set("BLOSC_SHUFFLE").is_some());
    assert_eq!(header.blocksize == 64, set("BLOSC_BLOCKSIZE").is_some());
    assert_eq!(header.is_split(), uncoded || set("BLOSC_SPLITMODE").is_some());
    assert_eq!(header.codec_format() != 0, set("BLOSC_COMPRESSOR").is_some());
}
