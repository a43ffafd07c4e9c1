//! Array functions that take no array: the bytes of the metalayer, copies of boxes, and the chunks of a slice
//! (b2nd.md 3, 6.8, 6.17).

use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr;

use crate::support::calls::{Params, len32};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

const MAX_DIM: usize = 16;
/// The kind number of special chunks of zeros.
const SPECIAL_ZEROS: i32 = 1;

#[derive(Clone, Debug)]
struct ArrayMeta {
    shape: Vec<i64>,
    chunkshape: Vec<i32>,
    blockshape: Vec<i32>,
    dtype: Option<CString>,
    dtype_format: i8,
}

impl ArrayMeta {
    fn random(random: &mut Random, ndim: usize) -> ArrayMeta {
        ArrayMeta {
            shape: (0..ndim).map(|_| random.next() as i64 >> random.below(64)).collect(),
            chunkshape: (0..ndim).map(|_| random.next() as i32 >> random.below(32)).collect(),
            blockshape: (0..ndim).map(|_| random.next() as i32 >> random.below(32)).collect(),
            dtype: match random.below(4) {
                0 => None,
                1 => Some(CString::default()),
                _ => {
                    let text: Vec<u8> = (0..random.below(300)).map(|_| 1 + random.below(255) as u8).collect();
                    Some(CString::new(text).expect("no NUL"))
                }
            },
            dtype_format: if random.one_in(8) { random.byte() as i8 } else { random.below(128) as i8 },
        }
    }

    fn serialize(&self, library: &Library) -> Result<Vec<u8>, i32> {
        let mut smeta = ptr::null_mut();
        // SAFETY: shapes of as many numbers, a string or NULL, and an out-pointer.
        unsafe {
            let len = (library.b2nd_serialize_meta)(
                self.shape.len() as i8,
                self.shape.as_ptr(),
                self.chunkshape.as_ptr(),
                self.blockshape.as_ptr(),
                self.dtype.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
                self.dtype_format,
                &mut smeta,
            );
            if len < 0 {
                return Err(len);
            }
            let bytes = std::slice::from_raw_parts(smeta, len as usize).to_vec();
            libc::free(smeta.cast());
            Ok(bytes)
        }
    }
}

/// All outputs of `b2nd_deserialize_meta`.
#[derive(Debug, PartialEq)]
struct DeserializedMeta {
    rc: i32,
    ndim: i8,
    shape: [i64; MAX_DIM],
    chunkshape: [i32; MAX_DIM],
    blockshape: [i32; MAX_DIM],
    dtype: Option<Vec<u8>>,
    dtype_format: i8,
}

fn deserialize(
    library: &Library,
    bytes: &[u8],
    len: i32,
    with_dtype: bool,
    with_format: bool,
) -> DeserializedMeta {
    assert!(len <= len32(bytes));
    let mut result = DeserializedMeta {
        rc: 0,
        // This library sets these to 0 before it reads anything, the reference leaves them.
        ndim: 0,
        shape: [-77; MAX_DIM],
        chunkshape: [-77; MAX_DIM],
        blockshape: [-77; MAX_DIM],
        dtype: None,
        dtype_format: 0,
    };
    let stale: *mut c_char = ptr::dangling_mut();
    let mut dtype = stale;
    // SAFETY: a buffer of at least the stated length, arrays for the maximum number of dimensions, and out-pointers
    // or NULL.
    unsafe {
        result.rc = (library.b2nd_deserialize_meta)(
            bytes.as_ptr(),
            len,
            &mut result.ndim,
            result.shape.as_mut_ptr(),
            result.chunkshape.as_mut_ptr(),
            result.blockshape.as_mut_ptr(),
            if with_dtype { &mut dtype } else { ptr::null_mut() },
            if with_format { &mut result.dtype_format } else { ptr::null_mut() },
        );
        assert_eq!(dtype == stale, !with_dtype, "the data type is always set");
        if with_dtype && !dtype.is_null() {
            result.dtype = Some(std::ffi::CStr::from_ptr(dtype).to_bytes().to_vec());
            libc::free(dtype.cast());
        }
    }
    result
}

