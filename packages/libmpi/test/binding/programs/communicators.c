/* MPI 4.1 chapters 7, 8 and 9. */
#include "check.h"
static int copied, deleted;
static int copy_fn(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag) { (void)c; (void)k; copied++; *(void **)out = (char *)in + *(int *)extra; *flag = 1; return MPI_SUCCESS; }
static int delete_fn(MPI_Comm c, int k, void *v, void *extra) { (void)c; (void)k; (void)v; (void)extra; deleted++; return MPI_SUCCESS; }
static int refuse(MPI_Comm c, int k, void *e, void *in, void *out, int *flag) { (void)c; (void)k; (void)e; (void)in; (void)out; *flag = 0; return MPI_ERR_OTHER; }
static int handled, handled_code; static MPI_Comm handled_comm;
static void on_error(MPI_Comm *c, int *code, ...) { handled++; handled_comm = *c; MPI_Error_class(*code, &handled_code); }
static int forgiven;
static void forgive(MPI_Comm *c, int *code, ...) { (void)c; forgiven = class_of(*code); *code = MPI_SUCCESS; }
int main(int argc, char **argv) {
  MPI_Comm c, d, e; int r, s, n, flag, res; char name[MPI_MAX_OBJECT_NAME];
  begin(&argc, &argv);
  int N = size_;
  MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Comm_compare(c, MPI_COMM_WORLD, &res); CHECK(res == MPI_CONGRUENT);
  MPI_Comm_compare(c, c, &res); CHECK(res == MPI_IDENT);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &n); CHECK(!strcmp(name, "MPI_COMM_WORLD") && n == 14);
  MPI_Comm_get_name(c, name, &n); CHECK(n == 0); MPI_Comm_set_name(c, "mine"); MPI_Comm_get_name(c, name, &n); CHECK(!strcmp(name, "mine"));
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, -rank_, &d); MPI_Comm_rank(d, &r); MPI_Comm_size(d, &s); CHECK(s == (N + 1 - rank_ % 2) / 2);
  int last = (N - 1) - (N - 1 - rank_) % 2; CHECK(r == (last - rank_) / 2); (void)last;
  MPI_Allreduce(&rank_, &n, 1, MPI_INT, MPI_MIN, d); CHECK(n == rank_ % 2);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? MPI_UNDEFINED : 1, 0, &e); CHECK((e == MPI_COMM_NULL) == (rank_ == 0)); if (e != MPI_COMM_NULL) MPI_Comm_free(&e);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &e); MPI_Comm_size(e, &s); CHECK(s >= 1); MPI_Comm_free(&e);
#ifdef __wasm__ /* of MPI 4 and 4.1: "MPI_COMM_NULL" where the resource is unknown */
  { MPI_Info hints; MPI_Info_create(&hints); MPI_Info_set(hints, "mpi_hw_resource_type", "a thing of its own"); MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &e); CHECK(e == MPI_COMM_NULL); MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &e); CHECK(e == MPI_COMM_NULL);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &e); CHECK(e == MPI_COMM_NULL); MPI_Info_set(hints, "mpi_hw_resource_type", "mpi_shared_memory"); MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &e); CHECK(e != MPI_COMM_NULL); MPI_Comm_free(&e); MPI_Info_free(&hints);
    MPI_Info_create(&hints); MPI_Info_set(hints, "mpi_pset_name", "mpi://WORLD"); MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, -rank_, hints, &e); MPI_Comm_rank(e, &r); CHECK(r == N - 1 - rank_); MPI_Comm_free(&e); MPI_Info_free(&hints);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &e); CHECK(e == MPI_COMM_NULL);
    char *words[2] = {"prog", "x"}, got[16]; int room = 16; MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &room, got, &flag); CHECK(flag && atoi(got) == N); MPI_Info_create_env(2, words, &hints); room = 16; MPI_Info_get_string(hints, "command", &room, got, &flag); CHECK(flag && !strcmp(got, "prog")); MPI_Info_free(&hints); }
