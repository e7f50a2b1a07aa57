/* The functions behind <obstack.h>. A chunk begins with its header, 16 bytes as malloc() aligns, so its first object is aligned. */
#include <obstack.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include "own.h"

#define FIRST(chunk) ((char *)(chunk) + 16)
#define CHUNK 4064

static void failed(void) {
  fputs("memory exhausted\n", stderr);
  exit(obstack_exit_failure);
}
WEAK int obstack_exit_failure = EXIT_FAILURE;
WEAK void (*obstack_alloc_failed_handler)(void) = failed;

static void enter(struct obstack *h, size_t room) {
  const size_t size = 16 + (room > h->chunk_size - 16 ? room : h->chunk_size - 16);
  struct _obstack_chunk *const chunk = size < room ? NULL : h->__mayfly_take(size);
  if (chunk == NULL) {
    obstack_alloc_failed_handler();
    abort();
  }
  chunk->limit = (char *)chunk + size;
  chunk->prev = h->chunk;
  h->chunk = chunk;
  h->chunk_limit = chunk->limit;
}

WEAK int _mayfly_obstack_begin(struct obstack *h, size_t size, size_t alignment, void *(*take)(size_t), void (*give)(void *)) {
  *h = (struct obstack){.chunk_size = size > 32 ? size : CHUNK, .alignment_mask = (alignment ? alignment : 16) - 1, .__mayfly_take = take, .__mayfly_give = give};
  enter(h, 0);
  h->object_base = h->next_free = FIRST(h->chunk);
  return 1;
}

WEAK void _mayfly_obstack_room(struct obstack *h, size_t n) {
  if ((size_t)(h->chunk_limit - h->next_free) >= n) return;
  struct _obstack_chunk *const old = h->chunk;
  char *const from = h->object_base;
  const size_t grown = h->next_free - from, wanted = grown + n;
  if (wanted < n || wanted + wanted / 8 + 128 < wanted) enter(h, SIZE_MAX);
  enter(h, wanted + wanted / 8 + 128);
  h->object_base = FIRST(h->chunk);
  memcpy(h->object_base, from, grown);
  h->next_free = h->object_base + grown;
  /* The growing object was all that the old chunk had. */
  if (from == FIRST(old) && old->prev != NULL) {
    h->chunk->prev = old->prev;
    h->__mayfly_give(old);
  }
}

WEAK void *_mayfly_obstack_finish(struct obstack *h) {
  char *const object = h->object_base, *next = (char *)(((uintptr_t)h->next_free + h->alignment_mask) & ~(uintptr_t)h->alignment_mask);
  h->object_base = h->next_free = next > h->chunk_limit ? h->chunk_limit : next;
  return object;
}

WEAK void _mayfly_obstack_free(struct obstack *h, void *object) {
  char *const at = object;
  while (h->chunk != NULL && (at < FIRST(h->chunk) || at > h->chunk->limit)) {
    struct _obstack_chunk *const chunk = h->chunk;
    h->chunk = chunk->prev;
    h->__mayfly_give(chunk);
  }
  if (h->chunk == NULL) {
    if (at != NULL) abort();
    return;
  }
  h->object_base = h->next_free = at;
  h->chunk_limit = h->chunk->limit;
}

WEAK size_t _obstack_memory_used(struct obstack *h) {
  size_t n = 0;
  for (struct _obstack_chunk *c = h->chunk; c != NULL; c = c->prev) n += c->limit - (char *)c;
  return n;
}

WEAK int obstack_printf(struct obstack *h, const char *format, ...) {
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  const int n = vsnprintf(NULL, 0, format, values);
  if (n >= 0) {
    _mayfly_obstack_room(h, (size_t)n + 1);
    vsnprintf(h->next_free, (size_t)n + 1, format, again);
    h->next_free += n;
  }
  va_end(again);
  va_end(values);
  return n;
}
