/**
 * `npm run simulate -- --seeds N`: drives the protocol cores through N seeds of faults, on every core of the machine,
 * and checks each run. Exit code 0 when every seed passed. A failing seed prints its parameters and its last notes;
 * `--seed S --verbose` shows one run whole, `--seed S --shrink` makes a failing one short, `--planted` shows that the
 * campaign finds bugs. docs/simulator.md.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { protocols } from '@mayfly/protocols';
import type { ProtocolName } from '@mayfly/wire';
import {
  FAULTS,
  PLANTED,
  hasTeams,
  setupOfSeed,
  OWNER_RULES,
  huntOwners,
  run,
  runOwners,
  shrink,
  type FaultKind,
  type Held,
  type Planted,
  type RunOptions,
  type RunReport,
  type Rule,
} from '@mayfly/simulator';
import type { SimulateResult, SimulateTask } from './simulate-worker.ts';

const USAGE = `usage: npm run simulate -- --seeds N [--seed FIRST] [--workers W] [HELD TO]
       npm run simulate -- --seed S [--verbose | --shrink] [--undo RULE | HELD TO]
       npm run simulate -- --planted [RULE]...
       npm run simulate -- --servers [--seeds N] [--seed FIRST] [--planted]
HELD TO: --only 'KIND,KIND'   inject only faults of these kinds
         --protocol P         only this V-protocol (default: drawn for each seed)
         --sync-ms MS         durability behind, with syncs that take this long, so a power loss takes much
Exit code 0: every seed passed, or every planted bug was found.`;
/** Seeds that a worker takes at a time. */
const BATCH = 4;

function histogram(faults: Map<string, number>): string {
  const most = Math.max(1, ...faults.values());
  return FAULTS.map((k) => {
    const n = faults.get(k) ?? 0;
    return `  ${k.padEnd(16)} ${String(n).padStart(7)} ${'█'.repeat(Math.round((30 * n) / most))}`;
  }).join('\n');
}

