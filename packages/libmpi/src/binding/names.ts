/**
 * The calls at which an image of a rank may be taken: those that wait, communicate or are polled in loops. The one list: the toolchain makes a module's stack unwindable
 * at these (`imports.ts` there), the program host takes images where the module's section says that it can.
 */
const COLLECTIVES = [
  'Allgather', 'Allgatherv', 'Allreduce', 'Alltoall', 'Alltoallv', 'Alltoallw', 'Barrier', 'Bcast', 'Exscan', 'Gather', 'Gatherv', 'Reduce', 'Reduce_scatter',
  'Reduce_scatter_block', 'Scan', 'Scatter', 'Scatterv', 'Neighbor_allgather', 'Neighbor_allgatherv', 'Neighbor_alltoall', 'Neighbor_alltoallv', 'Neighbor_alltoallw',
];
/** With a large form (`_c`). */
const WITH_COUNTS = [
  'Send', 'Bsend', 'Rsend', 'Ssend', 'Recv', 'Sendrecv', 'Sendrecv_replace', 'Mrecv', 'Buffer_detach', 'Comm_detach_buffer', 'Session_detach_buffer',
  'Win_create', 'Win_allocate', 'Win_allocate_shared', 'Get', 'Get_accumulate', 'Rget', 'Rget_accumulate', 'Put', 'Rput', 'Accumulate', 'Raccumulate',
  'File_read', 'File_read_all', 'File_read_at', 'File_read_at_all', 'File_read_ordered', 'File_read_shared',
  'File_write', 'File_write_all', 'File_write_at', 'File_write_at_all', 'File_write_ordered', 'File_write_shared',
  'File_read_all_begin', 'File_read_at_all_begin', 'File_read_ordered_begin', 'File_write_all_begin', 'File_write_at_all_begin', 'File_write_ordered_begin',
];
const OTHERS = [
  'Probe', 'Iprobe', 'Mprobe', 'Improbe', 'Wait', 'Waitall', 'Waitany', 'Waitsome', 'Test', 'Testall', 'Testany', 'Testsome', 'Parrived',
  'Request_get_status', 'Request_get_status_all', 'Request_get_status_any', 'Request_get_status_some', 'Buffer_flush', 'Comm_flush_buffer', 'Session_flush_buffer',
  'Init', 'Init_thread', 'Finalize', 'Session_finalize', 'Comm_dup', 'Comm_dup_with_info', 'Comm_create', 'Comm_create_group', 'Comm_create_from_group', 'Comm_split',
  'Comm_split_type', 'Comm_disconnect', 'Lookup_name', 'Comm_accept', 'Comm_connect', 'Comm_join', 'Comm_spawn', 'Comm_spawn_multiple', 'Intercomm_create',
  'Intercomm_create_from_groups', 'Intercomm_merge', 'Cart_create', 'Cart_sub', 'Graph_create', 'Dist_graph_create', 'Dist_graph_create_adjacent',
  'Barrier', 'Compare_and_swap', 'Fetch_and_op', 'Win_create_dynamic', 'Win_free', 'Win_fence', 'Win_lock', 'Win_lock_all', 'Win_unlock', 'Win_unlock_all',
  'Win_flush', 'Win_flush_all', 'Win_flush_local', 'Win_flush_local_all', 'Win_post', 'Win_start', 'Win_complete', 'Win_wait', 'Win_test', 'Win_sync',
  'File_open', 'File_close', 'File_delete', 'File_get_size', 'File_seek', 'File_get_position_shared', 'File_set_view', 'File_set_size', 'File_preallocate', 'File_sync', 'File_seek_shared', 'File_set_atomicity',
  'File_read_all_end', 'File_read_at_all_end', 'File_read_ordered_end', 'File_write_all_end', 'File_write_at_all_end', 'File_write_ordered_end',
];

const base = new Set([...COLLECTIVES, ...WITH_COUNTS, ...OTHERS, ...[...COLLECTIVES, ...WITH_COUNTS].filter((n) => n !== 'Barrier').map((n) => `${n}_c`)]);

/** Import names in module `env`. */
export const SUSPENDING: readonly string[] = [...[...base].flatMap((n) => [`MPI_${n}`, `PMPI_${n}`]), 'MPIX_Checkpoint_poll'].sort();
