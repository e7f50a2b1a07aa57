/** The filter of system calls: run by a machine of ours for both processors, and by this kernel. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../src/sandbox/bubblewrap.ts';
import { ALLOW, ENOSYS, EPERM, KILL_PROCESS, seccompFilter } from '../src/sandbox/seccomp.ts';
import { AARCH64, MACHINES, X86_64 } from '../src/sandbox/syscalls.ts';

/** The part of classic BPF that there is: loads of words, jumps, return. */
function run(program: Uint8Array, data: { arch: number; nr: number; args?: number[] }): number {
  const view = new DataView(program.buffer);
  const load = (at: number): number =>
    (at === 0 ? data.nr : at === 4 ? data.arch : (data.args?.[(at - 16) / 8] ?? 0)) >>> 0;
  let a = 0;
  for (let pc = 0; 8 * pc < program.length; pc++) {
    const [code, jt, jf, k] = [
      view.getUint16(8 * pc, true),
      view.getUint8(8 * pc + 2),
      view.getUint8(8 * pc + 3),
      view.getUint32(8 * pc + 4, true),
    ];
    if (code === 0x20) a = load(k);
    else if (code === 0x06) return k;
    else pc += (code === 0x15 ? a === k : code === 0x35 ? a >= k : (a & k) !== 0) ? jt : jf;
  }
  throw new Error('ran off the end');
}

const THREAD = 0x3d0f00; // what glibc's pthread_create asks for
const NEWUSER = 0x1000_0000;

describe.each([
  ['x86-64', X86_64],
  ['aarch64', AARCH64],
] as const)('the seccomp filter of %s', (_name, m) => {
  const filter = seccompFilter(m);
  const call = (nr: number, ...args: number[]): number => run(filter, { arch: m.audit, nr, args });

  it('denies each call of its list, and allows what Node lives on', () => {
    for (const [name, nr] of Object.entries(m.denied)) expect([name, call(nr)]).toEqual([name, EPERM]);
    const denied = new Set([...Object.values(m.denied), m.clone, m.clone3]);
    const usual =
      m === X86_64
        ? [0, 1, 3, 9, 10, 11, 13, 14, 16, 20, 28, 47, 46, 202, 228, 231, 232, 257, 262, 281, 290, 318, 332, 334]
        : [29, 35, 57, 63, 64, 79, 94, 98, 113, 131, 211, 212, 214, 215, 222, 226, 278, 291, 293];
    for (const nr of usual) expect([nr, denied.has(nr), call(nr)]).toEqual([nr, false, ALLOW]);
  });

  it('lets clone make threads, but neither processes nor namespaces; clone3 does not exist', () => {
    expect(call(m.clone, THREAD)).toBe(ALLOW);
    expect(call(m.clone, 17)).toBe(EPERM);
    for (let bit = 0; bit < 32; bit++) {
      const isNew = [17, 25, 26, 27, 28, 29, 30].includes(bit);
      expect([bit, call(m.clone, (THREAD | (1 << bit)) >>> 0)]).toEqual([bit, isNew ? EPERM : ALLOW]);
    }
    expect(call(m.clone3)).toBe(ENOSYS);
  });

  it('kills whoever comes from another architecture, and refuses to type into a terminal', () => {
    expect(run(filter, { arch: 0x4000_0003, nr: 1 })).toBe(KILL_PROCESS);
    if (m.x32 !== undefined) expect(call(m.x32 + 41)).toBe(KILL_PROCESS);
    expect(call(m.ioctl, 0, 0x5412)).toBe(EPERM);
    expect(call(m.ioctl, 0, 0x541c)).toBe(EPERM);
    expect(call(m.ioctl, 0, 0x5401)).toBe(ALLOW);
  });
});

const machine = MACHINES[process.arch];
const found = process.platform === 'linux' ? findProgram('bwrap') : undefined;
/** It works here, too: some kernels and containers forbid namespaces. */
const bwrap =
  found && spawnSync(found, ['--unshare-user', '--dev-bind', '/', '/', 'true']).status === 0 ? found : undefined;
const perl = findProgram('perl');

/** An open descriptor of it. */
function filterFile(folder: string): number {
  writeFileSync(join(folder, 'filter'), seccompFilter(machine!));
  return openSync(join(folder, 'filter'), 'r');
}

describe.skipIf(!machine || !bwrap || !perl)('the seccomp filter in this kernel', () => {
  it('answers with the errors that it says: EPERM, ENOSYS', () => {
    const m = machine!;
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-seccomp-'));
    // None of these needs a right, and none does harm where it succeeds.
    const calls: [name: string, nr: number, ...args: number[]][] = [
      ...(
        [
          'socket',
          'socketpair',
          'ptrace',
          'keyctl',
          'personality',
          'process_vm_readv',
          'io_uring_setup',
          'userfaultfd',
          'msgget',
        ] as const
      ).map((n) => [n, m.denied[n]!, 0, 0, 0] as [string, number, number, number, number]),
      ['unshare', m.denied['unshare']!, NEWUSER],
      ['clone', m.clone, 17],
      ['clone3', m.clone3, 0, 0],
      ['getppid', m === X86_64 ? 110 : 173],
    ];
    const script = calls
      .map(
        ([name, ...numbers]) =>
          `$! = 0; $r = syscall(${numbers.join(', ')}); exit 9 if '${name}' eq 'clone' && $r == 0; print ` +
          `'${name} ', $r < 0 ? $! + 0 : 'ok', "\\n";`,
      )
      .join('');
    const r = spawnSync(
      bwrap!,
      ['--unshare-user', '--cap-drop', 'ALL', '--dev-bind', '/', '/', '--seccomp', '3', perl!, '-e', script],
      { stdio: ['ignore', 'pipe', 'pipe', filterFile(folder)], encoding: 'utf8' },
    );
    rmSync(folder, { recursive: true });
    expect(r.stderr).toBe('');
    const answers = Object.fromEntries(
      r.stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ')),
    );
    expect(answers).toEqual(
      Object.fromEntries(calls.map(([name]) => [name, name === 'getppid' ? 'ok' : name === 'clone3' ? '38' : '1'])),
    );
  });
});
