/**
 * The process of a job: what can be reached from inside, what its daemon believes, how it ends. Real processes;
 * bubblewrap where it works.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHeadlessNode, workerFolder } from '../src/headless/index.ts';
import { ATTEMPTS, type Attempt } from '../src/sandbox/attempts.ts';
import { findProgram } from '../src/sandbox/bubblewrap.ts';
import { checkSandbox, probe } from '../src/sandbox/try-sandbox.ts';
import { openFrameProcess, type ProcessFrame } from '../src/sandbox/frame-process.ts';
import { chooseSandbox, deathOf, spawnChild, type Sandbox, type Spawned } from '../src/sandbox/launch.ts';
import { treeOf } from '../src/sandbox/memory.ts';
import { Bench, HOLD } from './harness.ts';

const folder = workerFolder();
const plain = await chooseSandbox('process', folder);
const wrapped =
  process.platform === 'linux' && findProgram('bwrap')
    ? await chooseSandbox('bwrap', folder).catch((e: Error) => e.message)
    : 'bubblewrap is not installed';
if (typeof wrapped === 'string') console.warn(`tests of bubblewrap are skipped: ${wrapped}`);
const kinds: [string, Sandbox][] = [
  ['process', plain],
  ...(typeof wrapped === 'string' ? [] : ([['bwrap', wrapped]] as [string, Sandbox][])),
];
const linux = process.platform === 'linux';
const alive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

describe('from inside the process of a job', () => {
  const through = (of: readonly Attempt[], attempts: Record<Attempt, string | null>): Attempt[] =>
    of.filter((name) => attempts[name] === null);
  /** Node 25 has a permission for the network, earlier ones have none. */
  const network: Attempt[] = process.allowedNodeEnvironmentFlags.has('--allow-net')
    ? []
    : ['connect to another address', 'listen for connections'];

  it("Node's permission model leaves no file, program, thread, addon, inspector or binding; disarmed, no signal", async () => {
    const { attempts } = await probe(plain, true);
    expect(through(ATTEMPTS, attempts)).toEqual(network);
  });

  it('its attempts are real: without the permission model and bubblewrap they succeed', async () => {
    const { attempts } = await probe(
      { ...plain, layers: { ...plain.layers, permission: false, dropRoot: false } },
      false,
    );
    const denied = ATTEMPTS.filter((name) => attempts[name] !== null);
    // sqlite is not in each Node; the environment is empty without any permission.
    expect(denied.filter((name) => name !== 'open a database file')).toEqual(
      ["see the volunteer's environment", ...(linux ? [] : ['see other processes'])].sort(),
    );
  });

  it.skipIf(typeof wrapped === 'string')('bubblewrap alone leaves no file, process, network, program', async () => {
    const sandbox = wrapped as Sandbox;
    const { attempts, facts } = await probe({ ...sandbox, layers: { ...sandbox.layers, permission: false } }, false);
    expect(
      through(ATTEMPTS, attempts).filter(
        (name) =>
          ![
            'start a thread without limits',
            'load an addon',
            "get Node's internals",
            'open the inspector',
            'use WASI',
          ].includes(name),
      ),
    ).toEqual([]);
    expect(facts).toMatchObject({ capabilities: false, seccomp: true, nice: 10 });
    expect(facts!.namespaces).toEqual(expect.arrayContaining(['user', 'pid', 'mnt', 'ipc', 'uts', 'net']));
    if (process.getuid?.() === 0) expect(facts!.uid).toBe(65534);
  });

  it('the check finds it tight with bubblewrap, and says what is missing without', async () => {
    const auto = await checkSandbox('auto', folder);
    expect(auto.tight).toBe(typeof wrapped !== 'string' || network.length === 0);
    const less = await checkSandbox('process', folder);
    expect(less.tight).toBe(network.length === 0);
    expect(less.layers.find((l) => l.name === 'bubblewrap')).toMatchObject({ there: false });
    expect((await checkSandbox('none', folder)).tight).toBe(false);
    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      await expect(chooseSandbox('bwrap', folder)).rejects.toThrow(linux ? /apt install bubblewrap/ : /on Linux only/);
      expect((await chooseSandbox('auto', folder)).layers.kind).toBe('process');
    } finally {
      process.env['PATH'] = path;
    }
  });
});

