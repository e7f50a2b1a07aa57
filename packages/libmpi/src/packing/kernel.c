/*
 * Moves the blocks of a datatype between their places and a packed run of bytes, both in the rank's linear memory, which this module imports. packer.ts says
 * what the calls mean and cuts the work into them.
 *
 * Owns nothing: no data, no stack, no globals, so that nothing of it has to stand in an image.
 *
 * Cost: about one load and one store per word of a block up to 16 bytes, and per 16 bytes above. Blocks of a length that no word has are moved by two words
 * which overlap; longer ones in 16-byte words, of which the last overlaps the one before. Nothing outside of a block is read or written.
 */
#include <stdint.h>
#include <wasm_simd128.h>

typedef uint8_t byte;
typedef uint32_t u32;
#define EXPORT(name) __attribute__((export_name(#name))) void name
#define INLINE static inline __attribute__((always_inline))

/* Words without a type, and without a wish for alignment. */
#define MOVE(n, to, from) __builtin_memcpy(to, from, n)
INLINE void move16(byte *to, const byte *from) { wasm_v128_store(to, wasm_v128_load(from)); }
INLINE void move3(byte *to, const byte *from) {
  MOVE(2, to, from);
  to[2] = from[2];
}
INLINE void move_to8(byte *to, const byte *from, u32 n) {
  MOVE(4, to, from);
  MOVE(4, to + n - 4, from + n - 4);
}
INLINE void move_to16(byte *to, const byte *from, u32 n) {
  MOVE(8, to, from);
  MOVE(8, to + n - 8, from + n - 8);
}
INLINE void move_to32(byte *to, const byte *from, u32 n) {
  v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + n - 16);
  wasm_v128_store(to, a);
  wasm_v128_store(to + n - 16, b);
}
INLINE void move_to64(byte *to, const byte *from, u32 n) {
  v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16), c = wasm_v128_load(from + n - 32), d = wasm_v128_load(from + n - 16);
  wasm_v128_store(to, a);
  wasm_v128_store(to + 16, b);
  wasm_v128_store(to + n - 32, c);
  wasm_v128_store(to + n - 16, d);
}
/* From here on a call of the engine's own memory.copy is worth its price. */
#define LONG 1024
INLINE void move_long(byte *to, const byte *from, u32 n) {
  if (n >= LONG) {
    __builtin_memcpy(to, from, n);
    return;
  }
  u32 i = 0;
  for (; i + 64 <= n; i += 64) {
    v128_t a = wasm_v128_load(from + i), b = wasm_v128_load(from + i + 16), c = wasm_v128_load(from + i + 32), d = wasm_v128_load(from + i + 48);
    wasm_v128_store(to + i, a);
    wasm_v128_store(to + i + 16, b);
    wasm_v128_store(to + i + 32, c);
    wasm_v128_store(to + i + 48, d);
  }
  for (; i + 16 <= n; i += 16) move16(to + i, from + i);
  if (i < n) move16(to + n - 16, from + n - 16);
}
INLINE void move_any(byte *to, const byte *from, u32 n) {
  if (n > 64) move_long(to, from, n);
  else if (n > 32) move_to64(to, from, n);
  else if (n > 16) move_to32(to, from, n);
  else if (n >= 8) move_to16(to, from, n);
  else if (n >= 4) move_to8(to, from, n);
  else if (n == 3) move3(to, from);
  else if (n == 2) MOVE(2, to, from);
  else *to = *from;
}

