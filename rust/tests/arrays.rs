//! Arrays, against a model in memory.

use blosc2::{AnyArray, Array, Codec, ErrorKind, Filter, OpenOptions, Params, SuperChunk, step};
use proptest::prelude::*;
use std::ops::Range;

/// A shape with chunks and blocks that fit.
fn shapes() -> impl Strategy<Value = (Vec<u64>, Vec<u32>, Vec<u32>)> {
    let axis = (0u64..20).prop_flat_map(|extent| {
        (Just(extent), 1u32..=(extent.max(1) as u32))
            .prop_flat_map(|(extent, chunk)| (Just(extent), Just(chunk), 1..=chunk))
    });
    prop::collection::vec(axis, 1..=3).prop_map(|axes| {
        let shape = axes.iter().map(|axis| axis.0).collect();
        (shape, axes.iter().map(|axis| axis.1).collect(), axes.iter().map(|axis| axis.2).collect())
    })
}

/// The items of a box of an array in memory.
fn slice(items: &[i32], shape: &[u64], ranges: &[Range<u64>]) -> Vec<i32> {
    let mut all = Vec::new();
    let nitems: u64 = ranges.iter().map(|range| range.end - range.start).product();
    for n in 0..nitems {
        let (mut rest, mut at, mut stride) = (n, 0, 1);
        for dim in (0..shape.len()).rev() {
            let extent = ranges[dim].end - ranges[dim].start;
            at += (ranges[dim].start + rest % extent) * stride;
            rest /= extent;
            stride *= shape[dim];
        }
        all.push(items[at as usize]);
    }
    all
}

fn range(extent: u64, a: &prop::sample::Index, b: &prop::sample::Index) -> Range<u64> {
    let (a, b) = (a.index(extent as usize + 1) as u64, b.index(extent as usize + 1) as u64);
    a.min(b)..a.max(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn boxes_are_those_of_the_model(
        (shape, chunks, blocks) in shapes(),
        on_disk in any::<bool>(),
        bounds in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 3),
    ) {
        let nitems: u64 = shape.iter().product();
        let mut items: Vec<i32> = (0..nitems as i32).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2nd");
        let builder = Array::<i32>::builder(shape.clone()).chunks(chunks).blocks(blocks);
        let builder = builder.params(Params::new().codec(Codec::Lz4));
        let mut array = if on_disk {
            builder.create_from(&path, &items).unwrap()
        } else {
            builder.in_memory_from(&items).unwrap()
        };
        prop_assert_eq!(array.read(..).unwrap(), items.clone());
        let ranges: Vec<Range<u64>> =
            shape.iter().zip(&bounds).map(|(&extent, (a, b))| range(extent, a, b)).collect();
        let part = slice(&items, &shape, &ranges);
        prop_assert_eq!(array.read(&ranges).unwrap(), part.clone());
        let negated: Vec<i32> = part.iter().map(|item| -item).collect();
        array.write(&ranges, &negated).unwrap();
        for item in &part {
            items[*item as usize] = -item;
        }
        prop_assert_eq!(array.read(..).unwrap(), items.clone());
        let lists: Vec<Vec<u64>> = ranges.iter().map(|range| range.clone().rev().collect()).collect();
        let mut selected = array.select(&lists).unwrap();
        selected.reverse();
        prop_assert_eq!(selected, slice(&items, &shape, &ranges));
        let copy = Array::<i32>::try_from(AnyArray::from_frame(&array.to_frame().unwrap()).unwrap()).unwrap();
        prop_assert_eq!(copy.read(..).unwrap(), items);
    }
}

#[test]
fn shapes_change() {
    let mut array = Array::<u8>::builder([2, 3]).chunks([1, 3]).blocks([1, 2]).fill(7).in_memory().unwrap();
    array.append(0, &[1, 2, 3]).unwrap();
    array.insert(0, 1, &[4, 5, 6]).unwrap();
    assert_eq!(array.read(..).unwrap(), [7, 7, 7, 4, 5, 6, 7, 7, 7, 1, 2, 3]);
    array.delete(0, 0..2).unwrap();
    array.resize(&[2, 4]).unwrap();
    assert_eq!(array.read(..).unwrap(), [7, 7, 7, 0, 1, 2, 3, 0]);
    array.set(&[1, 3], 9).unwrap();
    assert_eq!(array.get(&[1, 3]).unwrap(), 9);
    let reversed = Range { start: 2, end: 1 };
    for error in [array.resize(&[1]), array.append(0, &[1]), array.delete(2, 0..1), array.delete(0, reversed)]
    {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidParam);
    }
}

