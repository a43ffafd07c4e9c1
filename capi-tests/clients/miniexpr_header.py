"""Converts the Cython declarations of the expression evaluator miniexpr in blosc2_ext.pyx to a C header:
`miniexpr_header.py blosc2_ext.pyx > miniexpr.h`. The compiled library, with exported symbols, is part of the extension
module of the wheel."""

import re
import sys

text = open(sys.argv[1]).read()
block = text.split('cdef extern from "miniexpr.h":\n', 1)[1].split("\ncdef extern", 1)[0]
block = re.sub(r"^\s*#.*\n", "", block, flags=re.M)
block = re.sub(r"\bnogil\b", "", block).replace("c_bool", "bool").replace("bint", "int")

print("#pragma once\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>")
declarations = []
for item in re.split(r"\n(?=    [^\s)])", "\n" + block):
    item = item.strip()
    if not item:
        continue
    group = re.match(r"ctypedef (enum|struct) (\w+):\n(.*)", item, re.S)
    if group is None:
        declarations.append(item.replace("ctypedef", "typedef") + ";")
        continue
    kind, name, body = group.groups()
    members = [line.strip().rstrip(",") for line in body.splitlines() if line.strip()]
    if kind == "enum":
        sign = -1 if name.endswith("_status") else 1  # errors count downwards
        members = [f"{member} = {sign * i}" for i, member in enumerate(members)]
        declarations.append(f"typedef enum {name} {{ {', '.join(members)} }} {name};")
    else:
        declarations.append(f"typedef struct {name} {{ {'; '.join(members)}; }} {name};")
print("\n".join(declarations))
