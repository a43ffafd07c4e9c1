//! Gives the shared library its SONAME, where libraries have one: 9, or 7 where the feature `abi7` gives the structs of that ABI. Nothing else
//! needs a build step: rustc exports just the `#[no_mangle]` items of a cdylib, and the headers are committed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if !["windows", "macos", "wasi", "emscripten"].contains(&os.as_str()) {
        let abi = if std::env::var_os("CARGO_FEATURE_ABI7").is_some() { 7 } else { 9 };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc2.so.{abi}");
    }
}
