import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Compresses a buffer, writes and reads a frame, and slices an array, through JNA.
 *
 * <pre>java -cp jna.jar JavaJna.java path/to/libblosc2.so.9</pre>
 */
public class JavaJna {
  /** blosc2_storage. A null field means the default. A C bool is one byte. */
  @Structure.FieldOrder({"contiguous", "urlpath", "cparams", "dparams", "io"})
  public static class Storage extends Structure {
    public byte contiguous;
    public String urlpath;
    public Pointer cparams, dparams, io;
  }

  public interface Blosc2 extends Library {
    int blosc2_compress(int clevel, int doshuffle, int typesize, Pointer src, int srcsize, Pointer dest, int destsize);
    int blosc2_decompress(Pointer src, int srcsize, Pointer dest, int destsize);
    Pointer blosc2_schunk_new(Storage storage);
    long blosc2_schunk_append_buffer(Pointer schunk, Pointer src, int nbytes);
    Pointer blosc2_schunk_open(String urlpath);
    int blosc2_schunk_decompress_chunk(Pointer schunk, long nchunk, Pointer dest, int nbytes);
    int blosc2_schunk_free(Pointer schunk);
    Pointer b2nd_create_ctx(Storage storage, byte ndim, long[] shape, int[] chunkshape, int[] blockshape, String dtype,
        byte dtypeFormat, Pointer metalayers, int nmetalayers);
    int b2nd_free_ctx(Pointer ctx);
    int b2nd_from_cbuffer(Pointer ctx, PointerByReference array, Pointer buffer, long buffersize);
    int b2nd_get_slice_cbuffer(Pointer array, long[] start, long[] stop, Pointer buffer, long[] shape, long buffersize);
    int b2nd_free(Pointer array);
  }

  static void check(boolean right, String what) {
    if (!right) throw new AssertionError(what);
  }

  public static void main(String[] args) throws Exception {
    Blosc2 lib = Native.load(args[0], Blosc2.class);
    long[] items = new long[100_000];
    Arrays.setAll(items, i -> i / 3);
    int nbytes = items.length * 8;
    Memory data = new Memory(nbytes), chunk = new Memory(nbytes + 32), back = new Memory(nbytes);
    data.write(0, items, 0, items.length);
    int cbytes = lib.blosc2_compress(5, 1, 8, data, nbytes, chunk, nbytes + 32);
    check(cbytes > 0 && cbytes < nbytes / 10, "compress " + cbytes);
    check(lib.blosc2_decompress(chunk, cbytes, back, nbytes) == nbytes, "decompress");
    check(Arrays.equals(back.getLongArray(0, items.length), items), "the bytes of a chunk");

    Path directory = Files.createTempDirectory("ffi");
    Path file = directory.resolve("frame.b2frame");
    try {
      Storage storage = new Storage();
      storage.contiguous = 1;
      storage.urlpath = file.toString();
      Pointer schunk = lib.blosc2_schunk_new(storage);
      for (int count = 1; count <= 3; count++)
        check(lib.blosc2_schunk_append_buffer(schunk, data, nbytes) == count, "append " + count);
      lib.blosc2_schunk_free(schunk);
      schunk = lib.blosc2_schunk_open(file.toString());
      back.clear();
      check(lib.blosc2_schunk_decompress_chunk(schunk, 2, back, nbytes) == nbytes, "a chunk of the frame");
      check(Arrays.equals(back.getLongArray(0, items.length), items), "the bytes of that chunk");
      lib.blosc2_schunk_free(schunk);
    } finally {
      Files.deleteIfExists(file);
      Files.delete(directory);
    }

    Pointer ctx = lib.b2nd_create_ctx(new Storage(), (byte) 2, new long[] {250, 400}, new int[] {100, 100},
        new int[] {20, 30}, "<i8", (byte) 0, null, 0);
    PointerByReference matrix = new PointerByReference();
    check(lib.b2nd_from_cbuffer(ctx, matrix, data, nbytes) == 0, "from_cbuffer");
    lib.b2nd_free_ctx(ctx);
    Memory box = new Memory(160);
    check(lib.b2nd_get_slice_cbuffer(matrix.getValue(), new long[] {95, 7}, new long[] {105, 9}, box, new long[] {10, 2}, 160) == 0,
        "slice");
    for (int row = 95, i = 0; row < 105; row++)
      for (int column = 7; column < 9; column++, i++)
        check(box.getLong(8L * i) == items[400 * row + column], "item " + i);
    lib.b2nd_free(matrix.getValue());
    System.out.printf("JNA: %d -> %d bytes, frame and slice right%n", nbytes, cbytes);
  }
}
