//! Gives the shared library its SONAME.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os != "windows" && os != "macos" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc.so.1");
    }
}