/** Gives the tasks to the workers, one after the other; calls `done` with each result. */
async function spread(
  tasks: readonly SimulateTask[],
  workers: number,
  done: (r: SimulateResult) => void,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(workers, tasks.length) }, async () => {
      const worker = new Worker(new URL('./simulate-worker.js', import.meta.url));
      let settle: { resolve: (r: SimulateResult) => void; reject: (e: Error) => void } | undefined;
      worker.on('message', (r: SimulateResult) => settle?.resolve(r));
      worker.on('error', (e) => settle?.reject(e));
      try {
        for (let task = tasks[next++]; task; task = tasks[next++]) {
          const job = task;
          done(
            await new Promise<SimulateResult>((resolve, reject) => {
              settle = { resolve, reject };
              worker.postMessage(job);
            }),
          );
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
}

async function campaign(first: number, count: number, workers: number, held: Held, argued: string): Promise<number> {
  const faults = new Map<string, number>();
  const ends = new Map<string, number>();
  const failed: RunReport[] = [];
  let [images, repeated, simulated] = [0, 0, 0];
  const t0 = performance.now();
  const tasks: SimulateTask[] = [];
  for (let from = first; from < first + count; from += BATCH)
    tasks.push({ type: 'seeds', from, count: Math.min(BATCH, first + count - from), held });
  await spread(tasks, workers, (result) => {
    if (result.type !== 'seeds') return;
    for (const r of result.reports) {
      for (const [k, n] of Object.entries(r.faults)) faults.set(k, (faults.get(k) ?? 0) + n);
      if (r.endedBy !== undefined) ends.set(r.endedBy, (ends.get(r.endedBy) ?? 0) + 1);
      images += r.counts.image ?? 0;
      repeated += r.repeated;
      simulated += r.simulatedMs;
      if (r.violation === undefined) continue;
      failed.push(r);
      console.log(
        `seed ${r.seed}: ${r.violation.split('\n')[0]}\n  again: npm run simulate -- --seed ` +
          `${r.seed}${argued} --verbose (or --shrink)`,
      );
    }
  });
  const total = [...faults.values()].reduce((a, b) => a + b, 0);
  console.log(histogram(faults));
  const named = [...ends].map(([code, n]) => `${n} ${code}`).join(', ');
  console.log(
    `${count} seeds, ${total} faults that changed a state, ${Math.round(simulated / 1000)} simulated seconds ` +
      `in ${((performance.now() - t0) / 1000).toFixed(1)} s on ${workers} threads; ` +
      (`${images} images, ${repeated} messages sent again by re-execution; runs that correctly ended with a ` +
        `named error: ${named || 'none'}`),
  );
  failed.sort((a, b) => a.seed - b.seed);
  for (const r of failed.slice(0, 3))
    console.log(`\nseed ${r.seed}\n${r.parameters}\n${r.violation}\n${r.notes.join('\n')}`);
  console.log(
    failed.length === 0
      ? 'every run ended with a correct answer, or with the error that its faults allow'
      : `${failed.length} of ${count} seeds failed`,
  );
  return failed.length === 0 ? 0 : 1;
}

/** Servers that share a database, and nothing else. A seed takes some 5 ms. */
function servers(first: number, count: number): number {
  const faults = new Map<string, number>();
  let [takeovers, items, failed] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed++) {
    const r = runOwners(seed);
    for (const [k, n] of Object.entries(r.faults)) faults.set(k, (faults.get(k) ?? 0) + n);
    takeovers += r.takeovers;
    items += r.items;
    if (r.violation === undefined) continue;
    failed++;
    console.log(`seed ${seed}: ${r.violation}`);
  }
  for (const [k, n] of faults) console.log(`  ${k.padEnd(22)} ${String(n).padStart(7)}`);
  console.log(`${count} seeds, ${takeovers} takeovers of leases that were not given up, ${items} items logged`);
  console.log(failed === 0 ? 'every run was right' : `${failed} of ${count} seeds failed`);
  return failed === 0 ? 0 : 1;
}

function plantedServers(): number {
  console.log('| rule undone | what it says | found after | by |\n|---|---|---:|---|');
  let missed = 0;
  for (const { rule, says } of OWNER_RULES) {
    const found = huntOwners(rule);
    if (!found) missed++;
    console.log(`| ${rule} | ${says} | ${found?.seed ?? 'not found'} | ${found?.violation?.split(':')[0] ?? ''} |`);
  }
  return missed === 0 ? 0 : 1;
}

const heldTo = (held: Held | undefined): string =>
  [
    ...Object.entries({ ...held?.setup, ...held?.spec }).map(([k, v]) => `${k} ${String(v)}`),
    ...(held?.only ? [`only ${held.only.join(', ')}`] : []),
    ...(held?.faultEveryMs ? [`a fault every ${held.faultEveryMs} ms`] : []),
  ].join('; ');

async function planted(rules: readonly string[], workers: number): Promise<number> {
  // rules of teams where the protocol has teams
  const has = ({ held }: Planted): boolean =>
    held?.setup?.team === undefined || hasTeams(protocols[held.setup.protocol ?? 'pessimistic']);
  const wanted = PLANTED.filter((p: Planted & { rule: Rule }) =>
    rules.length === 0 ? has(p) : rules.includes(p.rule),
  );
  const found = new Map<string, Extract<SimulateResult, { type: 'hunt' }>>();
  await spread(
    wanted.map((p) => ({ type: 'hunt', rule: p.rule })),
    workers,
    (r) => r.type === 'hunt' && found.set(r.rule, r),
  );
  console.log(
    '| rule undone | what it breaks | seeds held to | found after | of at most | by |\n|---|---|---|---:|---:|---|',
  );
  for (const p of wanted) {
    const f = found.get(p.rule);
    const by = /^[KQ]\d/.test(f?.violation ?? '')
      ? f!.violation.split(':')[0]
      : (f?.violation ?? '').slice(0, 60).replace(/\|/g, '/');
    console.log(`| ${p.rule} | ${p.says} | ${heldTo(p.held)} | ${f?.seeds ?? 'not found'} | ${p.within} | ${by} |`);
  }
  const missed = wanted.filter((p) => found.get(p.rule)?.seeds === undefined);
  console.log(`\n${wanted.length - missed.length} of ${wanted.length} planted bugs found`);
  const real = [...found.values()].filter((f) => f.innocent !== undefined);
  for (const f of real)
    console.log(`A REAL BUG: with nothing undone, seed ${f.seeds} of ${f.rule} ends with ${f.innocent}`);
  return missed.length + real.length === 0 ? 0 : 1;
}

function one(seed: number, o: RunOptions, short: boolean): number {
  if (short) {
    const s = shrink(seed, o);
    if (!s) {
      console.log(`seed ${seed} passes: nothing to shrink`);
      return 0;
    }
    const lines: string[] = [];
    const r = run(seed, {
      ...s.options,
      trace: (w, line) => lines.push(`${w.agenda.now.toFixed(1).padStart(9)} ${line}`),
    });
    console.log(
      `${r.parameters}\n${lines.join('\n')}\n\n${r.violation}\n${s.faultsBefore} faults before, ` +
        `${s.options.faults!.length} now, after ${s.tries} runs:`,
    );
    for (const f of s.options.faults!) console.log(`  ${f.at.toFixed(1)} ms ${f.kind} (${f.n})`);
    return 1;
  }
  const r = run(seed, o);
  console.log(
    'parameters ' +
      `${r.parameters}\n${r.notes.join('\n')}\n${r.violation ?? (r.endedBy ? `rightly ended by ${r.endedBy}` : 'a correct answer')}`,
  );
  return r.violation === undefined ? 0 : 1;
}

export async function simulateCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      workers: { type: 'string' },
      undo: { type: 'string' },
      only: { type: 'string' },
      'sync-ms': { type: 'string' },
      protocol: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      shrink: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      servers: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(`${USAGE}\nKIND: ${FAULTS.join(', ')}\nRULE: see docs/simulator.md`);
    return 0;
  }
  const workers = Number(values.workers ?? availableParallelism());
  const first = Number(values.seed ?? 1);
  const count = Number(values.seeds ?? 200);
  const syncMs = values['sync-ms'] === undefined ? undefined : Number(values['sync-ms']);
  const only = values.only?.split(',').map((kind) => kind.trim());
  const strange = only?.filter((kind) => !(FAULTS as readonly string[]).includes(kind)) ?? [];
  if (strange.length > 0) {
    console.error(`unknown fault kind: ${strange.join(', ')}; there are ${FAULTS.join(', ')}`);
    return 2;
  }
  const { protocol } = values;
  if (protocol !== undefined && !(protocol in protocols)) {
    console.error(`unknown protocol: ${protocol}; there are ${Object.keys(protocols).join(', ')}`);
    return 2;
  }
  const held: Held = {
    ...(only ? { only: only as FaultKind[] } : {}),
    setup: {
      ...(protocol === undefined ? {} : { protocol: protocol as ProtocolName }),
      ...(syncMs === undefined ? {} : { durability: 'behind', syncMs }),
    },
  };
  const known = (rule: string): rule is Rule => PLANTED.some((p) => p.rule === rule);
  const unknown = [...positionals, ...(values.undo === undefined ? [] : [values.undo])].filter((r) => !known(r));
  if (
    ![workers, first, count, syncMs ?? 1].every((n) => Number.isInteger(n) && n >= 1) ||
    unknown.length > 0 ||
    (positionals.length > 0 && !values.planted)
  ) {
    console.error(
      unknown.length > 0
        ? `unknown planted bug: ${unknown.join(', ')}; there are ${PLANTED.map((p) => p.rule).join(', ')}`
        : USAGE,
    );
    return 2;
  }
  if (values.servers) return values.planted ? plantedServers() : servers(first, count);
  if (values.planted) return planted(positionals, workers);
  if (values.seed !== undefined && values.seeds === undefined) {
    const rule = PLANTED.find((p) => p.rule === values.undo);
    const drawn = { ...held, setup: { ...setupOfSeed(first, held.setup?.protocol), ...held.setup } };
    return one(first, rule ? { undone: rule.rule, ...rule.held } : drawn, values.shrink);
  }
  return campaign(
    first,
    count,
    workers,
    held,
    (only ? ` --only '${only.join(',')}'` : '') +
      (syncMs === undefined ? '' : ` --sync-ms ${syncMs}`) +
      (protocol === undefined ? '' : ` --protocol ${protocol}`),
  );
}
