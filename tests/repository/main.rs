//! The repository itself: imports of `src` against the layers of the design, unique names of types, references of
//! comments to documents, links of documents, environment variables in the document that lists them, the output of the
//! benchmarks, the usage of the scripts, the examples of the crate, the version of the packages, and the code that depends on the operating system or the
//! processor.

mod bench_output;
mod environment;
mod examples;
mod layers;
mod links;
mod references;
mod scripts;
mod statics;
mod systems;
mod tuning;
mod type_names;
mod versions;

/// Returns the directory of the repository.
fn root() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the directory of the repository")
}
