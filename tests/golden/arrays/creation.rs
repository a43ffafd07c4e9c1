//! Contexts and new arrays (b2nd.md 6.1 to 6.3).

use super::{create_filled_array, for_each_library_and_store, layout_a};
use crate::support::array::{Array, ArraySpec};
use crate::support::super_chunk::Store;
use crate::support::{all_libraries, hex};

fn five_item_spec(store: Store, path: &std::path::Path) -> ArraySpec {
    ArraySpec::new(&[5], &[3], &[2], 4).with_store(store, path)
}

/// The stored chunk of each special creation.
#[test]
fn special_arrays_store_special_chunks() {
    let header = |cbytes: &str, kind: &str| {
        hex(&format!("05 01 05 04 10 00 00 00 08 00 00 00 {cbytes} 00 00 00 {} {kind}", "00".repeat(15)))
    };
    for_each_library_and_store(|library, store, path| {
        let check = |name: &str, made: (i32, Option<Array>), right: Vec<u8>| {
            let array = made.1.expect("an array");
            assert_eq!(made.0, 0);
            assert_eq!(array.schunk().get_chunk(1), Ok(right), "{}: {store:?} {name}", library.name);
            (array.schunk().nbytes(), array.schunk().cbytes())
        };
        let context = |name: &str| five_item_spec(store, &path.with_extension(name)).context(library);
        let memory = store == Store::Memory;
        let none = if memory { 64 } else { 0 };
        assert_eq!(check("zeros", context("zeros").zeros(), header("20", "10")), (32, none));
        assert_eq!(check("empty", context("empty").empty(), header("20", "10")), (32, none));
        assert_eq!(check("uninit", context("uninit").uninit(), header("20", "40")), (32, none));
        assert_eq!(check("nans", context("nans").nans(), header("20", "20")), (32, none));
        let full = context("full").full(&0x0102_0304i32.to_le_bytes());
        let counters = check("full", full, header("24", "30 04 03 02 01"));
        assert_eq!(counters, (32, if memory { 136 } else { 72 }), "{}: {store:?}", library.name);
        let zero = context("zero").full(&[0; 4]);
        check("full of zeros", zero, header("24", "30 00 00 00 00"));
        let nans = context("nans2").nans().1.expect("an array");
        assert_eq!(nans.to_cbuffer(), Ok(0x7FC0_0000u32.to_ne_bytes().repeat(5)));
    });
}

/// Calls that return an error and an array (b2nd.md Q13).
#[test]
fn nans_and_short_buffer_return_an_error_and_an_array() {
    for_each_library_and_store(|library, store, path| {
        let context = ArraySpec::new(&[5], &[3], &[2], 2).with_store(store, path).context(library);
        let mut raw = std::ptr::null_mut();
        // SAFETY: a live context and an out-pointer.
        let rc = unsafe { (context.functions.b2nd_nans)(context.raw(), &mut raw) };
        let array = Array::from_raw(library, raw).expect("an array");
        assert_eq!((rc, array.shape()), (-3, &[5][..]));
        drop(array);
        let context = five_item_spec(store, &path.with_extension("short")).context(library);
        let mut raw = std::ptr::null_mut();
        let items = [7u8; 20];
        // SAFETY: as above, and a buffer that is larger than stated.
        let rc = unsafe {
            (context.functions.b2nd_from_cbuffer)(context.raw(), &mut raw, items.as_ptr().cast(), 19)
        };
        let array = Array::from_raw(library, raw).expect("an array");
        assert_eq!((rc, array.to_cbuffer()), (-12, Ok(vec![0; 20])));
    });
}

