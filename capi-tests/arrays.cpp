// Arrays of three dimensions in C++: created, sliced, changed, saved and opened again, and compared with plain loops.
// Prints a line for each part that succeeds, and exits with 1 at the first failure.

#include <b2nd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

const char *part = "start";

void check(bool right, const char *what, int line) {
  if (!right) {
    std::fprintf(stderr, "%s: line %d: failed: %s\n", part, line, what);
    std::exit(1);
  }
}
#define CHECK(what) check((what), #what, __LINE__)

struct Shape {
  int64_t n[3];
  int64_t items() const { return n[0] * n[1] * n[2]; }
};

// The expected contents of an array, as a plain vector.
struct Plain {
  Shape shape;
  std::vector<int32_t> items;

  explicit Plain(Shape s) : shape(s), items(static_cast<size_t>(s.items())) {}

  int32_t &at(int64_t i, int64_t j, int64_t k) {
    return items[static_cast<size_t>((i * shape.n[1] + j) * shape.n[2] + k)];
  }
};

b2nd_context_t *context(Shape shape, bool contiguous, const std::string &path, int codec) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(int32_t);
  cparams.compcode = static_cast<uint8_t>(codec);
  cparams.nthreads = 2;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  // The context keeps a copy of the compression parameters, but only a pointer to the others.
  static blosc2_dparams kept;
  kept = dparams;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = contiguous;
  storage.urlpath = path.empty() ? nullptr : const_cast<char *>(path.c_str());
  storage.cparams = &cparams;
  storage.dparams = &kept;
  const int32_t chunkshape[] = {7, 10, 8};
  const int32_t blockshape[] = {3, 5, 4};
  b2nd_context_t *made =
      b2nd_create_ctx(&storage, 3, shape.n, chunkshape, blockshape, "<i4", DTYPE_NUMPY_FORMAT, nullptr, 0);
  CHECK(made != nullptr);
  return made;
}

// Compares several boxes along every axis.
void compare(b2nd_array_t *array, Plain &plain) {
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(array->shape[axis] == plain.shape.n[axis]);
  }
  std::vector<int32_t> whole(plain.items.size());
  CHECK(b2nd_to_cbuffer(array, whole.data(), static_cast<int64_t>(whole.size() * 4)) == 0);
  CHECK(whole == plain.items);
  for (int axis = 0; axis < 3; ++axis) {
    for (int64_t from = 0; from < plain.shape.n[axis]; from += 4) {
      int64_t start[] = {0, 1, 0};
      int64_t stop[] = {plain.shape.n[0], plain.shape.n[1], plain.shape.n[2]};
      start[axis] = from;
      stop[axis] = from + 3 < stop[axis] ? from + 3 : stop[axis];
      const int64_t extent[] = {stop[0] - start[0], stop[1] - start[1], stop[2] - start[2]};
      if (extent[0] <= 0 || extent[1] <= 0 || extent[2] <= 0) {
        continue;
      }
      std::vector<int32_t> box(static_cast<size_t>(extent[0] * extent[1] * extent[2]));
      CHECK(b2nd_get_slice_cbuffer(array, start, stop, box.data(), extent, static_cast<int64_t>(box.size() * 4)) == 0);
      size_t at = 0;
      for (int64_t i = start[0]; i < stop[0]; ++i) {
        for (int64_t j = start[1]; j < stop[1]; ++j) {
          for (int64_t k = start[2]; k < stop[2]; ++k) {
            CHECK(box[at++] == plain.at(i, j, k));
          }
        }
      }
    }
  }
}

