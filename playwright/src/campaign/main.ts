/** `npm run faults -- --kills N [--seed S]`: the campaign on its own, with progress, a histogram and an exit code. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { goesBackTogether } from '@mayfly/protocols/manifests';
import type { ProtocolName } from '@mayfly/wire';
import { Campaign, type JobReport } from './campaign.ts';
import { kindOf, KINDS } from './kinds.ts';
import { manyRanks } from './many-ranks.ts';
import { amongSaboteurs } from './saboteurs.ts';
import { SABOTAGES } from '../nodes/saboteur.ts';
import { faultsOf, plan, planEach } from './plan.ts';
import { byExample, histogram, ofTeams } from './report.ts';
import { C_WORKLOADS, nativeWorkloads, WORKLOADS } from './workloads.ts';

const ALL = [...WORKLOADS, ...C_WORKLOADS];
/** What takes down one rank, one node's ranks, or all at once, and nothing else. */
const KILLERS = ['rank-killed', 'close', 'crash', 'browser-killed', 'killed', 'stopped', 'everybody'];
const EACH = '20';
const PER_JOB = 24;
const PER_JOB_EACH = 10;
/** More tabs than a job needs: what overlaps leaves some. */
const POOL = { tabs: 3, headless: 2, slots: 2 };
/** Some nodes have too few slots for the larger teams. */
const TEAM_POOL = { tabs: 3, headless: 2, slots: [4, 2, 3] };
const TEAMS = [2, 3, 4];
/** For 9 ranks. */
const LARGER_POOL = { tabs: 4, headless: 3, slots: 2 };
/**
 * As PATIENT; but a node that dies together with the server keeps its job waiting for as long as nodes may come back.
 */
const SERVER = ['--grace', '0.4', '--silence', '12', '--restart-grace', '20'];

const HELP = `npm run faults -- [options]

  --kills N        number of faults (default 50)
  --seed S         seed of the drawn kinds, moments and victims (default: from the clock; the command prints it)
  --job I          run only the I-th job of the plan
  --kept FILE      add each successful job to FILE; skip the jobs of this plan that FILE already contains, and include them in the tables
  --apart          one fault at a time, four per job (default: faults overlap, up to ${PER_JOB} per job)
  --only a,b       only these kinds: ${KINDS.map((k) => k.name).join(', ')}
  --examples a,b   only these examples: ${ALL.map((w) => w.example).join(', ')}
  --examples       every example in C and C++, each through ${EACH} kills (--each ${EACH}) of one rank, of a node, or of all nodes at once
  --native         like --examples, with the runs of examples/native-runs.json on 4 and on 9 ranks; the undisturbed run on tabs must also print the same
                   as a native one (with --examples a,b: only these; --native 9: only on 9 ranks)
  --protocol P     the V-protocol of the jobs (default pessimistic); with vcl and pcl only the examples in C and
                   C++, each with its share of the kills
  --teams          ranks of a node form teams of at most ${TEAMS.join(', ').replace(/, (\d)$/, ' or $1')}, drawn for each job; nodes have 2 to 4 slots. Answers are
                   compared with an undisturbed run without teams
  --servers N      N server processes over one PostgreSQL, behind one address; a restarted one stands by, and servers are frozen, connections
                   to the database broken, and the database crashed, too
  --each K         K faults for each example, of the kinds ${KILLERS.join(', ')} (or those of --only)
  --ranks R        another campaign: one light program of R ranks on headless nodes; kills --kills of the nodes
  --slots S        slots of each of those nodes (default 8)
  --saboteurs N    another campaign: N anonymous nodes that run none of their ranks, among 4 honest headless ones; runs 20 jobs one after the other
                   (--jobs K: another number) and prints the time that the saboteurs cost; --only a,b chooses among their kinds: ${SABOTAGES.join(', ')}

Exit code 0: every answer was that of an undisturbed run. docs/faults.md describes each kind.`;

// Alone it means all that is in C.
const given = process.argv
  .slice(2)
  .flatMap((a, i, all) =>
    a === '--native'
      ? [
          '--native',
          ...(/^\d+$/.test(all[i + 1] ?? '') ? [] : ['0']),
          ...(all.includes('--each') ? [] : ['--each', EACH]),
        ]
      : [a],
  );
