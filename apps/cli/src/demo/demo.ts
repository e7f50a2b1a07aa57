/**
 * `mayfly demo`: the whole of it without hands. A server on a free port; four tabs of two slots each; conjugate
 * gradients on a real matrix with 4 ranks, once undisturbed and once while two tabs are closed and a new one comes;
 * then both answers are compared bit by bit. Exit code 0 only when the answers are the same and ranks were really lost.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { readProgram } from '@mayfly/toolchain';
import type { JobSubmission, JobView } from '@mayfly/wire';
import { findBrowser, type InstalledBrowser } from '../browser/find.ts';
import { Client } from '../client.ts';
import { startEmbedded } from '../local-cluster.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { compareAnswers, type Answer } from './answer.ts';
import { gather, type Volunteer } from './tabs.ts';
import { say, sayLine } from '../terminal.ts';

export interface DemoOptions {
  headlessNodes?: boolean;
  show?: boolean;
}

const RANKS = 4;
const TABS = 4;
const SLOTS = 2;
const MATRIX = '1138_bus.mtx';
/** Systems solved one after the other: long enough to close tabs in the middle. */
const REPEAT = 1;
const LIMIT_MS = 300_000;
const NEWS_MS = 5000;

export async function demo(options: DemoOptions): Promise<number> {
  const began = Date.now();
  const note = (text: string): void => sayLine(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const submission = await conjugateGradients();
  const embedded = await startEmbedded();
  const client = new Client({ server: embedded.server.localUrl, token: embedded.token, insecure: false });
  const browser = options.headlessNodes ? undefined : installedBrowser(note);
  note(`server at ${embedded.server.url}`);
  const volunteers = await gather(embedded.server.localUrl, browser, options.show ?? false);
  try {
    const tabs: Volunteer[] = [];
    for (let i = 1; i <= TABS; i++) tabs.push(await volunteers.open(`tab-${i}`, SLOTS));
    await until('the tabs have joined', async () => (await here(client)).length === TABS);
    note(`${TABS} volunteers of ${SLOTS} slots each: ${volunteers.kind}`);

    note(`undisturbed run: conjugate gradients, ${MATRIX}, ${RANKS} ranks`);
    const first = await client.submit({ ...submission, name: 'undisturbed' });
    const calm = await ended(client, first.id, note);
    const expected = await answerOf(client, calm);
    note(`  ended after ${seconds(calm)}; ${messages(calm)} messages`);
    for (const line of lines(expected)) note(`  rank 0: ${line}`);

    note('the same again, now with faults');
    const second = await client.submit({ ...submission, name: 'disturbed' });
    const reach = async (share: number): Promise<JobView> => {
      let view!: JobView;
      await until(`${Math.round(share * 100)} % of the messages`, async () => {
        view = await client.job(second.id);
        return messages(view) >= messages(calm) * share || view.endedAt !== undefined;
      });
      return view;
    };
    for (const [victim, share] of [0.25, 0.45].entries()) {
      const view = await reach(share);
      const node = pickVictim(view, tabs);
      if (view.endedAt !== undefined || !node) break;
      const ranks = view.tasks.filter((t) => t.nodeName === node.name).map((t) => t.task);
      await node.close();
      tabs.splice(tabs.indexOf(node), 1);
      note(
        `  closed ${node.name} with rank${ranks.length === 1 ? '' : 's'} ${ranks.join(', ')}, after ` +
          `${messages(view)} messages and ${images(view)} images`,
      );
      if (victim === 1) {
        tabs.push(await volunteers.open('tab-5', SLOTS));
        note('  opened tab-5');
      }
    }
    const stormy = await ended(client, second.id, note);
    const actual = await answerOf(client, stormy);
    note(`  ended after ${seconds(stormy)}; ${messages(stormy)} messages`);
    for (const line of lines(actual)) note(`  rank 0: ${line}`);
    for (const f of stormy.faults)
      note(
        `  rank ${f.task} lost incarnation ${f.incarnation} ` +
          `(${f.cause}${f.error === undefined ? '' : `: ${f.error}`})` +
          (f.recoveredAfterMs === undefined ? '' : `, computing again after ${f.recoveredAfterMs} ms`),
      );
    const lost = new Set(stormy.faults.map((f) => f.task));
    const restarted = stormy.tasks.filter((t) => t.incarnation > 0).map((t) => t.task);

    const differences = compareAnswers(expected, actual);
    const problems = [
      ...(calm.state === 'done' && stormy.state === 'done' ? [] : [`a run failed: ${calm.state}, ${stormy.state}`]),
      ...(lost.size >= 2 ? [] : [`only ${lost.size} ranks were lost: the run was too short for the demo`]),
      ...(restarted.every((t) => lost.has(t))
        ? []
        : [`ranks ${restarted.filter((t) => !lost.has(t)).join(', ')} were restarted without having been lost`]),
      ...differences,
    ];
    const bytes = Object.values(actual.files).reduce((n, f) => n + f.length, 0);
    say('');
    for (const p of problems) sayLine(`NOT SHOWN: ${p}`);
    if (problems.length === 0)
      say(
        `Two tabs were closed, ${stormy.faults.length} incarnations of ${lost.size} ranks were lost with ` +
          `them. The solution (${Object.keys(actual.files).length} vectors, ${bytes} bytes) is bit-identical ` +
          `to the undisturbed run's,\n` +
          `every line of output appeared once, and only the lost ranks have new incarnations. ${residuals(actual)}\n` +
          `It took ${seconds(stormy)} instead of ${seconds(calm)}.`,
      );
    return problems.length === 0 ? Exit.OK : Exit.FAILED;
  } finally {
    await volunteers.end().catch(() => undefined);
    await client.close();
    await embedded.close();
  }
}

/** Without one, the demo has headless nodes. One that MAYFLY_BROWSER names has to work. */
function installedBrowser(note: (text: string) => void): InstalledBrowser | undefined {
  try {
    return findBrowser();
  } catch (error) {
    if (process.env.MAYFLY_BROWSER || !(error instanceof CommandError)) throw error;
    note('no browser found (set MAYFLY_BROWSER to name one): using headless nodes');
    return undefined;
  }
}

/** The example with the real matrix, from the examples beside this bundle (or of the repository). */
async function conjugateGradients(): Promise<JobSubmission> {
  const here = dirname(fileURLToPath(import.meta.url));
  const folder = [join(here, 'examples/cg'), join(here, '../../../../examples/cg')].find((d) => existsSync(d));
  if (!folder) throw new CommandError('the examples are missing beside this program', Exit.FAILED);
  const { entry, sources } = await readProgram(join(folder, 'main.ts'));
  return {
    program: { language: 'typescript', entry, sources: { ...sources } },
    size: RANKS,
    args: ['--matrix', MATRIX, '--repeat', String(REPEAT)],
    files: { [MATRIX]: (await readFile(join(folder, MATRIX))).toString('base64') },
    options: { checkpointMs: 2000 },
  };
}

const here = async (client: Client): Promise<unknown[]> => (await client.nodes()).filter((n) => n.state === 'here');
const messages = (view: JobView): number => view.tasks.reduce((n, t) => n + t.messagesOut, 0);
const images = (view: JobView): number => view.tasks.reduce((n, t) => n + t.images, 0);
const seconds = (view: JobView): string =>
  `${(((view.endedAt ?? Date.now()) - (view.startedAt ?? view.submittedAt)) / 1000).toFixed(1)} s`;
const lines = (answer: Answer): string[] => answer.stdout[0]!.split('\n').filter(Boolean);
const residuals = (answer: Answer): string => {
  const found = [...answer.stdout[0]!.matchAll(/residual ([0-9.e+-]+)/g)].map((m) => m[1]);
  return found.length === 0 ? '' : `Residuals: ${found.join(', ')}.`;
};

/** The tab that runs the most ranks; those that were never lost count double. */
function pickVictim(view: JobView, tabs: readonly Volunteer[]): Volunteer | undefined {
  const load = (tab: Volunteer): number =>
    view.tasks
      .filter((t) => t.nodeName === tab.name && t.state !== 'done')
      .reduce((n, t) => n + (t.incarnation === 0 ? 2 : 1), 0);
  return [...tabs].filter((t) => load(t) > 0).sort((a, b) => load(b) - load(a))[0];
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + LIMIT_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new CommandError(`${what}: not within ${LIMIT_MS / 1000} s`, Exit.FAILED);
    await new Promise((go) => setTimeout(go, 50));
  }
}