#[test]
fn metalayers_have_the_same_bytes_and_are_read_alike() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(31);
    for round in 0..1500 {
        let ndim = *random.pick(&[0, 1, 2, 3, 4, 8, 15, 16]);
        let meta = ArrayMeta::random(random, ndim);
        let what = format!("round {round}: {meta:?}");
        let (mine, theirs) = (meta.serialize(ours), meta.serialize(reference));
        assert_eq!(mine, theirs, "{what}");
        let Ok(bytes) = mine else { continue };
        let mut inputs = vec![bytes.clone(), [&bytes[..], &[1; 9]].concat()];
        for _ in 0..8 {
            let mut changed = bytes.clone();
            for _ in 0..random.below(3) {
                let end = if random.one_in(2) { 6 } else { changed.len() };
                let at = random.below(end) % changed.len();
                changed[at] = random.byte();
            }
            let len = 1 + random.below(changed.len() + 20);
            changed.truncate(len);
            inputs.push(changed);
        }
        inputs.push((0..40).map(|_| random.byte()).collect());
        for input in inputs {
            let (with_dtype, with_format) = (!random.one_in(6), !random.one_in(6));
            let len = if random.one_in(20) { -(random.below(3) as i32) } else { len32(&input) };
            let read = |library| deserialize(library, &input, len, with_dtype, with_format);
            assert_eq!(read(ours), read(reference), "{what}: {len} of {input:02x?}");
        }
    }
}

/// Every length of one metalayer, and NULL arguments.
#[test]
fn truncated_metalayers_and_null_arguments_have_the_same_codes() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let mut meta = ArrayMeta::random(&mut Random::new(1), 3);
    meta.dtype = Some(c"<f8".into());
    meta.dtype_format = 1;
    let bytes = meta.serialize(reference).expect("bytes");
    for len in 0..=len32(&bytes) {
        let read = |library| deserialize(library, &bytes, len, true, true);
        assert_eq!(read(ours), read(reference), "{len}");
    }
    for missing in 0..5 {
        let call = |library: &Library| {
            let (mut ndim, mut shape, mut extents) = (0i8, [0i64; MAX_DIM], [0i32; MAX_DIM]);
            let mut other = extents;
            let unless = |number: usize| missing != number;
            // SAFETY: large enough outputs, or NULL, which is rejected.
            unsafe {
                (library.b2nd_deserialize_meta)(
                    if unless(0) { bytes.as_ptr() } else { ptr::null() },
                    len32(&bytes),
                    if unless(1) { &mut ndim } else { ptr::null_mut() },
                    if unless(2) { shape.as_mut_ptr() } else { ptr::null_mut() },
                    if unless(3) { extents.as_mut_ptr() } else { ptr::null_mut() },
                    if unless(4) { other.as_mut_ptr() } else { ptr::null_mut() },
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            }
        };
        assert_eq!((call(ours), call(reference)), (-32, -32), "argument {missing}");
    }
}

/// Arguments that the reference does not check, or crashes on (b2nd.md 10, D17).
#[test]
fn arguments_out_of_range_are_refused() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let mut smeta = ptr::null_mut();
    let (wide, narrow) = ([1i64; 17], [1i32; 17]);
    // SAFETY: shapes that are long enough, or NULL, which is rejected.
    unsafe {
        let serialize = |ndim, shape: *const i64, smeta: *mut *mut u8| {
            let narrow = narrow.as_ptr();
            (ours.b2nd_serialize_meta)(ndim, shape, narrow, narrow, ptr::null(), 0, smeta)
        };
        assert_eq!(serialize(17, wide.as_ptr(), &mut smeta), -12);
        assert_eq!(serialize(-1, wide.as_ptr(), &mut smeta), -12);
        assert_eq!(serialize(2, ptr::null(), &mut smeta), -32);
        assert_eq!(serialize(2, wide.as_ptr(), ptr::null_mut()), -32);
        assert_eq!(serialize(0, ptr::null(), &mut smeta), 15);
        libc::free(smeta.cast());

        let (src, mut dst) = ([1u8, 2, 3, 4], [0u8; 4]);
        let zeros = [0i64; 17];
        let mut copy = |ndim, itemsize, start: &[i64], src: *const u8| {
            let (pad, stop) = (wide.as_ptr(), wide.as_ptr());
            let (start, at) = (start.as_ptr(), zeros.as_ptr());
            let dst = dst.as_mut_ptr().cast();
            (ours.b2nd_copy_buffer2)(ndim, itemsize, src.cast(), pad, start, stop, dst, pad, at)
        };
        assert_eq!(copy(17, 1, &zeros, src.as_ptr()), -12);
        assert_eq!(copy(-1, 1, &zeros, src.as_ptr()), -12);
        assert_eq!(copy(1, -1, &zeros, src.as_ptr()), -12);
        assert_eq!(copy(1, 1, &[5], src.as_ptr()), -12);
        assert_eq!(copy(1, 1, &[-5], src.as_ptr()), -12);
        assert_eq!(copy(1, 1, &zeros, ptr::null()), -32);
        // An empty box accesses nothing; zero dimensions are one item.
        assert_eq!(copy(1, 1, &[1], ptr::null()), 0);
        assert_eq!(copy(0, 4, &zeros, src.as_ptr()), 0);
        assert_eq!(dst, src);
    }
}

