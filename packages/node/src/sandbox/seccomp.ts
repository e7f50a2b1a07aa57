/**
 * The seccomp filter of a job's process: a program of the kernel's classic BPF, as bubblewrap takes it (`--seccomp
 * FD`). Pure.
 *
 *  F1 Calls of another architecture (int 0x80) and of x32 kill the process: nothing here makes them.
 *  F2 Denied calls fail with EPERM; clone3, whose flags a filter cannot see, with ENOSYS: the C library then uses
 *  clone.
 *  F3 clone makes threads only, and no namespaces; fork and vfork do not exist.
 *  F4 The rest is allowed: a list of the allowed would break with the next version of Node or of the C library.
 */
import type { Machine } from './syscalls.ts';

const LD_W_ABS = 0x20;
const JEQ = 0x15;
const JGE = 0x35;
const JSET = 0x45;
const RET = 0x06;

export const ALLOW = 0x7fff_0000;
export const KILL_PROCESS = 0x8000_0000;
export const EPERM = 0x0005_0001;
export const ENOSYS = 0x0005_0026;

/** Offsets in struct seccomp_data; of an argument, the lower half (both machines are little-endian). */
const NR = 0;
const ARCH = 4;
const arg = (n: number): number => 16 + 8 * n;

const CLONE_THREAD = 0x0001_0000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW = 0x7e02_0000;
/** They put characters into a terminal's input. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

function programFor(m: Machine): Instruction[] {
  const out: Instruction[] = [
    [LD_W_ABS, 0, 0, ARCH],
    [JEQ, 1, 0, m.audit],
    [RET, 0, 0, KILL_PROCESS],
    [LD_W_ABS, 0, 0, NR],
  ];
  if (m.x32 !== undefined) out.push([JGE, 0, 1, m.x32], [RET, 0, 0, KILL_PROCESS]);
  out.push([JEQ, 0, 1, m.clone3], [RET, 0, 0, ENOSYS]);
  // F3: not a thread → EPERM; a thread with a namespace of its own → EPERM.
  out.push(
    [JEQ, 0, 5, m.clone],
    [LD_W_ABS, 0, 0, arg(0)],
    [JSET, 0, 1, CLONE_THREAD],
    [JSET, 0, 1, CLONE_NEW],
    [RET, 0, 0, EPERM],
    [RET, 0, 0, ALLOW],
  );
  out.push(
    [JEQ, 0, 5, m.ioctl],
    [LD_W_ABS, 0, 0, arg(1)],
    [JEQ, 1, 0, TIOCSTI],
    [JEQ, 0, 1, TIOCLINUX],
    [RET, 0, 0, EPERM],
    [RET, 0, 0, ALLOW],
  );
  for (const nr of Object.values(m.denied)) out.push([JEQ, 0, 1, nr], [RET, 0, 0, EPERM]);
  out.push([RET, 0, 0, ALLOW]);
  return out;
}

/** An array of struct sock_filter. */
export function seccompFilter(m: Machine): Uint8Array<ArrayBuffer> {
  const program = programFor(m);
  const bytes = new Uint8Array(8 * program.length);
  const view = new DataView(bytes.buffer);
  program.forEach(([code, jumpTrue, jumpFalse, k], i) => {
    view.setUint16(8 * i, code, true);
    view.setUint8(8 * i + 2, jumpTrue);
    view.setUint8(8 * i + 3, jumpFalse);
    view.setUint32(8 * i + 4, k, true);
  });
  return bytes;
}
