/* Environment and tools (MPI 4.1 chapters 9, 10, 11): versions, clock, error handlers, codes, info. ranks: 1 3 */
static int granted;
#define INIT MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted)
#include "check.h"

TEST(init_thread, 1, "§11.6.2: the call returns in provided information about the actual level of thread support; MPI_QUERY_THREAD: the value that was returned in provided") {
  int level = -1;
  MPI_Query_thread(&level);
  CHECK(level == granted && granted >= MPI_THREAD_SERIALIZED);
#ifdef __wasm__
  CHECK(granted == MPI_THREAD_MULTIPLE);
#endif
}

TEST(version, 1, "§9.1.1: MPI_GET_VERSION ... MPI_VERSION and MPI_SUBVERSION") {
  int v, s;
  MPI_Get_version(&v, &s);
  CHECK(v == MPI_VERSION && s == MPI_SUBVERSION);
}
TEST(library_version, 1, "§9.1.1: MPI_GET_LIBRARY_VERSION ... resultlen is the number of characters") {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int n = 0;
  MPI_Get_library_version(text, &n);
  CHECK(n > 0 && n == (int)strlen(text));
}
TEST(processor_name, 1, "§9.1.2: MPI_GET_PROCESSOR_NAME") {
  char text[MPI_MAX_PROCESSOR_NAME];
  int n = 0;
  MPI_Get_processor_name(text, &n);
  CHECK(n > 0 && n == (int)strlen(text));
}
TEST(initialized, 1, "§11.2.3: MPI_INITIALIZED returns true if MPI_INIT has been called, MPI_FINALIZED true if MPI_FINALIZE has completed") {
  int a = 0, b = 1, c = 0, level = -1;
  MPI_Initialized(&a);
  MPI_Finalized(&b);
  MPI_Is_thread_main(&c);
  MPI_Query_thread(&level);
  CHECK(a && !b && c && level >= MPI_THREAD_SINGLE);
}
TEST(clock, 1, "§9.6: MPI_WTIME returns a floating-point number of seconds ... is guaranteed not to change during the life of the process: it never goes back") {
  double a = MPI_Wtime(), b = MPI_Wtime();
  CHECK(b >= a && MPI_Wtick() > 0 && MPI_Wtick() < 1);
}
TEST(alloc_mem, 1, "§9.2: MPI_ALLOC_MEM ... baseptr; MPI_FREE_MEM") {
  char *p = NULL;
  MPI_Alloc_mem(1000, MPI_INFO_NULL, &p);
  memset(p, 7, 1000);
  CHECK(p != NULL && p[999] == 7);
  MPI_Free_mem(p);
}
TEST(error_strings, 1, "§9.4: MPI_ERROR_STRING returns the error string associated with an error code or class; MPI_ERROR_CLASS maps each error class onto itself") {
  int classes[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG,
    MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS, MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_ASSERT, MPI_ERR_BAD_FILE, MPI_ERR_BASE, MPI_ERR_CONVERSION, MPI_ERR_DISP,
    MPI_ERR_DUP_DATAREP, MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_FILE, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO, MPI_ERR_IO, MPI_ERR_KEYVAL, MPI_ERR_LOCKTYPE, MPI_ERR_NAME,
    MPI_ERR_NO_MEM, MPI_ERR_NOT_SAME, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_PORT, MPI_ERR_QUOTA, MPI_ERR_READ_ONLY, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_SYNC, MPI_ERR_SERVICE, MPI_ERR_SIZE, MPI_ERR_SPAWN,
    MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_WIN};
  for (int i = 0; i < LENGTH(classes); i++) {
    char text[MPI_MAX_ERROR_STRING];
    int n = 0, c = -1;
    CHECK(MPI_Error_string(classes[i], text, &n) == MPI_SUCCESS && n > 0 && n == (int)strlen(text));
    MPI_Error_class(classes[i], &c);
    CHECK(c == classes[i] && c <= MPI_ERR_LASTCODE);
    for (int k = 0; k < i; k++) CHECK(classes[k] != classes[i]);
  }
}
TEST(own_errors, 1, "§9.5: MPI_ADD_ERROR_CLASS, MPI_ADD_ERROR_CODE, MPI_ADD_ERROR_STRING; MPI_LASTUSEDCODE") {
  int c, code, back, n, *last, flag;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&c);
  MPI_Add_error_code(c, &code);
  MPI_Add_error_string(code, "own error");
  MPI_Error_class(code, &back);
  MPI_Error_string(code, text, &n);
  CHECK(back == c && strcmp(text, "own error") == 0 && n == 9);
  MPI_Error_string(c, text, &n);
  CHECK(n == 0);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= MPI_ERR_LASTCODE);
}
static MPI_Comm handled;
static int code_, calls_;
static void handler(MPI_Comm *c, int *code, ...) {
  handled = *c;
  code_ = *code;
  calls_++;
}
TEST(own_handler, 1, "§9.3.1: a user-written error handler is called with the communicator in use and the error code to be returned by the MPI routine that raised the error") {
  MPI_Errhandler h, old;
  int x = 0;
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(WORLD, h);
  calls_ = 0;
  int code = MPI_Send(&x, 1, MPI_INT, size + 5, TAG, WORLD);
  CHECK(calls_ == 1 && handled == WORLD && code_ == code && class_of(code) == MPI_ERR_RANK);
  MPI_Comm_get_errhandler(WORLD, &old);
  CHECK(old == h);
  MPI_Errhandler_free(&old);
  MPI_Errhandler_free(&h);
  CHECK(h == MPI_ERRHANDLER_NULL);
  MPI_Send(&x, 1, MPI_INT, size + 5, TAG, WORLD);
  CHECK(calls_ == 2);
}
TEST(handler_inherited, 1, "§9.3: a new communicator inherits the error handler that is associated with the old one") {
  MPI_Errhandler h;
  MPI_Comm d, e;
  int x = 0;
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(WORLD, h);
  MPI_Comm_dup(WORLD, &d);
  MPI_Comm_split(WORLD, 0, rank, &e);
  calls_ = 0;
  MPI_Send(&x, 1, MPI_INT, size, TAG, d);
  CHECK(calls_ == 1 && handled == d);
  MPI_Send(&x, 1, MPI_INT, size, TAG, e);
  CHECK(calls_ == 2 && handled == e);
  MPI_Comm_free(&d);
  MPI_Comm_free(&e);
  MPI_Errhandler_free(&h);
}
TEST(call_errhandler, 1, "§9.3.4: MPI_COMM_CALL_ERRHANDLER invokes the error handler assigned to the communicator with the error code supplied") {
  MPI_Errhandler h;
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(WORLD, h);
  calls_ = 0;
  CHECK(MPI_Comm_call_errhandler(WORLD, MPI_ERR_OTHER) == MPI_SUCCESS);
  CHECK(calls_ == 1 && code_ == MPI_ERR_OTHER && handled == WORLD);
  MPI_Errhandler_free(&h);
}
TEST(error_then_go_on, 2, "§9.3: MPI_ERRORS_RETURN ... after an error is detected the communicator can go on where nothing was sent") {
  int x = 3, y = 0;
  errors_return(1);
  CHECK(MPI_Send(&x, 1, MPI_INT, -5, TAG, WORLD) != MPI_SUCCESS);
  CHECK(MPI_Send(&x, -1, MPI_INT, right, TAG, WORLD) != MPI_SUCCESS);
  MPI_Sendrecv(&x, 1, MPI_INT, right, TAG, &y, 1, MPI_INT, left, TAG, WORLD, NOSTATUS);
  CHECK(y == 3);
  errors_return(0);
}
TEST(info_basics, 1, "§10: MPI_INFO_SET adds the (key,value) pair and overrides the value if a value for the same key was previously set") {
  MPI_Info i, k;
  char v[64];
  int n, flag;
  MPI_Info_create(&i);
  MPI_Info_set(i, "alpha", "1");
  MPI_Info_set(i, "beta", "two");
  MPI_Info_set(i, "alpha", "3");
  MPI_Info_get_nkeys(i, &n);
  CHECK(n == 2);
  MPI_Info_get(i, "alpha", 63, v, &flag);
  CHECK(flag && strcmp(v, "3") == 0);
  MPI_Info_get(i, "gamma", 63, v, &flag);
  CHECK(!flag);
  MPI_Info_get_valuelen(i, "beta", &n, &flag);
  CHECK(flag && n == 3);
  MPI_Info_get_nthkey(i, 1, v);
  CHECK(strcmp(v, "beta") == 0);
  MPI_Info_dup(i, &k);
  MPI_Info_delete(i, "alpha");
  MPI_Info_get_nkeys(i, &n);
  CHECK(n == 1);
  MPI_Info_get_nkeys(k, &n);
  CHECK(n == 2);
  MPI_Info_free(&i);
  MPI_Info_free(&k);
  CHECK(i == MPI_INFO_NULL);
}
#if MPI_AT_LEAST(4, 0)
TEST(info_get_string, 1, "§10: MPI_INFO_GET_STRING ... buflen is set to the size needed, with the null terminator; if it is too small the value is truncated") {
  MPI_Info i;
  char v[64] = "";
  int n = 4, flag = 0;
  MPI_Info_create(&i);
  MPI_Info_set(i, "key", "something");
  MPI_Info_get_string(i, "key", &n, v, &flag);
  CHECK(flag && n == 10 && strcmp(v, "som") == 0);
  MPI_Info_get_string(i, "key", &n, v, &flag);
  CHECK(strcmp(v, "something") == 0);
  n = 0;
  MPI_Info_get_string(i, "key", &n, v, &flag);
  CHECK(flag && n == 10);
  MPI_Info_free(&i);
}
#endif
TEST(info_truncated, 1, "§10: MPI_INFO_GET: if valuelen is less than the actual size of the value, the value is truncated") {
  MPI_Info i;
  char v[64];
  int flag;
  MPI_Info_create(&i);
  MPI_Info_set(i, "key", "abcdefgh");
  MPI_Info_get(i, "key", 3, v, &flag);
  CHECK(flag && strcmp(v, "abc") == 0);
  MPI_Info_free(&i);
}
TEST(info_env, 1, "§10: MPI_INFO_ENV") {
  int n = -1;
  CHECK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n) == MPI_SUCCESS && n >= 0);
}
static int wrapped;
TEST(profiling_names, 1, "§15.2: all MPI functions may be accessed with a name shift: PMPI_") {
  int n;
  wrapped = PMPI_Comm_size(WORLD, &n);
  CHECK(wrapped == MPI_SUCCESS && n == size);
}
TEST(tool_interface, 1, "§15.3: MPI_T_INIT_THREAD may be called any number of times, with as many MPI_T_FINALIZE") {
  int p, n = -1;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &p) == MPI_SUCCESS);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &p) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n >= 0);
  n = -1;
  CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n >= 0);
  CHECK(MPI_T_finalize() == MPI_SUCCESS && MPI_T_finalize() == MPI_SUCCESS);
}
#if MPI_AT_LEAST(4, 1)
TEST(hardware, 1, "§9.1.2: each key is the name of a hardware resource type and its value is set to true if the calling MPI process is restricted to a single instance of a hardware resource of that type") {
  MPI_Info hw;
  int n = -1;
  CHECK(MPI_Get_hw_resource_info(&hw) == MPI_SUCCESS);
  MPI_Info_get_nkeys(hw, &n);
  for (int i = 0; i < n; i++) {
    char key[MPI_MAX_INFO_KEY + 1], value[8] = "";
    int length = sizeof value, flag = 0;
    MPI_Info_get_nthkey(hw, i, key);
    MPI_Info_get_string(hw, key, &length, value, &flag);
    CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
  }
  CHECK(n >= 0 && MPI_Info_free(&hw) == MPI_SUCCESS);
}
#endif
TEST(pcontrol, 1, "§15.2.4: MPI_PCONTROL ... MPI libraries themselves make no use of this routine, and simply return immediately") { CHECK(MPI_Pcontrol(1) == MPI_SUCCESS); }
TEST(handle_conversion, 1, "§19.3.4: handles are converted by MPI_Comm_c2f and MPI_Comm_f2c") {
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
#if MPI_AT_LEAST(5, 0)
  MPI_Session s;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
  CHECK(MPI_Session_f2c(MPI_Session_c2f(s)) == s);
  MPI_Session_finalize(&s);
  /* §19.3.5: a status in C, in Fortran, in Fortran 2008, and back. */
  MPI_Status first, last;
  MPI_F08_status new_style;
  MPI_Fint old_style[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, TAG, &size, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &first);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Status_c2f08(&first, &new_style);
  MPI_Status_f082f(&new_style, old_style);
  MPI_Status_f2f08(old_style, &new_style);
  MPI_Status_f082c(&new_style, &last);
  CHECK(last.MPI_TAG == TAG && count_of(&last, MPI_INT) == 1);
  MPI_Status_c2f(&last, again);
  CHECK(again[MPI_F_TAG] == TAG && memcmp(again, old_style, sizeof again) == 0);
#endif
}
TEST(every_handle_converts, 1, "§19.3.4: MPI_XXX_c2f and MPI_XXX_f2c; MPI 5.0 §20: MPI_XXX_toint and MPI_XXX_fromint") {
#define BACK(T, h) CHECK(MPI_##T##_f2c(MPI_##T##_c2f(h)) == h)
  MPI_Group g;
  MPI_Info i;
  MPI_Request q;
  MPI_Comm_group(WORLD, &g);
  MPI_Info_create(&i);
  MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, WORLD, &q);
  BACK(Group, g);
  BACK(Info, i);
  BACK(Request, q);
  BACK(Errhandler, MPI_ERRORS_RETURN);
  BACK(File, MPI_FILE_NULL);
  BACK(Message, MPI_MESSAGE_NO_PROC);
  BACK(Win, MPI_WIN_NULL);
  MPI_Status s, t;
  MPI_Fint old[64];
  MPI_Wait(&q, &s);
  MPI_Status_c2f(&s, old);
  MPI_Status_f2c(old, &t);
  CHECK(t.MPI_SOURCE == MPI_PROC_NULL && t.MPI_TAG == s.MPI_TAG);
