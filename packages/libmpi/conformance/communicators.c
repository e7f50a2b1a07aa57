/* Groups, communicators, caching, names (MPI 4.1 chapter 7). ranks: 1 2 3 6 11 | 13 */
#include "check.h"

static int ranks_of(MPI_Group g, char *out) {
  MPI_Group world;
  int n, at = 0;
  MPI_Comm_group(WORLD, &world);
  MPI_Group_size(g, &n);
  out[0] = 0;
  for (int i = 0; i < n; i++) {
    int r;
    MPI_Group_translate_ranks(g, 1, &i, world, &r);
    at += sprintf(out + at, "%s%d", i ? "," : "", r);
  }
  MPI_Group_free(&world);
  return n;
}
static void group(const char *what, MPI_Group g) {
  char text[128];
  ranks_of(g, text);
  SAY("%s{%s}", what, text);
  if (g != MPI_GROUP_EMPTY) MPI_Group_free(&g);
}
TEST(group_of_world, 1, "§7.3.2: MPI_COMM_GROUP returns in group a handle to the group of comm; MPI_GROUP_RANK the rank of the process in it") {
  MPI_Group g;
  int n, r;
  MPI_Comm_group(WORLD, &g);
  MPI_Group_size(g, &n);
  MPI_Group_rank(g, &r);
  CHECK(n == size && r == rank);
  MPI_Group_free(&g);
  CHECK(g == MPI_GROUP_NULL);
}
TEST(group_incl_excl, 3, "§7.3.2: MPI_GROUP_INCL: process i is the process with rank ranks[i]; MPI_GROUP_EXCL: the order of the rest is kept") {
  MPI_Group w, g;
  int list[] = {2, 0};
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, 2, list, &g);
  group("incl", g);
  MPI_Group_excl(w, 2, list, &g);
  group("excl", g);
  MPI_Group_incl(w, 0, list, &g);
  CHECK(g == MPI_GROUP_EMPTY);
  MPI_Group_free(&w);
}
TEST(group_ranges, 6, "§7.3.2: MPI_GROUP_RANGE_INCL ... triplets (first rank, last rank, stride)") {
  MPI_Group w, g;
  int a[][3] = {{5, 1, -2}, {0, 0, 1}}, b[][3] = {{1, 5, 2}};
  MPI_Comm_group(WORLD, &w);
  MPI_Group_range_incl(w, 2, a, &g);
  group("incl", g);
  MPI_Group_range_excl(w, 1, b, &g);
  group("excl", g);
  MPI_Group_free(&w);
}
TEST(group_set_operations, 3, "§7.3.2: union, intersection, difference ... the order is that of the first group, then of the second") {
  MPI_Group w, g, h, r;
  int a[] = {2, 1}, b[] = {1, 0};
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, 2, a, &g);
  MPI_Group_incl(w, 2, b, &h);
  MPI_Group_union(g, h, &r);
  group("union", r);
  MPI_Group_intersection(g, h, &r);
  group("both", r);
  MPI_Group_difference(g, h, &r);
  group("first", r);
  MPI_Group_difference(g, g, &r);
  int n = -1;
  MPI_Group_size(r, &n);
  CHECK(n == 0);
  MPI_Group_free(&g);
  MPI_Group_free(&h);
  MPI_Group_free(&w);
}
TEST(group_compare, 2, "§7.3.1: MPI_IDENT, MPI_SIMILAR if the members are the same but the order is different, MPI_UNEQUAL") {
  MPI_Group w, g, h;
  int a[16], b[] = {0}, x, y, z;
  for (int i = 0; i < size; i++) a[i] = size - 1 - i;
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, size, a, &g);
  MPI_Group_incl(w, 1, b, &h);
  MPI_Group_compare(w, w, &x);
  MPI_Group_compare(w, g, &y);
  MPI_Group_compare(w, h, &z);
  CHECK(x == MPI_IDENT && y == MPI_SIMILAR && z == MPI_UNEQUAL);
  MPI_Group_free(&w);
  MPI_Group_free(&g);
  MPI_Group_free(&h);
}
TEST(translate_ranks, 2, "§7.3.1: MPI_UNDEFINED when no correspondence exists; MPI_PROC_NULL is translated to MPI_PROC_NULL") {
  MPI_Group w, g;
  int a[] = {1}, in[] = {0, 1, MPI_PROC_NULL}, out[3];
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, 1, a, &g);
  MPI_Group_translate_ranks(w, 3, in, g, out);
  CHECK(out[0] == MPI_UNDEFINED && out[1] == 0 && out[2] == MPI_PROC_NULL);
  int r;
  MPI_Group_rank(g, &r);
  CHECK(r == (rank == 1 ? 0 : MPI_UNDEFINED));
  MPI_Group_free(&w);
  MPI_Group_free(&g);
}
TEST(comm_compare, 1, "§7.4.1: MPI_IDENT if the handles are for the same object, MPI_CONGRUENT if only the contexts differ, MPI_SIMILAR, MPI_UNEQUAL") {
  MPI_Comm d, e;
  int a, b, c, s;
  MPI_Comm_dup(WORLD, &d);
  MPI_Comm_split(WORLD, 0, -rank, &e);
  MPI_Comm_compare(WORLD, WORLD, &a);
  MPI_Comm_compare(WORLD, d, &b);
  MPI_Comm_compare(WORLD, e, &c);
  MPI_Comm_compare(WORLD, MPI_COMM_SELF, &s);
  CHECK(a == MPI_IDENT && b == MPI_CONGRUENT && c == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR) && s == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
  MPI_Comm_free(&d);
  MPI_Comm_free(&e);
  CHECK(d == MPI_COMM_NULL);
}
TEST(split, 1, "§7.4.2: MPI_COMM_SPLIT partitions the group into disjoint subgroups, one for each value of color. Within each subgroup, the processes are ranked in the order defined by key, with ties broken according to their rank in the old group") {
  MPI_Comm c;
  int n, r;
  MPI_Comm_split(WORLD, rank % 3, -(rank / 3), &c);
  MPI_Comm_size(c, &n);
  MPI_Comm_rank(c, &r);
  SAY("%d of %d", r, n);
  int sum;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
  SAY("%d", sum);
  MPI_Comm_free(&c);
  MPI_Comm_split(WORLD, 0, 5, &c);
  MPI_Comm_rank(c, &r);
  CHECK(r == rank);
  MPI_Comm_free(&c);
}
TEST(split_undefined, 1, "§7.4.2: a process may supply the color value MPI_UNDEFINED, in which case newcomm returns MPI_COMM_NULL") {
  MPI_Comm c;
  MPI_Comm_split(WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &c);
  CHECK((c == MPI_COMM_NULL) == (rank == 0));
  if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
}
TEST(create, 2, "§7.4.2: MPI_COMM_CREATE ... processes that are not in group get MPI_COMM_NULL") {
  MPI_Group w, g;
  MPI_Comm c;
  int list[] = {1, 0};
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, 2, list, &g);
  MPI_Comm_create(WORLD, g, &c);
  if (rank < 2) {
    int r;
    MPI_Comm_rank(c, &r);
    CHECK(r == 1 - rank);
    MPI_Comm_free(&c);
  } else CHECK(c == MPI_COMM_NULL);
  MPI_Group_free(&w);
  MPI_Group_free(&g);
}
TEST(create_disjoint, 2, "§7.4.2: each process may call with a group argument of its own; groups that are not the same have to be disjoint") {
  MPI_Group w, g;
  MPI_Comm c;
  int list[16], n = 0, m;
  for (int i = rank % 2; i < size; i += 2) list[n++] = i;
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, n, list, &g);
  MPI_Comm_create(WORLD, g, &c);
  MPI_Comm_size(c, &m);
  CHECK(m == n);
  MPI_Comm_free(&c);
  MPI_Group_free(&w);
  MPI_Group_free(&g);
}
TEST(create_group, 3, "§7.4.2: MPI_COMM_CREATE_GROUP must be called by all processes in group only") {
  MPI_Group w, g;
  MPI_Comm c;
  int list[] = {2, 1}, n = -1;
  MPI_Comm_group(WORLD, &w);
  MPI_Group_incl(w, 2, list, &g);
  if (rank == 1 || rank == 2) {
    MPI_Comm_create_group(WORLD, g, TAG, &c);
    MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, c);
    CHECK(n == 3);
    MPI_Comm_free(&c);
  }
  MPI_Group_free(&w);
  MPI_Group_free(&g);
}
TEST(split_type_shared, 1, "§7.4.2: MPI_COMM_SPLIT_TYPE with MPI_COMM_TYPE_SHARED: ... MPI_UNDEFINED gives MPI_COMM_NULL") {
  MPI_Comm c;
  MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &c);
  int n = 0;
  MPI_Comm_size(c, &n);
  CHECK(n >= 1 && n <= size);
  MPI_Comm_free(&c);
  MPI_Comm_split_type(WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &c);
  CHECK(c == MPI_COMM_NULL);
}
TEST(many_communicators, 1, "§7.4.2: communicators made one after the other and freed do not use up contexts") {
  for (int i = 0; i < 100; i++) {
    MPI_Comm c;
    MPI_Comm_dup(WORLD, &c);
    MPI_Comm_free(&c);
  }
}
TEST(free_with_pending, 2, "§7.4.3: MPI_COMM_FREE ... any pending operations that use this communicator will complete normally") {
  MPI_Comm c;
  MPI_Request r;
  int x = rank, y = -1;
  MPI_Comm_dup(WORLD, &c);
  if (rank == 1) MPI_Irecv(&y, 1, MPI_INT, 0, TAG, c, &r);
  if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, TAG, c, &r);
  MPI_Comm_free(&c);
  if (rank < 2) MPI_Wait(&r, NOSTATUS);
  if (rank == 1) CHECK(y == 0);
}
TEST(nested_split, 1, "§7.4.2: communicators of communicators") {
  MPI_Comm a, b;
  int n = 0;
  MPI_Comm_split(WORLD, rank / 2, rank, &a);
  MPI_Comm_split(a, rank % 2, rank, &b);
  MPI_Comm_size(b, &n);
  CHECK(n == 1);
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
}
TEST(names, 1, "§7.8: MPI_COMM_WORLD, MPI_COMM_SELF have predefined names; MPI_COMM_DUP does not copy the name") {
  char name[MPI_MAX_OBJECT_NAME];
  int n;
  MPI_Comm c;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && n == 14);
  MPI_Comm_get_name(MPI_COMM_SELF, name, &n);
  CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
  MPI_Comm_set_name(WORLD, "of this test");
  MPI_Comm_dup(WORLD, &c);
  MPI_Comm_get_name(c, name, &n);
  CHECK(n == 0 && name[0] == 0);
  MPI_Comm_get_name(WORLD, name, &n);
  CHECK(strcmp(name, "of this test") == 0);
  MPI_Comm_free(&c);
}
static char log_[256];
static int copies(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag) {
  (void)c;
  (void)key;
  strcat(log_, "c");
  *(int **)out = in;
  *flag = *(int *)extra;
  return MPI_SUCCESS;
}
static int deletes(MPI_Comm c, int key, void *value, void *extra) {
  (void)c;
  (void)key;
  (void)value;
  (void)extra;
  strcat(log_, "d");
  return MPI_SUCCESS;
}
TEST(attributes, 1, "§7.7.2: MPI_COMM_SET_ATTR stores the stipulated attribute value for subsequent retrieval by MPI_COMM_GET_ATTR") {
  int key, flag = 1, x = 5, *p = NULL;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  CHECK(key != MPI_KEYVAL_INVALID);
  MPI_Comm_get_attr(WORLD, key, &p, &flag);
  CHECK(!flag);
  MPI_Comm_set_attr(WORLD, key, &x);
  MPI_Comm_get_attr(WORLD, key, &p, &flag);
  CHECK(flag && p == &x);
  MPI_Comm_delete_attr(WORLD, key);
  MPI_Comm_get_attr(WORLD, key, &p, &flag);
  CHECK(!flag);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
}
TEST(attribute_copy, 1, "§7.7.2: comm_copy_attr_fn is invoked when a communicator is duplicated by MPI_COMM_DUP; if it returns flag = 0, then the attribute is deleted in the duplicated communicator") {
  int key, yes = 1, no = 0, key2, flag, x, *p;
  MPI_Comm c;
  log_[0] = 0;
  MPI_Comm_create_keyval(copies, deletes, &key, &yes);
  MPI_Comm_create_keyval(copies, deletes, &key2, &no);
  MPI_Comm_set_attr(WORLD, key, &x);
  MPI_Comm_set_attr(WORLD, key2, &x);
  MPI_Comm_dup(WORLD, &c);
  CHECK(strcmp(log_, "cc") == 0);
  MPI_Comm_get_attr(c, key, &p, &flag);
  CHECK(flag && p == &x);
  MPI_Comm_get_attr(c, key2, &p, &flag);
  CHECK(!flag);
  MPI_Comm_free(&c);
  CHECK(strcmp(log_, "ccd") == 0);
  MPI_Comm_set_attr(WORLD, key, NULL);
  CHECK(strcmp(log_, "ccdd") == 0);
  MPI_Comm_delete_attr(WORLD, key);
  MPI_Comm_delete_attr(WORLD, key2);
  CHECK(strcmp(log_, "ccdddd") == 0);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&key2);
}
TEST(attribute_dup_fn, 1, "§7.7.2: MPI_COMM_DUP_FN is a simple copy function that sets flag = 1 and returns the value of attribute_val_in in attribute_val_out") {
  int key, flag, x, *p;
  MPI_Comm c, d;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(WORLD, key, &x);
  MPI_Comm_dup(WORLD, &c);
  MPI_Comm_get_attr(c, key, &p, &flag);
  CHECK(flag && p == &x);
  MPI_Comm_split(WORLD, 0, rank, &d);
  MPI_Comm_get_attr(d, key, &p, &flag);
  CHECK(!flag);
  MPI_Comm_free(&c);
  MPI_Comm_free(&d);
  MPI_Comm_delete_attr(WORLD, key);
  MPI_Comm_free_keyval(&key);
}
TEST(keyval_freed_in_use, 1, "§7.7.2: it is not erroneous to free an attribute key that is in use: the actual free transpires after all references have been freed") {
  int key, x;
  MPI_Comm c;
  log_[0] = 0;
  MPI_Comm_dup(WORLD, &c);
  int yes = 1;
  MPI_Comm_create_keyval(copies, deletes, &key, &yes);
  MPI_Comm_set_attr(c, key, &x);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&c);
  CHECK(strcmp(log_, "d") == 0);
}
static int type_copies(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag) {
  (void)t;
  (void)key;
  (void)extra;
  strcat(log_, "c");
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int type_deletes(MPI_Datatype t, int key, void *value, void *extra) {
  (void)t;
  (void)key;
  (void)value;
  (void)extra;
  strcat(log_, "d");
  return MPI_SUCCESS;
}
TEST(type_attributes, 1, "§7.7.4: caching on datatypes: copied by MPI_TYPE_DUP, deleted by MPI_TYPE_FREE") {
  int key, flag, x, *p;
  MPI_Datatype t, u;
  log_[0] = 0;
  MPI_Type_create_keyval(type_copies, type_deletes, &key, NULL);
  MPI_Type_contiguous(2, MPI_INT, &t);
  MPI_Type_set_attr(t, key, &x);
  MPI_Type_dup(t, &u);
  MPI_Type_get_attr(u, key, &p, &flag);
  CHECK(flag && p == &x && strcmp(log_, "c") == 0);
  MPI_Type_free(&t);
  MPI_Type_free(&u);
  CHECK(strcmp(log_, "cdd") == 0);
  MPI_Type_free_keyval(&key);
}
TEST(predefined_attributes, 1, "§9.1.2: MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL; §11.10: MPI_UNIVERSE_SIZE, MPI_APPNUM") {
  int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL}, flag, *p;
  for (int i = 0; i < LENGTH(keys); i++) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &p, &flag);
    CHECK(flag && p != NULL);
  }
}
TEST(info_on_comm, 1, "§7.4.4: MPI_COMM_GET_INFO returns a new info object") {
  MPI_Info i;
  int n = -1;
  MPI_Comm_get_info(WORLD, &i);
  CHECK(i != MPI_INFO_NULL);
  MPI_Info_get_nkeys(i, &n);
  CHECK(n >= 0);
  MPI_Info_free(&i);
}
#if MPI_AT_LEAST(4, 0) /* before, duplicates had the hints */
/* Whether the hint is there and true; libraries may answer a default. */
static int assured(MPI_Comm c, const char *key) {
  MPI_Info i;
  char value[32] = "";
  int length = sizeof value, flag = 0;
  MPI_Comm_get_info(c, &i);
  MPI_Info_get_string(i, key, &length, value, &flag);
  MPI_Info_free(&i);
  return flag && strcmp(value, "true") == 0;
}
TEST(info_of_duplicates, 1, "§7.4.4: Info hints are not propagated by MPI from one communicator to another; §7.4.2: the hints provided by the argument info are associated with the output communicator; "
     "§7.4.4: no effect on previously set or defaulted hints that the info does not specify") {
  MPI_Comm given, plain, later, other;
  MPI_Request r;
  MPI_Info tag, length;
  MPI_Info_create(&tag);
  MPI_Info_set(tag, "mpi_assert_no_any_tag", "true");
  MPI_Info_create(&length);
  MPI_Info_set(length, "mpi_assert_exact_length", "true");
  MPI_Comm_dup_with_info(WORLD, tag, &given);
  CHECK(assured(given, "mpi_assert_no_any_tag"));
  MPI_Comm_dup(given, &plain);
  CHECK(!assured(plain, "mpi_assert_no_any_tag"));
  MPI_Comm_idup(given, &later, &r);
  MPI_Wait(&r, NOSTATUS);
  CHECK(!assured(later, "mpi_assert_no_any_tag"));
  MPI_Comm_idup_with_info(given, length, &other, &r);
  MPI_Wait(&r, NOSTATUS);
  CHECK(assured(other, "mpi_assert_exact_length") && !assured(other, "mpi_assert_no_any_tag"));
  MPI_Comm_set_info(other, tag);
  CHECK(assured(other, "mpi_assert_exact_length") && assured(other, "mpi_assert_no_any_tag"));
  MPI_Info_free(&tag);
  MPI_Info_free(&length);
  MPI_Comm_free(&given);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&later);
  MPI_Comm_free(&other);
}
#endif
TEST(remote_queries, 1, "§7.6.1: MPI_COMM_TEST_INTER: false for an intracommunicator") {
  int flag = 1;
  MPI_Comm_test_inter(WORLD, &flag);
  CHECK(!flag);
}
TEST(intercomm_create, 2, "§7.6.2: MPI_INTERCOMM_CREATE binds two intracommunicators into an intercommunicator; ranks of messages are those of the remote group") {
  MPI_Comm local, inter;
  int half = rank % 2, n, m, flag, x, y = -1;
  MPI_Comm_split(WORLD, half, rank, &local);
  MPI_Intercomm_create(local, 0, WORLD, 1 - half, TAG, &inter);
  MPI_Comm_test_inter(inter, &flag);
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &m);
  CHECK(flag && n + m == size);
  int me;
  MPI_Comm_rank(inter, &me);
  if (me < m) {
    x = rank;
    MPI_Sendrecv(&x, 1, MPI_INT, me, TAG, &y, 1, MPI_INT, me, TAG, inter, NOSTATUS);
    CHECK(y == (half ? rank - 1 : rank + 1));
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}
TEST(intercomm_merge, 2, "§7.6.2: MPI_INTERCOMM_MERGE ... the group that provided high = true comes after the other") {
  MPI_Comm local, inter, merged;
  int half = rank % 2, r, n;
  MPI_Comm_split(WORLD, half, rank, &local);
  MPI_Intercomm_create(local, 0, WORLD, 1 - half, TAG, &inter);
  MPI_Intercomm_merge(inter, half == 0, &merged);
  MPI_Comm_rank(merged, &r);
  MPI_Comm_size(merged, &n);
  CHECK(n == size && r == (half == 1 ? rank / 2 : size / 2 + rank / 2));
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}
TEST(intercomm_collectives, 2, "§6.2.3: collective operations on intercommunicators: the result of one group is made of the other group's data; MPI_ROOT and MPI_PROC_NULL") {
  MPI_Comm local, inter;
  int half = rank % 2, sum = -1, x = rank, me;
  MPI_Comm_split(WORLD, half, rank, &local);
  MPI_Intercomm_create(local, 0, WORLD, 1 - half, TAG, &inter);
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, inter);
  int wanted = 0;
  for (int i = 1 - half; i < size; i += 2) wanted += i;
  CHECK(sum == wanted);
  MPI_Comm_rank(inter, &me);
  int v = half == 0 && me == 0 ? 55 : -1;
  MPI_Bcast(&v, 1, MPI_INT, half == 0 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  CHECK(v == (half == 1 || me == 0 ? 55 : -1));
  MPI_Barrier(inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}
