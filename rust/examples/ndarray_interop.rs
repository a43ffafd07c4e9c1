//! Arrays of the crate `ndarray`, of two of its versions, to and from one compressed array.
//!
//! `cargo run --release -p blosc2-safe --features ndarray,ndarray-0_16 --example ndarray_interop`

use blosc2::{Array, Params, Result};
use ndarray::{Array2, Axis, Slice};

fn main() -> Result<()> {
    // Computed with ndarray 0.17, and stored: the transposed view, too, without a copy by the caller.
    let waves = Array2::from_shape_fn((200, 300), |(row, column)| (row as f64 / 20.0).sin() + column as f64);
    let mut array =
        Array::<f64>::builder([]).params(Params::new().level(9)).in_memory_from_ndarray(&waves.t())?;
    assert_eq!(array.shape(), [300, 200]);
    println!("{:?}, {:.1} times smaller", array.shape(), array.ratio());

    // A box is read as an array, changed, and written back.
    let mut part: Array2<f64> = array.view((100..110, ..))?.to_ndarray()?;
    part *= 2.0;
    array.write_ndarray((100..110, ..), &part)?;
    let expected = &waves.slice_axis(Axis(1), Slice::from(100..110)) * 2.0;
    let read: Array2<f64> = array.view((100..110, ..))?.to_ndarray()?;
    assert_eq!(read, expected.t());

    // A library that has ndarray 0.16 gets the same array.
    let old: ndarray_0_16::Array2<f64> = array.to_ndarray()?;
    let new: Array2<f64> = array.to_ndarray()?;
    println!(
        "means {:.3} and {:.3}",
        old.sum() / old.len() as f64,
        new.mean_axis(Axis(0)).map_or(0.0, |row| row.sum() / 200.0)
    );
    assert_eq!(old.as_slice(), new.as_slice());
    let row = old.slice_axis(ndarray_0_16::Axis(0), ndarray_0_16::Slice::from(5..6));
    array.write_ndarray((0..1, ..), &row)?;
    assert_eq!(array.read((0, 0..2))?, array.read((5, 0..2))?);
    Ok(())
}