#[test]
fn arguments_that_do_not_fit_leave_an_existing_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    AnyArray::builder([2], "|u1", 1).fill_bytes(&[7]).create(&path).unwrap();
    let builder = || AnyArray::builder([2], "|u1", 1).truncate(true);
    let unknown = Filter::Other { id: 9, meta: 0 };
    for builder in [
        builder().chunks([1, 1]),
        builder().blocks([0]),
        builder().fill_bytes(&[1, 2]),
        builder().metalayer(&"n".repeat(32), b""),
        builder().params(Params::new().level(10)),
        builder().params(Params::new().threads(0)),
        builder().params(Params::new().filters([unknown])),
    ] {
        let kind = builder.create(&path).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::InvalidParam | ErrorKind::Failure), "{kind:?}");
        assert_eq!(AnyArray::open(&path).unwrap().read_bytes(..).unwrap(), [7, 7]);
    }
    let wrong = Array::<u8>::builder([2]).truncate(true).create_from(&path, &[1]);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::InvalidParam);
    assert_eq!(AnyArray::open(&path).unwrap().read_bytes(..).unwrap(), [7, 7]);
    let absent = folder.path().join("b.b2nd");
    assert!(
        AnyArray::builder([2], "|u1", 1).fill_bytes(&[1, 2]).create(&absent).is_err() && !absent.exists()
    );
}

#[test]
fn wrong_boxes_and_types_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    let array = Array::<f32>::builder([4, 5]).create(&path).unwrap();
    assert_eq!(array.read((0, 5)).unwrap_err().kind(), ErrorKind::InvalidParam);
    assert_eq!(array.read((0..2,)).unwrap_err().kind(), ErrorKind::InvalidParam);
    #[allow(clippy::reversed_empty_ranges, reason = "it is what the test is about")]
    let reversed = array.read((3..1, ..));
    assert_eq!(reversed.unwrap_err().kind(), ErrorKind::InvalidParam);
    assert_eq!(array.read_into(.., &mut [0.0; 19]).unwrap_err().kind(), ErrorKind::InvalidParam);
    assert_eq!(array.read((2..2, ..)).unwrap(), [0f32; 0]);
    assert!(array.select(&[vec![0], vec![5]]).is_err() && array.select(&[vec![0]]).is_err());
    for error in [Array::<f64>::open(&path).err(), Array::<i32>::open(&path).err()] {
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::InvalidParam));
    }
    assert_eq!(
        Array::<f32>::open(&path).unwrap().set(&[0, 0], 1.0).unwrap_err().kind(),
        ErrorKind::FileWrite
    );
    assert!(Array::<f32>::builder([4, 5]).create(&path).is_err());
    let url = format!("file:///{}", path.display());
    assert!(Array::<u8>::builder([1]).create(&url).is_err());
    Array::<u8>::builder([1]).truncate(true).create(&url).unwrap();
    assert_eq!(AnyArray::open(&path).unwrap().dtype(), "|u1");
    assert!(Array::<u8>::builder([1; 17]).in_memory().is_err());
    assert!(Array::<u8>::builder([4]).in_memory_from(&[1, 2, 3]).is_err());

    let schunk = folder.path().join("no array");
    SuperChunk::create(&schunk, &Params::new()).unwrap();
    assert_eq!(AnyArray::open(&schunk).unwrap_err().kind(), ErrorKind::MetalayerNotFound);
    assert!(!SuperChunk::open(&schunk).unwrap().is_array() && SuperChunk::open(&path).unwrap().is_array());
}

#[test]
fn arrays_are_copied_with_their_metalayers() {
    let folder = tempfile::tempdir().unwrap();
    let items: Vec<i64> = (0..1000).collect();
    let builder = Array::<i64>::builder([10, 100]).chunks([5, 50]).metalayer("unit", b"s");
    let mut array = builder.directory(true).create_from(folder.path().join("a"), &items).unwrap();
    array.metalayers_mut().unwrap().set_variable("comment", b"none").unwrap();
    let params = Params::new().codec(Codec::Zstd).level(9);
    array.copy_to(folder.path().join("b"), Some(&params)).unwrap();
    let copy = OpenOptions::new().threads(2).open_array::<i64>(folder.path().join("b")).unwrap();
    assert_eq!(copy.read(..).unwrap(), items);
    assert_eq!((copy.chunkshape(), copy.info().unwrap().params.get_codec()), (&[5, 50][..], Codec::Zstd));
    assert_eq!(copy.metalayers().unwrap().fixed("unit").unwrap(), Some(b"s".to_vec()));
    assert_eq!(copy.metalayers().unwrap().variable("comment").unwrap(), Some(b"none".to_vec()));
    assert!(blosc2::verify(folder.path().join("b"), 2).unwrap().is_empty());
}

