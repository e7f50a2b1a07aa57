/**
 * The token of `mayfly start`, kept in the data directory (`start-token`, readable by its owner alone), so that open
 * dashboards and bookmarks live through a restart. A file that holds no token, or that others may read, counts for
 * nothing: a new token takes its place. `mayfly server` keeps none.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const TOKEN = /^[A-Za-z0-9_-]{24}$/;

export async function startToken(dataDir: string): Promise<string> {
  const path = join(dataDir, 'start-token');
  const kept = await read(path);
  if (kept !== undefined) return kept;
  const token = randomBytes(18).toString('base64url');
  await mkdir(dataDir, { recursive: true });
  const fresh = `${path}.new`;
  await writeFile(fresh, `${token}\n`, { mode: 0o600 });
  // The mode counts for a file that is made, and one of an interrupted start may be there.
  const file = await open(fresh, 'r+');
  await file.chmod(0o600);
  await file.sync();
  await file.close();
  await rename(fresh, path);
  return token;
}

async function read(path: string): Promise<string | undefined> {
  try {
    const { mode, size } = await stat(path);
    if (size > 100 || (process.platform !== 'win32' && (mode & 0o077) !== 0)) return undefined;
    const text = (await readFile(path, 'utf8')).trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