#if MPI_AT_LEAST(5, 0)
#define WHOLE(T, h) CHECK(MPI_##T##_fromint(MPI_##T##_toint(h)) == h)
  WHOLE(Comm, MPI_COMM_WORLD);
  WHOLE(Comm, WORLD);
  WHOLE(Errhandler, MPI_ERRORS_RETURN);
  WHOLE(File, MPI_FILE_NULL);
  WHOLE(Group, g);
  WHOLE(Info, i);
  WHOLE(Message, MPI_MESSAGE_NO_PROC);
  WHOLE(Op, MPI_SUM);
  WHOLE(Request, MPI_REQUEST_NULL);
  WHOLE(Session, MPI_SESSION_NULL);
  WHOLE(Type, MPI_DOUBLE);
  WHOLE(Win, MPI_WIN_NULL);
  int major = -1, minor = -1, n = -1;
  MPI_Info abi;
  CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
  MPI_Abi_get_info(&abi);
  MPI_Info_get_nkeys(abi, &n);
  CHECK(n >= 0);
  MPI_Info_free(&abi);
#endif
  MPI_Group_free(&g);
  MPI_Info_free(&i);
}
#ifdef __wasm__ /* Other libraries have taken them out, as they may. */
static int tens(MPI_Comm c, int key, void *extra, void *old, void *new, int *flag) {
  (void)c, (void)key, (void)extra;
  *(void **)new = (char *)old + 10;
  *flag = 1;
  return MPI_SUCCESS;
}
static void none(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
TEST(removed_functions, 1, "§18, §17: what the standard has deprecated and removed, programs of MPI 1 still call") {
  int key, flag = 0, x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
  char *got = NULL;
  MPI_Comm c;
  MPI_Keyval_create(tens, MPI_NULL_DELETE_FN, &key, NULL);
  MPI_Attr_put(WORLD, key, x);
  MPI_Comm_dup(WORLD, &c);
  MPI_Attr_get(c, key, &got, &flag);
  CHECK(flag && got == (char *)x + 10);
  MPI_Attr_delete(c, key);
  MPI_Attr_get(c, key, &got, &flag);
  CHECK(!flag);
  MPI_Comm_free(&c);
  MPI_Attr_delete(WORLD, key);
  MPI_Keyval_free(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Errhandler h, k;
  MPI_Errhandler_create(none, &h);
  MPI_Errhandler_set(WORLD, h);
  MPI_Errhandler_get(WORLD, &k);
  CHECK(k == h);
  MPI_Errhandler_free(&h);
  MPI_Aint a, b, extent, lb, ub;
  MPI_Address(&x[0], &a);
  MPI_Address(&x[2], &b);
  CHECK(b - a == 8);
  MPI_Datatype t, u, v;
  MPI_Type_hvector(2, 1, 8, MPI_INT, &t);
  MPI_Type_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){0, 8}, MPI_INT, &u);
  MPI_Type_struct(2, (int[]){1, 1}, (MPI_Aint[]){4, 12}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &v);
  MPI_Type_extent(t, &extent);
  MPI_Type_lb(v, &lb);
  MPI_Type_ub(v, &ub);
  CHECK(extent == 12 && lb == 4 && ub == 16);
  MPI_Type_commit(&u);
  MPI_Sendrecv(x, 3, MPI_INT, 0, TAG, y, 1, u, 0, TAG, MPI_COMM_SELF, NOSTATUS);
  CHECK(y[0] == 1 && y[1] == 0 && y[2] == 2 && y[3] == 3);
  MPI_Type_free(&t);
  MPI_Type_free(&u);
  MPI_Type_free(&v);
}
TEST(tool_rest, 1, "§15.3.8, §15.3.9: there may be no events and no sources; a wrong index or handle answers a code, and nothing else happens") {
  int p, n = -1, list[4], k = -1;
  char name[64];
  int length = sizeof name, text = 0, order;
  MPI_Count ticks, most;
  MPI_Info info;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &p);
  CHECK(MPI_T_category_changed(&n) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_categories(0, 4, list) == MPI_SUCCESS && MPI_T_category_get_events(0, 4, list) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_num_events(0, &k) == MPI_SUCCESS && k == 0);
  CHECK(MPI_T_category_get_num_events(99, &k) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 0 && MPI_T_source_get_num(&n) == MPI_SUCCESS && n == 0);
  CHECK(MPI_T_event_get_index("nothing", &n) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_event_get_info(0, name, &length, &n, NULL, NULL, &n, NULL, NULL, NULL, &text, &n) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_source_get_info(0, name, &length, NULL, &text, (MPI_T_source_order *)&order, &ticks, &most, &info) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_source_get_timestamp(0, &ticks) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, name, &length) != MPI_SUCCESS && MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, name, &length) != MPI_SUCCESS);
  MPI_T_event_registration e = 0;
  MPI_T_event_instance one = 0;
  CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &e) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_handle_free(e, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_handle_get_info(e, &info) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_event_handle_set_info(e, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_callback_get_info(e, MPI_T_CB_REQUIRE_NONE, &info) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_event_callback_set_info(e, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_event_register_callback(e, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_set_dropped_handler(e, NULL) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_event_read(one, 0, name) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_copy(one, name) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_event_get_source(one, &n) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_get_timestamp(one, &ticks) == MPI_T_ERR_INVALID_HANDLE);
  MPI_T_finalize();
}
#endif
#if MPI_AT_LEAST(4, 1)
TEST(error_codes_go, 1, "§9.5: MPI_REMOVE_ERROR_STRING, MPI_REMOVE_ERROR_CODE, MPI_REMOVE_ERROR_CLASS remove what was added") {
  int class, code, n = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "of ours");
  MPI_Error_string(code, text, &n);
  CHECK(strcmp(text, "of ours") == 0);
  CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
  MPI_Error_string(code, text, &n);
  CHECK(strcmp(text, "of ours") != 0);
  CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_class(class) == MPI_SUCCESS);
  errors_return(1);
  CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS && MPI_Remove_error_code(MPI_ERR_RANK) != MPI_SUCCESS);
  errors_return(0);
}
#endif
#if MPI_AT_LEAST(4, 0)
TEST(sessions, 1, "§11.3: MPI_SESSION_INIT ... psets mpi://WORLD and mpi://SELF") {
  MPI_Session s;
  MPI_Group g;
  int n = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
  MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
  CHECK(n >= 2);
  MPI_Group_from_session_pset(s, "mpi://SELF", &g);
  MPI_Group_size(g, &n);
  CHECK(n == 1);
  MPI_Group_free(&g);
  MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
  MPI_Group_size(g, &n);
  CHECK(n == size);
  MPI_Comm c;
  MPI_Comm_create_from_group(g, "conformance", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_free(&c);
  MPI_Group_free(&g);
  MPI_Session_finalize(&s);
  CHECK(s == MPI_SESSION_NULL);
}
#endif
