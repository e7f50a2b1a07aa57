/** What others wrote, in terminals: T1 to T3 of terminal.ts, with a server that tries everything. */
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { nodes } from '../src/commands/cluster.ts';
import { list, show } from '../src/commands/jobs.ts';
import { pause } from '../src/commands/pause.ts';
import { report } from '../src/commands/report.ts';
import { wait } from '../src/commands/wait.ts';
import { OutputMerger } from '../src/output-merger.ts';
import { ProgressLine } from '../src/progress-line.ts';
import { table } from '../src/table.ts';
import { warning } from '../src/terminal.ts';

/** Erases the screen, in 7 bits and in 8; a title; turns the text around; forges a line of the command. */
const HOSTILE = 'a\x1b[2Jb\x9b2Jc\x1b]0;t\x07d\u202ee\u2028f\u0000g\u200bh\r\nmayfly: forged\u{e0041}';
const COMMANDS = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/u;

/** The answers are real ones in which each text that others may choose is hostile. */
const task = {
  task: 0,
  state: HOSTILE,
  incarnation: 0,
  nodeName: HOSTILE,
  messagesIn: 0,
  messagesOut: 0,
  images: 0,
  activity: { state: HOSTILE, call: HOSTILE },
};
const job = {
  id: 'abcdefghijkl',
  name: HOSTILE,
  state: 'failed',
  reason: HOSTILE,
  size: 1,
  args: [HOSTILE],
  program: { entry: HOSTILE, hash: HOSTILE },
  protocol: 'pessimistic',
  durability: 'behind',
  submittedAt: 1,
  startedAt: 2,
  endedAt: 3,
  error: { code: 'ABORTED', message: HOSTILE },
  tasks: [task],
  faults: [{ at: 1, task: 0, incarnation: 0, cause: HOSTILE, error: HOSTILE }],
  outputs: [{ path: HOSTILE, bytes: 1, task: 0 }],
};
const runs = [{ job: HOSTILE, state: HOSTILE, faults: 0, same: false, differences: [HOSTILE] }];
const node = { id: HOSTILE, name: HOSTILE, state: HOSTILE, busy: 0, slots: 1, runs: [HOSTILE], engine: HOSTILE };
const answers: Record<string, unknown> = {
  '/api/jobs': [job],
  '/api/jobs/abcdefghijkl': job,
  '/api/jobs/abcdefghijkl/pause': {},
  '/api/jobs/abcdefghijkl/comparison': { runs },
  '/api/jobs/abcdefghijkl/report': {
    job: { ...job, runMs: 1, seed: 1, options: { protocol: HOSTILE } },
    totals: { messages: 0, bytes: 0, images: 0, faults: 0, usefulMs: 0, replayedMs: 0 },
    nodes: [{ name: HOSTILE, engine: HOSTILE, ranks: [0] }],
    faults: [{ at: 1, rank: 0, cause: HOSTILE, error: HOSTILE }],
    outputs: { stdout: [], stderr: [], files: [{ path: HOSTILE, rank: 0, bytes: 1, sha256: HOSTILE }] },
  },
  '/api/nodes': [node],
};
const http = createServer((request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[request.url!]));
});
let server: string;
beforeAll(async () => {
  await new Promise<void>((r) => http.listen(0, '127.0.0.1', () => r()));
  server = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((r) => http.close(r)));

/** What a command writes, on both streams. */
async function written(command: (o: { server: string; json?: boolean }) => Promise<unknown>, json = false) {
  const parts: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((part) => (parts.push(String(part)), true)),
  );
  try {
    await command({ server, json });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return parts.join('');
}

it.each([
  ['jobs list', list],
  ['jobs show', (o) => show(job.id, o)],
  ['report', (o) => report(job.id, o)],
  ['nodes', nodes],
] as [string, Parameters<typeof written>[0]][])('T1, T2: %s, as text and as JSON', async (_name, command) => {
  const text = await written(command);
  expect(text).toContain('forged');
  expect(text).not.toMatch(COMMANDS);
  expect(text).not.toMatch(/^mayfly: forged/m);
  const asJson = await written(command, true);
  expect(asJson).not.toMatch(COMMANDS);
  expect(JSON.stringify(JSON.parse(asJson))).toContain(JSON.stringify(HOSTILE));
});

it('T1, T2: wait, pause, and what a command says of errors', async () => {
  for (const text of [
    await written((o) => wait([job.id], o)),
    await written((o) => pause(job.id, { ...o, wait: false })),
    warning(HOSTILE),
  ]) {
    expect(text).toContain('forged');
    expect(text).not.toMatch(COMMANDS);
    expect(text).not.toMatch(/^mayfly: forged/m);
  }
});

it('T1: a table keeps each row on its line, and the line of progress is one', () => {
  expect(table([['NAME'], ['a\u202eb\u2028c\u200d\ud800']])).toBe('NAME\nab c');
  let drawn = '';
  const line = new ProgressLine({ columns: 80, write: (t: string) => (drawn += t) } as unknown as NodeJS.WriteStream);
  line.set(HOSTILE);
  line.setProvisional([HOSTILE]);
  // Its own sequences begin and end what it draws.
  expect(drawn.replaceAll(/\r\x1b\[J|\x1b\[(\?7[lh]|[02]m|1A)/g, '')).not.toMatch(COMMANDS);
});

it('T3: of a program’s output, a terminal gets colours and no commands, however the bytes are cut', () => {
  const text =
    'a\x1b[1;31mü\x1b[0m\x1b[2J\x1b[3A\x1b]52;c;eA==\x07b\x9b31mc\x1bP1$t\x1b\\d\x1b(0e\tf\rg\bh\x1b[Ki\x07\n';
  const shown = 'a\x1b[1;31mü\x1b[0mb31mcde\tf\rg\bh\x1b[Ki\n';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size <= bytes.length; size++) {
    const merger = new OutputMerger(undefined, true);
    let out = '';
    for (let at = 0; at < bytes.length; at += size)
      out += new TextDecoder().decode(merger.take(0, bytes.subarray(at, at + size)));
    expect(out + new TextDecoder().decode(merger.flush()), `pieces of ${size}`).toBe(shown);
  }
  // Files and pipes get every byte.
  expect(new OutputMerger().take(0, bytes)).toEqual(bytes);
  // A sequence without an end takes no memory, and hides nothing for ever.
  const endless = new OutputMerger(undefined, true);
  const out = [`\x1b]${'x'.repeat(300)}`, 'seen\n'].map((t) => endless.take(0, new TextEncoder().encode(t)));
  expect(new TextDecoder().decode(out[1])).toContain('seen');
});

const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
it.skipIf(!python)('what the Python client says of errors and jobs commands no terminal either', () => {
  const script = `import json, sys, mayfly
from mayfly.views import JobView, read_view
bad = json.load(sys.stdin)
print(mayfly.MayflyError('X', bad, None, [mayfly.Diagnostic(bad, 1, 1, bad, bad)]))
print(read_view(JobView, {'id': 'abcdefghijkl', 'name': bad, 'state': 'failed', 'size': 1, 'submittedAt': 1,
    'error': {'code': 'X', 'message': bad}, 'tasks': [], 'faults': [], 'outputs': [], 'args': [],
    'program': {'language': 'c', 'entry': 'a.c', 'hash': 'x'}, 'protocol': 'none'}))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: JSON.stringify(HOSTILE),
    encoding: 'utf8',
    env: {
      PYTHONPATH: join(import.meta.dirname, '../../../clients/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONIOENCODING: 'utf8',
      PATH: process.env.PATH,
    },
  });
  expect(stderr).toBe('');
  expect(stdout.match(/forged/g)).toHaveLength(5);
  expect(stdout).not.toMatch(COMMANDS);
  expect(stdout).not.toMatch(/^mayfly: forged/m);
});
