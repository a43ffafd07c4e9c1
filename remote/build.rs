//! Gives the shared library its SONAME.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str() {
        "windows" => {}
        "macos" => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libblosc2_remote.0.dylib"),
        _ => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc2_remote.so.0"),
    }
}