/// A random box of at most a few thousand items in two arrays.
struct BoxCase {
    start: Vec<i64>,
    stop: Vec<i64>,
    src_shape: Vec<i64>,
    dst_shape: Vec<i64>,
    dst_start: Vec<i64>,
}

impl BoxCase {
    fn random(random: &mut Random, ndim: usize) -> BoxCase {
        let mut case =
            BoxCase { start: vec![], stop: vec![], src_shape: vec![], dst_shape: vec![], dst_start: vec![] };
        let mut nitems = 1;
        for _ in 0..ndim {
            let room = if nitems > 1500 { 1 } else { *random.pick(&[1, 2, 3, 5, 9]) };
            let mut margin = || if nitems > 1500 || random.one_in(2) { 0 } else { random.below(3) as i64 };
            let margins = [margin(), margin(), margin(), margin()];
            let extent = if random.one_in(40) { 0 } else { 1 + random.below(room) as i64 };
            nitems *= extent + margins.iter().sum::<i64>();
            case.start.push(margins[0]);
            case.stop.push(margins[0] + extent);
            case.src_shape.push(margins[0] + extent + margins[1]);
            case.dst_start.push(margins[2]);
            case.dst_shape.push(margins[2] + extent + margins[3]);
        }
        case
    }

    fn copy(&self, library: &Library, itemsize: i32, old: bool, src: &[u8]) -> (i32, Vec<u8>) {
        let mut dst = vec![0xa5; self.dst_shape.iter().product::<i64>() as usize * itemsize as usize];
        let (ndim, from, to) = (self.start.len() as i8, src.as_ptr().cast(), dst.as_mut_ptr().cast());
        let (src_shape, start, stop) = (self.src_shape.as_ptr(), self.start.as_ptr(), self.stop.as_ptr());
        let (dst_shape, at) = (self.dst_shape.as_ptr(), self.dst_start.as_ptr());
        // SAFETY: the box lies in both buffers.
        let rc = unsafe {
            if old {
                (library.b2nd_copy_buffer)(
                    ndim,
                    itemsize as u8,
                    from,
                    src_shape,
                    start,
                    stop,
                    to,
                    dst_shape,
                    at,
                )
            } else {
                (library.b2nd_copy_buffer2)(ndim, itemsize, from, src_shape, start, stop, to, dst_shape, at)
            }
        };
        (rc, dst)
    }
}

#[test]
fn copy_buffer_agrees_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(32);
    for round in 0..3000 {
        let ndim = *random.pick(&[1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 16]);
        let case = BoxCase::random(random, ndim);
        let itemsize = match random.below(3) {
            0 => *random.pick(&[1, 2, 3, 4, 8, 16]),
            1 => 1 + random.below(40) as i32,
            _ => 1 + random.below(300) as i32,
        };
        let src = random.bytes(case.src_shape.iter().product::<i64>() as usize * itemsize as usize);
        let old = itemsize < 256 && random.one_in(3);
        let (mine, theirs) =
            (case.copy(ours, itemsize, old, &src), case.copy(reference, itemsize, old, &src));
        assert_eq!(mine.0, theirs.0);
        let what = format!("round {round}: {:?} + {:?} of {itemsize} bytes", case.start, case.stop);
        crate::assert_bytes(&what, &mine.1, &theirs.1);
    }
}

/// Calls `blosc2_get_slice_nchunks` and returns a vector.
fn slice_nchunks(schunk: &SuperChunk, start: &mut [i64], stop: &mut [i64]) -> Result<Vec<i64>, i64> {
    let mut numbers: *mut i64 = ptr::null_mut();
    // SAFETY: a live super-chunk, arrays for the maximum number of dimensions, and an out-pointer.
    unsafe {
        let count = (schunk.functions.blosc2_get_slice_nchunks)(
            schunk.raw(),
            start.as_mut_ptr(),
            stop.as_mut_ptr(),
            &mut numbers,
        );
        if count < 0 {
            return Err(count);
        }
        let found = match count {
            0 => vec![],
            _ => std::slice::from_raw_parts(numbers, count as usize).to_vec(),
        };
        libc::free(numbers.cast());
        Ok(found)
    }
}

