// Compresses a buffer, writes and reads a frame, and slices an array, through koffi.
//
//     npm install koffi && node node_koffi.js path/to/libblosc2.so.9
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const koffi = require('koffi');

const lib = koffi.load(process.argv[2]);
koffi.struct('blosc2_storage', { contiguous: 'bool', urlpath: 'const char *', cparams: 'void *', dparams: 'void *', io: 'void *' });
const compress = lib.func('int blosc2_compress(int, int, int32_t, const void *, int32_t, void *, int32_t)');
const decompress = lib.func('int blosc2_decompress(const void *, int32_t, void *, int32_t)');
const schunkNew = lib.func('void *blosc2_schunk_new(blosc2_storage *)');
const schunkAppend = lib.func('int64_t blosc2_schunk_append_buffer(void *, const void *, int32_t)');
const schunkOpen = lib.func('void *blosc2_schunk_open(const char *)');
const schunkChunk = lib.func('int blosc2_schunk_decompress_chunk(void *, int64_t, void *, int32_t)');
const schunkFree = lib.func('int blosc2_schunk_free(void *)');
const createCtx = lib.func('void *b2nd_create_ctx(const blosc2_storage *, int8_t, const int64_t *, const int32_t *, const int32_t *, const char *, int8_t, void *, int32_t)');
const freeCtx = lib.func('int b2nd_free_ctx(void *)');
const fromCbuffer = lib.func('int b2nd_from_cbuffer(void *, _Out_ void **, const void *, int64_t)');
const getSlice = lib.func('int b2nd_get_slice_cbuffer(void *, const int64_t *, const int64_t *, void *, const int64_t *, int64_t)');
const arrayFree = lib.func('int b2nd_free(void *)');

const items = BigInt64Array.from({ length: 100000 }, (_, i) => BigInt(Math.floor(i / 3)));
const data = Buffer.from(items.buffer);
const chunk = Buffer.alloc(data.length + 32);
let back = Buffer.alloc(data.length);
const cbytes = compress(5, 1, 8, data, data.length, chunk, chunk.length);
assert(cbytes > 0 && cbytes < data.length / 10);
assert.strictEqual(decompress(chunk, cbytes, back, back.length), data.length);
assert(back.equals(data));

const none = { contiguous: false, urlpath: null, cparams: null, dparams: null, io: null };
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'ffi-'));
try {
  const file = path.join(directory, 'frame.b2frame');
  let schunk = schunkNew({ ...none, contiguous: true, urlpath: file });
  for (const count of [1, 2, 3]) assert.strictEqual(Number(schunkAppend(schunk, data, data.length)), count);
  schunkFree(schunk);
  schunk = schunkOpen(file);
  back = Buffer.alloc(data.length);
  assert.strictEqual(schunkChunk(schunk, 2, back, back.length), data.length);
  assert(back.equals(data));
  schunkFree(schunk);
} finally {
  fs.rmSync(directory, { recursive: true });
}

const i64 = (...numbers) => BigInt64Array.from(numbers, BigInt);
const ctx = createCtx(none, 2, i64(250, 400), Int32Array.of(100, 100), Int32Array.of(20, 30), '<i8', 0, null, 0);
const matrix = [null];
assert.strictEqual(fromCbuffer(ctx, matrix, data, data.length), 0);
freeCtx(ctx);
const box = new BigInt64Array(20);
assert.strictEqual(getSlice(matrix[0], i64(95, 7), i64(105, 9), box, i64(10, 2), 160), 0);
const expected = [];
for (let row = 95; row < 105; row++) for (const column of [7, 8]) expected.push(items[400 * row + column]);
assert.deepStrictEqual([...box], expected);
arrayFree(matrix[0]);
console.log(`koffi: ${data.length} -> ${cbytes} bytes, frame and slice right`);
