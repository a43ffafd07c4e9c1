//! Gives the shared library the name that programs load it by, where libraries have one: 9, or 7 where the feature `abi7`
//! gives the structs of that ABI. Nothing else needs a build step: rustc exports just the `#[no_mangle]` items of a cdylib,
//! and the headers are committed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let abi = if std::env::var_os("CARGO_FEATURE_ABI7").is_some() { 7 } else { 9 };
    let options = match std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str() {
        "windows" | "wasi" | "emscripten" => String::new(),
        "macos" => format!("-install_name,@rpath/libblosc2.{abi}.dylib,-compatibility_version,{abi}.0.0"),
        _ => format!("-soname,libblosc2.so.{abi}"),
    };
    if !options.is_empty() {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{options}");
    }
}
