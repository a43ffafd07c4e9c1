#!/usr/bin/env python3
"""Writes THIRD-PARTY-LICENSES.txt: the licences of all code that the libraries and the command contain besides their own.

    scripts/third-party-licenses.py            # writes the file
    scripts/third-party-licenses.py --check    # fails if the file is not that of Cargo.lock

The code is that of the crates that Cargo links on the systems of TARGETS, the C code in them, and Rust's standard library.
The part on the standard library is that of the installed toolchain, whose files name it; --check does not compare it.
"""

import hashlib
import html
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY-LICENSES.txt"
CARGO = os.environ.get("CARGO", "cargo")
# Each artefact and the package of Cargo that it is made of.
ARTEFACTS = {
    "libblosc2": "libblosc2-rs",
    "libblosc": "libblosc1-rs",
    "libblosc2_remote": "libblosc2-remote",
    "blosc2": "blosc2-cli",
}
TARGETS = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "armv7-unknown-linux-gnueabihf",
    "riscv64gc-unknown-linux-gnu",
    "powerpc64le-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "x86_64-pc-windows-gnu",
    "aarch64-pc-windows-gnullvm",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "wasm32-wasip1",
    "wasm32-unknown-emscripten",
]
# Directories with C code of another project in a crate, and the licence that is used of several.
BUNDLED = {"zstd-sys": [("zstd", "Zstandard (C)", "BSD-3-Clause", ["zstd/LICENSE"])]}
# Crates in the standard library that the notices of the toolchain omit.
OMITTED = {
    "addr2line": "Apache-2.0 OR MIT",
    "adler2": "0BSD OR MIT OR Apache-2.0",
    "memchr": "Unlicense OR MIT",
    "miniz_oxide": "MIT OR Zlib OR Apache-2.0",
    "object": "Apache-2.0 OR MIT",
}
# Its libraries that are part of the Rust project itself.
PARTS_OF_RUST = set(
    "alloc compiler_builtins core panic_abort panic_unwind proc_macro profiler_builtins rustc_std_workspace_alloc "
    "rustc_std_workspace_core rustc_std_workspace_std std std_detect sysroot test unwind".split()
)
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.I)
RULE = "-" * 100