const argv = given.flatMap((a, i, all) =>
  a === '--examples' && (all[i + 1] ?? '--').startsWith('--')
    ? ['--examples', 'c', ...(all.includes('--each') ? [] : ['--each', EACH])]
    : [a],
);
const { values } = parseArgs({
  args: argv,
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string' },
    job: { type: 'string' },
    kept: { type: 'string' },
    apart: { type: 'boolean', default: false },
    each: { type: 'string' },
    only: { type: 'string' },
    native: { type: 'string' },
    examples: { type: 'string' },
    protocol: { type: 'string' },
    teams: { type: 'boolean', default: false },
    servers: { type: 'string', default: '1' },
    ranks: { type: 'string' },
    slots: { type: 'string', default: '8' },
    saboteurs: { type: 'string' },
    jobs: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
});
const number = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const n = Number(text);
  if (!Number.isInteger(n) || n < 0) throw new Error(`--${name} takes a whole number, not '${text}'`);
  return n;
};
const PROTOCOLS: readonly ProtocolName[] = ['pessimistic', 'vcl', 'pcl', 'hc3i'];
const named = (text: string): ProtocolName => {
  const protocol = PROTOCOLS.find((p) => p === text);
  if (!protocol) throw new Error(`--protocol takes one of ${PROTOCOLS.join(', ')}, not '${text}'`);
  return protocol;
};
const say = (line: string): void => console.log(line);

