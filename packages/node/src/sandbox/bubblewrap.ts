/**
 * What bubblewrap (https://github.com/containers/bubblewrap) puts around a job's process on Linux: namespaces of its
 * own for users, processes, IPC, host name, control groups, mounts and network; a file system of nothing but Node, its
 * libraries and the bundles, all read-only; no capabilities; the filter of seccomp.ts. It needs no rights where the
 * kernel lets users make namespaces; whether it does is tried, not guessed (launch.ts).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where the bundles lie inside. */
export const INSIDE = '/mayfly';
const NODE = '/mayfly/node';
/** nobody */
export const NOBODY = 65534;

export function findProgram(name: string, path = process.env['PATH'] ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((p) => existsSync(p));
}

/** The shared libraries of this Node, by the loader's own account; undefined where it gives none (musl). */
export function librariesOf(executable: string): string[] | undefined {
  const r = spawnSync(executable, [], {
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 10_000,
  });
  const found = [...String(r.stdout ?? '').matchAll(/(?:=>\s*|^\s*)(\/\S+)\s+\(0x/gm)].map((m) => m[1]!);
  return found.length > 0 ? [...new Set(found)] : undefined;
}

export interface Wrapping {
  bwrap: string;
  executable: string;
  /** The shared libraries, one by one; undefined: all of /usr and /lib. */
  libraries: readonly string[] | undefined;
  /** Paths of the bundles outside; inside they lie in {@link INSIDE}. */
  bundles: readonly string[];
  /** A network of its own, in which there is nothing. */
  ownNetwork: boolean;
  /** Descriptor with the seccomp filter. */
  seccomp: number | undefined;
}

/** Command line up to and with Node itself. */
export function wrapped(w: Wrapping): string[] {
  const readOnly = (path: string, inside = path): string[] => ['--ro-bind', path, inside];
  const wide = ['/usr', '/lib', '/lib64', '/lib32'].flatMap((path) => ['--ro-bind-try', path, path]);
  return [
    w.bwrap,
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
      ...(w.ownNetwork ? ['--unshare-net'] : []),
    ],
    ...[
      '--new-session',
      '--die-with-parent',
      '--cap-drop',
      'ALL',
      '--uid',
      String(NOBODY),
      '--gid',
      String(NOBODY),
      '--hostname',
      'mayfly',
    ],
    ...['--clearenv', '--setenv', 'NODE_CHANNEL_FD', '3', '--setenv', 'NODE_CHANNEL_SERIALIZATION_MODE', 'json'],
    ...(w.libraries ? w.libraries.flatMap((path) => readOnly(path)) : wide),
    ...readOnly(w.executable, NODE),
    ...w.bundles.flatMap((path) => readOnly(path, inside(path))),
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', INSIDE],
    ...(w.seccomp === undefined ? [] : ['--seccomp', String(w.seccomp)]),
    '--',
    NODE,
  ];
}

export const inside = (bundle: string): string => `${INSIDE}/${bundle.slice(bundle.lastIndexOf('/') + 1)}`;
