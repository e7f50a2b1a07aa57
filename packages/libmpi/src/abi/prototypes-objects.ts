/**
 * Prototypes of the C functions of MPI, by chapter: communicators, topologies, environment, processes. The notation is
 * explained in functions.ts.
 */
export const OBJECTS: readonly (readonly [chapter: string, prototypes: string])[] = [
  [
    'Groups, communicators, caching',
    `
Attr_delete(MPI_Comm comm, int keyval)
Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
  MPI_Comm *newcomm)
Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function *comm_delete_attr_fn,
  int *comm_keyval, void *extra_state)
Comm_delete_attr(MPI_Comm comm, int comm_keyval)
Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
Comm_free(MPI_Comm *comm)
Comm_free_keyval(int *comm_keyval)
Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
Comm_group(MPI_Comm comm, MPI_Group *group)
Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
Comm_rank(MPI_Comm comm, int *rank)
Comm_remote_group(MPI_Comm comm, MPI_Group *group)
Comm_remote_size(MPI_Comm comm, int *size)
Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
Comm_set_info(MPI_Comm comm, MPI_Info info)
Comm_set_name(MPI_Comm comm, const char *comm_name)
Comm_size(MPI_Comm comm, int *size)
Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
Comm_test_inter(MPI_Comm comm, int *flag)
Group_compare(MPI_Group group1, MPI_Group group2, int *result)
Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
Group_free(MPI_Group *group)
Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
Group_rank(MPI_Group group, int *rank)
Group_size(MPI_Group group, int *size)
Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
  MPI_Comm *newintercomm)
Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
  const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm)
Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
Keyval_free(int *keyval)
Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function *type_delete_attr_fn,
  int *type_keyval, void *extra_state)
Type_delete_attr(MPI_Datatype datatype, int type_keyval)
Type_free_keyval(int *type_keyval)
Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
Type_set_name(MPI_Datatype datatype, const char *type_name)
`,
  ],
  [
    'Topologies',
    `
Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart)
Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
Cart_rank(MPI_Comm comm, const int coords[], int *rank)
Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
Cartdim_get(MPI_Comm comm, int *ndims)
Dims_create(int nnodes, int ndims, int dims[])
Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
  const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
  int outdegree, const int destinations[], const int destweights[], MPI_Info info, int reorder,
  MPI_Comm *comm_dist_graph)
Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
  int destinations[], int destweights[])
Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder, MPI_Comm *comm_graph)
Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
Ineighbor_allgather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Ineighbor_allgatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Ineighbor_alltoall(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Ineighbor_alltoallv(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype,
  void *recvbuf, const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Ineighbor_alltoallw(const void *sendbuf, const N sendcounts[], const MPI_Aint sdispls[],
  const MPI_Datatype sendtypes[], void *recvbuf, const N recvcounts[], const MPI_Aint rdispls[],
  const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
Neighbor_allgather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm)
Neighbor_allgather_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Neighbor_allgatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm)
Neighbor_allgatherv_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Neighbor_alltoall(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm)
Neighbor_alltoall_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Neighbor_alltoallv(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype, void *recvbuf,
  const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
Neighbor_alltoallv_init(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype,
  void *recvbuf, const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
  MPI_Request *request)
Neighbor_alltoallw(const void *sendbuf, const N sendcounts[], const MPI_Aint sdispls[],
  const MPI_Datatype sendtypes[], void *recvbuf, const N recvcounts[], const MPI_Aint rdispls[],
  const MPI_Datatype recvtypes[], MPI_Comm comm)
Neighbor_alltoallw_init(const void *sendbuf, const N sendcounts[], const MPI_Aint sdispls[],
  const MPI_Datatype sendtypes[], void *recvbuf, const N recvcounts[], const MPI_Aint rdispls[],
  const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
Topo_test(MPI_Comm comm, int *status)
`,
  ],
  [
    'Environment',
    `
Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
Abi_get_fortran_info(MPI_Info *info)
Abi_get_info(MPI_Info *info)
Abi_get_version(int *abi_major, int *abi_minor)
Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
Abi_set_fortran_info(MPI_Info info)
Add_error_class(int *errorclass)
Add_error_code(int errorclass, int *errorcode)
Add_error_string(int errorcode, const char *string)
Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
Comm_call_errhandler(MPI_Comm comm, int errorcode)
Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
Errhandler_free(MPI_Errhandler *errhandler)
Error_class(int errorcode, int *errorclass)
Error_string(int errorcode, char *string, int *resultlen)
Free_mem(void *base)
Get_hw_resource_info(MPI_Info *hw_info)
Get_library_version(char *version, int *resultlen)
Get_processor_name(char *name, int *resultlen)
Get_version(int *version, int *subversion)
Info_create(MPI_Info *info)
Info_create_env(int argc, char *argv[], MPI_Info *info)
Info_delete(MPI_Info info, const char *key)
Info_dup(MPI_Info info, MPI_Info *newinfo)
Info_free(MPI_Info *info)
Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
Info_get_nkeys(MPI_Info info, int *nkeys)
Info_get_nthkey(MPI_Info info, int n, char *key)
Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
Info_set(MPI_Info info, const char *key, const char *value)
Pcontrol(const int level, ...)
Remove_error_class(int errorclass)
Remove_error_code(int errorcode)
Remove_error_string(int errorcode)
double Wtick()
double Wtime()
`,
  ],
  [
    'Processes and sessions',
    `
Abort(MPI_Comm comm, int errorcode)
Close_port(const char *port_name)
Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
Comm_disconnect(MPI_Comm *comm)
Comm_get_parent(MPI_Comm *parent)
Comm_join(int fd, MPI_Comm *intercomm)
Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
  MPI_Comm *intercomm, int array_of_errcodes[])
Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
  const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
Finalize()
Finalized(int *flag)
Init(int *argc, char ***argv)
Init_thread(int *argc, char ***argv, int required, int *provided)
Initialized(int *flag)
Is_thread_main(int *flag)
Lookup_name(const char *service_name, MPI_Info info, char *port_name)
Open_port(MPI_Info info, char *port_name)
Publish_name(const char *service_name, MPI_Info info, const char *port_name)
Query_thread(int *provided)
Session_attach_buffer(MPI_Session session, void *buffer, N size)
Session_call_errhandler(MPI_Session session, int errorcode)
Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler)
Session_detach_buffer(MPI_Session session, void *buffer_addr, N *size)
Session_finalize(MPI_Session *session)
Session_flush_buffer(MPI_Session session)
Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
Session_get_info(MPI_Session session, MPI_Info *info_used)
Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
Session_iflush_buffer(MPI_Session session, MPI_Request *request)
Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
`,
  ],
];
