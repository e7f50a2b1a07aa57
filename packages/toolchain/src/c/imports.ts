/**
 * What a rank's module may import, and at which of these calls it must be possible to unwind its stack: at those of
 * MPI's where an image may be taken, and where WASI waits.
 */
import { SUSPENDING, WAITING_WASI } from '@mayfly/libmpi/suspending';
import type { Import } from './wasm-module.ts';

export const MPI_NAME = /^P?MPI_[A-Z]\w*$|^P?MPIX_[A-Z]\w*$/;

/** What wasi-libc and other WASI preview 1 libraries import. Sockets and threads are not among them. */
const WASI = new Set(
  (
    'args_get args_sizes_get environ_get environ_sizes_get clock_res_get clock_time_get fd_advise ' +
    'fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags ' +
    ('fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_get ' +
      'fd_prestat_dir_name fd_pwrite fd_read fd_readdir fd_renumber fd_seek ') +
    ('fd_sync fd_tell fd_write path_create_directory path_filestat_get path_filestat_set_times path_link ' +
      'path_open path_readlink path_remove_directory path_rename path_symlink ') +
    'path_unlink_file poll_oneoff proc_exit proc_raise sched_yield random_get'
  ).split(' '),
);
export const WASI_MODULE = 'wasi_snapshot_preview1';

export const isMpiName = (name: string): boolean => MPI_NAME.test(name);

export function isAllowed(i: Import): boolean {
  return (
    i.kind === 'function' &&
    ((i.module === 'env' && isMpiName(i.name)) || (i.module === WASI_MODULE && WASI.has(i.name)))
  );
}

const MPI_SUSPENDING = new Set(SUSPENDING);

/** Those among a module's imports at which its stack must be able to unwind, as Asyncify spells them. */
export function suspendingAmong(imports: readonly Import[]): string[] {
  return imports
    .filter(
      (i) =>
        (i.module === 'env' && MPI_SUSPENDING.has(i.name)) ||
        (i.module === WASI_MODULE && WAITING_WASI.includes(i.name)),
    )
    .map((i) => `${i.module}.${i.name}`);
}