/// The default dtype, and the dtype of a copy (b2nd.md Q2, Q6).
#[test]
fn default_dtype_and_dtype_of_a_copy_match_the_document() {
    for_each_library_and_store(|library, store, path| {
        let array = five_item_spec(store, path).zeros(library);
        assert_eq!(array.dtype().as_deref(), Some(c"|S4"));
        let stored = array.schunk().meta_get("b2nd").expect("a metalayer");
        assert!(stored.ends_with(b"|S4"), "{stored:02x?}");
        let equal = five_item_spec(Store::Memory, path).with_dtype("<f4");
        let copy = equal.context(library).copy(&array).1.expect("a copy");
        assert_eq!(copy.dtype().as_deref(), Some(c"<f4"));
        assert_eq!(copy.schunk().meta_get("b2nd"), Some(stored.clone()));
        assert_eq!(copy.fields().last_tick, 0);
        let other = ArraySpec::new(&[5], &[2], &[2], 4).with_dtype("<f4");
        let copy = other.context(library).copy(&array).1.expect("a copy");
        assert_eq!(copy.dtype().as_deref(), Some(c"<f4"));
        assert!(copy.schunk().meta_get("b2nd").is_some_and(|layer| layer.ends_with(b"<f4")));
    });
    for library in all_libraries() {
        let wide = ArraySpec::new(&[], &[], &[], 536_866_816).context(library);
        // SAFETY: a live context (b2nd.md 4.2); its dtype is terminated.
        let dtype = unsafe { std::ffi::CStr::from_ptr((*wide.raw()).dtype) };
        assert_eq!(dtype, c"|S536866816");
    }
}

/// The fields of a context that a program may read and change (b2nd.md 4.2).
#[test]
fn context_fields_can_be_read_and_changed() {
    for library in all_libraries() {
        let context = layout_a().with_dtype("<i1").context(library);
        // SAFETY: a live context of the layout of b2nd.md 4.2.
        let fields = unsafe { &mut *context.raw() };
        assert_eq!((fields.ndim, &fields.shape[..2], &fields.chunkshape[..2]), (2, &[5, 7][..], &[3, 4][..]));
        assert_eq!((&fields.blockshape[..2], fields.nmetalayers, fields.dtype_format), (&[2, 2][..], 0, 0));
        // SAFETY: the storage has its own copy of the parameters (b2nd.md 6.1).
        unsafe {
            assert_eq!((*(*fields.b2_storage).cparams).blocksize, 4);
            assert_eq!((*(*fields.b2_storage).cparams).typesize, 1);
        }
        fields.shape[0] = 6;
        let array = context.zeros().1.expect("an array");
        assert_eq!(array.shape(), [6, 7], "{}", library.name);
        let again = context.zeros().1.expect("a second array");
        assert_eq!(again.shape(), [6, 7]);
    }
}

/// The first refresh of an array in a frame detects the changes made by its creation (b2nd.md Q9).
#[test]
fn first_refresh_detects_the_changes_of_the_creation() {
    for_each_library_and_store(|library, store, path| {
        let array = five_item_spec(store, path).zeros(library);
        let first = if store == Store::Memory { 0 } else { 1 };
        assert_eq!((array.refresh(), array.refresh()), (first, 0), "{}: {store:?}", library.name);
        let array = create_filled_array(library, layout_a(), store, &path.with_extension("filled"));
        assert_eq!(array.refresh(), 0, "{}: {store:?}", library.name);
    });
}

/// The header of a chunk of wide items (b2nd.md 7).
#[test]
fn items_of_300_bytes_have_typesize_1_in_the_header() {
    for_each_library_and_store(|library, store, path| {
        let spec = ArraySpec::new(&[10], &[4], &[2], 300).with_store(store, path);
        let items: Vec<u8> = (0..3000).map(|at| (at / 11) as u8).collect();
        let array = spec.create_from_buffer(library, &items);
        assert_eq!(array.to_cbuffer().as_ref(), Ok(&items));
        assert_eq!(array.get(&[3], &[9]).as_deref(), Ok(&items[900..2700]));
        assert_eq!(array.get_sparse(&[9, 0], 600, 600).1, [&items[2700..], &items[..300]].concat());
        drop(array);
        let spec = ArraySpec::new(&[10], &[4], &[2], 300).with_store(store, &path.with_extension("full"));
        let array = spec.context(library).full(&items[..300]).1.expect("an array");
        let chunk = array.schunk().get_chunk(2).expect("a chunk");
        assert_eq!(chunk[..16], hex("05 01 05 01 b0 04 00 00 58 02 00 00 4c 01 00 00"), "{}", library.name);
        assert_eq!(array.to_cbuffer(), Ok(items[..300].repeat(10)));
        let noise = crate::support::random::Random::new(1).bytes(1200);
        assert_eq!(array.set(&[0], &[4], &noise), 0);
        let chunk = array.schunk().get_chunk(0).expect("a chunk");
        assert_eq!(chunk[..16], hex("05 01 07 01 b0 04 00 00 58 02 00 00 d0 04 00 00"), "{}", library.name);
    });
}
