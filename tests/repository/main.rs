//! The repository itself: imports of `src` against the layers of the design, references of comments to documents, and
//! the output of the benchmarks.

mod bench_output;
mod layers;
mod references;