macro_rules! ndarray_conversions {
    ($feature:literal, $name:ident, $ndarray:ident) => {
        #[cfg(feature = $feature)]
        #[test]
        fn $name() {
            use $ndarray::{Array1, Array2, ArrayD, array};
            let original = Array2::from_shape_fn((3, 4), |(row, column)| row as f64 * 10.0 + column as f64);
            let mut stored = Array::<f64>::builder([]).in_memory_from_ndarray(&original.t()).unwrap();
            assert_eq!(stored.shape(), [4, 3]);
            assert_eq!(stored.to_ndarray::<ArrayD<f64>>().unwrap(), original.t().into_dyn());
            assert_eq!(stored.to_ndarray::<Array2<f64>>().unwrap(), original.t());
            stored.write_ndarray((1..2, ..), &array![[1.0, 2.0, 3.0]]).unwrap();
            let view: Array2<f64> = stored.view((..2, 1)).unwrap().to_ndarray().unwrap();
            assert_eq!(view, array![[10.0], [2.0]]);
            let error = stored.write_ndarray((1..2, ..), &array![1.0, 2.0, 3.0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParam);
            let error = stored.to_ndarray::<Array1<f64>>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParam);
        }
    };
}
ndarray_conversions!("ndarray", arrays_of_ndarray_are_converted, ndarray);
ndarray_conversions!("ndarray-0_16", arrays_of_ndarray_0_16_are_converted, ndarray_0_16);

/// A chunk that is shorter than the chunk shape: its items are read, those that it does not have are an error.
#[test]
fn items_of_a_short_chunk_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.b2nd");
    let items: Vec<i32> = (0..70).collect();
    for (rows, is_whole) in [(7, true), (5, false)] {
        let builder = Array::<i32>::builder([7, 10]).chunks([8, 10]).blocks([1, 10]).truncate(true);
        builder.create_from(&path, &items).unwrap();
        let mut chunks = OpenOptions::new().write(true).open(&path).unwrap();
        let content: Vec<u8> = items[..rows * 10].iter().flat_map(|item| item.to_ne_bytes()).collect();
        let chunk = blosc2::compress(&content, &Params::new().typesize(4).blocksize(40)).unwrap();
        chunks.update_chunk(0, &chunk).unwrap();
        drop(chunks);
        let mut array = OpenOptions::new().write(true).open_array::<i32>(&path).unwrap();
        assert_eq!(array.read(..).ok(), is_whole.then(|| items.clone()));
        assert_eq!(array.read((1..5, ..)).unwrap(), items[10..50]);
        assert_eq!(array.get(&[4, 9]).unwrap(), 49);
        assert_eq!(array.get(&[6, 0]).is_ok(), is_whole);
        array.set(&[0, 0], -1).unwrap();
        assert_eq!(array.read((0..5, ..)).unwrap(), [&[-1], &items[1..50]].concat());
    }
}

/// Returns the items of `shape` that ranges with steps select, by their definition.
fn stepped(
    items: &[i32],
    shape: [u64; 2],
    rows: impl Iterator<Item = u64> + Clone,
    columns: impl Iterator<Item = u64> + Clone,
) -> Vec<i32> {
    rows.flat_map(|row| columns.clone().map(move |column| items[(row * shape[1] + column) as usize]))
        .collect()
}

#[test]
fn steps_select_items() {
    let shape = [13, 17];
    let items: Vec<i32> = (0..13 * 17).collect();
    let mut array =
        Array::<i32>::builder(shape).chunks([4, 5]).blocks([2, 3]).in_memory_from(&items).unwrap();
    for (first, by) in [(0, 1), (0, 2), (3, 4), (12, 1), (0, 100), (13, 3)] {
        let expected = stepped(&items, shape, (first..13).step_by(by), (2..15).step_by(3));
        let read = array.read((step(first.., by as u64), step(2..15, 3))).unwrap();
        assert_eq!(read, expected, "{first}, {by}");
        let mut dest = vec![0; expected.len()];
        array.read_into((step(first.., by as u64), step(2..15, 3)), &mut dest).unwrap();
        assert_eq!(dest, expected);
        let negative: Vec<i32> = expected.iter().map(|n| -n - 1).collect();
        array.write((step(first.., by as u64), step(2..15, 3)), &negative).unwrap();
        assert_eq!(array.read((step(first.., by as u64), step(2..15, 3))).unwrap(), negative);
        array.write((step(first.., by as u64), step(2..15, 3)), &expected).unwrap();
        assert_eq!(array.read(..).unwrap(), items);
    }
    assert_eq!(array.read([step(0..13, 12), step(0..17, 16)]).unwrap(), [0, 16, 12 * 17, 13 * 17 - 1]);
    for error in [
        array.read((step(.., 0), ..)).unwrap_err(),
        array.read((step(..14, 2), ..)).unwrap_err(),
        array.read(step(.., 2)).unwrap_err(),
        array.view((step(.., 2), ..)).err().unwrap(),
        array.write_shared((step(.., 2), ..), &items).unwrap_err(),
        array.write((step(.., 2), ..), &items).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidParam, "{error}");
    }
}

