"""Extracts the interface of a set of C headers with GCC, by one method for every set: the declarations (-aux-info), the
types (debug information), the macros (-dD) and the values. The text of the headers is not parsed. `facts(api, include)`
returns a dictionary from a name such as `function blosc2_init` to its type or value, `void (void)`."""

import os
import re
import subprocess
import tempfile

# The public headers of an API.
HEADERS = {
    "blosc2": ["blosc2.h", "b2nd.h", "blosc2/blosc2-common.h", "blosc2/blosc2-export.h", "blosc2/blosc2-stdio.h",
               "blosc2/codecs-registry.h", "blosc2/filters-registry.h", "blosc2/tuners-registry.h"],
    "blosc1": ["blosc.h", "blosc-export.h"],
}
# Macros that change the names that the headers define.
MODES = ["BLOSC1_COMPAT", "BLOSC_TESTING", "BLOSC_SHARED_LIBRARY"]


def run(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


class Compiler:
    """The C compiler with a set of headers; `include` is a list of directories."""

    def __init__(self, include, place):
        self.include = [os.path.realpath(directory) for directory in include]
        self.place = place
        self.command = ["gcc", "-std=gnu11", "-w", "-x", "c"]
        self.command += [word for directory in self.include for word in ("-I", directory)]
        # Which paths `is_ours` has seen: resolving them each time took half of the time of Python.
        self.known = {}

    def is_ours(self, path):
        if path not in self.known:
            self.known[path] = self._is_in_include(path)
        return self.known[path]

    def _is_in_include(self, path):
        return any(os.path.realpath(path).startswith(directory + "/") for directory in self.include)

    def has(self, header):
        return any(os.path.exists(f"{directory}/{header}") for directory in self.include)

    def __call__(self, arguments, source):
        return run(self.command + arguments + ["-"], input=source)

    def errors(self, source):
        """Returns the numbers of the lines that the compiler rejects."""
        done = subprocess.run(self.command + ["-fsyntax-only", "-fmax-errors=0", "-ftrack-macro-expansion=0", "-"], input=source, text=True,
                              stderr=subprocess.PIPE)
        return {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}


def text_of(headers):
    return "".join(f'#include "{header}"\n' for header in headers)


def macros(compiler, source, flags=()):
    """Returns the macros of the headers: name to parameters (None without) and expansion."""
    found, ours = {}, False
    for line in compiler(["-E", "-dD", *flags], source).splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = compiler.is_ours(marker[1])
        elif removed := re.match(r"#undef (\w+)", line):
            found.pop(removed[1], None)
        elif ours and (macro := re.match(r"#define (\w+)(\([^)]*\))? ?(.*)", line)):
            found[macro[1]] = macro[2], macro[3].strip()
    return found


def functions(compiler, source, flags=()):
    """Returns the functions that the headers declare or define: name to whether it is static."""
    place = f"{compiler.place}/declarations"
    compiler(["-fsyntax-only", "-aux-info", place, *flags], source)
    found = {}
    with open(place) as lines:
        for line in lines:
            declaration = re.match(r"/\* (.*):\d+:[A-Z]+ \*/ (\w+) (.*)", line)
            if declaration and compiler.is_ours(declaration[1]):
                # The name stands before the first parenthesis that does not belong to a pointer to a function.
                name = re.search(r"(\w+) \(", declaration[3])[1]
                found[name] = declaration[2] == "static"
    return found


PRINT = r"""
#include <stdio.h>
static void print_integer(const char *name, const char *type, long long value) { printf("%s\t%s %lld\n", name, type, value); }
static void print_real(const char *name, const char *type, double value) { printf("%s\t%s %a\n", name, type, value); }
static void print_text(const char *name, const char *type, const char *value) { printf("%s\t%s \"%s\"\n", name, type, value); }
static void print_bytes(const char *name, const void *object, unsigned long size) {
  printf("%s\t", name);
  for (unsigned long i = 0; i < size; i++) printf("%02x", ((const unsigned char *)object)[i]);
  printf("\n");
}
#define PRINT(name, value) _Generic((value), \
  char *: print_text, const char *: print_text, float: print_real, double: print_real, char: print_integer, \
  signed char: print_integer, unsigned char: print_integer, short: print_integer, unsigned short: print_integer, \
  int: print_integer, unsigned: print_integer, long: print_integer, unsigned long: print_integer, \
  long long: print_integer, unsigned long long: print_integer, _Bool: print_integer)(name, _Generic((value), \
  char *: "text", const char *: "text", float: "float", double: "double", char: "char", \
  signed char: "signed char", unsigned char: "unsigned char", short: "short", unsigned short: "unsigned short", \
  int: "int", unsigned: "unsigned", long: "long", unsigned long: "unsigned long", \
  long long: "long long", unsigned long long: "unsigned long long", _Bool: "bool"), value);
"""


def printed(compiler, source, lines):
    """Returns what a program prints for each name, without the lines that the compiler rejects."""
    start = source + PRINT
    first = start.count("\n") + 1
    wrong = compiler.errors(start + "".join(f"void f{at}(void) {{ {line} }}\n" for at, line in enumerate(lines)))
    kept = [line for at, line in enumerate(lines) if at + first not in wrong]
    program = f"{compiler.place}/program"
    # No function of the library is called, but inline functions may refer to some, which stay unresolved.
    compiler(["-O1", "-Wl,--unresolved-symbols=ignore-all", "-o", program],
             start + "int main(void) {\n" + "\n".join(kept) + "\nreturn 0; }\n")
    return dict(line.split("\t", 1) for line in run([program]).splitlines())


class Types:
    """The types of a compiled unit, from the text of its debug information."""

    NUMBERS = ["byte_size", "bit_size", "const_value", "data_bit_offset", "data_member_location", "decl_file", "upper_bound"]

    @staticmethod
    def bare(value):
        """Returns a value without its storage form, which readelf prints differently in every release."""
        return re.sub(r"^(?:\([^)]*\)\s*)*:?\s*", "", value)

    def __init__(self, object_file):
        self.entries, self.children, self.top = {}, {}, []
        self.files = self._files(object_file)
        path = []
        for line in run(["readelf", "--debug-dump=info", "--wide", object_file]).splitlines():
            if start := re.match(r" *<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)", line):
                depth, key = int(start[1], 16), int(start[2], 16)
                entry = self.entries[key] = {"tag": start[3], "key": key}
                del path[depth:]
                if depth == 1:
                    self.top.append(key)
                if depth:
                    self.children.setdefault(path[-1], []).append(key)
                path.append(key)
            elif attribute := re.match(r" *<[0-9a-f]+> +DW_AT_(\w+) *: (.*)", line):
                value = attribute[2].strip()
                if attribute[1] == "name":
                    value = self.bare(value)
                elif attribute[1] == "type":
                    value = int(re.search(r"<0x([0-9a-f]+)>", value)[1], 16)
                elif attribute[1] in self.NUMBERS:
                    value = int(self.bare(value).split()[0], 0)
                entry[attribute[1]] = value
        # The typedef names of structs, unions and enums.
        self.names = {}
        for key in sorted(self.top, key=lambda key: self.entries[key].get("name", "")):
            entry = self.entries[key]
            if entry["tag"] == "typedef" and "type" in entry and self.is_record(entry["type"]):
                self.names.setdefault(entry["type"], entry["name"])

    @staticmethod
    def _files(object_file):
        directories, files, table = [], [], None
        for line in run(["readelf", "--debug-dump=rawline", "--wide", object_file]).splitlines():
            if "Directory Table" in line:
                table = directories
            elif "File Name Table" in line:
                table = files
            elif table is not None and (row := re.match(r"\s+\d+\t(.*0x[0-9a-f]+\): (.*))", line)):
                name = row[2]
                within = re.findall(r"(?:^|\t)(\d+)\t", row[1])
                base = directories[int(within[0])] if table is files else directories[0] if directories else ""
                table.append(os.path.join(base, name))
        return files

    def is_record(self, key):
        return self.entries[key]["tag"] in ("structure_type", "union_type", "enumeration_type")

    def kind(self, entry):
        return {"structure_type": "struct", "union_type": "union", "enumeration_type": "enum"}[entry["tag"]]

    def spell(self, key):
        """Returns the name of a type, the same for all spellings: `struct s` has the name of its typedef."""
        if key is None:
            return "void"
        entry = self.entries[key]
        tag, inner = entry["tag"], entry.get("type")
        if tag in ("base_type", "typedef"):
            return entry["name"]
        if self.is_record(key):
            return self.names.get(key) or f"{self.kind(entry)} {entry.get('name', '(nameless)')}"
        if tag == "pointer_type":
            spelled = self.spell(inner)
            return spelled.replace("(", "(*)(", 1) if self.is_function(inner) else f"{spelled} *"
        if tag in ("const_type", "volatile_type", "restrict_type"):
            return f"{self.spell(inner)} {tag.removesuffix('_type')}"
        if tag == "array_type":
            sizes = [self.entries[child].get("upper_bound", -1) + 1 for child in self.children.get(key, [])]
            return self.spell(inner) + "".join(f"[{size}]" for size in sizes)
        if tag == "subroutine_type":
            arguments = []
            for child in self.children.get(key, []):
                if self.entries[child]["tag"] == "unspecified_parameters":
                    arguments.append("...")
                else:
                    arguments.append(self.spell(self.without_const(self.entries[child]["type"])))
            if "prototyped" in entry and not arguments:
                arguments = ["void"]
            return f"{self.spell(inner)} ({', '.join(arguments)})"
        raise SystemExit(f"unknown kind of type: {tag}")

    def is_function(self, key):
        return key is not None and self.entries[key]["tag"] == "subroutine_type"

    def without_const(self, key):
        """Returns a type without its own `const`, which has no meaning for the callers of a function."""
        while self.entries[key]["tag"] == "const_type" and "type" in self.entries[key]:
            key = self.entries[key]["type"]
        return key

    def size(self, key):
        entry = self.entries[key]
        if "byte_size" in entry:
            return entry["byte_size"]
        if entry["tag"] == "array_type":
            count = 1
            for child in self.children.get(key, []):
                count *= self.entries[child].get("upper_bound", -1) + 1
            return count * self.size(entry["type"])
        return self.size(entry["type"])

    def facts(self, is_ours):
        found, used = {}, set()
        for key in self.top:
            entry = self.entries[key]
            tag, name = entry["tag"], entry.get("name")
            if tag == "variable" and name and name.startswith("type_of_"):
                found[f"function {name.removeprefix('type_of_')}"] = self.spell(self.entries[entry["type"]]["type"])
            if "decl_file" not in entry or not is_ours(self.files[entry["decl_file"]]):
                continue
            if tag == "typedef":
                target = entry.get("type")
                own = target is not None and self.names.get(target) == name
                found[f"typedef {name}"] = self.kind(self.entries[target]) if own else self.spell(target)
            elif tag == "variable" and name and not name.startswith("type_of_"):
                found[f"object {name}"] = self.spell(entry["type"])
            elif self.is_record(key):
                if name:
                    found[f"tag {name}"] = self.kind(entry)
                self.record(key, self.names.get(key) or name or "(nameless)", found, used)
        return found

    def record(self, key, name, found, used):
        entry = self.entries[key]
        kind = self.kind(entry)
        if kind != "enum" or name != "(nameless)":
            found[f"{kind} {name}"] = "incomplete" if "declaration" in entry else f"{entry['byte_size']} bytes"
        for child in self.children.get(key, []):
            member = self.entries[child]
            if member["tag"] == "enumerator":
                found[f"enumerator {member['name']}"] = f"{member['const_value']}"
            elif member["tag"] == "member":
                at = f"at {member.get('data_member_location', 0)}, {self.size(member['type'])} bytes"
                if "bit_size" in member:
                    at += f", bits {member['bit_size']} from {member.get('data_bit_offset')}"
                found[f"field {name}.{member.get('name', at)}"] = f"{self.spell(member['type'])} {at}"


DEBUG = ["-gdwarf-5", "-fno-eliminate-unused-debug-types", "-fno-eliminate-unused-debug-symbols", "-fkeep-static-consts"]


def types_unit(declared, source):
    """Returns a source that declares a pointer variable of the type of each of these functions."""
    return source + "".join(f"__typeof__({name}) *type_of_{name};\n" for name in sorted(declared))


def stand_in(api, include, path):
    """Writes a shared object with the types of the headers, for abidiff: the reference has no debug information."""
    with tempfile.TemporaryDirectory() as place:
        compiler = Compiler(include, place)
        source = text_of(header for header in HEADERS[api] if compiler.has(header))
        unit = types_unit(functions(compiler, source), source)
        compiler(["-shared", "-fPIC", "-nostdlib", "-Wl,-soname,stand-in", *DEBUG, "-o", path], unit)


def macro_facts(compiler, source, flags=()):
    found = macros(compiler, "".join(f"#define {flag}\n" for flag in flags) + source)
    plain = [name for name, (parameters, _) in found.items() if parameters is None]
    start = "".join(f"#define {flag}\n" for flag in flags) + source
    values = printed(compiler, start, [f'PRINT("{name}", ({name}))' for name in plain])
    facts = {}
    for name, (parameters, expansion) in found.items():
        if parameters is not None:
            count = len([word for word in parameters.strip("()").split(",") if word])
            facts[f"macro {name}"] = f"with {count} arguments" + (" and more" if "..." in parameters else "")
        elif name in values:
            facts[f"macro {name}"] = values[name]
        elif re.fullmatch(r"\w+", expansion) and expansion not in found:
            facts[f"macro {name}"] = expansion
        else:
            facts[f"macro {name}"] = "not a value" if expansion else "empty"
    return facts


def object_facts(compiler, source, found):
    """Returns the values of the fields of constant objects; for a pointer other than to text, whether it is set."""
    lines = []
    for name, kind in ((key.removeprefix("object "), found[key]) for key in found if key.startswith("object ")):
        kind = kind.removesuffix(" const")
        for key, value in found.items():
            if not key.startswith(f"field {kind}."):
                continue
            field = f"{name}.{key.removeprefix(f'field {kind}.')}"
            kind_of_field = value[:value.rindex(" at ")]
            if kind_of_field in ("char *", "char const *"):
                lines.append(f'PRINT("value of {field}", {field} ? {field} : "NULL");')
            elif kind_of_field.endswith(" *") or "(*)" in kind_of_field:
                lines.append(f'print_text("value of {field}", "pointer", {field} ? "set" : "NULL");')
            else:
                lines.append(f'print_bytes("value of {field}", &{field}, sizeof {field});')
    return printed(compiler, source, lines)


def system_headers(compiler, source):
    """Returns the names of the system headers that these headers include, directly or not."""
    found = set()
    for path in compiler(["-M"], source).replace("\\\n", " ").split()[1:]:
        name = re.search(r"/include/(?:[^/]*-linux-[^/]*/)?((?:sys/)?\w+\.h)$", path)
        if name and not compiler.is_ours(path):
            found.add(name[1])
    return found


def facts(api, include):
    """Returns all facts about the headers of an API in these directories; the first directory that has a header counts."""
    with tempfile.TemporaryDirectory() as place:
        compiler = Compiler(include, place)
        headers = [header for header in HEADERS[api] if compiler.has(header)]
        found = {f"header {header}": "there" for header in headers}
        everything = text_of(headers)
        declared = functions(compiler, everything)
        object_file = f"{place}/unit.o"
        compiler(["-c", *DEBUG, "-o", object_file], types_unit(declared, everything))
        found |= Types(object_file).facts(compiler.is_ours)
        for name, is_static in declared.items():
            found[f"function {name}"] = ("inline " if is_static else "") + found[f"function {name}"]
        found |= macro_facts(compiler, everything)
        found |= object_facts(compiler, everything, found)
        # What each header defines when it is included alone, and what the modes change.
        for header in headers:
            alone = text_of([header])
            for name in functions(compiler, alone).keys() | macros(compiler, alone).keys():
                found[f"alone {header}: {name}"] = "there"
        for name in system_headers(compiler, everything):
            found[f"includes {name}"] = "there"
        for mode in MODES:
            for key, value in macro_facts(compiler, everything, [mode]).items():
                if found.get(key) != value:
                    found[f"with {mode}: {key}"] = value
        return found


def library_facts(path):
    """Returns the symbols that a shared object exports, and its SONAME."""
    found = {}
    for line in run(["nm", "-D", "--defined-only", path]).splitlines():
        kind, name = line.split()[-2:]
        found[f"symbol {name}"] = "function" if kind in "TWi" else "data"
    dynamic = run(["readelf", "-d", "--wide", path])
    found["soname"] = re.search(r"SONAME.*\[(.*)\]", dynamic)[1]
    return found