async function main(): Promise<number> {
  if (values.help) {
    say(HELP);
    return 0;
  }
  const kills = number('kills', values.kills)!;
  const seed = number('seed', values.seed) ?? Date.now() % 1_000_000;
  const ranks = number('ranks', values.ranks);
  if (ranks !== undefined) return manyRanks({ ranks, slots: number('slots', values.slots)!, kills, seed, say });

  const saboteurs = number('saboteurs', values.saboteurs);
  if (saboteurs !== undefined) {
    const kinds = SABOTAGES.filter((k) => values.only === undefined || values.only.split(',').includes(k));
    if (kinds.length === 0) throw new Error(`--only takes some of ${SABOTAGES.join(', ')}, not '${values.only!}'`);
    return amongSaboteurs({ saboteurs, jobs: number('jobs', values.jobs)!, kinds, say });
  }

  const each = number('each', values.each);
  const examples = values.examples === 'c' ? C_WORKLOADS.map((w) => w.example) : values.examples?.split(',');
  const size = number('native', values.native);
  const protocol = values.protocol === undefined ? undefined : named(values.protocol);
  // A script gives an image only where it asks for one.
  const logged = protocol === undefined || protocol === 'pessimistic';
  if (values.teams && !logged) throw new Error('--teams needs the protocol pessimistic: the others restart no teams');
  const mixed = logged ? ALL : C_WORKLOADS;
  const all = size === undefined ? mixed : nativeWorkloads().filter((w) => size === 0 || w.size === size);
  const workloads = examples ? all.filter((w) => examples.includes(w.example)) : all;
  if (workloads.length === 0) throw new Error(`unknown examples: ${values.examples}`);
  const kinds = values.only?.split(',') ?? (each === undefined ? undefined : KILLERS);
  const only = number('job', values.job);
  const servers = number('servers', values.servers)!;
  const foreign = values.only?.split(',').find((name) => kindOf(name).shared && servers < 2);
  if (foreign !== undefined) throw new Error(`${foreign} needs --servers 2 or more`);
  // Where all ranks go back together, a fault costs a job more: so each example gets its share.
  const share = Math.ceil(kills / workloads.length);
  const most = protocol !== undefined && goesBackTogether(protocol) ? Math.min(PER_JOB, share) : PER_JOB;
  const perJob = values.apart ? 4 : each === undefined ? most : PER_JOB_EACH;
  const jobs = (each === undefined ? plan : planEach)({
    seed,
    kills: each ?? kills,
    workloads,
    perJob,
    overlap: !values.apart,
    shared: servers > 1,
    ...(kinds ? { kinds } : {}),
  });
  const wanted = jobs.reduce((n, j) => n + faultsOf(j).length, 0);
  // What makes the plan, for whoever repeats one of its jobs.
  const drawn = argv
    .filter((a, i) => !OWN.includes(a) && !OWN.includes(argv[i - 1] ?? ''))
    .concat('--seed', String(seed))
    .join(' ');
  say(`${wanted} faults in ${jobs.length} jobs, seed ${seed} (repeat: npm run faults -- ${drawn})`);
  const kept = new Kept(values.kept, drawn);
  const reports: JobReport[] = [...kept.reports];
  if (reports.length > 0) say(`${values.kept} already contains ${reports.length} of these jobs`);
  const began = performance.now();
  const starting = {
    seed,
    say,
    protocol,
    servers,
    ...(values.apart ? {} : { size: size === undefined ? POOL : LARGER_POOL, server: SERVER, hurried: true }),
    ...(values.teams ? { teams: TEAMS, size: TEAM_POOL } : {}),
  };
  let campaign = await Campaign.start(starting);
  const tables = (): string =>
    `\n${[histogram(reports), byExample(reports), ofTeams(reports)].filter((t) => t !== '').join('\n\n')}\n`;
  const interrupted = (): void => {
    say(
      `${tables()}interrupted after ${reports.length} of ${jobs.length} ` +
        `jobs${values.kept === undefined ? '' : '; repeat the command to resume'}`,
    );
    void campaign.close().finally(() => process.exit(130));
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  try {
    for (const job of jobs) {
      if ((only !== undefined && job.index !== only) || kept.has(job.index)) continue;
      const report = await campaign.run(job);
      reports.push(report);
      if (report.wrong === undefined) kept.add(report);
      else {
        const { log } = campaign.server;
        // A server that is not to be trusted any more must not spoil the others.
        const where = await campaign.keep();
        say(
          `WRONG in job ${job.index} (${report.example}): ${report.wrong}\nlast lines of the server's ` +
            `log:\n${log.slice(-6000)}\nrepeat: npm run faults -- ${drawn} --job ${job.index}\nthe server's ` +
            `data, server.log and nodes.log: ${where}`,
        );
        campaign = await Campaign.start(starting);
      }
      const done = reports.reduce((n, r) => n + r.struck.length, 0);
      say(
        `job ${job.index} ${report.example}: ` +
          `${report.wrong === undefined ? 'same answer as the undisturbed run' : 'WRONG'}; ${done} of ` +
          `${wanted} faults, ${((performance.now() - began) / 1000).toFixed(0)} s`,
      );
    }
  } finally {
    await campaign.close();
  }
  const struck = reports.reduce((n, r) => n + r.struck.length, 0);
  const wrong = reports.filter((r) => r.wrong !== undefined);
  const missed = reports.flatMap((r) => r.missed);
  say(tables());
  if (missed.length > 0) say(`without a victim: ${missed.join(', ')}`);
  say(
    `${struck} faults in ${reports.length} jobs, ${((performance.now() - began) / 1000).toFixed(0)} s, seed ` +
      `${seed}: ` +
      `${wrong.length === 0 ? 'every answer equals that of an undisturbed run' : `${wrong.length} jobs WRONG: ${wrong.map((r) => `${r.index} (${r.example})`).join(', ')}`}`,
  );
  return wrong.length === 0 && struck + missed.length >= (only === undefined ? wanted : 1) ? 0 : 1;
}

/** Options that say nothing about the plan. */
const OWN = ['--seed', '--job', '--kept'];

/** Reports of jobs of one plan, a line each. */
class Kept {
  readonly reports: JobReport[] = [];

  constructor(
    private readonly path: string | undefined,
    private readonly drawn: string,
  ) {
    if (path === undefined || !existsSync(path)) return;
    for (const line of readFileSync(path, 'utf8')
      .split('\n')
      .filter((l) => l !== '')) {
      const { plan: of, report } = JSON.parse(line) as { plan: string; report: JobReport };
      if (of === drawn) this.reports.push(report);
    }
  }

  has(index: number): boolean {
    return this.reports.some((r) => r.index === index);
  }

  add(report: JobReport): void {
    if (this.path !== undefined) appendFileSync(this.path, `${JSON.stringify({ plan: this.drawn, report })}\n`);
  }
}

process.exitCode = await main();