describe.skipIf(!linux)('the process of a job has', () => {
  it.each(kinds)('no descriptors of the volunteer, and its threads a lower priority (%s)', async (_name, sandbox) => {
    const spawned = await spawnChild(sandbox);
    try {
      await new Promise((resolve) => spawned.pipe.once('data', resolve)); // it runs
      const node = treeOf(spawned.child.pid!)!.at(-1)!;
      const open = readdirSync(`/proc/${node}/fd`).map((fd) => readlinkSync(`/proc/${node}/fd/${fd}`));
      expect(open.filter((target) => !/^(\/dev\/null|(socket|pipe|anon_inode):.*)$/.test(target))).toEqual([]);
      const threads = readdirSync(`/proc/${node}/task`).map(Number);
      expect(threads.length).toBeGreaterThan(1);
      expect(threads.map((t) => getPriority(t))).toEqual(threads.map(() => 10));
      expect(
        readFileSync(`/proc/${node}/environ`, 'utf8')
          .split('\0')
          .filter((v) => v && !/^(PWD|NODE_CHANNEL_)/.test(v)),
      ).toEqual([]);
    } finally {
      spawned.child.kill('SIGKILL');
    }
  });
});

describe('a process that a program has taken over', () => {
  const made: string[] = [];
  afterAll(() => made.forEach((path) => rmSync(path, { recursive: true })));
  /** A process of a job whose code is this; what its frame dies of. */
  async function hostile(code: string): Promise<{ why: Promise<string>; frame: ProcessFrame; heard: unknown[] }> {
    const mine = mkdtempSync(join(process.cwd(), 'node_modules', '.mayfly-hostile-'));
    made.push(mine);
    writeFileSync(
      join(mine, 'frame.cjs'),
      `const net = require('net'); const pipe = new net.Socket({ fd: 4 });\nconst say = (m, body = ` +
        'Buffer.alloc(0)) => { const j = Buffer.from(JSON.stringify(m)), h = Buffer.alloc(8); ' +
        'h.writeUInt32LE(j.length); h.writeUInt32LE(body.length, 4); pipe.write(Buffer.concat([h, j, body])); ' +
        `};\nprocess.on('uncaughtException', () => {}); setInterval(() => {}, 1000);\n${code}`,
    );
    // Nothing is read but this file: of the permission model this is not a test.
    const frame = await openFrameProcess({
      sandbox: { ...plain, folder: mine, layers: { ...plain.layers, permission: false, dropRoot: false } },
      server: 'http://127.0.0.1:9',
      tls: { rejectUnauthorized: true, ca: undefined },
      faults: false,
      rankArguments: [],
      onGone: () => undefined,
    });
    const heard: unknown[] = [];
    frame.channel.onMessage((m) => heard.push(m));
    return { frame, heard, why: new Promise((resolve) => frame.onDeath(resolve)) };
  }

  it.each([
    ['announces a message of 4 GB', 'pipe.write(Buffer.alloc(8, 255));', /sent a message of 4294967295/],
    ['says what it cannot say', "say({ type: 'comm', message: { type: 'assign' } });", /invalid message/],
    ['answers a check that nobody asked for', "say({ type: 'probed', attempts: {} });", /without a request/],
    ['speaks on the channel of sockets', 'process.send({ id: 1 });', /channel for new connections/],
    [
      'floods the channel of sockets',
      "require('fs').writeSync(3, Buffer.alloc(100000, 65));",
      /channel for new connections/,
    ],
    [
      'hands over a socket of its own',
      "const s = net.createServer().listen(0, '127.0.0.1', () => process.send({}, s));",
      /channel for new connections/,
    ],
    ['ends', 'process.exit(7);', /ended with code 7/],
    ['is killed', "process.kill(process.pid, 'SIGKILL');", /killed \(SIGKILL\)/],
    // What V8 writes; to fill a heap takes seconds.
    [
      'runs out of heap',
      "require('fs').writeSync(2, 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out " +
        "of memory'); process.abort();",
      /out of memory/,
    ],
  ])('%s: is ended, with that reason', async (_name, code, reason) => {
    const { frame, why } = await hostile(code);
    expect(await why).toMatch(reason);
    if (linux) await expect.poll(() => alive(frame.pid)).toBe(false);
  });

  it('gets connections to addresses of the server only', async () => {
    const { frame, heard } = await hostile(
      `say({ type: 'connect', id: 5, to: '127.0.0.1:22' });
       pipe.on('data', (b) => { const m = /"type":"unreachable".*?}/.exec(b.toString()); if (m) say({ type: 'comm', message: { type: 'note', text: m[0] } }); });`,
    );
    await expect.poll(() => JSON.stringify(heard)).toContain('127.0.0.1:22 is not an address of the server');
    frame.close();
    if (linux) await expect.poll(() => alive(frame.pid)).toBe(false);
  });
});