#[test]
fn slice_nchunks_of_arrays_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(33);
    let mut counts = 0;
    for round in 0..600 {
        let ndim = *random.pick(&[0, 1, 2, 2, 3, 3, 4, 6, 16]);
        let strange = random.one_in(5);
        let mut meta = ArrayMeta { dtype: None, dtype_format: 0, ..ArrayMeta::random(random, ndim) };
        for dim in 0..ndim {
            let room = if ndim > 4 && dim > 2 { 2 } else { 12 };
            meta.shape[dim] = i64::from(!random.one_in(15)) * (1 + random.below(room) as i64);
            meta.chunkshape[dim] = 1 + random.below(5) as i32;
            meta.blockshape[dim] = 1 + random.below(4) as i32;
            if strange && random.one_in(3) {
                let which = random.below(3);
                let number = *random.pick(&[0, -1]);
                match which {
                    0 => meta.shape[dim] = number,
                    1 => meta.chunkshape[dim] = number as i32,
                    _ => meta.blockshape[dim] = number as i32,
                }
            }
        }
        let mut bytes = meta.serialize(reference).expect("bytes");
        let name = if random.one_in(3) { "caterva" } else { "b2nd" };
        if name == "caterva" {
            bytes.truncate(6 + 19 * ndim);
            bytes[0] = 0x95;
        }
        if random.one_in(10) {
            bytes.truncate(random.below(bytes.len()));
        }
        // The reference allocates an array for as many numbers as there are chunks.
        let along = |dim: usize| {
            u64::try_from(meta.shape[dim]).unwrap_or(0).div_ceil(meta.chunkshape[dim].max(1) as u64)
        };
        let nchunks = (0..ndim).map(along).product::<u64>() as i64;
        let [mine, theirs] = [ours, reference].map(|library| {
            let params = Params { typesize: 1, ..Params::default() };
            let schunk = SuperChunk::create(library, Store::Memory, Path::new(""), &params);
            assert_eq!(schunk.meta_add(name, &bytes), 0, "{}", library.name);
            // SAFETY: a live super-chunk.
            let rc = unsafe {
                (schunk.functions.blosc2_schunk_fill_special)(schunk.raw(), nchunks, SPECIAL_ZEROS, 1)
            };
            assert!(nchunks == 0 || rc >= 0, "{}: {nchunks} chunks: {rc}", library.name);
            schunk
        });
        for _ in 0..6 {
            let (mut start, mut stop) = (vec![0i64; MAX_DIM], vec![0i64; MAX_DIM]);
            for dim in 0..ndim {
                let most = meta.shape[dim].max(0) as usize + 3;
                start[dim] = random.below(most) as i64;
                stop[dim] = if random.one_in(6) { start[dim] } else { random.below(most + 2) as i64 };
                // Beyond the last chunk the reference returns chunks of the next row.
                stop[dim] = stop[dim].min(along(dim) as i64 * i64::from(meta.chunkshape[dim].max(1)));
                if random.one_in(2) {
                    (start[dim], stop[dim]) = (0, meta.shape[dim]);
                }
            }
            let what = format!("round {round}: {name} {meta:?} {:02x?}, {start:?} to {stop:?}", bytes.len());
            let found = slice_nchunks(&mine, &mut start, &mut stop);
            counts += found.as_ref().map_or(0, Vec::len);
            assert_eq!(found, slice_nchunks(&theirs, &mut start, &mut stop), "{what}");
        }
        // SAFETY: NULL is rejected, or not used.
        let [a, b] = [&mine, &theirs].map(|schunk| unsafe {
            let mut numbers: *mut i64 = ptr::null_mut();
            let mut zeros = [0i64; MAX_DIM];
            (schunk.functions.blosc2_get_slice_nchunks)(
                schunk.raw(),
                ptr::null_mut(),
                zeros.as_mut_ptr(),
                &mut numbers,
            )
        });
        assert_eq!(a, b, "round {round}: NULL, {meta:?}");
    }
    assert!(counts > 5000, "{counts} chunks in all");
}

/// A metalayer may claim chunks that do not exist: no memory of that size is allocated, and numbers outside the grid
/// are not returned.
#[test]
fn metalayer_claims_of_missing_chunks_allocate_no_memory() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let meta = ArrayMeta {
        shape: vec![1 << 30, 1 << 30],
        chunkshape: vec![1, 1],
        blockshape: vec![1, 1],
        dtype: None,
        dtype_format: 0,
    };
    let bytes = meta.serialize(ours).expect("bytes");
    let schunk = SuperChunk::create(ours, Store::Memory, Path::new(""), &Params::default());
    assert_eq!(schunk.meta_add("b2nd", &bytes), 0);
    let of = |start: [i64; 2], stop: [i64; 2]| slice_nchunks(&schunk, &mut { start }, &mut { stop });
    assert_eq!(of([0, 0], [1 << 30, 1 << 30]), Err(-4));
    assert_eq!(of([1, 5], [3, 6]), Ok(vec![(1 << 30) + 5, (2 << 30) + 5]));
    assert_eq!(of([-5, i64::MIN], [1, 2]), Ok(vec![0, 1]));
    assert_eq!(of([0, (1 << 30) - 1], [1, i64::MAX]), Ok(vec![(1 << 30) - 1]));
    assert_eq!(of([i64::MAX, 0], [i64::MIN, 1]), Ok(vec![]));
}
