#!/bin/sh
# Fetches real data of ten fields from packages of PyPI into reference/field-data, which git ignores, to check the automatic
# tuner (docs/tuner.md) on data of other kinds than those of scripts/fetch-bench-data.sh. Each file has 64 KiB to 8 MiB (longer data
# are cut), items in little-endian order, and the name <name>.t<bytes per item>.bin. Nothing is written unless all data are fetched.
#
#     scripts/fetch-field-data.sh
#
# field                   package              licence of the package     files
# photographs             scikit-image         BSD-3-Clause               photo-*, disparity
# microscopy              scikit-image         BSD-3-Clause               cells-*
#                         stardist             BSD-3-Clause               nuclei*
# genomes                 biopython            Biopython or BSD-3-Clause  genome-*, protein-*
# logs                    petit-log-crunchtools AGPL-3.0-or-later         log-*
# prices                  arch                 NCSA                       price-sp500, price-nasdaq
#                         backtesting          AGPL-3.0                   price-eurusd*
# sparse matrices (CSR)   scanpy (blood cells) BSD-3-Clause               sparse-pbmc-*, expression-pbmc
#                         pyamg                MIT                        sparse-*
# neural networks         silero-vad           MIT                        weights-silero
#                         rapidocr-onnxruntime Apache-2.0                 weights-ocr-*
#                         wordllama            MIT                        weights-words
# weather and climate     iris-sample-data     Open Government Licence    climate-*
# speech (PCM)            silero-vad           MIT                        speech-*
# meshes                  pymeshfix            MIT                        mesh-*
# seismic traces          obspy                LGPL-3.0                   seismic-*
#
# Needs Python 3.10 to 3.13 with pip and venv, which PYTHON names (default python3), and the network. The Python packages that
# decode the data go to a temporary directory.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pip() { "$python" -m pip -q --disable-pip-version-check "$@"; }
wheels() { # version of Python, platform, packages: the wheels of one platform, because only their data are read
    version=$1 platform=$2
    shift 2
    pip download --no-deps --only-binary=:all: --implementation cp --python-version "$version" --platform "$platform" -d "$work" "$@"
}

# The last version with its images in the wheel.
wheels 37 manylinux1_x86_64 scikit-image==0.16.2
wheels 311 manylinux2014_x86_64 stardist==0.9.1 arch==7.2.0 backtesting==0.6.5 scanpy==1.10.4 pyamg==5.2.1 \
    rapidocr-onnxruntime==1.4.4 wordllama==0.4.0.post1 iris-sample-data==2.5.2 pymeshfix==0.16.2 obspy==1.4.1
# The test data are only in the source distributions.
pip download --no-deps --no-binary=biopython,petit-log-crunchtools,silero-vad -d "$work" \
    biopython==1.85 petit-log-crunchtools==4.10.2 silero-vad==6.2.0

"$python" -m venv "$work/venv"
python=$work/venv/bin/python
pip install --no-deps --only-binary=:all: numpy==2.2.6 scipy==1.15.3 pillow==11.3.0 h5py==3.14.0 onnx==1.18.0 \
    protobuf==7.36.2 typing_extensions==4.16.0

PYTHONPATH=$root/scripts/shared PYTHONDONTWRITEBYTECODE=1 "$python" - "$work" "$work/raw" <<'END'
import csv, fnmatch, gzip, io, tarfile, wave, zipfile

import h5py, numpy, onnx, PIL.Image, scipy.io
from raw_files import LEAST, packages, save

MOST = 8 << 20  # bytes of a file