describe('a process of a job that cannot be started', () => {
  it('is an error that says so', async () => {
    await expect(spawnChild({ ...plain, folder: join(folder, 'nowhere') })).rejects.toThrow(
      /cannot start a process for a job/,
    );
    expect(deathOf(137, null, '')).toContain('killed (SIGKILL)');
    expect(deathOf(1, null, 'bwrap: No permissions to create new namespace\n')).toContain(
      'No permissions to create new namespace',
    );
  });

  const prlimit = findProgram('prlimit');
  it.skipIf(!linux || !prlimit || process.getuid?.() !== 0)(
    'for want of processes or descriptors, too (EAGAIN, EMFILE)',
    async () => {
      // A shell that is there already: without descriptors none can be started to lift the limit again.
      const shell = spawn('/bin/sh', { stdio: ['pipe', 'pipe', 'inherit'] });
      const limit = async (what: string): Promise<void> => {
        const done = new Promise((resolve) => shell.stdout.once('data', resolve));
        shell.stdin.write(`${prlimit} --pid ${process.pid} ${what}; echo done\n`);
        await done;
      };
      const asNobody: Sandbox = { ...plain, layers: { ...plain.layers, dropRoot: true, nice: 0 } };
      let first: Spawned | undefined;
      const soft = (what: string): string =>
        spawnSync(prlimit!, ['--pid', String(process.pid), what, '--output', 'SOFT', '--noheadings', '--raw'], {
          encoding: 'utf8',
        }).stdout.trim();
      const [files, processes] = [soft('--nofile'), soft('--nproc')];
      try {
        // One process of that user is there, and may be.
        first = await spawnChild(asNobody);
        await limit('--nproc=0:');
        await expect(spawnChild(asNobody).then(() => 'started')).rejects.toThrow(/too many processes.*EAGAIN/);
        await limit(`--nproc=${processes}:`);
        await limit(`--nofile=${readdirSync('/proc/self/fd').length + 2}:`);
        await expect(spawnChild(plain).then(() => 'started')).rejects.toThrow(/too many files open/);
      } finally {
        await limit(`--nproc=${processes}:`);
        await limit(`--nofile=${files}:`);
        first?.child.kill('SIGKILL');
        shell.kill();
      }
    },
  );
});

