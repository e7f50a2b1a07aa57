/**
 * Damage to every kind of file of a data directory, in every way: a real server and `mayfly check` on it. Nothing ends
 * by a signal, nothing hangs, and nothing that a user can see changes in silence: the check names the file, the server
 * refuses with a sentence, or the job says why it failed.
 *
 * `npm run damage` (MAYFLY_DAMAGE=all) takes each file in each way, the server in a process of its own, and the job in
 * the middle goes on to its end on new nodes. Else a share: every other kind of file in a few ways, by the check and by
 * a server in this process.
 */
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { patient } from '@mayfly/testing';
import { checkDataDirectory } from '@mayfly/server';
import { LOCK_FOLDER } from '@mayfly/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, until } from './harness.ts';
import { caller, filesBelow, finishMiddle, makeFixture, viewOf, type Fixture } from './damage/fixture.ts';
import { kindOf, WAYS } from './damage/ways.ts';
import { serverFile } from './server-process.ts';

const ALL = process.env.MAYFLY_DAMAGE !== undefined;
const ONLY = process.env.MAYFLY_DAMAGE === 'all' ? undefined : process.env.MAYFLY_DAMAGE;
const NOBODY = 65534;
const root = mkdtempSync(join(tmpdir(), 'mayfly-damage-'));
// For a server of another user.
chmodSync(root, 0o755);
const original = join(root, 'data');
let fixture: Fixture;
let sound: Record<string, unknown>;
/** A file of each kind. */
const kinds = new Map<string, string>();

