//! The version of the packages: one for all, which other files repeat.

use std::fs;

fn read(name: &str) -> String {
    fs::read_to_string(crate::root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the value of the first line `key = "value"` of a text.
fn value_of<'a>(text: &'a str, key: &str) -> &'a str {
    let value =
        text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix("= \"")?.split('"').next());
    value.unwrap_or_else(|| panic!("no line of {key}"))
}

/// Returns the version of C-Blosc2 that the header states.
fn c_version() -> String {
    let header = read("include/blosc2.h");
    let part = |name: &str| {
        let definition = format!("#define BLOSC2_VERSION_{name} ");
        let line = header.lines().find_map(|line| line.strip_prefix(&definition)).expect("the version");
        line.split(' ').next().expect("a number").to_string()
    };
    ["MAJOR", "MINOR", "RELEASE"].map(part).join(".")
}

#[test]
fn every_file_has_the_version_of_the_workspace() {
    let manifest = read("Cargo.toml");
    let version = value_of(&manifest, "version");
    for member in ["blosc1", "cli", "core", "remote", "rust", "tests", "tests/support"] {
        let text = read(&format!("{member}/Cargo.toml"));
        assert!(text.contains("\nversion.workspace = true\n"), "{member} has a version of its own");
    }
    for package in ["blosc2 = { package", "libblosc2-core = {"] {
        let line = manifest.lines().find(|line| line.starts_with(package)).expect("the package");
        assert!(
            line.contains(&format!("version = \"{version}\"")) || line.contains(&format!("\"={version}\"")),
            "{line}"
        );
    }
    assert!(read("rust/README.md").contains(&format!("package = \"blosc2-safe\", version = \"{version}\"")));
    assert!(
        read("CHANGELOG.md").contains(&format!("\n## {version}, ")),
        "CHANGELOG.md has no section for {version}"
    );
    // In packages of Debian and RPM, a tilde sorts a pre-release before the release.
    let package_version = version.replace('-', "~");
    for (file, start, end) in [
        ("debian/changelog", format!("blosc2-rs ({}+rust", c_version()), ") "),
        ("packaging/blosc2-rs.spec", "\nVersion:        ".to_string(), "\n"),
        ("packaging/blosc2-rs.spec", "\n%changelog\n* ".to_string(), "-1\n"),
    ] {
        let text = read(file);
        let rest = text.split_once(&start).unwrap_or_else(|| panic!("{file} does not contain {start:?}")).1;
        let found = rest.split_once(end).expect("the end of the version").0;
        // The change log of RPM has the date and the author before the version.
        assert_eq!(found.rsplit(' ').next(), Some(package_version.as_str()), "{file}, after {start:?}");
    }
    for package in ["libblosc2-rs", "libblosc1-rs", "libblosc2-core"] {
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(read("fuzz/Cargo.lock").contains(&entry), "fuzz/Cargo.lock has another version of {package}");
    }
}
