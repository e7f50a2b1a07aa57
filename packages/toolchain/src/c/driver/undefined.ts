/** Why a symbol that the linker misses does not exist on wasm, by name. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^(exec(v|ve|vp|l|le|lp)|fexecve|clone|daemon|wait3|wait4|waitid)$/,
    'a rank is one process in a sandbox: it cannot start programs',
  ],
  [
    /^(socket|connect|bind|listen|accept4?|send|sendto|sendmsg|recv|recvfrom|recvmsg|shutdown|setsockopt|getsockopt|getsockname|getifaddrs|inet_\w+)$/,
    'a rank has no network but MPI',
  ],
  [
    /^(pthread_\w+|thrd_\w+|sem_\w+|_ZNSt\w*6thread\w*|_ZNSt\w*__\d*thread\w*)$/,
    'a rank has one thread: use more ranks',
  ],
  [
    /^(shm_open|shmget|shmat|semget|msgget|mq_open|pipe2?|mkfifo|socketpair|semop|semctl|shmdt|shmctl|shm_unlink|msgsnd|msgrcv|ftok|eventfd|epoll_\w+|inotify_\w+)$/,
    'a rank has no other process to talk to but through MPI',
  ],
  [
    /^(setjmp|_setjmp|sigsetjmp|longjmp|_longjmp|siglongjmp|__wasm_\w*jmp\w*)$/,
    'include <setjmp.h>, and compile every file with mayfly mpicc',
  ],
  [/^(ptrace|killpg|ualarm|[gs]etitimer|timer_\w+|sigqueue)$/, 'a rank gets no signals from outside'],
  [
    /^(dlopen|dlsym|dlclose|dlerror|dladdr)$/,
    'a rank is one statically linked module: nothing can be loaded while it runs',
  ],
  [
    /^(__kmpc_\w+|GOMP_\w+|omp_\w+)$/,
    'OpenMP is ignored here: compile every file with mayfly mpicc, with or without -fopenmp',
  ],
  [
    /^(__cpp_exception|_Unwind_\w+|__gxx_personality\w*|__wasm_lpad_context)$/,
    'an object was built elsewhere with other exceptions: compile every file with mayfly mpicxx',
  ],
  [/^P?MPIX?_/, 'mpi.h does not declare it'],
  [/^(mpi_\w+_|_gfortran\w*)$/, 'Fortran is not supported'],
  [
    /^(mount|umount|reboot|chroot|mknod|prctl|syscall|sysinfo|ioperm|iopl|getauxval)$/,
    'a rank has no users, devices or processes of an operating system',
  ],
  [
    /^(acos|asin|atan|atan2|ceil|cos|cosh|exp|fabs|floor|fmod|ldexp|log|log10|pow|sin|sinh|sqrt|tan|tanh)[fl]?$/,
    'it is in the library of the C language, which -nostdlib leaves out',
  ],
];

/** A name of C; of the functions of C++, which come with their types, only those that look like MPI's. */
const UNDEFINED = /undefined symbol: (?:(\w+)|(P?MPIX?_\w+)\(.*\))$/gm;

/** Notes for the undefined symbols in the linker's messages. */
export function explainUndefined(messages: string, driver: string): string {
  const names = new Set([...messages.matchAll(UNDEFINED)].map((m) => m[1] ?? m[2]!));
  return [...names]
    .flatMap((name) => {
      const reason = REASONS.find(([pattern]) => pattern.test(name))?.[1];
      return reason === undefined ? [] : [`${driver}: note: ${name}: ${reason}\n`];
    })
    .join('');
}