#[test]
fn the_shape_is_that_of_the_last_own_change_or_refresh() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut array = Array::<u8>::builder([4]).chunks([2]).create(&path).unwrap();
    let mut reader = Array::<u8>::open(&path).unwrap();
    array.append(0, &[1, 2]).unwrap();
    assert_eq!((array.shape(), reader.shape()), (&[6][..], &[4][..]));
    assert_eq!(reader.read(..).unwrap(), [0; 4]);
    assert!(reader.refresh().unwrap());
    assert_eq!((reader.shape(), reader.read(4..).unwrap()), (&[6][..], vec![1, 2]));
    array.resize(&[9]).unwrap();
    array.delete(0, 2..4).unwrap();
    assert_eq!((array.shape(), array.chunkshape()), (&[7][..], &[2][..]));
    assert_eq!(array.resize(&[1, 1]).unwrap_err().kind(), ErrorKind::InvalidParam);
    assert_eq!(array.shape(), [7]);
}

#[test]
fn arrays_are_concatenated() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut array = Array::<u32>::builder([3, 4])
        .chunks([2, 3])
        .create_from(&path, &(0..12).collect::<Vec<_>>())
        .unwrap();
    let other =
        Array::<u32>::builder([5, 4]).chunks([4, 1]).in_memory_from(&(12..32).collect::<Vec<_>>()).unwrap();
    array.concatenate(0, &other).unwrap();
    assert_eq!((array.shape(), array.read(..).unwrap()), (&[8, 4][..], (0..32).collect()));
    let signed = Array::<i32>::builder([1, 4]).in_memory().unwrap();
    for (axis, other) in [(1, other.into_any()), (2, array.expand_dims(0).unwrap()), (0, signed.into_any())] {
        assert_eq!(array.concatenate(axis, &other).unwrap_err().kind(), ErrorKind::InvalidParam, "{axis}");
    }
    assert_eq!(array.shape(), [8, 4]);
}

#[test]
fn views_with_other_dimensions_show_the_same_items() {
    let items: Vec<u16> = (0..12).collect();
    let mut array = Array::<u16>::builder([3, 1, 4]).chunks([2, 1, 2]).in_memory_from(&items).unwrap();
    let squeezed = Array::<u16>::try_from(array.squeeze().unwrap()).unwrap();
    let expanded = array.expand_dims(3).unwrap();
    assert_eq!((squeezed.shape(), expanded.shape()), (&[3, 4][..], &[3, 1, 4, 1][..]));
    assert_eq!(squeezed.read(..).unwrap(), items);
    array.write((1, 0, 2), &[77]).unwrap();
    assert_eq!(squeezed.read((1, 2)).unwrap(), [77]);
    assert_eq!(squeezed.write_shared((1, 2), &[5]).unwrap_err().kind(), ErrorKind::FileWrite);
    assert_eq!(array.expand_dims(4).unwrap_err().kind(), ErrorKind::InvalidParam);
    // A view keeps the chunks.
    drop(array);
    assert_eq!(squeezed.read((2, ..)).unwrap(), [8, 9, 10, 11]);
    assert_eq!(Array::<u16>::try_from(expanded).unwrap().get(&[1, 0, 2, 0]).unwrap(), 77);
    let padded = Array::<u16>::builder([1, 4]).chunks([2, 2]).in_memory().unwrap();
    assert_eq!(padded.squeeze().unwrap_err().kind(), ErrorKind::InvalidParam);
}

#[test]
fn the_debug_text_has_the_type_of_the_items() {
    let array = Array::<f32>::builder([2]).in_memory().unwrap();
    let text = format!("{array:?}");
    assert!(text.starts_with("Array<f32> {") && text.contains("shape: [2]"), "{text}");
    assert!(format!("{:?}", array.into_any()).starts_with("AnyArray {"));
}
