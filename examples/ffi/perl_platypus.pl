#!/usr/bin/perl
# Compresses a buffer, writes and reads a frame, and slices an array, through FFI::Platypus.
#
#     perl perl_platypus.pl path/to/libblosc2.so.9
use strict;
use warnings;
use FFI::Platypus 2.00;
use FFI::Platypus::Buffer qw(scalar_to_buffer);
use File::Temp qw(tempdir);

my $ffi = FFI::Platypus->new(api => 2, lib => $ARGV[0]);
sub attach { my ($name, $arguments, $result) = @_; $ffi->attach($name => $arguments => $result) }
attach(blosc2_compress => [qw(int int sint32 opaque sint32 opaque sint32)], 'int');
attach(blosc2_decompress => [qw(opaque sint32 opaque sint32)], 'int');
attach(blosc2_schunk_new => ['opaque'], 'opaque');
attach(blosc2_schunk_append_buffer => [qw(opaque opaque sint32)], 'sint64');
attach(blosc2_schunk_open => ['string'], 'opaque');
attach(blosc2_schunk_decompress_chunk => [qw(opaque sint64 opaque sint32)], 'int');
attach(blosc2_schunk_free => ['opaque'], 'int');
attach(b2nd_create_ctx => [qw(opaque sint8 sint64[] sint32[] sint32[] string sint8 opaque sint32)], 'opaque');
attach(b2nd_free_ctx => ['opaque'], 'int');
attach(b2nd_from_cbuffer => [qw(opaque opaque* opaque sint64)], 'int');
attach(b2nd_get_slice_cbuffer => [qw(opaque sint64[] sint64[] opaque sint64[] sint64)], 'int');
attach(b2nd_free => ['opaque'], 'int');

# Returns the address of the bytes of a string, which must not change while the address is in use.
sub at { (scalar_to_buffer($_[0]))[0] }
# Returns a blosc2_storage: a bool and four pointers. A NULL pointer means the default.
sub storage { my ($contiguous, $path) = @_; pack('C x7 Q4', $contiguous, $path, 0, 0, 0) }

my @items = map { int($_ / 3) } 0 .. 99_999;
my $data = pack('q*', @items);
my $nbytes = length $data;
my $chunk = "\0" x ($nbytes + 32);
my $back = "\0" x $nbytes;
my $cbytes = blosc2_compress(5, 1, 8, at($data), $nbytes, at($chunk), $nbytes + 32);
die "compress: $cbytes" unless $cbytes > 0 && $cbytes < $nbytes / 10;
die 'decompress' unless blosc2_decompress(at($chunk), $cbytes, at($back), $nbytes) == $nbytes && $back eq $data;

my $path = tempdir(CLEANUP => 1) . '/frame.b2frame';
my $path_bytes = "$path\0";
my $storage = storage(1, at($path_bytes));
my $schunk = blosc2_schunk_new(at($storage));
for my $count (1 .. 3) {
    die "append $count" unless blosc2_schunk_append_buffer($schunk, at($data), $nbytes) == $count;
}
blosc2_schunk_free($schunk);
$schunk = blosc2_schunk_open($path);
$back = "\0" x $nbytes;
die 'a chunk of the frame'
    unless blosc2_schunk_decompress_chunk($schunk, 2, at($back), $nbytes) == $nbytes && $back eq $data;
blosc2_schunk_free($schunk);

my $none = storage(0, 0);
my $ctx = b2nd_create_ctx(at($none), 2, [250, 400], [100, 100], [20, 30], '<i8', 0, undef, 0);
my $matrix;
die 'from_cbuffer' unless b2nd_from_cbuffer($ctx, \$matrix, at($data), $nbytes) == 0;
b2nd_free_ctx($ctx);
my $box = "\0" x 160;
die 'slice' unless b2nd_get_slice_cbuffer($matrix, [95, 7], [105, 9], at($box), [10, 2], 160) == 0;
my @expected = map { my $row = $_; map { $items[400 * $row + $_] } 7, 8 } 95 .. 104;
die 'the items of the slice' unless join(',', unpack('q*', $box)) eq join(',', @expected);
b2nd_free($matrix);
print "Platypus: $nbytes -> $cbytes bytes, frame and slice right\n";