#endif
  /* Groups */
  MPI_Group w, g, h, k; MPI_Comm_group(MPI_COMM_WORLD, &w); int ranges[1][3] = {{0, N - 1, 2}}; MPI_Group_range_incl(w, 1, ranges, &g); MPI_Group_size(g, &s); CHECK(s == (N + 1) / 2);
  MPI_Group_difference(w, g, &h); MPI_Group_size(h, &s); CHECK(s == N / 2); MPI_Group_union(g, h, &k); MPI_Group_compare(k, w, &res); CHECK(res == MPI_SIMILAR || N <= 2);
  MPI_Group_rank(g, &r); CHECK(r == (rank_ % 2 ? MPI_UNDEFINED : rank_ / 2));
  int zero = 0, tr; MPI_Group_translate_ranks(g, 1, &zero, w, &tr); CHECK(tr == 0);
  MPI_Comm_create(MPI_COMM_WORLD, g, &e); CHECK((e == MPI_COMM_NULL) == (rank_ % 2)); if (e != MPI_COMM_NULL) { MPI_Comm_size(e, &s); CHECK(s == (N + 1) / 2); MPI_Comm_free(&e); }
  if (rank_ % 2 == 0) { MPI_Comm_create_group(MPI_COMM_WORLD, g, 5, &e); n = 1; MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, e); CHECK(n == (N + 1) / 2); MPI_Comm_free(&e); }
  MPI_Group_free(&w); MPI_Group_free(&g); MPI_Group_free(&h); MPI_Group_free(&k); CHECK(g == MPI_GROUP_NULL);
  /* Attributes (7.7) */
  int key, key2, extra = 4; char base[16]; void *val;
  MPI_Comm_create_keyval(copy_fn, delete_fn, &key, &extra); MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key2, NULL);
  MPI_Comm_set_attr(c, key, base); MPI_Comm_set_attr(c, key2, base); MPI_Comm_get_attr(c, key, &val, &flag); CHECK(flag && val == base);
  MPI_Comm_dup(c, &e); CHECK(copied == 1); MPI_Comm_get_attr(e, key, &val, &flag); CHECK(flag && val == base + 4); MPI_Comm_get_attr(e, key2, &val, &flag); CHECK(!flag);
  MPI_Comm_set_attr(e, key, base); CHECK(deleted == 1); MPI_Comm_free(&e); CHECK(deleted == 2);
  MPI_Comm_delete_attr(c, key); CHECK(deleted == 3); MPI_Comm_free_keyval(&key); CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL); MPI_Comm_set_attr(c, key, base);
  MPI_Request q; MPI_Comm_idup(c, &e, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Comm_get_attr(e, key, &val, &flag); CHECK(flag && val == base); MPI_Comm_free(&e); MPI_Comm_delete_attr(c, key);
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key2, NULL); MPI_Comm_set_attr(c, key2, base); MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  res = MPI_Comm_dup(c, &e); MPI_Comm_delete_attr(c, key2); (void)res;
  int *ub; MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag); CHECK(flag && *ub >= 32767);
  /* Errors: classes, handlers, strings (9) */
  MPI_Errhandler eh, was; MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); char text[MPI_MAX_ERROR_STRING]; int cls;
  res = MPI_Send(&n, 1, MPI_INT, N, 0, MPI_COMM_WORLD); MPI_Error_class(res, &cls); CHECK(cls == MPI_ERR_RANK);
  MPI_Error_string(res, text, &n); CHECK(n > 0 && (int)strlen(text) == n);
  CHECK(class_of(MPI_Send(&n, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT); CHECK(class_of(MPI_Send(&n, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Send(&n, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE); CHECK(class_of(MPI_Bcast(&n, 1, MPI_INT, N, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
  CHECK(class_of(MPI_Allreduce(&n, &s, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD)) == MPI_ERR_OP); double x = 0, y; CHECK(class_of(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM); CHECK(class_of(MPI_Group_size(MPI_GROUP_NULL, &n)) == MPI_ERR_GROUP);
  { MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t); CHECK(class_of(MPI_Send(name, 1, t, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE); MPI_Type_free(&t); }
  #ifdef __wasm__
  CHECK(class_of(MPI_Send((void *)0x7ffffff0, 100, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER); CHECK(class_of(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
#endif
  { int two[2] = {1, 2}, one[2]; MPI_Status sts[2]; MPI_Request qs[2]; MPI_Irecv(one, 1, MPI_INT, rank_, 90, MPI_COMM_WORLD, &qs[0]); MPI_Irecv(&one[1], 1, MPI_INT, rank_, 91, MPI_COMM_WORLD, &qs[1]);
    MPI_Send(two, 2, MPI_INT, rank_, 90, MPI_COMM_WORLD); MPI_Send(two, 1, MPI_INT, rank_, 91, MPI_COMM_WORLD);
    res = MPI_Waitall(2, qs, sts); CHECK(class_of(res) == MPI_ERR_IN_STATUS && class_of(sts[0].MPI_ERROR) == MPI_ERR_TRUNCATE && sts[1].MPI_ERROR == MPI_SUCCESS && one[1] == 1); }
  MPI_Comm_create_errhandler(on_error, &eh); MPI_Comm_set_errhandler(c, eh); MPI_Comm_get_errhandler(c, &was); CHECK(was == eh); MPI_Errhandler_free(&was); MPI_Errhandler_free(&eh); CHECK(eh == MPI_ERRHANDLER_NULL);
  res = MPI_Send(&n, 1, MPI_INT, -77, 0, c); CHECK(class_of(res) == MPI_ERR_RANK && handled == 1 && handled_code == MPI_ERR_RANK && handled_comm == c);
  MPI_Comm_call_errhandler(c, MPI_ERR_OTHER); CHECK(handled == 2);
  int mycls, mycode; MPI_Add_error_class(&mycls); MPI_Add_error_code(mycls, &mycode); MPI_Add_error_string(mycode, "own error"); MPI_Error_string(mycode, text, &n); CHECK(!strcmp(text, "own error")); MPI_Error_class(mycode, &cls); CHECK(cls == mycls);
  /* Cartesian grids (8.5) */
  int dims[2] = {0, 0}, per[2] = {1, 0}, co[2], src, dst; MPI_Dims_create(N, 2, dims); CHECK(dims[0] * dims[1] == N && dims[0] >= dims[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 1, &e); MPI_Comm_rank(e, &r); MPI_Cart_coords(e, r, 2, co); CHECK(co[0] == r / dims[1] && co[1] == r % dims[1]);
  MPI_Cart_rank(e, co, &n); CHECK(n == r); MPI_Cart_shift(e, 1, 1, &src, &dst); CHECK(co[1] + 1 < dims[1] ? dst == r + 1 : dst == MPI_PROC_NULL); MPI_Cart_shift(e, 0, 1, &src, &dst); CHECK(dst == ((co[0] + 1) % dims[0]) * dims[1] + co[1]);
  MPI_Comm sub; int keep[2] = {0, 1}; MPI_Cart_sub(e, keep, &sub); MPI_Comm_size(sub, &s); CHECK(s == dims[1]); MPI_Topo_test(e, &n); CHECK(n == MPI_CART); MPI_Cartdim_get(sub, &n); CHECK(n == 1); MPI_Comm_free(&sub); MPI_Comm_free(&e);
  /* Info, versions, memory, threads */
  MPI_Info info; MPI_Info_create(&info); MPI_Info_set(info, "key", "value"); char v[20]; MPI_Info_get(info, "key", 19, v, &flag); CHECK(flag && !strcmp(v, "value")); MPI_Info_get_nkeys(info, &n); CHECK(n == 1); MPI_Info_free(&info);
  int a, b; MPI_Get_version(&a, &b); CHECK(a >= 3); char lib[MPI_MAX_LIBRARY_VERSION_STRING]; MPI_Get_library_version(lib, &n); CHECK(n > 0); char *mem; MPI_Alloc_mem(1000, MPI_INFO_NULL, &mem); mem[999] = 1; MPI_Free_mem(mem);
  MPI_Get_processor_name(lib, &n); CHECK(n > 0); MPI_Initialized(&flag); CHECK(flag); MPI_Finalized(&flag); CHECK(!flag); double t0 = MPI_Wtime(); CHECK(MPI_Wtime() >= t0 && MPI_Wtick() > 0);
  MPI_Comm_free(&c); MPI_Comm_free(&d); CHECK(c == MPI_COMM_NULL);
  char nothing[MPI_MAX_OBJECT_NAME]; int letters; MPI_Comm_get_name(MPI_COMM_NULL, nothing, &letters); CHECK(strcmp(nothing, "MPI_COMM_NULL") == 0 && letters == 13);
  MPI_Comm never = MPI_COMM_WORLD; MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &never)) == MPI_ERR_ARG && never == MPI_COMM_NULL);
  MPI_Group everyone; MPI_Comm_group(MPI_COMM_WORLD, &everyone); int range[1][3] = {{size_, size_, 1}}; CHECK(class_of(MPI_Group_range_excl(everyone, 1, range, NULL)) == MPI_ERR_ARG); MPI_Group_free(&everyone);
  /* "The second is the error code to be returned by the MPI routine that raised the error" (§9.3.1) */
  MPI_Errhandler mild; MPI_Comm_create_errhandler(forgive, &mild); MPI_Comm_set_errhandler(MPI_COMM_WORLD, mild); MPI_Errhandler_free(&mild);
  CHECK(MPI_Send(&letters, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_SUCCESS && forgiven == MPI_ERR_COUNT);
  return finish();
}
