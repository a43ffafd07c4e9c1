//! Cells that only read arrays.

use super::cases::ArrayCase;
use super::is_wanted;
use crate::Bench;
use crate::datasets::SplitMix64;
use crate::report::Report;
use crate::support::array::Array;
use crate::timing::speed_ratio;

/// The number of random positions that are read in turn.
const POSITIONS: usize = 64;

/// A box of items: `stop` is `start + shape`.
struct Region {
    start: Vec<i64>,
    stop: Vec<i64>,
    shape: Vec<i64>,
}

impl Region {
    fn new(start: Vec<i64>, shape: Vec<i64>) -> Region {
        let stop = start.iter().zip(&shape).map(|(start, extent)| start + extent).collect();
        Region { start, stop, shape }
    }

    /// Returns a box of this shape at a random position inside an array of shape `within`.
    fn random(random: &mut SplitMix64, shape: &[i64], within: &[i64]) -> Region {
        let room = shape.iter().zip(within).map(|(extent, within)| (within - extent) as usize + 1);
        Region::new(room.map(|room| random.below(room) as i64).collect(), shape.to_vec())
    }

    fn nbytes(&self, case: &ArrayCase) -> usize {
        self.shape.iter().product::<i64>() as usize * case.typesize()
    }
}

fn get_box(array: &Array, region: &Region, dest: &mut [u8]) {
    // SAFETY: each list has one number per dimension, and `dest` is valid for writes of `dest.len()` bytes.
    let rc = unsafe {
        (array.functions.b2nd_get_slice_cbuffer)(
            array.raw(),
            region.start.as_ptr(),
            region.stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            region.shape.as_ptr(),
            dest.len() as i64,
        )
    };
    assert_eq!(rc, 0, "{}: a box", array.library.name);
}

fn get_all(array: &Array, dest: &mut [u8]) {
    // SAFETY: `dest` is valid for writes of `dest.len()` bytes.
    let rc = unsafe {
        (array.functions.b2nd_to_cbuffer)(array.raw(), dest.as_mut_ptr().cast(), dest.len() as i64)
    };
    assert_eq!(rc, 0, "{}: the array", array.library.name);
}

/// Lists of coordinates, one for each dimension.
pub struct OrthogonalSelection {
    lists: Vec<Vec<i64>>,
    lens: Vec<i64>,
}

impl OrthogonalSelection {
    /// Returns about a fifth of the coordinates of each dimension, drawn at random, in ascending order.
    pub fn random(case: &ArrayCase) -> OrthogonalSelection {
        let mut random = SplitMix64::new(31);
        let list = |&extent: &i64| {
            let count = extent as usize / 5 + 1;
            let mut list: Vec<i64> = (0..count).map(|_| random.below(extent as usize) as i64).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        let lists: Vec<Vec<i64>> = case.shape().iter().map(list).collect();
        let lens = lists.iter().map(|list| list.len() as i64).collect();
        OrthogonalSelection { lists, lens }
    }

    pub fn nbytes(&self, case: &ArrayCase) -> usize {
        self.lens.iter().product::<i64>() as usize * case.typesize()
    }

    pub fn get(&self, array: &Array, dest: &mut [u8]) {
        let mut pointers: Vec<*mut i64> = self.lists.iter().map(|list| list.as_ptr().cast_mut()).collect();
        // SAFETY: there is one list and one length per dimension, and the library only reads them; `dest` is valid for
        // writes of `dest.len()` bytes.
        let rc = unsafe {
            (array.functions.b2nd_get_orthogonal_selection)(
                array.raw(),
                pointers.as_mut_ptr(),
                self.lens.as_ptr().cast_mut(),
                dest.as_mut_ptr().cast(),
                self.lens.as_ptr().cast_mut(),
                dest.len() as i64,
            )
        };
        assert_eq!(rc, 0, "{}: a selection", array.library.name);
    }

    pub fn set(&self, array: &Array, src: &[u8]) {
        let mut pointers: Vec<*mut i64> = self.lists.iter().map(|list| list.as_ptr().cast_mut()).collect();
        // SAFETY: as in `get`; `src` is valid for reads of `src.len()` bytes.
        let rc = unsafe {
            (array.functions.b2nd_set_orthogonal_selection)(
                array.raw(),
                pointers.as_mut_ptr(),
                self.lens.as_ptr().cast_mut(),
                src.as_ptr().cast(),
                self.lens.as_ptr().cast_mut(),
                src.len() as i64,
            )
        };
        assert_eq!(rc, 0, "{}: a selection", array.library.name);
    }
}

pub fn run(bench: &Bench, report: &mut Report, case: &ArrayCase, data: &[u8], nthreads: i16) {
    let pair = case.create_pair(bench.ours, bench.reference, nthreads);
    let suffix = format!("{}, {nthreads} threads", case.name);
    let mut random = SplitMix64::new(17);
    let mut measure =
        |family: &'static str, name: String, nbytes: usize, work: &dyn Fn(&Array, &mut [u8])| {
            if !is_wanted(bench, family, &name) {
                return;
            }
            let (mut dest, mut other) = (vec![1; nbytes], vec![2; nbytes]);
            work(&pair[0], &mut dest);
            work(&pair[1], &mut other);
            assert!(dest == other, "{family} {name}: results differ");
            let ratio = speed_ratio(
                &bench.options,
                nthreads,
                || work(&pair[0], &mut dest),
                || work(&pair[1], &mut other),
            );
            report.add(family, name, vec![ratio]);
        };