def put(name, typesize, data):
    """Saves the first `MOST` bytes of `data`, rounded down to whole items."""
    if len(data) < LEAST:
        raise SystemExit(f"{name}: expected at least {LEAST} bytes, found {len(data)}")
    save(name, typesize, data[:min(len(data), MOST) // typesize * typesize])


def array(name, values):
    values = numpy.asarray(values)
    put(name, values.itemsize, values.astype(values.dtype.newbyteorder("<")).tobytes())


class Package:
    """The files of a wheel or a source distribution; their names are relative to its root."""

    def __init__(self, name):
        path, = packages.glob(name.replace("-", "[-_]") + "-[0-9]*")
        if path.suffix == ".whl":
            archive = zipfile.ZipFile(path)
            self.names, self.read = archive.namelist(), archive.read
        else:
            archive = tarfile.open(path)
            base = path.name.removesuffix(".tar.gz")
            self.names = [entry.removeprefix(base + "/") for entry in archive.getnames()]
            self.read = lambda entry: archive.extractfile(f"{base}/{entry}").read()

    def file(self, entry):
        return io.BytesIO(self.read(entry))

    def joined(self, pattern):
        """All files that match `pattern`, in the order of their names."""
        return b"".join(self.read(entry) for entry in sorted(fnmatch.filter(self.names, pattern)))


def images():
    package = Package("scikit-image")
    for name, entry in [("photo-astronaut", "astronaut.png"), ("photo-coffee", "coffee.png"), ("photo-camera", "camera.png"),
                        ("photo-gravel", "gravel.png"), ("photo-moon", "moon.png"), ("photo-retina", "retina.jpg"),
                        ("photo-galaxies", "hubble_deep_field.jpg"), ("photo-motorcycle", "motorcycle_left.png"),
                        ("cells-phase", "cell.png"), ("cells-stained", "ihc.png")]:
        array(name, PIL.Image.open(package.file(f"skimage/data/{entry}")))
    array("disparity", numpy.load(package.file("skimage/data/motorcycle_disp.npz"))["arr_0"])
    package = Package("stardist")
    for name, entry in [("nuclei", "img2d.tif"), ("nuclei-labels", "mask2d.tif")]:
        array(name, PIL.Image.open(package.file(f"stardist/data/images/{entry}")))


def genomes():
    package = Package("biopython")
    put("genome-chloroplast-genbank", 1, package.read("Tests/GenBank/NC_000932.gb"))
    alignment = package.read("Tests/MAF/ucsc_mm9_chr10_big.maf")
    put("genome-alignment-maf", 1, alignment)
    # Lines of sequences: s, source, start, length, strand, length of the source, aligned bases with gaps.
    sequences = [line.split() for line in alignment.splitlines() if line.startswith(b"s ")]
    mouse = b"".join(sequence[6] for sequence in sequences if sequence[1].startswith(b"mm9.")).replace(b"-", b"")
    lines = [mouse[start:start + 60] for start in range(0, len(mouse), 60)]
    put("genome-mouse-fasta", 1, b"\n".join([b">mm9.chr10", *lines]))
    bases = numpy.frombuffer(b"".join(sequence[6] for sequence in sequences).upper(), numpy.uint8)
    codes = numpy.searchsorted(list(b"ACGT"), bases[numpy.isin(bases, list(b"ACGT"))])
    codes = codes[:len(codes) // 4 * 4].reshape(-1, 4) << [6, 4, 2, 0]
    put("genome-animals-2bit", 1, codes.sum(axis=1).astype(numpy.uint8).tobytes())
    reads = package.read("Tests/SamBam/ex1.sam")
    put("genome-reads-sam", 1, reads)
    put("genome-reads-qualities", 1, b"\n".join(line.split(b"\t")[10] for line in reads.splitlines() if not line.startswith(b"@")))
    put("protein-atoms-cif", 1, package.read("Tests/PDB/6WG6.cif"))


def logs():
    package = Package("petit-log-crunchtools")
    put("log-servers", 1, package.joined("test/data/test*.log"))
    put("log-boots", 1, package.joined("test/data/verify/*/*.log"))


def prices():
    def columns(name, text, first):
        """Saves the columns of numbers, from column `first` on, one after another."""
        rows = list(csv.reader(text.decode().splitlines()))[1:]
        array(name, numpy.array([row[first:] for row in rows], numpy.float64).T)

    package = Package("arch")
    for index in "sp500", "nasdaq":
        columns(f"price-{index}", gzip.decompress(package.read(f"arch/data/{index}/{index}.csv.gz")), 1)
    text = Package("backtesting").read("backtesting/test/EURUSD.csv")
    columns("price-eurusd", text, 1)
    put("price-eurusd-csv", 1, text)


def sparse():
    with h5py.File(Package("scanpy").file("scanpy/datasets/10x_pbmc68k_reduced.h5ad")) as file:
        array("sparse-pbmc-values", file["raw.X/data"])
        array("sparse-pbmc-indices", file["raw.X/indices"])
        array("expression-pbmc", file["X"])
    package = Package("pyamg")
    for name, entry in [("sparse-diffusion", "local_disc_galerkin_diffusion"), ("sparse-helmholtz", "helmholtz_2D"), ("sparse-bar", "bar")]:
        matrix = scipy.io.loadmat(package.file(f"pyamg/gallery/example_data/{entry}.mat"))["A"].tocsr()
        array(f"{name}-values", matrix.data)
        array(f"{name}-indices", matrix.indices.astype(numpy.int32))


def weights():
    def tensors(graph):
        """The tensors of type float32 of a graph and of the graphs in its nodes, in the order of the file."""
        for tensor in graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT:
                yield onnx.numpy_helper.to_array(tensor)
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from tensors(attribute.g)
            elif attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type == onnx.TensorProto.FLOAT:
                yield onnx.numpy_helper.to_array(attribute.t)

    for name, package, entry in [("silero", "silero-vad", "src/silero_vad/data/silero_vad.onnx"),
                                 ("ocr-detection", "rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx"),
                                 ("ocr-recognition", "rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx")]:
        graph = onnx.load_from_string(Package(package).read(entry)).graph
        array(f"weights-{name}", numpy.concatenate([tensor.ravel() for tensor in tensors(graph)]))
    file = Package("wordllama").read("wordllama/weights/l2_supercat_256.safetensors")
    # A header in JSON, whose length is the first 8 bytes, and one tensor of type float16.
    put("weights-words", 2, file[8 + int.from_bytes(file[:8], "little"):])


def climate():
    package, folder = Package("iris-sample-data"), "iris_sample_data/sample_data"
    for name, entry, variable in [("air-temperature", "A1B_north_america", "air_temperature"),
                                  ("sea-surface", "ostia_monthly", "surface_temperature"),
                                  ("potential-temperature", "hybrid_height", "air_potential_temperature"),
                                  ("ocean-grid", "NEMO/nemo_1m_20150101-20150201_grid-T", "tos"),
                                  ("grid-corners", "NEMO/nemo_1m_20150101-20150201_grid-T", "bounds_lat")]:
        with h5py.File(package.file(f"{folder}/{entry}.nc")) as file:
            array(f"climate-{name}", file[variable])
    put("climate-dispersion-csv", 1, package.read(f"{folder}/NAME_output.txt"))


def speech():
    package = Package("silero-vad")
    for name, entry in [("speech-short", "tests/data/test.wav"), ("speech-long", "examples/cpp_libtorch/aepyx.wav")]:
        with wave.open(package.file(entry)) as sound:
            put(name, sound.getsampwidth(), sound.readframes(sound.getnframes()))


def meshes():
    head, body = Package("pymeshfix").read("pymeshfix/examples/StanfordBunny.ply").split(b"end_header\n", 1)
    counts = dict(line.split()[1:] for line in head.splitlines() if line.startswith(b"element"))
    vertices = numpy.frombuffer(body, "<f4", int(counts[b"vertex"]) * 3)
    faces = numpy.frombuffer(body, [("corners", "u1"), ("vertex", "<i4", 3)], int(counts[b"face"]), vertices.nbytes)
    if (faces["corners"] != 3).any():
        raise SystemExit("StanfordBunny.ply: expected triangles")
    array("mesh-vertices", vertices)
    array("mesh-triangles", faces["vertex"])


def seismic():
    package, folder = Package("obspy"), "obspy/signal/tests/data"
    for name, entry, dtype in [("day", "BW.KW1._.EHZ.D.2011.090_downsampled", numpy.int32),
                               ("corrected", "KARC_corrected.sac", numpy.float64)]:
        array(f"seismic-{name}", numpy.array(gzip.decompress(package.read(f"{folder}/{entry}.asc.gz")).split(), dtype))
    put("seismic-sac", 4, package.read(f"{folder}/CRLZ.HHZ.10.NZ.SAC")[632:])  # the header of a SAC file has 632 bytes


for field in images, genomes, logs, prices, sparse, weights, climate, speech, meshes, seismic:
    field()
END

mkdir -p "$root/reference/field-data"
mv "$work"/raw/* "$root/reference/field-data/"
