/*
 * Obstacks, as glibc's manual describes them: objects that grow one behind the other in chunks, and are freed in the reverse order.
 * obstack_chunk_alloc and obstack_chunk_free are the program's macros.
 */
#ifndef MAYFLY_OBSTACK_H
#define MAYFLY_OBSTACK_H
#include <stddef.h>
#include <string.h>
struct _obstack_chunk {
  char *limit;
  struct _obstack_chunk *prev;
};
struct obstack {
  size_t chunk_size;
  struct _obstack_chunk *chunk;
  char *object_base, *next_free, *chunk_limit;
  size_t alignment_mask;
  void *(*__mayfly_take)(size_t);
  void (*__mayfly_give)(void *);
};
#ifdef __cplusplus
extern "C" {
#endif
extern void (*obstack_alloc_failed_handler)(void);
extern int obstack_exit_failure;
int _mayfly_obstack_begin(struct obstack *, size_t, size_t, void *(*)(size_t), void (*)(void *));
/* Room for so many further bytes of the growing object. */
void _mayfly_obstack_room(struct obstack *, size_t);
void *_mayfly_obstack_finish(struct obstack *);
void _mayfly_obstack_free(struct obstack *, void *);
size_t _obstack_memory_used(struct obstack *);
int obstack_printf(struct obstack *, const char *, ...) __attribute__((__format__(__printf__, 2, 3)));
static __inline__ void _mayfly_obstack_grow(struct obstack *__h, const void *__data, size_t __n, int __zero) {
  _mayfly_obstack_room(__h, __n + (size_t)__zero);
  if (__n > 0) memcpy(__h->next_free, __data, __n);
  __h->next_free += __n;
  if (__zero) *__h->next_free++ = 0;
}
static __inline__ void _mayfly_obstack_blank(struct obstack *__h, ptrdiff_t __n) {
  if (__n > 0) _mayfly_obstack_room(__h, (size_t)__n);
  __h->next_free += __n;
}
static __inline__ void *_mayfly_obstack_alloc(struct obstack *__h, ptrdiff_t __n) {
  _mayfly_obstack_blank(__h, __n);
  return _mayfly_obstack_finish(__h);
}
static __inline__ void *_mayfly_obstack_copy(struct obstack *__h, const void *__data, size_t __n, int __zero) {
  _mayfly_obstack_grow(__h, __data, __n, __zero);
  return _mayfly_obstack_finish(__h);
}
#ifdef __cplusplus
}
#endif
#define _mayfly_obstack_start(h, size, mask) \
  _mayfly_obstack_begin((h), (size), (mask), (void *(*)(size_t))obstack_chunk_alloc, (void (*)(void *))obstack_chunk_free)
#define obstack_init(h) _mayfly_obstack_start(h, 0, 0)
#define obstack_begin(h, size) _mayfly_obstack_start(h, size, 0)
#define obstack_specify_allocation(h, size, alignment, take, give) \
  _mayfly_obstack_begin((h), (size), (alignment), (void *(*)(size_t))(take), (void (*)(void *))(give))
#define obstack_alloc(h, n) _mayfly_obstack_alloc((h), (ptrdiff_t)(n))
#define obstack_copy(h, data, n) _mayfly_obstack_copy((h), (data), (n), 0)
#define obstack_copy0(h, data, n) _mayfly_obstack_copy((h), (data), (n), 1)
#define obstack_grow(h, data, n) _mayfly_obstack_grow((h), (data), (n), 0)
#define obstack_grow0(h, data, n) _mayfly_obstack_grow((h), (data), (n), 1)
#define obstack_1grow(h, c) (_mayfly_obstack_room((h), 1), obstack_1grow_fast(h, c))
#define obstack_1grow_fast(h, c) ((void)(*(h)->next_free++ = (char)(c)))
#define obstack_ptr_grow(h, p) __extension__({ const void *__mayfly_p = (p); _mayfly_obstack_grow((h), &__mayfly_p, sizeof __mayfly_p, 0); })
#define obstack_int_grow(h, i) __extension__({ int __mayfly_i = (i); _mayfly_obstack_grow((h), &__mayfly_i, sizeof __mayfly_i, 0); })
#define obstack_ptr_grow_fast obstack_ptr_grow
#define obstack_int_grow_fast obstack_int_grow
#define obstack_blank(h, n) _mayfly_obstack_blank((h), (ptrdiff_t)(n))
#define obstack_blank_fast(h, n) ((void)((h)->next_free += (n)))
#define obstack_make_room(h, n) _mayfly_obstack_room((h), (n))
#define obstack_finish(h) _mayfly_obstack_finish(h)
#define obstack_free(h, object) _mayfly_obstack_free((h), (object))
#define obstack_base(h) ((void *)(h)->object_base)
#define obstack_next_free(h) ((void *)(h)->next_free)
#define obstack_object_size(h) ((size_t)((h)->next_free - (h)->object_base))
#define obstack_room(h) ((size_t)((h)->chunk_limit - (h)->next_free))
#define obstack_empty_p(h) ((h)->chunk->prev == NULL && (h)->object_base == (char *)(h)->chunk + 16)
#define obstack_chunk_size(h) ((h)->chunk_size)
#define obstack_alignment_mask(h) ((h)->alignment_mask)
#define obstack_memory_used(h) _obstack_memory_used(h)
#endif