    measure("to_cbuffer", suffix.clone(), data.len(), &get_all);
    for axis in 0..case.ndim() {
        let mut shape = case.shape().to_vec();
        shape[axis] = 1;
        let planes: Vec<Region> = (0..3).map(|_| Region::random(&mut random, &shape, case.shape())).collect();
        let work =
            |array: &Array, dest: &mut [u8]| planes.iter().for_each(|plane| get_box(array, plane, dest));
        measure("plane", format!("axis {axis} of {suffix}"), planes[0].nbytes(case), &work);
    }

    let one = vec![1; case.ndim()];
    let block: Vec<i64> = case.blockshape().iter().map(|&extent| i64::from(extent)).collect();
    for (family, within) in [("item anywhere", case.shape()), ("item in one block", &block)] {
        let items: Vec<Region> = (0..POSITIONS).map(|_| Region::random(&mut random, &one, within)).collect();
        let work = |array: &Array, dest: &mut [u8]| {
            for (item, dest) in items.iter().zip(dest.chunks_exact_mut(case.typesize())) {
                get_box(array, item, dest);
            }
        };
        measure(family, suffix.clone(), POSITIONS * case.typesize(), &work);
    }

    for (name, part) in [("small", 8), ("large", 2)] {
        let shape: Vec<i64> = case.shape().iter().map(|extent| extent / part).collect();
        let boxes: Vec<Region> = (0..3).map(|_| Region::random(&mut random, &shape, case.shape())).collect();
        let work = |array: &Array, dest: &mut [u8]| boxes.iter().for_each(|one| get_box(array, one, dest));
        measure("box get", format!("{name}, {suffix}"), boxes[0].nbytes(case), &work);
    }

    let selection = OrthogonalSelection::random(case);
    measure("orthogonal get", suffix.clone(), selection.nbytes(case), &|array, dest| {
        selection.get(array, dest)
    });

    let nitems = case.shape().iter().product::<i64>() as usize;
    let coords: Vec<i64> = (0..500).map(|_| random.below(nitems) as i64).collect();
    let sparse = |array: &Array, dest: &mut [u8]| {
        // SAFETY: the coordinates match the count that is passed, and `dest` is valid for writes of `dest.len()` bytes.
        let rc = unsafe {
            (array.functions.b2nd_get_sparse_cbuffer)(
                array.raw(),
                coords.len() as i64,
                coords.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len() as i64,
            )
        };
        assert!(rc >= 0, "{}: get_sparse_cbuffer", array.library.name);
    };
    measure("sparse get", suffix.clone(), coords.len() * case.typesize(), &sparse);

    // Operations that create an array from another one.
    let same = case.spec(nthreads);
    let other = case.rechunked_spec(nthreads);
    let make = |array: &Array, dest: &mut [u8], how: &dyn Fn(&Array) -> Array| {
        let made = how(array);
        if let Some(byte) = dest.first_mut() {
            *byte = made.ndim() as u8;
        }
    };
    let copy = |array: &Array, dest: &mut [u8]| {
        make(array, dest, &|array| same.context(array.library).copy(array).1.expect("a copy"));
    };
    let rechunk = |array: &Array, dest: &mut [u8]| {
        make(array, dest, &|array| other.context(array.library).copy(array).1.expect("a copy"));
    };
    let concatenate = |array: &Array, dest: &mut [u8]| {
        make(array, dest, &|array| {
            let last = case.ndim() - 1;
            let (_, made) = same.context(array.library).concatenate(array, array, last as i8);
            made.expect("an array")
        });
    };
    let start: Vec<i64> = case.shape().iter().map(|extent| extent / 5).collect();
    let stop: Vec<i64> = case.shape().iter().map(|extent| extent / 5 * 4).collect();
    let slice = |array: &Array, dest: &mut [u8]| {
        make(array, dest, &|array| {
            same.context(array.library).get_slice(array, &start, &stop).1.expect("a slice")
        });
    };
    measure("copy", format!("same chunks, {suffix}"), 1, &copy);
    measure("copy", format!("other chunks, {suffix}"), 1, &rechunk);
    measure("concatenate", suffix.clone(), 1, &concatenate);
    measure("get_slice", suffix, 1, &slice);
}