async function ended(client: Client, id: string, note: (text: string) => void): Promise<JobView> {
  let view!: JobView;
  let told = Date.now();
  await until('the end of the job', async () => {
    view = await client.job(id);
    if (Date.now() - told > NEWS_MS) {
      told = Date.now();
      note(
        `  … ${messages(view)} messages, ${images(view)} images; ` +
          `${view.tasks.map((t) => `rank ${t.task} ${[t.activity?.state ?? t.state, t.activity?.call].filter(Boolean).join(' in ')}`).join(', ')}`,
      );
    }
    return view.endedAt !== undefined || view.state === 'done' || view.state === 'failed' || view.state === 'cancelled';
  });
  if (view.error) note(`  ${view.state}: ${view.error.message} (${view.error.code})`);
  return view;
}

async function answerOf(client: Client, view: JobView): Promise<Answer> {
  const stdout: string[] = [];
  for (let task = 0; task < view.size; task++) {
    let text = '';
    const decoder = new TextDecoder();
    for (let from = 0; ;) {
      const bytes = await client.output(view.id, task, 'stdout', from);
      if (bytes.length === 0) break;
      from += bytes.length;
      text += decoder.decode(bytes, { stream: true });
    }
    stdout.push(text);
  }
  const files: Record<string, Uint8Array> = {};
  for (const { path } of view.outputs) files[path] = await client.file(view.id, path);
  return { stdout, files };
}