describe('headless nodes with processes', () => {
  const bench = new Bench();
  beforeAll(() => bench.start());
  afterEach(() => bench.clear());
  afterAll(() => bench.close());
  const node = async (
    kind: string,
    more: { slots?: number; name?: string; memoryBytes?: number } = {},
  ): Promise<void> => {
    const { slots = 2, name = kind } = more;
    bench.nodes.push(
      await startHeadlessNode({
        server: bench.server.url,
        slots,
        name,
        allowTypeScript: true,
        sandbox: kind as 'process',
        onNote: (text) => bench.notes.push(`${name}: ${text}`),
        ...(more.memoryBytes ? { memoryBytes: more.memoryBytes } : {}),
      }),
    );
  };
  /** Job processes of this one; those of bubblewrap lie below it. */
  const processes = (): number[] =>
    treeOf(process.pid)!.filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        .split('\0')
        .some((a) => a.endsWith('/frame.cjs')),
    );

  it.each(kinds)('run ranks, files and images in a process per job, and leave none behind (%s)', async (kind) => {
    await node(kind);
    const id = await bench.submit(
      `import { COMM_WORLD as comm, SUM, checkpoint, files, stdin } from 'mayfly';
       const state = { sum: 0 }; checkpoint.register('state', state);
       if (checkpoint.open().restarted) checkpoint.rollback('state');
       else {
         const a = new Float64Array(300_000).fill(comm.rank + 1), b = new Float64Array(300_000);
         comm.sendrecv(a, 1 - comm.rank, 1, b, 1 - comm.rank, 1);
         state.sum = b[299_999]!;
         checkpoint.here(true);
       }
       ${HOLD}
       console.log(files.readText('in.txt'), comm.allreduce(state.sum, SUM));`,
      2,
      { files: { 'in.txt': 'file text' }, options: { interactive: true } },
    );
    await bench.until(id, (j) => j.endedAt !== undefined || j.tasks.every((t) => t.images >= 1));
    const during = linux ? processes() : [];
    if (linux) {
      for (const pid of during) expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('500\n');
      if (existsSync('/proc/self/autogroup'))
        expect(readFileSync(`/proc/${during.at(-1)}/autogroup`, 'utf8')).toMatch(/nice 10\n/);
      expect(during.length).toBeGreaterThan(0);
      // The process of the job dies as if it had run out of memory: both ranks go on from their images.
      process.kill(during.at(-1)!, 'SIGKILL');
      await bench.recovered(id, 2);
      expect(bench.notes.join('\n')).toMatch(/crashed: the job's process was killed \(SIGKILL\)/);
    }
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(Array(2).fill('file text 3\n'));
    await bench.clear();
    if (linux) await expect.poll(processes).toEqual([]);
  });

  it('end the rank whose arrays outgrow the machine, by the memory of the processes, and no other', async () => {
    await node('process', { name: 'small', memoryBytes: process.memoryUsage().rss + 900 * 1048576 });
    const modest = await bench.submit(`import { COMM_WORLD as comm, stdin } from 'mayfly'; ${HOLD}`, 1, {
      options: { interactive: true },
    });
    await bench.until(modest, (j) => j.tasks[0]!.activity?.state === 'waiting');
    const greedy = await bench.ended(
      await bench.submit(
        `const all: Float64Array[] = []; for (;;) all.push(new Float64Array(4_000_000).fill(1.5));`,
        1,
      ),
    );
    expect(greedy.job.error?.message).toContain('out of memory');
    await bench.input(modest);
    expect((await bench.ended(modest)).job.error).toBeUndefined();
    expect((await bench.view(modest)).tasks[0]!.incarnation).toBe(0);
  });

  it('reach a server over TLS whose certificate they trust', async () => {
    const secure = new Bench({ tls: 'selfsigned', tlsNames: ['127.0.0.1'] });
    await secure.start();
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'; // as --insecure does
    try {
      expect(secure.server.url).toMatch(/^https:/);
      secure.nodes.push(
        await startHeadlessNode({
          server: secure.server.url,
          slots: 1,
          name: 'secure',
          allowTypeScript: true,
          sandbox: 'process',
        }),
      );
      const { job, stdout } = await secure.ended(
        await secure.submit(`import { files } from 'mayfly'; console.log(files.readText('a.txt'));`, 1, {
          files: { 'a.txt': 'over TLS' },
        }),
      );
      expect(job.error).toBeUndefined();
      expect(stdout).toEqual(['over TLS\n']);
      await Promise.all(secure.nodes.splice(0).map((n) => n.close()));
    } finally {
      await secure.close();
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});
