/** A Mayfly server with volunteers for a benchmark: real processes, real tabs; submits a program and returns a file that it wrote. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser } from '@playwright/test';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const CLI = join(ROOT, 'apps', 'cli', 'dist', 'mayfly.js');
const TOKEN = 'benchmark-token-benchmark-token';

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['MAYFLY_BROWSER'] ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((p) => existsSync(p));
  return chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** First line of a child's standard output that `pick` accepts. */
export async function lineOf(child: ChildProcess, pick: (line: string) => string | undefined, limitMs = 30_000): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no answer from a child process')), limitMs);
    child.once('exit', (code) => reject(new Error(`a child process ended with ${code}`)));
    lines.on('line', (l) => {
      const found = pick(l);
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

export class MayflySide {
  private readonly children: ChildProcess[] = [];
  private browser: Browser | undefined;
  url = '';

  private constructor(private readonly dataDir: string) {}

  static async start(args: string[] = []): Promise<MayflySide> {
    const side = new MayflySide(await mkdtemp(join(tmpdir(), 'mayfly-bench-')));
    const server = side.child(['server', '--port', '0', '--data-dir', side.dataDir, '--token', TOKEN, ...args]);
    side.url = await lineOf(server, (l) => /listening on (http:\S+)/.exec(l)?.[1]);
    return side;
  }

  private child(args: string[]): ChildProcess {
    const c = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.children.push(c);
    return c;
  }

  async headless(nodes: number, slots: number): Promise<void> {
    for (let i = 0; i < nodes; i++) this.child(['volunteer', this.url, '--slots', String(slots), '--name', `bench${i}`]);
    await this.nodesHere(nodes);
  }

  async tabs(nodes: number, slots: number): Promise<void> {
    this.browser ??= await launchBrowser();
    for (let i = 0; i < nodes; i++) {
      const page = await (await this.browser.newContext()).newPage();
      await page.goto(`${this.url}/volunteer?start&slots=${slots}&name=tab${i}`);
    }
    await this.nodesHere(nodes);
  }

  private async nodesHere(count: number): Promise<void> {
    for (let i = 0; i < 300; i++) {
      const nodes = (await this.get('/api/nodes')) as { state: string }[];
      if (nodes.filter((n) => n.state === 'here').length >= count) return;
      await new Promise((r) => setTimeout(r, 100));
    }
    throw new Error('the volunteers did not come');
  }

  private async get(path: string): Promise<unknown> {
    const r = await fetch(this.url + path, { headers: { authorization: `Bearer ${TOKEN}` } });
    if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
    return path.includes('/files/') ? r.text() : r.json();
  }

  /** Runs benchmarks/programs/<name>.ts to its end and returns the text of the result file. */
  async run(name: string, size: number, args: string[], file: string, options: object = {}): Promise<string> {
    const source = await readFile(join(ROOT, 'benchmarks', 'programs', `${name}.ts`), 'utf8');
    const r = await fetch(`${this.url}/api/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': source } }, size, args, options }),
    });
    const job = (await r.json()) as { id: string; message?: string };
    if (!r.ok) throw new Error(JSON.stringify(job));
    for (let i = 0; i < 3000; i++) {
      const j = (await this.get(`/api/jobs/${job.id}`)) as { state: string; error?: unknown };
      if (j.state === 'done') return (await this.get(`/api/jobs/${job.id}/files/${file}`)) as string;
      if (j.state === 'failed' || j.state === 'cancelled') throw new Error(`${name} ended: ${JSON.stringify(j.error)}`);
      await new Promise((x) => setTimeout(x, 100));
    }
    throw new Error(`${name} did not end`);
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    for (const c of this.children.reverse()) {
      if (c.exitCode !== null) continue;
      const gone = new Promise((r) => c.once('exit', r));
      c.kill('SIGTERM');
      const late = setTimeout(() => c.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(late);
    }
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
