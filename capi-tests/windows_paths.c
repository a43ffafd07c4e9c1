/*
 * Paths on Windows: UTF-8, the ANSI code page, and more than 260 characters; renaming and deletion of files that are open.
 *
 * Usage: windows_paths [--ours]. Files are created in the current directory. --ours: also the paths that the C library
 * cannot use.
 */

#include <b2nd.h>
#include <blosc2.h>
#include <windows.h>

#include "check.h"

enum { NITEMS = 1000, NCHUNKS = 3, NAME_LEN = 90, LEVELS = 4 };

static int32_t items[NITEMS], restored[NITEMS];

static bool exists(const wchar_t *path) { return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES; }

static blosc2_schunk *create(const char *path, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(int32_t);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = contiguous;
  storage.urlpath = (char *)path;
  storage.cparams = &cparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  for (int i = 0; i < NCHUNKS; i++) {
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), i + 1);
  }
  return schunk;
}

static void check_content(blosc2_schunk *schunk) {
  CHECK(schunk != NULL);
  for (int i = 0; i < NCHUNKS; i++) {
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, i, restored, sizeof restored), sizeof restored);
    CHECK_BYTES(restored, items, sizeof items);
  }
  blosc2_schunk_free(schunk);
}

/* Creates, opens, maps, copies and removes frames at `path`, which `wide` names, too. */
static void use_path(const char *path, const wchar_t *wide) {
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    blosc2_schunk_free(create(path, contiguous != 0));
    CHECK(exists(wide));
    check_content(blosc2_schunk_open(path));
    if (contiguous) {
      blosc2_stdio_mmap mmap = BLOSC2_STDIO_MMAP_DEFAULTS;
      blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .params = &mmap};
      check_content(blosc2_schunk_open_udio(path, &io));
    }
    CHECK_EQ(blosc2_remove_urlpath(path), 0);
    CHECK(!exists(wide));
  }
}

static void ascii_paths(void) {
  use_path("plain.b2frame", L"plain.b2frame");
  CHECK(CreateDirectoryW(L"directory", NULL));
  use_path("directory/slash.b2frame", L"directory\\slash.b2frame");
  use_path("directory\\backslash.b2frame", L"directory\\backslash.b2frame");
}

/* 0xE9 is an accented e in the code page 1252, and no valid UTF-8 where it stands. */
static void ansi_paths(void) {
  CHECK_EQ(GetACP(), 1252);
  use_path("caf\xE9.b2frame", L"caf\u00E9.b2frame");
}

static void utf8_paths(void) {
  use_path("caf\xC3\xA9.b2frame", L"caf\u00E9.b2frame");
  use_path("\xE6\x97\xA5\xE6\x9C\xAC.b2frame", L"\u65E5\u672C.b2frame");
  use_path("\xF0\x9F\x98\x80.b2frame", L"\xD83D\xDE00.b2frame");
}

/* Each directory of the path has a short name; the path is longer than MAX_PATH. */
static void long_paths(void) {
  wchar_t wide[2000] = L"\\\\?\\";
  DWORD len = 4 + GetCurrentDirectoryW(1000, wide + 4);
  char path[2000] = "";
  for (int level = 0; level < LEVELS; level++) {
    char name[NAME_LEN + 1];
    memset(name, 'a' + level, NAME_LEN);
    name[NAME_LEN] = 0;
    strcat(strcat(path, name), "/");
    wide[len++] = L'\\';
    for (int i = 0; i < NAME_LEN; i++) wide[len++] = (wchar_t)name[i];
    wide[len] = 0;
    CHECK(CreateDirectoryW(wide, NULL));
  }
  strcat(path, "long.b2frame");
  wcscat(wide, L"\\long.b2frame");
  CHECK(strlen(path) > MAX_PATH);
  use_path(path, wide);
}

/* A file that this program has open can be renamed and deleted by others, and its reader still reads it. */
static void open_files(void) {
  blosc2_schunk_free(create("open.b2frame", true));
  blosc2_schunk *reader = blosc2_schunk_open("open.b2frame");
  CHECK(reader != NULL);
  CHECK_EQ(blosc2_schunk_decompress_chunk(reader, 0, restored, sizeof restored), sizeof restored);
  HANDLE all = CreateFileW(L"open.b2frame", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                           NULL, OPEN_EXISTING, 0, NULL);
  CHECK(all != INVALID_HANDLE_VALUE);
  CHECK(CloseHandle(all));
  CHECK(MoveFileW(L"open.b2frame", L"renamed.b2frame"));
  blosc2_schunk_free(reader);

  reader = blosc2_schunk_open("renamed.b2frame");
  CHECK(reader != NULL);
  CHECK_EQ(blosc2_schunk_decompress_chunk(reader, 0, restored, sizeof restored), sizeof restored);
  CHECK_EQ(blosc2_remove_urlpath("renamed.b2frame"), 0);
  check_content(reader);
  CHECK(!exists(L"renamed.b2frame"));
}

int main(int argc, char **argv) {
  int ours = asked_for_ours(argc, argv);
  blosc2_init();
  fill_series(items, NITEMS);
  RUN(ascii_paths);
  RUN(ansi_paths);
  if (ours) {
    RUN(utf8_paths);
    RUN(long_paths);
    RUN(open_files);
  }
  blosc2_destroy();
  return 0;
}
