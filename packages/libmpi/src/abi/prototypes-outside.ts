/**
 * Prototypes of the C functions of MPI, by chapter: one-sided, files, tools, and what older programs call. The notation
 * is explained in functions.ts.
 */
export const OUTSIDE: readonly (readonly [chapter: string, prototypes: string])[] = [
  [
    'One-sided communication',
    `
Accumulate(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank,
  MPI_Aint target_disp, N target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
  int target_rank, MPI_Aint target_disp, MPI_Win win)
Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
  MPI_Op op, MPI_Win win)
Get(void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
  N target_count, MPI_Datatype target_datatype, MPI_Win win)
Get_accumulate(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, void *result_addr,
  N result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, N target_count,
  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
Put(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
  N target_count, MPI_Datatype target_datatype, MPI_Win win)
Raccumulate(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank,
  MPI_Aint target_disp, N target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
Rget(void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
  N target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
Rget_accumulate(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, void *result_addr,
  N result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, N target_count,
  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
Rput(const void *origin_addr, N origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
  N target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
Win_allocate(MPI_Aint size, D disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
Win_allocate_shared(MPI_Aint size, D disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
Win_attach(MPI_Win win, void *base, MPI_Aint size)
Win_call_errhandler(MPI_Win win, int errorcode)
Win_complete(MPI_Win win)
Win_create(void *base, MPI_Aint size, D disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function *win_delete_attr_fn,
  int *win_keyval, void *extra_state)
Win_delete_attr(MPI_Win win, int win_keyval)
Win_detach(MPI_Win win, const void *base)
Win_fence(int assert, MPI_Win win)
Win_flush(int rank, MPI_Win win)
Win_flush_all(MPI_Win win)
Win_flush_local(int rank, MPI_Win win)
Win_flush_local_all(MPI_Win win)
Win_free(MPI_Win *win)
Win_free_keyval(int *win_keyval)
Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
Win_get_group(MPI_Win win, MPI_Group *group)
Win_get_info(MPI_Win win, MPI_Info *info_used)
Win_get_name(MPI_Win win, char *win_name, int *resultlen)
Win_lock(int lock_type, int rank, int assert, MPI_Win win)
Win_lock_all(int assert, MPI_Win win)
Win_post(MPI_Group group, int assert, MPI_Win win)
Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
Win_set_info(MPI_Win win, MPI_Info info)
Win_set_name(MPI_Win win, const char *win_name)
Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, D *disp_unit, void *baseptr)
Win_start(MPI_Group group, int assert, MPI_Win win)
Win_sync(MPI_Win win)
Win_test(MPI_Win win, int *flag)
Win_unlock(int rank, MPI_Win win)
Win_unlock_all(MPI_Win win)
Win_wait(MPI_Win win)
`,
  ],
  [
    'Files',
    `
File_call_errhandler(MPI_File fh, int errorcode)
File_close(MPI_File *fh)
File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
File_delete(const char *filename, MPI_Info info)
File_get_amode(MPI_File fh, int *amode)
File_get_atomicity(MPI_File fh, int *flag)
File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
File_get_group(MPI_File fh, MPI_Group *group)
File_get_info(MPI_File fh, MPI_Info *info_used)
File_get_position(MPI_File fh, MPI_Offset *offset)
File_get_position_shared(MPI_File fh, MPI_Offset *offset)
File_get_size(MPI_File fh, MPI_Offset *size)
File_get_type_extent(MPI_File fh, MPI_Datatype datatype, A *extent)
File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
File_iread(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iread_all(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iread_shared(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iwrite(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iwrite_all(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, N count, MPI_Datatype datatype,
  MPI_Request *request)
File_iwrite_shared(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Request *request)
File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
File_preallocate(MPI_File fh, MPI_Offset size)
File_read(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_read_all(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_read_all_begin(MPI_File fh, void *buf, N count, MPI_Datatype datatype)
File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
File_read_at(MPI_File fh, MPI_Offset offset, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, N count, MPI_Datatype datatype)
File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
File_read_ordered(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_read_ordered_begin(MPI_File fh, void *buf, N count, MPI_Datatype datatype)
File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
File_read_shared(MPI_File fh, void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_seek(MPI_File fh, MPI_Offset offset, int whence)
File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
File_set_atomicity(MPI_File fh, int flag)
File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
File_set_info(MPI_File fh, MPI_Info info)
File_set_size(MPI_File fh, MPI_Offset size)
File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
  MPI_Info info)
File_sync(MPI_File fh)
File_write(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_write_all(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_write_all_begin(MPI_File fh, const void *buf, N count, MPI_Datatype datatype)
File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, N count, MPI_Datatype datatype)
File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
File_write_ordered(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
File_write_ordered_begin(MPI_File fh, const void *buf, N count, MPI_Datatype datatype)
File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
File_write_shared(MPI_File fh, const void *buf, N count, MPI_Datatype datatype, MPI_Status *status)
Register_datarep(const char *datarep, MPI_Datarep_conversion_function# *read_conversion_fn,
  MPI_Datarep_conversion_function# *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
  void *extra_state)
`,
  ],
  [
    'Tool information interface',
    `
T_category_changed(int *update_number)
T_category_get_categories(int cat_index, int len, int indices[])
T_category_get_cvars(int cat_index, int len, int indices[])
T_category_get_events(int cat_index, int len, int indices[])
T_category_get_index(const char *name, int *cat_index)
T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
  int *num_pvars, int *num_categories)
T_category_get_num(int *num_cat)
T_category_get_num_events(int cat_index, int *num_events)
T_category_get_pvars(int cat_index, int len, int indices[])
T_cvar_get_index(const char *name, int *cvar_index)
T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
  MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
T_cvar_get_num(int *num_cvar)
T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
T_cvar_handle_free(MPI_T_cvar_handle *handle)
T_cvar_read(MPI_T_cvar_handle handle, void *buf)
T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used)
T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info)
T_event_copy(MPI_T_event_instance event_instance, void *buffer)
T_event_get_index(const char *name, int *event_index)
T_event_get_info(int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
  MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
  int *desc_len, int *bind)
T_event_get_num(int *num_events)
T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *event_registration)
T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
  MPI_T_event_free_cb_function free_cb_function)
T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
  void *user_data, MPI_T_event_cb_function event_cb_function)
T_event_set_dropped_handler(MPI_T_event_registration event_registration,
  MPI_T_event_dropped_cb_function dropped_cb_function)
T_finalize()
T_init_thread(int required, int *provided)
T_pvar_get_index(const char *name, int var_class, int *pvar_index)
T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype,
  MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous, int *atomic)
T_pvar_get_num(int *num_pvar)
T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle, int *count)
T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
T_pvar_session_create(MPI_T_pvar_session *session)
T_pvar_session_free(MPI_T_pvar_session *session)
T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
  MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
T_source_get_num(int *num_sources)
T_source_get_timestamp(int source_index, MPI_Count *timestamp)
`,
  ],
  [
    'Handles as integers',
    `
MPI_Comm Comm_fromint(int comm)
Comm_toint(MPI_Comm comm)
MPI_Errhandler Errhandler_fromint(int errhandler)
Errhandler_toint(MPI_Errhandler errhandler)
MPI_File File_fromint(int file)
File_toint(MPI_File file)
MPI_Group Group_fromint(int group)
Group_toint(MPI_Group group)
MPI_Info Info_fromint(int info)
Info_toint(MPI_Info info)
MPI_Message Message_fromint(int message)
Message_toint(MPI_Message message)
MPI_Op Op_fromint(int op)
Op_toint(MPI_Op op)
MPI_Request Request_fromint(int request)
Request_toint(MPI_Request request)
MPI_Session Session_fromint(int session)
Session_toint(MPI_Session session)
MPI_Datatype Type_fromint(int datatype)
Type_toint(MPI_Datatype datatype)
MPI_Win Win_fromint(int win)
Win_toint(MPI_Win win)
`,
  ],
  [
    'Handles of Fortran',
    `
MPI_Fint Comm_c2f(MPI_Comm handle)
MPI_Comm Comm_f2c(MPI_Fint handle)
MPI_Fint Errhandler_c2f(MPI_Errhandler handle)
MPI_Errhandler Errhandler_f2c(MPI_Fint handle)
MPI_Fint File_c2f(MPI_File handle)
MPI_File File_f2c(MPI_Fint handle)
MPI_Fint Group_c2f(MPI_Group handle)
MPI_Group Group_f2c(MPI_Fint handle)
MPI_Fint Info_c2f(MPI_Info handle)
MPI_Info Info_f2c(MPI_Fint handle)
MPI_Fint Message_c2f(MPI_Message handle)
MPI_Message Message_f2c(MPI_Fint handle)
MPI_Fint Op_c2f(MPI_Op handle)
MPI_Op Op_f2c(MPI_Fint handle)
MPI_Fint Request_c2f(MPI_Request handle)
MPI_Request Request_f2c(MPI_Fint handle)
MPI_Fint Session_c2f(MPI_Session handle)
MPI_Session Session_f2c(MPI_Fint handle)
MPI_Fint Type_c2f(MPI_Datatype handle)
MPI_Datatype Type_f2c(MPI_Fint handle)
MPI_Fint Win_c2f(MPI_Win handle)
MPI_Win Win_f2c(MPI_Fint handle)
Status_c2f(const MPI_Status *status, MPI_Fint *f_status)
Status_f2c(const MPI_Fint *f_status, MPI_Status *status)
Status_c2f08(const MPI_Status *status, MPI_F08_status *f08_status)
Status_f082c(const MPI_F08_status *f08_status, MPI_Status *status)
Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
`,
  ],
  [
    'Removed from the standard, still called',
    `
Address(void *location, MPI_Aint *address)
Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
  MPI_Datatype *newtype)
Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[],
  MPI_Datatype *newtype)
Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
`,
  ],
];
