//! Writes the constants of the header `blosc.h` as Rust constants, and tells build scripts of dependents where the header is
//! (`DEP_BLOSC_INCLUDE`).

use std::path::Path;
use std::{env, fs};

fn main() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../blosc1/include");
    let header = include.join("blosc.h");
    println!("cargo:rerun-if-changed={}", header.display());
    println!("cargo:include={}", include.display());
    let source = fs::read_to_string(&header).expect("blosc.h can be read");
    let constants: String = source.lines().filter_map(constant).collect();
    let out = env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("constants.rs"), constants).expect("OUT_DIR can be written");
}

/// Returns the constant that a line of the header defines: a number, a text with its NUL byte, or the value of another constant.
fn constant(line: &str) -> Option<String> {
    let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
    let value = value.trim();
    let text = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let (kind, value) = match text {
        Some(text) => (format!("&[u8; {}]", text.len() + 1), format!("b\"{text}\\0\"")),
        None if value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
            ("u32".into(), value.into())
        }
        // Expressions of C.
        None => return None,
    };
    Some(format!("/// `{name}` of `blosc.h`.\npub const {name}: {kind} = {value};\n"))
}
