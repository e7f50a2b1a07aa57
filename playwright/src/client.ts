/** The REST client of the tests: submits examples and programs, waits, collects a job's whole answer. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { patient } from '@mayfly/testing';
import type { JobOptions, JobSubmission, JobView, NodeView } from '@mayfly/wire';
import { ROOT, type Served } from './server.ts';

export interface Program {
  name: string;
  program: Extract<JobSubmission['program'], { sources: unknown } | { module: string }>;
  files?: Record<string, string>;
}

/**
 * What a job said and wrote: standard output per rank and every result file. What must not change when tabs are closed.
 */
export interface Answer {
  stdout: string[];
  files: Record<string, Uint8Array>;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: { code: string; message: string; diagnostics?: { file: string; line: number; message: string }[] },
  ) {
    super(`${status} ${body.code}: ${body.message}`);
  }
}

/** A server that ends, or stands by for one that is away, refuses nothing: it is as one that does not answer. */
async function refusal(answer: Response): Promise<Error> {
  const body = (await answer.json()) as ApiError['body'];
  return answer.status === 503 ? new Error(`the server is away: ${body.message}`) : new ApiError(answer.status, body);
}

export type Sources = Program & { program: Extract<Program['program'], { sources: unknown }> };

export async function readExample(name: string): Promise<Sources> {
  const dir = join(ROOT, 'examples', name);
  const about = JSON.parse(await readFile(join(dir, 'example.json'), 'utf8')) as {
    entry?: string;
    files?: string[];
    language?: 'c' | 'c++';
    sources?: string[];
    flags?: string[];
  };
  const files: Record<string, string> = {};
  for (const f of about.files ?? []) files[basename(f)] = (await readFile(join(dir, f))).toString('base64');
  const sources: Record<string, string> = {};
  if (about.language) {
    // Relative to examples/, so that what several of them share is found where their #include says.
    for (const f of about.sources ?? [])
      sources[relative(join(ROOT, 'examples'), join(dir, f))] = await readFile(join(dir, f), 'utf8');
    return {
      name,
      program: { language: about.language, sources, ...(about.flags ? { flags: about.flags } : {}) },
      files,
    };
  }
  for (const f of await readdir(dir)) if (f.endsWith('.ts')) sources[f] = await readFile(join(dir, f), 'utf8');
  return { name, program: { language: 'typescript', entry: about.entry ?? 'main.ts', sources }, files };
}

export const source = (name: string, text: string): Program => ({
  name,
  program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': text } },
});

export class Client {
  constructor(private readonly server: Served) {}

  /**
   * A refusal for too many requests is waited out: several who watch one job look more often together than a server
   * lets one address.
   */
  async request(
    method: string,
    path: string,
    body?: unknown,
    token: string | null = this.server.token,
  ): Promise<Response> {
    for (;;) {
      const answer = await fetch(this.server.url + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status !== 429) return answer;
      await new Promise((r) => setTimeout(r, 1000 * Number(answer.headers.get('retry-after') ?? 1)));
    }
  }

  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const r = await this.request(method, path, body);
    if (!r.ok) throw await refusal(r);
    return (await r.json()) as T;
  }

  submit(p: Program, size: number, args: string[] = [], options: JobOptions = {}): Promise<JobView> {
    return this.json('POST', '/api/jobs', {
      name: p.name,
      program: p.program,
      size,
      args,
      ...(p.files ? { files: p.files } : {}),
      options,
    });
  }

  /** A line of standard input for rank 0. */
  async input(id: string, line = ''): Promise<void> {
    const r = await fetch(`${this.server.url}/api/jobs/${id}/stdin`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.server.token}`, 'content-type': 'application/octet-stream' },
      body: `${line}\n`,
    });
    if (!r.ok) throw await refusal(r);
  }

  job(id: string): Promise<JobView> {
    return this.json('GET', `/api/jobs/${id}`);
  }

  nodes(): Promise<NodeView[]> {
    return this.json('GET', '/api/nodes');
  }

  /**
   * Polls until `done(job)`, less often the longer it has waited; a server that is down in between is waited for.
   * @param limitMs how long the job may stand still: how fast it runs is the machine's affair
   * @throws when it stands still for longer
   */
  async until(id: string, what: string, done: (j: JobView) => boolean, limitMs = patient(250_000)): Promise<JobView> {
    const began = Date.now();
    let end = began + limitMs;
    let last: JobView | undefined;
    let seen = '';
    while (Date.now() < end) {
      last = await this.job(id).catch((e: unknown) => {
        if (e instanceof ApiError) throw e;
        return last;
      });
      if (last && done(last)) return last;
      const now = JSON.stringify(
        last?.tasks.map((t) => [t.state, t.incarnation, t.messagesIn, t.messagesOut, t.images]),
      );
      if (now !== seen) end = Date.now() + limitMs;
      seen = now;
      await new Promise((r) => setTimeout(r, Math.min(40 + (Date.now() - began) / 20, 250)));
    }
    throw new Error(
      `job ${id} was not ${what} and stood still for ${limitMs} ms; it is ${JSON.stringify(last, null, 1)}`,
    );
  }

  ended(id: string, limitMs?: number): Promise<JobView> {
    return this.until(id, 'over', (j) => ['done', 'failed', 'cancelled'].includes(j.state), limitMs);
  }

  async answer(job: JobView): Promise<Answer> {
    const stdout: string[] = [];
    for (const t of job.tasks)
      stdout.push(await (await this.request('GET', `/api/jobs/${job.id}/tasks/${t.task}/stdout`)).text());
    const files: Record<string, Uint8Array> = {};
    for (const f of job.outputs)
      files[f.path] = new Uint8Array(
        await (await this.request('GET', `/api/jobs/${job.id}/files/${f.path}`)).arrayBuffer(),
      );
    return { stdout, files };
  }
}

/** Messages that a rank has received and sent: a clock of its progress, which runs the same at any machine speed. */
export const progressOf = (t: JobView['tasks'][number]): number => t.messagesIn + t.messagesOut;
