//! Exports the functions of the library from the fuzz targets, where `libloading` finds them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg=-rdynamic");
}
