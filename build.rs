//! Gives the shared library its SONAME. Nothing else needs a build step: rustc exports
//! just the `#[no_mangle]` items of a cdylib, and the headers are committed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os != "windows" && os != "macos" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc2.so.9");
    }
}
