//! The repository itself: imports of `src` against the layers of the design, references of comments to documents,
//! the output of the benchmarks, and the usage of the scripts.

mod bench_output;
mod layers;
mod references;
mod scripts;
