/**
 * `mayfly report <job>`: the report of a run, for people or (`--json`) as the server gives it, and whether its runs
 * agree.
 */
import { oneLine, type ComparisonView, type JobReport } from '@mayfly/wire';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { programLine } from '../mpmd.ts';
import { Exit } from '../exit-codes.ts';
import { table } from '../table.ts';
import { indented, json, say } from '../terminal.ts';

export async function report(id: string, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    const r = await client.report(id);
    if (options.json) say(json(r));
    else say(asText(r, await client.comparison(id)));
    return Exit.OK;
  } finally {
    await client.close();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const maybe = (ms: number | undefined): string => (ms === undefined ? '' : `${ms} ms`);

/** Checkpoints of all ranks together, and how the job went back to them. */
function wavesText(w: NonNullable<JobReport['waves']>, start: number): string[] {
  const lines = [
    `${w.committed} wave${w.committed === 1 ? '' : 's'} committed, ${w.abandoned} abandoned` +
      (w.periodMs === undefined
        ? ''
        : `, ${seconds(w.periodMs)} between waves (${w.askedMs !== undefined ? `raised from ${seconds(w.askedMs)}` : w.chosen ? 'chosen' : 'found'})`) +
      `; ${w.rollbacks} rollback${w.rollbacks === 1 ? '' : 's'}, ${seconds(w.lostMs)} of work undone`,
  ];
  if (w.rolledBack.length > 0)
    lines.push(
      '',
      table([
        ['WENT BACK AFTER', 'CAUSE', 'LOST RANKS', 'TO WAVE', 'WORK UNDONE', 'OF ONE RANK'],
        ...w.rolledBack.map((b) => [
          seconds(b.at - start),
          b.cause,
          b.ranks.join(' '),
          String(b.wave),
          seconds(b.lostMs),
          seconds(b.mostMs),
        ]),
      ]),
    );
  if (w.recent.length > 0)
    lines.push(
      '',
      table([
        ['WAVE', 'AFTER', 'TOOK', 'IMAGES', 'IN CHANNELS', 'HELD BACK', 'STOOD STILL', 'OUTCOME'],
        ...w.recent.map((v) => [
          String(v.wave),
          seconds(v.at - start),
          maybe(v.ms),
          `${v.imageBytes} bytes`,
          String(v.recorded),
          String(v.held),
          maybe(v.stallMs?.most),
          v.reason === undefined ? v.state : `${v.state}: ${v.reason}`,
        ]),
      ]),
    );
  return lines;
}

export function asText(r: JobReport, c: ComparisonView): string {
  const { job, totals } = r;
  const all = totals.usefulMs + totals.replayedMs;
  const exit = job.exitCode === undefined ? '' : `, exit code ${job.exitCode}`;
  const ran = job.startedAt === undefined ? ', has not begun' : `, ran ${seconds(job.runMs)}`;
  const replay =
    all > 0 ? `, ${((100 * totals.replayedMs) / all).toFixed(1)} % of the ranks' time spent on repeated work` : '';
  const lines = [
    oneLine(`${job.name} (${job.id}): ${job.state}${exit}${ran}`),
    ...(job.error === undefined ? [] : [indented(`error: ${job.error.message} (${job.error.code})`)]),
    oneLine(
      `${programLine(job)}, ${job.size} rank${job.size === 1 ? '' : 's'}, ` +
        `${job.options.protocol}, seed ${job.seed}, program ${job.program.hash.slice(0, 16)}`,
    ),
    `${totals.messages} messages of ${totals.bytes} bytes, ${totals.images} images, ${totals.faults} lost ` +
      `rank${totals.faults === 1 ? '' : 's'}${replay}`,
  ];
  if (r.nodes.length > 0)
    lines.push(
      '',
      table([['NODE', 'ENGINE', 'RANKS'], ...r.nodes.map((n) => [n.name ?? '', n.engine, n.ranks.join(' ')])]),
    );
  if (r.faults.length > 0) {
    const start = job.startedAt ?? job.submittedAt;
    lines.push(
      '',
      table([
        ['LOST AFTER', 'RANK', 'CAUSE', 'NEW PLACE', 'START', 'REPEAT', 'BACK AFTER', 'REASON'],
        ...r.faults.map((f) => [
          seconds(f.at - start),
          String(f.rank),
          f.cause,
          maybe(f.slotMs),
          maybe(f.startMs),
          maybe(f.replayMs),
          maybe(f.recoveredAfterMs),
          f.error ?? '',
        ]),
      ]),
    );
  }
  if (r.waves) lines.push('', ...wavesText(r.waves, job.startedAt ?? job.submittedAt));
  const written = [...r.outputs.files, ...r.outputs.stdout, ...r.outputs.stderr];
  if (written.length > 0)
    lines.push(
      '',
      table([
        ['WRITTEN', 'RANK', 'BYTES', 'SHA-256'],
        ...written.map((o) => [o.path, String(o.rank), String(o.bytes), o.sha256 ?? '']),
      ]),
    );
  if (c.runs.length > 0)
    lines.push(
      '',
      table([
        ['OTHER RUN', 'STATE', 'LOST RANKS', 'THE SAME'],
        ...c.runs.map((o) => [
          o.job,
          o.state,
          String(o.faults),
          o.same === undefined ? 'not compared' : o.same ? 'yes, byte for byte' : `no: ${o.differences.join(' ')}`,
        ]),
      ]),
    );
  return lines.join('\n');
}
