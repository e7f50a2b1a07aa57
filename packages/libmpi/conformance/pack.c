/* Pack and unpack (MPI 4.1 §5.2, §5.3): incremental packing, external32. ranks: 1 2 */
#include "check.h"
#include <stddef.h>

TEST(pack_increments, 2, "§5.2: several messages can be successively packed into one packing unit") {
  char room[128];
  int at = 0, n = 5, list[5] = {1, 2, 3, 4, 5};
  double d = 2.75;
  if (rank == 0) {
    MPI_Pack(&n, 1, MPI_INT, room, sizeof room, &at, WORLD);
    MPI_Pack(list, 5, MPI_INT, room, sizeof room, &at, WORLD);
    MPI_Pack(&d, 1, MPI_DOUBLE, room, sizeof room, &at, WORLD);
    MPI_Send(room, at, MPI_PACKED, 1, TAG, WORLD);
  }
  if (rank == 1) {
    int m, got[5];
    double e;
    MPI_Recv(room, sizeof room, MPI_PACKED, 0, TAG, WORLD, NOSTATUS);
    MPI_Unpack(room, sizeof room, &at, &m, 1, MPI_INT, WORLD);
    MPI_Unpack(room, sizeof room, &at, got, m, MPI_INT, WORLD);
    MPI_Unpack(room, sizeof room, &at, &e, 1, MPI_DOUBLE, WORLD);
    CHECK(m == 5 && got[4] == 5 && e == 2.75);
  }
}
TEST(pack_received_as_type, 2, "§5.2: a packing unit ... can be received by an operation that uses a matching type") {
  char room[64];
  int at = 0, x[3] = {7, 8, 9};
  if (rank == 0) {
    MPI_Pack(x, 3, MPI_INT, room, sizeof room, &at, WORLD);
    MPI_Send(room, at, MPI_PACKED, 1, TAG, WORLD);
    MPI_Send(x, 3, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    int y[3] = {0};
    MPI_Recv(y, 3, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(y[0] == 7 && y[2] == 9);
    MPI_Recv(room, 64, MPI_PACKED, 0, TAG, WORLD, NOSTATUS);
    MPI_Unpack(room, 64, &at, y, 3, MPI_INT, WORLD);
    CHECK(y[1] == 8);
  }
}
TEST(pack_size_enough, 1, "§5.2: MPI_PACK_SIZE returns an upper bound on the increment in position that is effected by MPI_PACK") {
  int n, at = 0, a[10] = {0};
  char room[256];
  MPI_Datatype t;
  MPI_Type_vector(3, 1, 3, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Pack_size(1, t, WORLD, &n);
  MPI_Pack(a, 1, t, room, sizeof room, &at, WORLD);
  CHECK(n >= at && at == 12);
  MPI_Type_free(&t);
}
static void hex(const unsigned char *p, int n) {
  char s[512];
  for (int i = 0; i < n; i++) snprintf(s + 2 * i, 3, "%02x", p[i]);
  SAY("%s", s);
}
#define EXTERNAL(type, ctype, ...)                                                                                      \
  do {                                                                                                                  \
    ctype a_[] = {__VA_ARGS__}, b_[LENGTH(a_)];                                                                         \
    unsigned char room_[128];                                                                                           \
    MPI_Aint n_ = 0, at_ = 0;                                                                                           \
    MPI_Pack_external_size("external32", LENGTH(a_), type, &n_);                                                        \
    MPI_Pack_external("external32", a_, LENGTH(a_), type, room_, sizeof room_, &at_);                                   \
    CHECK(at_ == n_);                                                                                                   \
    hex(room_, (int)at_);                                                                                               \
    at_ = 0;                                                                                                            \
    memset(b_, 0, sizeof b_);                                                                                           \
    MPI_Unpack_external("external32", room_, n_, &at_, b_, LENGTH(a_), type);                                           \
    CHECK(at_ == n_ && memcmp(a_, b_, sizeof a_) == 0);                                                                 \
  } while (0)
TEST(external_integers, 1, "§14.5.2: all integers in external32 are in big-endian two's complement form; lengths as in the table") {
  EXTERNAL(MPI_CHAR, char, 'a', 'z');
  EXTERNAL(MPI_SHORT, short, 1, -2);
  EXTERNAL(MPI_INT, int, 1, -2, 0x12345678);
  EXTERNAL(MPI_UNSIGNED, unsigned, 1, 0xfffffffeu);
  EXTERNAL(MPI_LONG_LONG, long long, 1, -2, 0x123456789abcdef0LL);
  EXTERNAL(MPI_INT8_T, int8_t, -1, 1);
  EXTERNAL(MPI_UINT16_T, uint16_t, 0x1234);
  EXTERNAL(MPI_INT64_T, int64_t, -3);
}
TEST(external_reals, 1, "§14.5.2: floating-point values are in big-endian IEEE format of the appropriate size") {
  EXTERNAL(MPI_FLOAT, float, 1.5f, -0.1f);
  EXTERNAL(MPI_DOUBLE, double, 1.5, -0.1, 1e300);
}
#ifdef __wasm__
/* MPICH 4.0 without its datatype engine, as Debian builds it, crashes on these. */
TEST(external_vector, 1, "§5.3: MPI_PACK_EXTERNAL packs according to the type map, without gaps") {
  int a[9], b[9];
  unsigned char room[64];
  MPI_Aint at = 0, n;
  MPI_Datatype t;
  MPI_Type_vector(3, 1, 3, MPI_INT, &t);
  MPI_Type_commit(&t);
  fill(a, 9, 1);
  memset(b, 0, sizeof b);
  MPI_Pack_external_size("external32", 1, t, &n);
  MPI_Pack_external("external32", a, 1, t, room, sizeof room, &at);
  CHECK(n == 12 && at == 12);
  hex(room, 12);
  at = 0;
  MPI_Unpack_external("external32", room, 12, &at, b, 1, t);
  for (int i = 0; i < 9; i++) CHECK(b[i] == (i % 3 ? 0 : a[i]));
  MPI_Type_free(&t);
}
TEST(external_struct, 1, "§5.3: a struct's members are converted one by one") {
  struct { char c; double d; short s[3]; } a = {'x', 0.25, {1, 2, 3}}, b;
  int lengths[] = {1, 1, 3};
  MPI_Aint displs[] = {offsetof(__typeof__(a), c), offsetof(__typeof__(a), d), offsetof(__typeof__(a), s)}, at = 0, n = 0;
  MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, t;
  unsigned char room[64];
  MPI_Type_create_struct(3, lengths, displs, types, &t);
  MPI_Type_commit(&t);
  memset(&b, 0, sizeof b);
  MPI_Pack_external_size("external32", 1, t, &n);
  MPI_Pack_external("external32", &a, 1, t, room, sizeof room, &at);
  CHECK(n == at && at == 15);
  hex(room, (int)at);
  at = 0;
  MPI_Unpack_external("external32", room, 15, &at, &b, 1, t);
  CHECK(b.c == 'x' && b.d == 0.25 && b.s[2] == 3);
  MPI_Type_free(&t);
}
TEST(external_nested, 1, "§5.3: ... through subarrays, resized and duplicated types") {
  short a[12], b[12];
  int sizes[] = {3, 4}, subs[] = {2, 2}, starts[] = {1, 1};
  unsigned char room[64];
  MPI_Aint at = 0;
  MPI_Datatype t, u, v;
  MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_SHORT, &t);
  MPI_Type_create_resized(t, 0, 24, &u);
  MPI_Type_dup(u, &v);
  MPI_Type_commit(&v);
  for (int i = 0; i < 12; i++) a[i] = (short)(i + 256);
  memset(b, 0, sizeof b);
  MPI_Pack_external("external32", a, 1, v, room, sizeof room, &at);
  CHECK(at == 8);
  hex(room, 8);
  at = 0;
  MPI_Unpack_external("external32", room, 8, &at, b, 1, v);
  CHECK(b[5] == 261 && b[10] == 266 && b[0] == 0);
  MPI_Type_free(&t);
  MPI_Type_free(&u);
  MPI_Type_free(&v);
}
/* Here MPI_AINT and long have 4 bytes; where they have 8, MPICH 4.0 does not narrow them. */
TEST(external_widths, 1, "§14.5.2: MPI_AINT has 8 bytes in external32, MPI_LONG 4, MPI_WCHAR 2, MPI_LONG_DOUBLE 16") {
  MPI_Aint n;
  MPI_Datatype t[] = {MPI_AINT, MPI_LONG, MPI_WCHAR, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_COUNT, MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_INT};
  int wanted[] = {8, 4, 2, 16, 1, 8, 16, 12};
  for (int i = 0; i < LENGTH(t); i++) {
    MPI_Pack_external_size("external32", 1, t[i], &n);
    CHECK(n == wanted[i]);
  }
  EXTERNAL(MPI_AINT, MPI_Aint, 5, -6);
  CHECK(strstr(said_, "0000000000000005fffffffffffffffa") != NULL);
  MPI_Aint at = 0;
  double c[2] = {1, 2};
  unsigned char room[32];
  MPI_Pack_external("external32", c, 1, MPI_C_DOUBLE_COMPLEX, room, sizeof room, &at);
  CHECK(at == 16 && room[0] == 0x3f && room[1] == 0xf0 && room[8] == 0x40);
}
#endif
TEST(external_wrong_name, 1, "§5.3: the data representation has to be \"external32\"") {
  int x = 1;
  MPI_Aint at = 0;
  char room[16];
  errors_return(1);
  CHECK(MPI_Pack_external("external64", &x, 1, MPI_INT, room, sizeof room, &at) != MPI_SUCCESS && at == 0);
  errors_return(0);
}
#if MPI_AT_LEAST(4, 0)
TEST(pack_c, 1, "§5.2: MPI_PACK_C, MPI_UNPACK_C, MPI_PACK_EXTERNAL_C") {
  int a[3] = {1, 2, 3}, b[3] = {0};
  char room[64];
  MPI_Count at = 0, n = 0;
  MPI_Pack_size_c(3, MPI_INT, WORLD, &n);
  CHECK(n >= 12);
  MPI_Pack_c(a, 3, MPI_INT, room, 64, &at, WORLD);
  CHECK(at == 12);
  at = 0;
  MPI_Unpack_c(room, 12, &at, b, 3, MPI_INT, WORLD);
  CHECK(b[2] == 3 && at == 12);
  at = 0;
  MPI_Pack_external_c("external32", a, 3, MPI_INT, room, 64, &at);
  CHECK(at == 12 && room[3] == 1);
  at = 0;
  b[2] = 0;
  MPI_Unpack_external_c("external32", room, 12, &at, b, 3, MPI_INT);
  CHECK(b[2] == 3);
}
#endif

TEST(again, 1, "§5.2: the message to be sent is specified by inbuf, incount, datatype, whatever was packed before") {
  MPI_Datatype list, mixed;
  int at[40], lengths[40], a[400], packed[120], back[400], ok = 1;
  for (int i = 0; i < 40; i++) {
    at[i] = 9 * i + i % 4;
    lengths[i] = 1 + i % 5;
  }
  fill(a, 400, rank);
  MPI_Type_create_indexed_block(40, 3, at, MPI_INT, &list);
  MPI_Type_indexed(40, lengths, at, MPI_INT, &mixed);
  MPI_Type_commit(&list);
  MPI_Type_commit(&mixed);
  for (int turn = 0; turn < 6; turn++) {
    MPI_Datatype t = turn % 3 == 2 ? mixed : list;
    int position = 0, n = 0;
    MPI_Pack(a, 1, t, packed, sizeof packed, &position, WORLD);
    for (int i = 0; i < 40; i++)
      for (int k = 0; k < (t == list ? 3 : lengths[i]); k++) ok &= packed[n++] == a[at[i] + k];
    ok &= position == 4 * n;
    for (int i = 0; i < 400; i++) back[i] = -1;
    MPI_Sendrecv(a, 1, t, right, TAG, back, 1, t, left, TAG, WORLD, NOSTATUS);
    for (int i = 0; i < 40; i++)
      for (int k = 0; k < (t == list ? 3 : lengths[i]); k++) ok &= back[at[i] + k] == value(left, at[i] + k);
  }
  CHECK(ok);
  MPI_Type_free(&list);
  MPI_Type_free(&mixed);
}
