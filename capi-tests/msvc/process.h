/* A part of the header of MSVC or of the Windows SDK: what blosc2.h uses. For tests/abi/headers/compile.rs. */
#pragma once
