//! Compiles the committed headers with the system's C and C++ compilers (`CC`, `CXX`, or `cc`, `c++`): every
//! header alone in every standard, and all of them together in every standard and mode (`abi.md` 7, 16.7).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{HEADERS, bless_if_asked, root};
use crate::c_program::print_skipped;

#[derive(Clone, Copy)]
struct Language {
    name: &'static str,
    variable: &'static str,
    compiler: &'static str,
    standards: &'static [&'static str],
}

const C: Language = Language {
    name: "c",
    variable: "CC",
    compiler: "cc",
    standards: &["gnu99", "c99", "gnu11", "c11", "gnu17", "c17"],
};
const CPP: Language = Language {
    name: "c++",
    variable: "CXX",
    compiler: "c++",
    standards: &["c++98", "c++11", "c++14", "c++17", "c++20"],
};

/// The source-compatibility modes: the text before the first header.
const MODES: [(&str, &str); 5] = [
    ("BLOSC1_COMPAT", "#define BLOSC1_COMPAT\n"),
    ("BLOSC_SHARED_LIBRARY", "#define BLOSC_SHARED_LIBRARY\n"),
    ("BLOSC_TESTING", "#define BLOSC_TESTING\n"),
    ("BLOSC_SHARED_LIBRARY and BLOSC_TESTING", "#define BLOSC_SHARED_LIBRARY\n#define BLOSC_TESTING\n"),
    ("BLOSC_H", "#include \"blosc1_constants.h\"\n"),
];

impl Language {
    fn compile(&self, standard: &str, flags: &[&str], source: &str) -> std::io::Result<Output> {
        let compiler = std::env::var_os(self.variable).unwrap_or_else(|| self.compiler.into());
        let mut child = Command::new(compiler)
            .arg(format!("-std={standard}"))
            .args(["-x", self.name, "-Wall", "-Wextra", "-fsyntax-only"])
            .args(flags)
            .arg("-I")
            .arg(root().join("include"))
            .arg("-I")
            .arg(root().join("capi-tests"))
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().expect("a pipe").write_all(source.as_bytes())?;
        child.wait_with_output()
    }

    fn assert_compiles(&self, standard: &str, what: &str, source: &str) {
        let output = self.compile(standard, &["-Werror"], source).expect("the compiler runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what} as {standard}:\n{messages}");
    }

    /// Returns the standards that this compiler supports; prints the ones that remain untested.
    fn supported_standards(&self) -> Vec<&'static str> {
        let known = |standard: &&&str| {
            let knows = matches!(self.compile(standard, &[], ""), Ok(output) if output.status.success());
            if !knows {
                print_skipped(&format!("no {} compiler for {standard}", self.name));
            }
            knows
        };
        self.standards.iter().filter(known).copied().collect()
    }

    fn check_headers(&self) {
        let include = |names: &mut dyn Iterator<Item = &str>| -> String {
            names.map(|name| format!("#include \"{name}\"\n")).collect()
        };
        let together = include(&mut HEADERS.into_iter());
        // The reverse order, and every include guard twice.
        let reversed = include(&mut HEADERS.into_iter().rev().chain(HEADERS));
        for standard in self.supported_standards() {
            for name in HEADERS {
                self.assert_compiles(standard, name, &include(&mut [name].into_iter()));
            }
            self.assert_compiles(standard, "all headers", &together);
            self.assert_compiles(standard, "all headers, reversed", &reversed);
            for (mode, before) in MODES {
                self.assert_compiles(standard, mode, &format!("{before}{together}"));
            }
        }
    }
}

#[test]
fn headers_compile_as_c() {
    bless_if_asked();
    assert!(!C.supported_standards().is_empty(), "the tests need a C compiler");
    C.check_headers();
}

#[test]
fn headers_compile_as_cpp() {
    bless_if_asked();
    CPP.check_headers();
}

/// Strict C99 does not permit variadic macros whose variable part may be empty; there must be no other warning.
#[test]
fn pedantic_c99_warns_only_about_variadic_macros() {
    bless_if_asked();
    let source: String = HEADERS.iter().map(|name| format!("#include \"{name}\"\n")).collect();
    let output = C.compile("c99", &["-pedantic"], &source).expect("the compiler runs");
    assert!(output.status.success());
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let about_macros = ["variadic", "at least one argument", "##__VA_ARGS__"];
        assert!(
            !line.contains("warning:") || about_macros.iter().any(|words| line.contains(words)),
            "{line}"
        );
    }
}

/// The registry headers need no other header and include none (`abi.md` 6.5).
#[test]
fn registry_headers_include_nothing() {
    bless_if_asked();
    for name in HEADERS.iter().filter(|name| name.ends_with("-registry.h")) {
        let text = std::fs::read_to_string(Path::new(root()).join("include").join(name)).expect(name);
        assert!(!text.contains("#include"), "{name}");
    }
}