/* One way of moving for all blocks of a loop, chosen before it. `BLOCKS(step)` has a case for each. */
#define BLOCKS(LOOP)                                                                                                    \
  switch (bytes) {                                                                                                      \
    case 1: LOOP(*t = *f) break;                                                                                        \
    case 2: LOOP(MOVE(2, t, f)) break;                                                                                  \
    case 3: LOOP(move3(t, f)) break;                                                                                    \
    case 4: LOOP(MOVE(4, t, f)) break;                                                                                  \
    case 8: LOOP(MOVE(8, t, f)) break;                                                                                  \
    case 12: LOOP(MOVE(8, t, f); MOVE(4, t + 8, f + 8)) break;                                                          \
    case 16: LOOP(move16(t, f)) break;                                                                                  \
    case 32: LOOP(move_to32(t, f, 32)) break;                                                                           \
    case 64: LOOP(move_to64(t, f, 64)) break;                                                                           \
    default:                                                                                                            \
      if (bytes < 8) LOOP(move_to8(t, f, bytes))                                                                        \
      else if (bytes < 16) LOOP(move_to16(t, f, bytes))                                                                 \
      else if (bytes < 32) LOOP(move_to32(t, f, bytes))                                                                 \
      else if (bytes < 64) LOOP(move_to64(t, f, bytes))                                                                 \
      else LOOP(move_long(t, f, bytes))                                                                                 \
  }

/* `count` blocks, one every so many bytes on either side. */
EXPORT(strided)(const byte *restrict f, int32_t fs, byte *restrict t, int32_t ts, u32 bytes, u32 count) {
#define STRIDED(step)                                                                                                   \
  {                                                                                                                     \
    for (; count >= 4; count -= 4) {                                                                                    \
      step;                                                                                                             \
      f += fs, t += ts;                                                                                                 \
      step;                                                                                                             \
      f += fs, t += ts;                                                                                                 \
      step;                                                                                                             \
      f += fs, t += ts;                                                                                                 \
      step;                                                                                                             \
      f += fs, t += ts;                                                                                                 \
    }                                                                                                                   \
    for (; count; count--, f += fs, t += ts) { step; }                                                                  \
  }
  BLOCKS(STRIDED)
}

/* `count` blocks of one length at the offsets of a list, packed behind one another. */
EXPORT(gather)(const int32_t *restrict at, u32 count, const byte *restrict base, byte *restrict t, u32 bytes) {
#define GATHER(step)                                                                                                    \
  {                                                                                                                     \
    for (; count >= 2; count -= 2, at += 2) {                                                                           \
      const byte *f = base + at[0], *g = base + at[1];                                                                  \
      step;                                                                                                             \
      f = g, t += bytes;                                                                                                \
      step;                                                                                                             \
      t += bytes;                                                                                                       \
    }                                                                                                                   \
    for (; count; count--, at++, t += bytes) {                                                                          \
      const byte *f = base + *at;                                                                                       \
      step;                                                                                                             \
    }                                                                                                                   \
  }
  BLOCKS(GATHER)
}
EXPORT(scatter)(const int32_t *restrict at, u32 count, byte *restrict base, const byte *restrict f, u32 bytes) {
#define SCATTER(step)                                                                                                   \
  {                                                                                                                     \
    for (; count >= 2; count -= 2, at += 2) {                                                                           \
      byte *t = base + at[0], *u = base + at[1];                                                                        \
      step;                                                                                                             \
      t = u, f += bytes;                                                                                                \
      step;                                                                                                             \
      f += bytes;                                                                                                       \
    }                                                                                                                   \
    for (; count; count--, at++, f += bytes) {                                                                          \
      byte *t = base + *at;                                                                                             \
      step;                                                                                                             \
    }                                                                                                                   \
  }
  BLOCKS(SCATTER)
}

/* Blocks of all lengths: segments of a layout (packages/mpi/src/layout.ts). */
struct segment {
  int32_t at;
  u32 bytes, count;
  int32_t stride;
};
EXPORT(gather_segments)(const struct segment *restrict s, u32 count, const byte *restrict base, byte *restrict t) {
  for (; count; count--, s++) {
    const byte *f = base + s->at;
    const u32 bytes = s->bytes;
    for (u32 n = s->count; n; n--, f += s->stride, t += bytes) move_any(t, f, bytes);
  }
}
EXPORT(scatter_segments)(const struct segment *restrict s, u32 count, byte *restrict base, const byte *restrict f) {
  for (; count; count--, s++) {
    byte *t = base + s->at;
    const u32 bytes = s->bytes;
    for (u32 n = s->count; n; n--, t += s->stride, f += bytes) move_any(t, f, bytes);
  }
}
