/** Numbers of WASI preview 1 that the host uses (the interface's own names). */
export const E = {
  SUCCESS: 0,
  BADF: 8,
  EXIST: 20,
  FAULT: 21,
  INVAL: 28,
  IO: 29,
  ISDIR: 31,
  NOENT: 44,
  NOSPC: 51,
  NOSYS: 52,
  NOTDIR: 54,
  NOTEMPTY: 55,
  NOTSUP: 58,
  PERM: 63,
  SPIPE: 70,
} as const;
export const FileType = { UNKNOWN: 0, CHARACTER_DEVICE: 2, DIRECTORY: 3, REGULAR_FILE: 4 } as const;
export const OFlag = { CREAT: 1, DIRECTORY: 2, EXCL: 4, TRUNC: 8 } as const;
export const FdFlag = { APPEND: 1 } as const;
export const Whence = { SET: 0, CUR: 1, END: 2 } as const;
export const Clock = { REALTIME: 0, MONOTONIC: 1, PROCESS_CPUTIME: 2, THREAD_CPUTIME: 3 } as const;
export const Right = { FD_READ: 1n << 1n, FD_SEEK: 1n << 2n, FD_TELL: 1n << 5n, FD_WRITE: 1n << 6n } as const;
export const ALL_RIGHTS = (1n << 29n) - 1n;