beforeAll(async () => {
  fixture = await makeFixture(original);
  for (const file of filesBelow(original)) {
    const kind = kindOf(file, fixture);
    // Of several the longest one.
    if (
      kind !== undefined &&
      (!kinds.has(kind) || statSync(join(original, file)).size > statSync(join(original, kinds.get(kind)!)).size)
    )
      kinds.set(kind, file);
  }
  const server = await startServer({ dataDir: copyOf() });
  sound = await viewOf(caller(server.localUrl), fixture);
  await server.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let copies = 0;
function copyOf(): string {
  const dir = join(root, `copy-${copies++}`);
  // Without the claim of the server that was killed: that of a copy would be watched for seconds at every start.
  cpSync(original, dir, { recursive: true, filter: (from) => from !== join(original, LOCK_FOLDER) });
  return dir;
}

interface Outcome {
  check: string;
  server: string;
  /** What a user sees that is not as it was. */
  differs: string[];
  verdict: 'sound' | 'recovered' | 'reported' | 'SILENT' | 'SIGNAL' | 'HANG';
}

function differences(seen: Record<string, unknown>): string[] {
  return Object.keys(sound).filter((k) => JSON.stringify(seen[k]) !== JSON.stringify(sound[k]));
}
/** A difference that says itself what is wrong is no silence. */
const speaks = (value: unknown): boolean =>
  /ERROR |DAMAGED_DATA|DAMAGED_LOG|LOST_LOG|LOST_CHECKPOINTS|OUT_OF_SEQUENCE|MPI_ERROR/.test(
    JSON.stringify(value) ?? '',
  );

describe('the undamaged directory', () => {
  it('is healthy, and has all kinds of files', async () => {
    // Of a job that runs, files.index is there only after a sync: the journal knows the files.
    expect([...kinds.keys()].filter((k) => k !== 'running: out/files.index').sort()).toMatchInlineSnapshot(`
      [
        "ended: final.json",
        "ended: history.bin",
        "ended: in/<hash>",
        "ended: out/<n>.index",
        "ended: out/<n>.stderr",
        "ended: out/<n>.stdout",
        "ended: out/files.index",
        "ended: out/files/out/result-<n>.txt",
        "ended: out/journal",
        "ended: program.js",
        "ended: program.js.map",
        "ended: record.json",
        "ended: run.json",
        "ended: stdin",
        "ended: submission.json",
        "images/manifests/*.json",
        "images/packs/*.pack",
        "log of arrivals",
        "log of determinants",
        "log of messages to the world",
        "registry *.log",
        "registry *.twin",
        "running: out/<n>.index",
        "running: out/<n>.stdout",
        "running: out/files/sums-<n>.txt",
        "running: out/journal",
        "running: program.js",
        "running: program.js.map",
        "running: record.json",
        "running: stdin",
        "running: submission.json",
        "tls/cert.pem",
        "tls/key.pem",
        "waiting: in/<hash>",
        "waiting: program.js",
        "waiting: program.js.map",
        "waiting: record.json",
        "waiting: stdin",
        "waiting: submission.json",
      ]
    `);
    expect((await checkDataDirectory(copyOf())).problems.filter((p) => !p.harmless)).toEqual([]);
    expect(sound.jobs).toHaveLength(3);
    expect(JSON.stringify(sound)).not.toMatch(/ERROR/);
  });
});

describe.runIf(!ALL)('a share', () => {
  const names = Object.keys(WAYS).filter((w) => w !== 'no permission');
  it('of the damages, one for every other kind of file: what changes is reported', async () => {
    for (const [i, [kind, file]] of [...kinds].entries()) {
      if (i % 2 === 1) continue;
      const way = names[(i * 5) % names.length]!;
      const dir = copyOf();
      if (!WAYS[way]!(join(dir, file))) continue;
      const { problems } = await checkDataDirectory(dir);
      const named = problems.some(
        (p) => p.file === file || file.startsWith(`${p.file}/`) || p.file.startsWith(file.replace(/[^/]*$/, '')),
      );
      let seen: Record<string, unknown> | undefined;
      try {
        const server = await startServer({ dataDir: dir });
        seen = await viewOf(caller(server.localUrl), fixture);
        await server.close();
      } catch (error) {
        expect((error as Error).message, `${kind}: ${way}`).toMatch(/\w/);
      }
      const silent = seen && !named ? differences(seen).filter((k) => !speaks(seen[k])) : [];
      expect(silent, `${kind}: ${way}`).toEqual([]);
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe.runIf(ALL)('the campaign', () => {
  it(
    'every kind of file in every way',
    async () => {
      const rows: [string, string, Outcome][] = [];
      for (const [kind, file] of kinds)
        for (const way of Object.keys(WAYS)) {
          if (ONLY !== undefined && !`${kind}: ${way}`.includes(ONLY)) continue;
          const dir = copyOf();
          if (process.getuid?.() !== 0 && way === 'no permission') continue;
          if (!WAYS[way]!(join(dir, file))) continue;
          const outcome = await judge(dir, kind, way === 'no permission');
          rows.push([kind, way, outcome]);
          process.stdout.write(
            `${outcome.verdict.padEnd(10)} ${kind.padEnd(32)} ${way.padEnd(24)} check: ` +
              `${outcome.check}\n${''.padEnd(68)} server: ` +
              `${outcome.server}${outcome.differs.length > 0 ? `; differs: ${outcome.differs.join(', ')}` : ''}\n`,
          );
          rmSync(dir, { recursive: true, force: true });
        }
      const count = (v: string): number => rows.filter(([, , o]) => o.verdict === v).length;
      process.stdout.write(
        `\n${rows.length} damages: ` +
          `${['sound', 'recovered', 'reported', 'SILENT', 'SIGNAL', 'HANG'].map((v) => `${count(v)} ${v}`).join(', ')}\n`,
      );
      expect(
        rows.filter(([, , o]) => /[A-Z]{4}/.test(o.verdict)).map(([k, w, o]) => `${k}: ${w}: ${o.verdict}`),
      ).toEqual([]);
    },
    patient(7_200_000),
  );
});

async function judge(dir: string, kind: string, asNobody: boolean): Promise<Outcome> {
  if (asNobody)
    for (const f of ['', ...(readdirSync(dir, { recursive: true }) as string[])])
      chownSync(join(dir, f), NOBODY, NOBODY);
  const user = asNobody ? { uid: NOBODY, gid: NOBODY } : {};
  const check = await run(['check', dir], 180_000, user);
  const checked = check.signal
    ? `SIGNAL ${check.signal}`
    : `${check.code}: ${check.text.split('\n')[0]!.slice(0, 150)}`;
  const out: Outcome = { check: checked, server: '', differs: [], verdict: 'sound' };
  const running = /running|log of|images|registry/.test(kind);
  const server = await run(['serve', dir, ...(kind.startsWith('tls/') ? ['tls'] : [])], 180_000, user);
  if (check.signal || server.signal)
    return {
      ...out,
      server: String(server.signal),
      verdict: check.signal === 'SIGKILL' || server.signal === 'SIGKILL' ? 'HANG' : 'SIGNAL',
    };
  if (server.url === undefined)
    return {
      ...out,
      server: `refused: ${server.text.trim().split('\n').at(-1)!.slice(0, 200)}`,
      verdict: /\w/.test(server.text) ? 'reported' : 'SILENT',
    };
  try {
    const insecure = kind.startsWith('tls/');
    const seen = insecure ? sound : await viewOf(caller(server.url), fixture);
    out.differs = differences(seen);
    let end = 'started';
    if (running && !insecure) end = `started; the job in the middle: ${await finishMiddle(server.url, fixture)}`;
    if (insecure && (await fingerprintOf(server)) !== (await soundFingerprint())) out.differs.push('certificate');
    out.server = end.slice(0, 250);
    const said = check.code === 1;
    const warned = /damage in the data directory|self-signed certificate/.test(server.log());
    const quiet = out.differs.filter((k) => !speaks(seen[k]));
    if (/WRONG/.test(end) && !said) out.verdict = 'SILENT';
    else if (/hangs/.test(end)) out.verdict = said ? 'reported' : 'HANG';
    else if (quiet.length > 0 && !said && !warned) out.verdict = 'SILENT';
    else if (quiet.length > 0 || out.differs.length > 0 || /failed|not there|WRONG/.test(end)) out.verdict = 'reported';
    else out.verdict = check.code === 0 ? 'sound' : 'recovered';
    return out;
  } finally {
    await server.stop();
  }
}

let fingerprint: string | undefined;
/** The log has it a moment after the address. */
async function fingerprintOf(server: Ran): Promise<string | undefined> {
  const found = (): string | undefined => /"fingerprint":"([^"]+)"/.exec(server.log())?.[1];
  await until('the fingerprint', () => found() !== undefined, { limitMs: 10_000 }).catch(() => undefined);
  return found();
}

async function soundFingerprint(): Promise<string | undefined> {
  if (fingerprint === undefined) {
    const s = await run(['serve', copyOf(), 'tls'], 180_000, {});
    fingerprint = await fingerprintOf(s);
    await s.stop();
  }
  return fingerprint;
}

interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  text: string;
  url: string | undefined;
  log(): string;
  stop(): Promise<void>;
}

/** Runs the server or the check in a process of its own, until it listens or ends. */
async function run(args: string[], ms: number, user: { uid?: number; gid?: number }): Promise<Ran> {
  const child = spawn(process.execPath, [await serverFile(), ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...user });
  let text = '';
  child.stdout.on('data', (d: Buffer) => (text += d.toString()));
  child.stderr.on('data', (d: Buffer) => (text += d.toString()));
  const over = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', () => {
      const m = /^listening on (\S+)$/m.exec(text);
      if (m) resolve(m[1]);
    });
    void over.then(() => resolve(undefined));
  });
  clearTimeout(timer);
  return {
    code: child.exitCode,
    signal: child.signalCode,
    text,
    url,
    log: () => text,
    async stop() {
      child.kill('SIGKILL');
      await over;
    },
  };
}
