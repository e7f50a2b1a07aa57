/**
 * A Mayfly server with volunteers for a benchmark: real processes, real tabs; submits a program and returns a file that
 * it wrote.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from '@playwright/test';
import type { JobOptions, JobView, NodeView } from '@mayfly/wire';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const CLI = join(ROOT, 'apps', 'cli', 'dist', 'mayfly.js');
export const TOKEN = 'benchmark-token-benchmark-token';

export async function launchBrowser(): Promise<Browser> {
  const executablePath =
    process.env['MAYFLY_BROWSER'] ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((p) => existsSync(p));
  return chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** First line of a child's standard output that `pick` accepts. */
export async function lineOf(
  child: ChildProcess,
  pick: (line: string) => string | undefined,
  limitMs = 180_000,
): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no answer from a child process')), limitMs);
    child.once('exit', (code) => reject(new Error(`a child process ended with code ${code}`)));
    lines.on('line', (l) => {
      const found = pick(l);
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

/** Processor time of processes so far, ms, by their ids. */
export type Times = ReadonlyMap<number, number>;

/**
 * Of the process and of those that it started: a volunteer's jobs run in processes of their own. utime and stime in
 * ticks of 10 ms: fields 14 and 15, counted behind the name in brackets.
 */
export async function processorTimes(pid: number): Promise<Map<number, number>> {
  const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const children = (await read(`task/${pid}/children`)).split(' ').filter(Boolean).map(Number);
  const stat = await read('stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const below = await Promise.all(children.map(processorTimes));
  const own = fields.length > 12 ? 10 * (Number(fields[11]) + Number(fields[12])) : 0;
  return new Map([[pid, own] as const, ...below.flatMap((times) => [...times])]);
}

/** ms between two looks, of the processes that are there at the second: those of the job before may go meanwhile. */
export const spent = (before: Times, after: Times): number =>
  [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);

async function readExample(dir: string): Promise<{ sources: Record<string, string>; files: Record<string, string> }> {
  const about = JSON.parse(await readFile(join(dir, 'example.json'), 'utf8')) as { files?: string[] };
  const sources: Record<string, string> = {};
  for (const f of await readdir(dir)) if (f.endsWith('.ts')) sources[f] = await readFile(join(dir, f), 'utf8');
  const files: Record<string, string> = {};
  for (const f of about.files ?? []) files[f] = (await readFile(join(dir, f))).toString('base64');
  return { sources, files };
}

const RUNNING = new Set<MayflySide>();

/**
 * What a command does. Ctrl-C and SIGTERM end all servers and nodes that it has started, remove their data, and end the
 * process.
 */
export function untilSignal<T>(work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let ending = false;
    const end = (code: number): void => {
      if (ending) return;
      ending = true;
      // What `work` then misses is no error of its own.
      void Promise.allSettled([...RUNNING].map((side) => side.stop())).then(() => process.exit(code));
    };
    process.on('SIGINT', () => end(130));
    process.on('SIGTERM', () => end(143));
    work().then(
      (result) => ending || resolve(result),
      (error: Error) => ending || reject(error),
    );
  });
}

/** What is measured under the log is the log: its ranks form no teams unless a benchmark asks for them. */
const lone = (options: JobOptions): JobOptions =>
  (options.protocol ?? 'pessimistic') === 'pessimistic' ? { team: 1, ...options } : options;

export class MayflySide {
  private readonly children: ChildProcess[] = [];
  private browser: Browser | undefined;
  private volunteers = 0;
  /** Volunteers started so far: their names. */
  private named = 0;
  url = '';

  private constructor(private readonly dataDir: string) {}

  static async start(args: string[] = []): Promise<MayflySide> {
    const side = new MayflySide(await mkdtemp(join(tmpdir(), 'mayfly-bench-')));
    RUNNING.add(side);
    const server = side.child([
      'server',
      '--port',
      '0',
      '--data-dir',
      side.dataDir,
      '--token',
      TOKEN,
      '--log',
      'error',
      ...args,
    ]);
    // One that stands by names its port only.
    side.url = await lineOf(server, (l) => {
      const [, url, port] = /listening on (http:\S+)|standing by on port (\d+)/.exec(l) ?? [];
      return url ?? (port && `http://127.0.0.1:${port}`);
    });
    return side;
  }

  /** Of the server. */
  get pid(): number {
    return this.children[0]!.pid!;
  }

  private child(args: string[]): ChildProcess {
    const c = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.children.push(c);
    return c;
  }

  private nextName(kind: string): string {
    this.volunteers++;
    return `${kind}${this.named++}`;
  }

  /** Starts volunteers as processes of their own, and waits until they are all here. */
  async headless(nodes: number, slots: number, args: readonly string[] = []): Promise<ChildProcess[]> {
    const started = Array.from({ length: nodes }, () =>
      this.child([
        'volunteer',
        this.url,
        '--slots',
        String(slots),
        '--name',
        this.nextName('bench'),
        '--allow-typescript',
        '--nice',
        '0',
        ...args,
      ]),
    );
    await this.nodesHere();
    return started;
  }

  async tabs(nodes: number, slots: number): Promise<Page[]> {
    this.browser ??= await launchBrowser();
    const pages: Page[] = [];
    for (let i = 0; i < nodes; i++) {
      const page = await (await this.browser.newContext()).newPage();
      await page.goto(`${this.url}/volunteer?start&slots=${slots}&name=${this.nextName('tab')}`);
      pages.push(page);
    }
    await this.nodesHere();
    return pages;
  }

  /** A volunteer that the benchmark took away. */
  left(count = 1): void {
    this.volunteers -= count;
  }

  /** Ends these volunteers, and waits until the server knows. */
  async leave(nodes: readonly ChildProcess[]): Promise<void> {
    for (const node of nodes) {
      const gone = new Promise((r) => node.once('exit', r));
      node.kill('SIGTERM');
      await gone;
    }
    this.left(nodes.length);
    while ((await this.get<NodeView[]>('/api/nodes')).filter((n) => n.state === 'here').length > this.volunteers)
      await sleep(50);
  }

  private async nodesHere(): Promise<void> {
    for (let i = 0; i < 600; i++) {
      const nodes = await this.get<NodeView[]>('/api/nodes');
      if (nodes.filter((n) => n.state === 'here').length >= this.volunteers) return;
      await sleep(100);
    }
    throw new Error('the volunteers did not connect');
  }

  private async request(method: string, path: string, body?: BodyInit, type = 'application/json'): Promise<Response> {
    const r = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body }),
    });
    if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
    return r;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.request('GET', path)).json()) as T;
  }

  async text(path: string): Promise<string> {
    return (await this.request('GET', path)).text();
  }

  /** SHA-256 of what a path answers. */
  async digest(path: string): Promise<string> {
    const bytes = new Uint8Array(await (await this.request('GET', path)).arrayBuffer());
    return createHash('sha256').update(bytes).digest('hex');
  }

  async post(path: string, body?: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.request('POST', path, body, 'application/octet-stream');
  }

  /** Submits benchmarks/programs/<name>.ts, or the example of that name with its files. Returns the job's id. */
  async submit(name: string, size: number, args: string[] = [], options: JobOptions = {}): Promise<string> {
    const example = join(ROOT, 'examples', name);
    const program = existsSync(example)
      ? await readExample(example)
      : {
          sources: { 'main.ts': await readFile(join(ROOT, 'benchmarks', 'programs', `${name}.ts`), 'utf8') },
          files: {},
        };
    const body = JSON.stringify({
      name,
      program: { language: 'typescript', entry: 'main.ts', sources: program.sources },
      files: program.files,
      size,
      args,
      options: lone(options),
    });
    return ((await (await this.request('POST', '/api/jobs', body)).json()) as { id: string }).id;
  }

  /** Submits a script of one file. Returns the job's id. */
  async submitText(name: string, source: string, size: number): Promise<string> {
    const body = JSON.stringify({
      name,
      program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': source } },
      size,
      options: lone({}),
    });
    return ((await (await this.request('POST', '/api/jobs', body)).json()) as { id: string }).id;
  }

  /** Submits benchmarks/programs/<name>.c. */
  async submitC(name: string, size: number, args: string[] = [], options: JobOptions = {}): Promise<string> {
    const file = `${name}.c`;
    return this.submitSources(
      {
        name,
        language: 'c',
        sources: { [file]: await readFile(join(ROOT, 'benchmarks', 'programs', file), 'utf8') },
        flags: ['-O2'],
      },
      size,
      args,
      options,
    );
  }

  /** Submits an example in C or C++. Returns the job's id. */
  async submitExample(name: string, size: number, args: string[], options: JobOptions): Promise<string> {
    const examples = join(ROOT, 'examples');
    const about = JSON.parse(await readFile(join(examples, name, 'example.json'), 'utf8')) as {
      language: 'c' | 'c++';
      sources: string[];
      flags: string[];
    };
    const sources: Record<string, string> = {};
    for (const file of about.sources.map((s) => relative(examples, join(examples, name, s))))
      sources[file] = await readFile(join(examples, file), 'utf8');
    const { language, flags } = about;
    return this.submitSources(
      { name: `${name} ${args[0] ?? ''}`.trim(), language, flags, sources },
      size,
      args,
      options,
    );
  }

  /** Submits sources of C or C++. Returns the job's id. */
  async submitSources(
    { name, ...program }: { name: string; language: 'c' | 'c++'; sources: Record<string, string>; flags: string[] },
    size: number,
    args: string[] = [],
    options: JobOptions = {},
  ): Promise<string> {
    const body = JSON.stringify({ name, program, size, args, options: lone(options) });
    return ((await (await this.request('POST', '/api/jobs', body)).json()) as { id: string }).id;
  }

  job(id: string): Promise<JobView> {
    return this.get<JobView>(`/api/jobs/${id}`);
  }

  /** Polls the job. @throws when it ends without `holds`, and after `limitMs` */
  async until(
    id: string,
    what: string,
    holds: (j: JobView) => boolean | Promise<boolean>,
    everyMs = 20,
    limitMs = 300_000,
  ): Promise<JobView> {
    for (const end = performance.now() + limitMs; performance.now() < end; await sleep(everyMs)) {
      const j = await this.job(id);
      if (await holds(j)) return j;
      if (['done', 'failed', 'cancelled'].includes(j.state))
        throw new Error(`${j.name} ended before ${what}: ${JSON.stringify(j.error ?? j.state)}`);
    }
    throw new Error(`job ${id}: not ${what} within ${limitMs / 60_000} minutes`);
  }

  async done(id: string): Promise<JobView> {
    return this.until(id, 'its answer', (j) => j.state === 'done');
  }

  /** Runs a program to its end and returns the text of a result file. */
  async run(name: string, size: number, args: string[], file: string, options: JobOptions = {}): Promise<string> {
    const id = await this.submit(name, size, args, options);
    await this.done(id);
    return this.text(`/api/jobs/${id}/files/${file}`);
  }

  /**
   * Processor time so far of the server and of the headless nodes that live, with the processes that they started
   * (Linux; elsewhere 0). Other programs on the machine take the clock's time, hardly this.
   */
  async processor(): Promise<{ server: Times; nodes: Times }> {
    const living = this.children.filter((c) => c.exitCode === null && c.signalCode === null);
    const [server = new Map<number, number>(), ...nodes] = await Promise.all(living.map((c) => processorTimes(c.pid!)));
    return { server, nodes: new Map(nodes.flatMap((times) => [...times])) };
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    for (const c of this.children.reverse()) {
      if (c.exitCode !== null || c.signalCode !== null) continue;
      const gone = new Promise((r) => c.once('exit', r));
      c.kill('SIGTERM');
      const late = setTimeout(() => c.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(late);
    }
    await rm(this.dataDir, { recursive: true, force: true });
    RUNNING.delete(this);
  }
}
