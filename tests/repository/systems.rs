//! Code that depends on the operating system or the processor: in the modules for it only.

use crate::references::for_each_source;

/// Conditions on the operating system.
const SYSTEMS: [&str; 7] =
    ["target_os", "target_family", "target_env", "target_vendor", "(unix", "(windows", " unix)"];

/// The modules that may depend on the operating system: a folder with the same items for each system, and the types of the
/// headers that differ.
const SYSTEM_MODULES: [&str; 3] = ["src/abi/", "src/os/", "cli/src/os.rs"];

/// The modules that may depend on the processor: kernels, and their dispatch.
const PROCESSOR_MODULES: [&str; 5] =
    ["src/b2nd/rows.rs", "src/codec/", "src/crc32c.rs", "src/filter/", "src/os/"];

/// Returns the lines of `source` outside tests with a `cfg` that contains one of `conditions`.
fn lines_with<'a>(source: &'a str, conditions: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let before_tests = source.split("mod tests {").next().unwrap_or("");
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let configured = before_tests.lines().filter(is_code).filter(|line| line.contains("cfg"));
    configured.filter(|line| conditions.iter().any(|condition| line.contains(condition)))
}

/// Returns the lines of the library, the crates and the command with one of `conditions`, except those of `modules`.
fn lines_outside(modules: &[&str], conditions: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for dir in ["src", "blosc1/src", "rust/src", "cli/src"] {
        for_each_source(&super::root().join(dir), &mut |file, source| {
            let file = file.strip_prefix(super::root()).unwrap().to_str().unwrap().to_string();
            if !file.contains("tests") && !modules.iter().any(|module| file.starts_with(module)) {
                found.extend(lines_with(source, conditions).map(|line| format!("{file}: {}", line.trim())));
            }
        });
    }
    found
}

#[test]
fn only_the_module_of_the_system_depends_on_it() {
    assert_eq!(lines_outside(&SYSTEM_MODULES, &SYSTEMS), [""; 0]);
}

#[test]
fn only_kernels_depend_on_the_processor() {
    assert_eq!(lines_outside(&PROCESSOR_MODULES, &["target_arch", "target_feature"]), [""; 0]);
}

#[test]
fn conditions_are_found() {
    let source =
        "#[cfg(unix)]\n// cfg(unix)\n#[cfg(any(unix, x))]\n#[cfg(not(test))]\nmod tests {\n#[cfg(windows)]";
    assert_eq!(lines_with(source, &SYSTEMS).collect::<Vec<_>>(), ["#[cfg(unix)]", "#[cfg(any(unix, x))]"]);
}