def cargo(*arguments):
    return subprocess.run([CARGO, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(package):
    """Returns the names and versions of the crates of a registry that Cargo links into a package, on any target."""
    options = ["--locked", "--quiet", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    targets = [argument for target in TARGETS for argument in ("--target", target)]
    lines = cargo("tree", "--package", package, *options, *targets).replace(" (*)", "").splitlines()
    # A package of this workspace has its path behind the version.
    return {match.groups() for line in lines if (match := re.fullmatch(r"(\S+) v(\S+)", line.strip()))}


def needed(files, licence):
    """Returns the files of the licence that is chosen, if `licence` is a choice and there is a file for MIT."""
    mit = [file for file in files if "mit" in file.name.lower()]
    if re.search(r"\bMIT\b", licence) and re.search(r"\bOR\b|/", licence) and " AND " not in licence and mit:
        return mit + [file for file in files if "notice" in file.name.lower()]
    return files


def text_of(file):
    lines = [line.rstrip() for line in file.read_text(errors="replace").replace("\t", "    ").splitlines()]
    return "\n".join(lines).strip("\n")


class Texts:
    """The texts of licences, each once, with the names of the packages that it is for."""

    def __init__(self):
        self.users, self.texts = {}, {}

    def add(self, text, user):
        key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
        self.texts.setdefault(key, text)
        users = self.users.setdefault(key, [])
        if user not in users:
            users.append(user)

    def write(self):
        parts = sorted((users, self.texts[key]) for key, users in self.users.items())
        return "".join(f"{RULE}\n{', '.join(users)}\n{RULE}\n\n{text}\n\n" for users, text in parts)


def crates():
    """Returns the part on crates."""
    by_artefact = {artefact: linked(package) for artefact, package in ARTEFACTS.items()}
    targets = [argument for target in TARGETS for argument in ("--filter-platform", target)]
    metadata = json.loads(cargo("metadata", "--locked", "--quiet", "--format-version", "1", *targets))
    packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
    table, texts = [], Texts()
    for name, version in sorted(set().union(*by_artefact.values())):
        package = packages[name, version]
        directory = pathlib.Path(package["manifest_path"]).parent
        artefacts = ", ".join(a for a in ARTEFACTS if (name, version) in by_artefact[a])
        user = f"{name} {version}"
        table.append((user, package["license"], artefacts))
        files = sorted(f for f in directory.iterdir() if f.is_file() and LICENCE_FILE.match(f.name))
        if not files:
            sys.exit(f"{user} has no file with its licence ({package['license']})")
        for file in needed(files, package["license"]):
            texts.add(text_of(file), user)
        for part, title, licence, bundled in BUNDLED.get(name, []):
            table.append((f"{title}, in {name}", licence, artefacts))
            for file in bundled:
                texts.add(text_of(directory / file), f"{title}, in {name}")
    widths = [max(len(row[column]) for row in table) for column in (0, 1)]
    rows = "".join(f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}\n" for a, b, c in table)
    return f"1. Crates\n\n{rows}\nTexts of these licences:\n\n{texts.write()}"


def standard_library():
    """Returns the part on Rust's standard library, from the notices that the toolchain contains."""
    toolchain = pathlib.Path(rustc("--print", "sysroot"))
    release = rustc("--version").split()[1]
    document = (toolchain / "share/doc/rust/COPYRIGHT-library.html").read_text()
    listed = set(re.findall(r"<h3>\S* ?(\S+?)-[0-9]\S*</h3>", document)) | OMITTED.keys()
    for library in toolchain.glob("lib/rustlib/*/lib/lib*.rlib"):
        name = library.name[3:].rsplit("-", 1)[0]
        if name not in PARTS_OF_RUST and not {name, name.replace("_", "-")} & listed:
            sys.exit(f"the standard library contains {name}, which the notices of the toolchain omit: add it to OMITTED")
    texts = Texts()
    names = [f"  {name}  ({licence})\n" for name, licence in OMITTED.items()]
    for section in re.split(r"<h3>\S* ?", document)[1:]:
        user = section.split("</h3>")[0].strip()
        licence = html.unescape(re.search(r"<b>License:</b> (.*?)</p>", section).group(1))
        names.append(f"  {user}  ({licence})\n")
        notices = re.findall(r"<code>(.*?)</code></summary>\s*<pre>(.*?)</pre>", section, re.S)
        files = needed([pathlib.PurePath(html.unescape(name)) for name, _ in notices], licence)
        for name, text in notices:
            if pathlib.PurePath(html.unescape(name)) in files:
                lines = [line.rstrip() for line in html.unescape(text).splitlines()]
                texts.add("\n".join(lines).strip("\n"), user)
    for file in ("MIT.txt", "Apache-2.0.txt", "Unicode-3.0.txt"):
        texts.add(text_of(toolchain / "share/doc/rust/licenses" / file), "The Rust Standard Library")
    return (
        f"{STANDARD_LIBRARY} (Rust {release})\n\n"
        "Copyright (c) The Rust Project Developers. Licence: Apache-2.0 OR MIT; tables of Unicode: Unicode-3.0. The crates that\n"
        "it is made of, on all systems (the text for memchr is in part 1):\n\n"
        f"{''.join(names)}\nTexts of these licences:\n\n{texts.write()}"
    )


STANDARD_LIBRARY = "2. Rust's standard library"


def rustc(*arguments):
    return subprocess.run(["rustc", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def main():
    if any(argument in ("-h", "--help") for argument in sys.argv[1:]):
        print(__doc__.strip())
        return
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"unknown arguments {sys.argv[1:]}")
    introduction = (
        "Third-party licences\n\n"
        "The libraries and the command contain compiled code of the packages below, besides their own code, whose licence is in\n"
        "the file LICENSE. The last column of the table names the artefacts that contain a package; some packages are in those\n"
        "for one system only. Of several licences to choose from, the text of one is given.\n\n"
    )
    found = introduction + crates()
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text().split(STANDARD_LIBRARY)[0] != found:
            sys.exit(f"{FILE.name} is not that of Cargo.lock: scripts/third-party-licenses.py writes it")
        print(f"{FILE.name} names every package that is linked")
        return
    FILE.write_text(found + standard_library())


main()
