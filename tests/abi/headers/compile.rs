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

/// Uses of the macros whose expansion a compiler checks only there.
const MACRO_USES: &str = r#"
int use_macros(const void *pointer, int rc);
int use_macros(const void *pointer, int rc) {
  BLOSC_TRACE_ERROR("no value");
  BLOSC_TRACE_WARNING("%d of %s", rc, "two values");
  BLOSC_TRACE(other, "%d", rc);
  BLOSC_INFO("no value");
  BLOSC_INFO("%d", rc);
  BLOSC_UNUSED_PARAM(rc);
  BLOSC_ERROR_NULL(pointer, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR(rc);
  return 0;
}
"#;

/// Warnings that programs enable beyond `-Wall -Wextra`, for both languages.
const STRICT_WARNINGS: [&str; 13] = [
    "-Werror",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wundef",
    "-Wmissing-declarations",
    "-Wdouble-promotion",
    "-Wformat=2",
    "-Wwrite-strings",
    "-Wswitch-default",
];

/// The compiler Clang, as a program for Windows is compiled with MSVC: its extensions and macros, and the C headers that
/// blosc2.h needs from `capi-tests/msvc`.
const MSVC_ARGUMENTS: [&str; 6] = [
    "--target=x86_64-pc-windows-msvc",
    "-fms-extensions",
    "-fms-compatibility",
    "-fms-compatibility-version=19.30",
    "-isystem",
    "capi-tests/msvc",
];

/// The headers of the other libraries.
const OTHER_HEADERS: [&str; 3] = ["blosc.h", "blosc-export.h", "blosc2/blosc2x_remote.h"];

/// Compiles each header, and all with the uses of the macros, with the strict warnings; `compiler` has its arguments.
fn check_strict_warnings(compiler: &[&str]) {
    let c_only = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition"];
    let languages = [
        ("c", ["c99", "c11", "c17"].as_slice(), c_only.as_slice()),
        ("c++", ["c++11", "c++14", "c++17", "c++20"].as_slice(), [].as_slice()),
    ];
    // With a declaration, since ISO C requires one.
    let unit = |name: &&str| format!("#include \"{name}\"\ntypedef int unit;\n");
    let units: Vec<_> = HEADERS.iter().chain(&OTHER_HEADERS).map(unit).collect();
    let all: String = HEADERS.iter().map(|name| format!("#include \"{name}\"\n")).collect();
    for (language, standards, warnings) in languages {
        for standard in standards {
            for unit in units.iter().cloned().chain([format!("{all}{MACRO_USES}")]) {
                let mut child = Command::new(compiler[0])
                    .args(&compiler[1..])
                    .args(["-x", language, &format!("-std={standard}"), "-Wall", "-Wextra", "-fsyntax-only"])
                    .args(STRICT_WARNINGS)
                    .args(warnings)
                    .args(["-I", "include", "-I", "blosc1/include", "-I", "remote/include", "-"])
                    .current_dir(root())
                    .stdin(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the compiler runs");
                child
                    .stdin
                    .take()
                    .expect("a pipe")
                    .write_all(unit.as_bytes())
                    .expect("a compiler that reads");
                let output = child.wait_with_output().expect("the compiler ends");
                let messages = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{compiler:?} {standard}:\n{unit}\n{messages}");
            }
        }
    }
}

/// A program that includes the headers and enables many warnings gets none from them.
#[test]
fn headers_compile_with_strict_warnings() {
    bless_if_asked();
    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").stdout(Stdio::null()).status().is_err() {
            print_skipped(&format!(
                "the headers with the strict warnings of {compiler}, which is not installed"
            ));
            continue;
        }
        check_strict_warnings(&[compiler]);
        if compiler == "clang" {
            check_strict_warnings(&[[compiler].as_slice(), &MSVC_ARGUMENTS].concat());
        }
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
