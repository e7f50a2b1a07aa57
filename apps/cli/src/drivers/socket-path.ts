/**
 * Where the warm compile server of this user listens: a socket in a folder that only this user can enter. Its name says
 * for whom it works: this build of Mayfly, this Node, this umask (files are written with the server's), so that another
 * version never answers.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The longest path that all systems take for a socket. */
const MAX_SOCKET_PATH = 100;

export interface Place {
  readonly script: string;
  readonly socket: string;
  /** Holds the process id of the server whose socket it is. */
  readonly pidFile: string;
}

/** Undefined: there is no place that is safe, or none is wanted (MAYFLY_COMPILE_SERVER=off). */
export function findPlace(): Place | undefined {
  // A named pipe of Windows cannot be kept to one user from Node: there every call compiles in its own process.
  if (process.env.MAYFLY_COMPILE_SERVER === 'off' || process.platform === 'win32' || process.getuid === undefined)
    return undefined;
  const script = fileURLToPath(new URL('./mayfly-compile-server.js', import.meta.url));
  const built = statSync(script, { throwIfNoEntry: false });
  if (built === undefined) return undefined;
  const uid = process.getuid();
  const identity = [script, built.mtimeMs, built.size, process.version, process.umask(), uid].join('\n');
  const name = `c-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`;
  const given = process.env.MAYFLY_RUNTIME_DIR;
  const runtime = process.env.XDG_RUNTIME_DIR;
  const candidates =
    given !== undefined
      ? [given]
      : [
          ...(runtime === undefined || runtime === '' ? [] : [join(runtime, 'mayfly')]),
          join(tmpdir(), `mayfly-${uid}`),
          `/tmp/mayfly-${uid}`,
        ];
  for (const folder of candidates) {
    const socket = join(folder, `${name}.sock`);
    // The server binds `<socket>.<pid>` first.
    if (socket.length + 8 <= MAX_SOCKET_PATH && isPrivate(folder, uid))
      return { script, socket, pidFile: join(folder, `${name}.pid`) };
  }
  return undefined;
}

/** Makes the folder, or believes an existing one only when it is this user's own, no link, and closed to all others. */
function isPrivate(folder: string, uid: number): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  const info = lstatSync(folder, { throwIfNoEntry: false });
  return info !== undefined && info.isDirectory() && info.uid === uid && (info.mode & 0o077) === 0;
}