void run(const std::string &directory, bool contiguous, bool on_disk, int codec) {
  part = on_disk ? (contiguous ? "file" : "directory") : (contiguous ? "frame" : "memory");
  const Shape shape = {{17, 23, 19}};
  const std::string path = on_disk ? directory + "/" + part + std::to_string(codec) + ".b2nd" : std::string();
  Plain plain(shape);
  for (size_t at = 0; at < plain.items.size(); ++at) {
    plain.items[at] = static_cast<int32_t>(at * 7 / 3);
  }
  b2nd_context_t *ctx = context(shape, contiguous, path, codec);
  b2nd_array_t *array = nullptr;
  CHECK(b2nd_from_cbuffer(ctx, &array, plain.items.data(), static_cast<int64_t>(plain.items.size() * 4)) == 0);
  CHECK(b2nd_free_ctx(ctx) == 0);
  CHECK(array->ndim == 3 && array->nitems == shape.items() && std::string(array->dtype) == "<i4");
  compare(array, plain);

  // Writes a box.
  const int64_t start[] = {2, 5, 3};
  const int64_t stop[] = {12, 20, 18};
  const int64_t extent[] = {10, 15, 15};
  std::vector<int32_t> box(10 * 15 * 15);
  for (size_t at = 0; at < box.size(); ++at) {
    box[at] = -static_cast<int32_t>(at);
  }
  CHECK(b2nd_set_slice_cbuffer(box.data(), extent, static_cast<int64_t>(box.size() * 4), start, stop, array) == 0);
  size_t at = 0;
  for (int64_t i = start[0]; i < stop[0]; ++i) {
    for (int64_t j = start[1]; j < stop[1]; ++j) {
      for (int64_t k = start[2]; k < stop[2]; ++k) {
        plain.at(i, j, k) = box[at++];
      }
    }
  }
  compare(array, plain);

  // Appends planes after the last one of the second axis.
  const Shape grown = {{17, 26, 19}};
  Plain longer(grown);
  std::vector<int32_t> more(17 * 3 * 19, 77);
  CHECK(b2nd_append(array, more.data(), static_cast<int64_t>(more.size() * 4), 1) == 0);
  for (int64_t i = 0; i < 17; ++i) {
    for (int64_t j = 0; j < 26; ++j) {
      for (int64_t k = 0; k < 19; ++k) {
        longer.at(i, j, k) = j < 23 ? plain.at(i, j, k) : 77;
      }
    }
  }
  compare(array, longer);

  // Single items by coordinates and by flat positions.
  int64_t rows[] = {16, 0, 3};
  int64_t columns[] = {25, 1};
  int64_t depths[] = {18, 0, 7, 7};
  int64_t *selection[] = {rows, columns, depths};
  int64_t sizes[] = {3, 2, 4};
  int64_t buffershape[] = {3, 2, 4};
  int32_t picked[24];
  CHECK(b2nd_get_orthogonal_selection(array, selection, sizes, picked, buffershape, sizeof(picked)) == 0);
  const int64_t positions[] = {17 * 26 * 19 - 1, 0, 12345 % (17 * 26 * 19)};
  int32_t found[3];
  CHECK(b2nd_get_sparse_cbuffer(array, 3, positions, found, sizeof(found)) == 0);
  for (int i = 0; i < 24; ++i) {
    CHECK(picked[i] == longer.at(rows[i / 8], columns[i / 4 % 2], depths[i % 4]));
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(found[i] == longer.items[static_cast<size_t>(positions[i])]);
  }

  // Saves the array, opens it, and serialises it to a buffer.
  std::string copy = directory + "/copy-" + part + std::to_string(codec) + ".b2nd";
  CHECK(b2nd_save(array, &copy[0]) == 0);
  CHECK(b2nd_save(array, &copy[0]) < 0);
  b2nd_array_t *opened = nullptr;
  CHECK(b2nd_open(copy.c_str(), &opened) == 0);
  compare(opened, longer);
  CHECK(b2nd_free(opened) == 0);
  uint8_t *frame = nullptr;
  int64_t len = 0;
  bool needs_free = false;
  CHECK(b2nd_to_cframe(array, &frame, &len, &needs_free) == 0 && len > 0);
  CHECK(b2nd_from_cframe(frame, len, true, &opened) == 0);
  compare(opened, longer);
  CHECK(b2nd_free(opened) == 0);
  if (needs_free) {
    std::free(frame);
  }
  CHECK(b2nd_free(array) == 0);
  if (on_disk) {
    CHECK(b2nd_open(path.c_str(), &array) == 0);
    compare(array, longer);
    CHECK(b2nd_free(array) == 0);
  }
  std::printf("ok %s %d\n", part, codec);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <empty directory>\n", argv[0]);
    return 2;
  }
  blosc2_init();
  for (int codec : {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_ZSTD}) {
    run(argv[1], false, false, codec);
    run(argv[1], true, false, codec);
    run(argv[1], true, true, codec);
    run(argv[1], false, true, codec);
  }
  blosc2_destroy();
  return 0;
}
