/* Valid as C and as C++: the ray tracer compiles it as the latter. */
#include "png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Layout: signature, IHDR, one IDAT per band, one IDAT with the end of the zlib stream, IEND. A band's IDAT holds stored deflate blocks
 * of one row each (so a row may have 65535 bytes: 21844 pixels), the first band's is preceded by the zlib header.
 */
enum { SIGNATURE = 8, CHUNK = 12, HEADER = 13, ZLIB = 2, BLOCK = 5, END_OF_STREAM = BLOCK + 4 };

/* Adler-32 of a band alone, started from 0, 0. */
struct Adler {
  uint32_t a, b;
};

struct Png {
  FILE *file;
  int width, height, band, bands;
  uint8_t *bytes; /* the whole file */
  size_t length;
  struct Adler *sums;
};

static uint32_t crc_table[256];

static uint32_t crc(const uint8_t *p, size_t n) {
  if (!crc_table[1])
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      crc_table[i] = c;
    }
  uint32_t c = ~0u;
  while (n--) c = crc_table[(c ^ *p++) & 255] ^ c >> 8;
  return ~c;
}

static void put32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Writes length, type and checksum around the n bytes of data that begin at chunk + 8. */
static void close_chunk(uint8_t *chunk, const char *type, size_t n) {
  put32(chunk, (uint32_t)n);
  memcpy(chunk + 4, type, 4);
  put32(chunk + 8 + n, crc(chunk + 4, n + 4));
}

static size_t row_bytes(const Png *png) { return 1 + 3 * (size_t)png->width; }
static int rows_of(const Png *png, int band) {
  const int left = png->height - band * png->band;
  return left < png->band ? left : png->band;
}
static size_t band_data(const Png *png, int band) { return (band == 0 ? ZLIB : 0) + (size_t)rows_of(png, band) * (BLOCK + row_bytes(png)); }
static size_t band_at(const Png *png, int band) {
  const size_t full = (size_t)png->band * (BLOCK + row_bytes(png));
  return SIGNATURE + CHUNK + HEADER + (size_t)band * (CHUNK + full) + (band > 0 ? ZLIB : 0);
}
/* The filter byte of a row; its pixels follow. */
static size_t row_at(const Png *png, int row) {
  const int band = row / png->band;
  return band_at(png, band) + 8 + (band == 0 ? ZLIB : 0) + (size_t)(row % png->band) * (BLOCK + row_bytes(png)) + BLOCK;
}
static size_t tail_at(const Png *png) {
  const int last = png->bands - 1;
  return band_at(png, last) + CHUNK + band_data(png, last);
}

/* Checksums of a band whose pixels have changed. */
static void close_band(Png *png, int band) {
  uint32_t a = 0, b = 0;
  for (int r = 0; r < rows_of(png, band); r++) {
    const uint8_t *row = png->bytes + row_at(png, band * png->band + r);
    for (size_t i = 0; i < row_bytes(png); i++) {
      a = (a + row[i]) % 65521;
      b = (b + a) % 65521;
    }
  }
  png->sums[band].a = a;
  png->sums[band].b = b;
  close_chunk(png->bytes + band_at(png, band), "IDAT", band_data(png, band));
}

/* The end of the zlib stream: an empty last block, and the Adler-32 of all rows, put together from those of the bands. */
static void close_tail(Png *png) {
  uint64_t a = 1, b = 0;
  for (int k = 0; k < png->bands; k++) {
    const uint64_t n = (uint64_t)rows_of(png, k) * row_bytes(png);
    b = (b + n % 65521 * a + png->sums[k].b) % 65521;
    a = (a + png->sums[k].a) % 65521;
  }
  uint8_t *tail = png->bytes + tail_at(png);
  memcpy(tail + 8, "\x01\x00\x00\xff\xff", BLOCK);
  put32(tail + 8 + BLOCK, (uint32_t)(b << 16 | a));
  close_chunk(tail, "IDAT", END_OF_STREAM);
}

static int write_part(Png *png, size_t from, size_t to) {
  if (fseek(png->file, (long)from, SEEK_SET) != 0) return -1;
  return fwrite(png->bytes + from, 1, to - from, png->file) == to - from ? 0 : -1;
}

Png *png_open(const char *path, int width, int height, int band) {
  Png *png = (Png *)calloc(1, sizeof *png);
  if (!png) return NULL;
  png->width = width;
  png->height = height;
  png->band = band;
  png->bands = (height + band - 1) / band;
  png->length = tail_at(png) + CHUNK + END_OF_STREAM + CHUNK;
  png->bytes = (uint8_t *)calloc(png->length, 1);
  png->sums = (struct Adler *)calloc((size_t)png->bands, sizeof *png->sums);
  png->file = fopen(path, "wb");
  if (!png->bytes || !png->sums || !png->file) {
    if (png->file) fclose(png->file);
    free(png->sums);
    free(png->bytes);
    free(png);
    return NULL;
  }
  memcpy(png->bytes, "\x89PNG\r\n\x1a\n", SIGNATURE);
  uint8_t *header = png->bytes + SIGNATURE;
  put32(header + 8, (uint32_t)width);
  put32(header + 12, (uint32_t)height);
  memcpy(header + 16, "\x08\x02\x00\x00\x00", 5); /* 8 bits per channel, RGB */
  close_chunk(header, "IHDR", HEADER);
  memcpy(png->bytes + band_at(png, 0) + 8, "\x78\x01", ZLIB);
  const uint32_t n = (uint32_t)row_bytes(png);
  for (int row = 0; row < height; row++) {
    uint8_t *block = png->bytes + row_at(png, row) - BLOCK;
    block[1] = (uint8_t)n;
    block[2] = (uint8_t)(n >> 8);
    block[3] = (uint8_t)~n;
    block[4] = (uint8_t)(~n >> 8);
  }
  for (int k = 0; k < png->bands; k++) close_band(png, k);
  close_tail(png);
  close_chunk(png->bytes + png->length - CHUNK, "IEND", 0);
  if (write_part(png, 0, png->length) != 0 || fflush(png->file) != 0) {
    png_close(png);
    return NULL;
  }
  return png;
}

void png_put(Png *png, int left, int top, int width, int height, const uint8_t *rgb) {
  for (int r = 0; r < height; r++) memcpy(png->bytes + row_at(png, top + r) + 1 + 3 * (size_t)left, rgb + 3 * (size_t)r * (size_t)width, 3 * (size_t)width);
}

int png_write_rows(Png *png, int top, int height) {
  const int first = top / png->band, last = (top + height - 1) / png->band;
  for (int k = first; k <= last; k++) close_band(png, k);
  close_tail(png);
  if (write_part(png, band_at(png, first), band_at(png, last) + CHUNK + band_data(png, last)) != 0) return -1;
  if (write_part(png, tail_at(png), tail_at(png) + CHUNK + END_OF_STREAM) != 0) return -1;
  return fflush(png->file) == 0 ? 0 : -1;
}

uint64_t png_hash(const Png *png) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int row = 0; row < png->height; row++) {
    const uint8_t *p = png->bytes + row_at(png, row) + 1;
    for (size_t i = 0; i + 1 < row_bytes(png); i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

int png_close(Png *png) {
  const int bad = fclose(png->file);
  free(png->sums);
  free(png->bytes);
  free(png);
  return bad ? -1 : 0;
}
