/**
 * `npm run conformance`: every program of the differential set (packages/libmpi/conformance) on headless nodes and a
 * real server, against the recorded native output; with `--faults` each once more while a node is killed at a call of
 * one of its ranks, drawn from those that the rank made without a fault.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { collate, judge, programs, recorded, type Conformance, type Verdict } from '@mayfly/libmpi/conformance';
import { MAX_TEAM } from '@mayfly/wire';
import { Client } from '../client.ts';
import { HeadlessProcess } from '../nodes/headless.ts';
import { ROOT, ServerProcess } from '../server.ts';
import { Native } from './native.ts';
import { ftMpi } from './ft-mpi.ts';
import { ckpt } from './ckpt.ts';
import { ulfm } from './ulfm.ts';

const HELP = `npm run conformance -- [options]

  --program a,b   run only these programs of packages/libmpi/conformance
  --ranks 2,3     use only these numbers of ranks
  --teams K       the ranks form K teams, which exchange messages in the memory of their node (docs/teams.md); default:
                  each rank alone
  --faults        run each program again and kill a node at a drawn call of one of its ranks
  --kills N       repeat that N times for each program (default 1)
  --seed S        seed of the drawn calls (default 1)
  --ulfm          run only the programs that lose processes (ulfm/), and --kills N of them at drawn calls
  --ft-mpi        run only the programs of FT-MPI's modes (ft-mpi/), and examples/c-pcg-ft with --kills N times
                  losses at drawn calls
  --ckpt          the same as --ulfm with the programs that make operation-level checkpoints (ckpt/)
  --native        compare with the installed MPI, run now, instead of the recorded output
  --mpi NAME      use mpicc.NAME and mpiexec.NAME as the installed MPI: mpich, openmpi
  --peers         run only the installed MPI, and show where two native libraries differ: it against the recorded output
  --record        only record the installed MPI's output (packages/libmpi/conformance/expected)

Exit code 0: every line equals the native one.`;

const FOLDER = join(ROOT, 'packages', 'libmpi', 'conformance');
const SLOTS = 2;
/**
 * Processes that spawn.c has at the same time, besides its first ones: later ones wait for the slots of those that have
 * been disconnected.
 */
const SPAWNED = 4;
/** Only to end a hang. */
const PATIENCE = 60_000;

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    ranks: { type: 'string' },
    teams: { type: 'string' },
    faults: { type: 'boolean', default: false },
    kills: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    ulfm: { type: 'boolean', default: false },
    'ft-mpi': { type: 'boolean', default: false },
    ckpt: { type: 'boolean', default: false },
    native: { type: 'boolean', default: false },
    mpi: { type: 'string' },
    peers: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => console.log(line);
const only = values.program?.split(',');
const sizes = values.ranks?.split(',').map(Number);
const wanted = programs(FOLDER).filter((p) => !only || only.includes(p.name));
const ranksOf = (p: Conformance): number[] => [...p.ranks, ...p.more].filter((n) => !sizes || sizes.includes(n));

if (values.teams !== undefined && !/^[1-9]\d?$/.test(values.teams))
  throw new Error(`--teams takes a whole number from 1, not '${values.teams}'`);
/** Ranks in one team. */
const teamOf = (ranks: number): number =>
  values.teams === undefined ? 1 : Math.min(MAX_TEAM, Math.ceil(ranks / Number(values.teams)));

let seed = Number(values.seed) >>> 0;
/** 0 to n − 1. */
const draw = (n: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 4294967296) * n);
};

function installed(): { version: string; native: Native } {
  const version = Native.version(values.mpi);
  if (!version) throw new Error(`no native MPI found (mpicc, mpiexec${values.mpi ? `, .${values.mpi}` : ''})`);
  return { version, native: new Native(FOLDER, values.mpi) };
}

/**
 * Another native library against the recorded output: where it differs, one of the two is wrong, or the standard leaves
 * it open.
 */
function peers(): number {
  const { version, native } = installed();
  say(`${version} against the recorded native output`);
  for (const p of wanted)
    for (const n of ranksOf(p)) {
      const verdict = judge(p, n, native.run(p, n), recorded(p, n, FOLDER));
      const problems = verdict.problems.flatMap((x) => {
        const test = /^(\w+): no output$/.exec(x)?.[1];
        if (test === undefined) return [x];
        const why = native.missing.get(test);
        return why === undefined ? [] : [`${test}: ${why}`];
      });
      say(
        `${p.name} on ${n} ranks: ${verdict.passed} tests as recorded, ` +
          `${problems.filter((x) => !x.startsWith(' ')).length} different ` +
          `lines${problems.map((x) => `\n    ${x}`).join('')}`,
      );
    }
  native.close();
  return 0;
}

async function record(): Promise<number> {
  const { version, native } = installed();
  await mkdir(join(FOLDER, 'expected'), { recursive: true });
  for (const p of wanted) {
    const text = ranksOf(p)
      .map((n) => `== ${n} ranks\n${native.run(p, n)}`)
      .join('');
    await writeFile(join(FOLDER, 'expected', `${p.name}.txt`), `${version}\n${text}`);
    say(`${p.name}: ${p.ranks.join(', ')} ranks`);
  }
  native.close();
  return 0;
}

class Classroom {
  private nodes: HeadlessProcess[] = [];
  private joined = 0;

  constructor(
    private readonly server: ServerProcess,
    private slots = SLOTS,
  ) {}

  /** Slots for so many ranks and one node more; nodes that were killed are replaced, and those of another size. */
  async roomFor(ranks: number, slots = this.slots): Promise<void> {
    if (slots !== this.slots) await Promise.all(this.nodes.map((n) => n.stop()));
    this.slots = slots;
    this.nodes = this.nodes.filter((n) => !n.gone);
    const want = Math.ceil(ranks / this.slots) + 1;
    while (this.nodes.length < want)
      this.nodes.push(
        await HeadlessProcess.start(this.server.url, `conformance ${++this.joined}`, this.slots, {
          MAYFLY_RANK_FAULTS: '1',
        }),
      );
  }

  /** Calls to its device that each rank of a job made which nobody disturbed: its nodes say it. */
  async calls(job: string, ranks: number): Promise<number[]> {
    const said = new RegExp(`^task (\\d+) of ${job} made (\\d+) calls$`);
    const end = Date.now() + PATIENCE;
    for (;;) {
      const made: number[] = [];
      for (const line of this.nodes.flatMap((n) => n.log)) {
        const m = said.exec(line);
        if (m && Number(m[1]) < ranks) made[Number(m[1])] = Number(m[2]);
      }
      if (Object.keys(made).length === ranks) return made;
      if (Date.now() > end) throw new Error(`the nodes did not report how many calls the ranks of job ${job} made`);
      await new Promise((r) => setTimeout(r, 20));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((n) => n.dispose()));
  }
}

async function withoutRecovery(): Promise<number> {
  const server = await ServerProcess.start();
  const room = new Classroom(server, 1);
  try {
    const run = {
      client: new Client(server),
      room: (n: number) => room.roomFor(n),
      calls: (job: string, n: number) => room.calls(job, n),
      draw,
      say,
    };
    const wrong = values['ft-mpi']
      ? await ftMpi(run, Number(values.kills))
      : await (values.ckpt ? ckpt : ulfm)(run, Number(values.kills), (name) => only?.includes(name) !== false);
    return wrong === 0 ? 0 : 1;
  } finally {
    await room.close();
    await server.stop();
  }
}

interface Row {
  runs: number;
  tests: number;
  alone: number;
  faults: number;
  killed: number;
  wrong: number;
}

async function main(): Promise<number> {
  if (values.help) return (say(HELP), 0);
  if (values.record) return record();
  if (values.peers) return peers();
  if (values.ulfm || values['ft-mpi'] || values.ckpt) return withoutRecovery();
  const { version, native } = values.native ? installed() : {};
  say(version ? `compared with ${version}, run now` : 'compared with the recorded native output');
  const check = readFileSync(join(FOLDER, 'check.h'), 'utf8');
  const server = await ServerProcess.start();
  const client = new Client(server);
  const room = new Classroom(server);

  const run = async (
    p: Conformance,
    ranks: number,
    args: string[],
  ): Promise<{ id: string; verdict: Verdict; restarts: number }> => {
    const team = teamOf(ranks);
    await room.roomFor(p.name === 'spawn' ? ranks + SPAWNED : ranks, Math.max(team, SLOTS));
    const file = `${p.name}.c`;
    const { id } = await client.submit(
      {
        name: p.name,
        program: { language: 'c', sources: { [file]: p.source, 'check.h': check }, flags: ['-O1', '-w'] },
      },
      ranks,
      args,
      { team },
    );
    const job = await client.ended(id);
    const { stdout } = await client.answer(job);
    const verdict = judge(p, ranks, collate(p, stdout), native ? native.run(p, ranks) : recorded(p, ranks, FOLDER));
    if (job.state !== 'done') verdict.problems.push(`the job is ${job.state}: ${JSON.stringify(job.error)}`);
    return { id, verdict, restarts: job.tasks.reduce((n, t) => n + t.incarnation, 0) };
  };

  let [wrong, faults, struck] = [0, 0, 0];
  const header = ['tests', 'runs', 'faults', 'struck', 'as natively', 'only here', 'wrong'];
  say('program'.padEnd(16) + header.map((h) => h.padStart(h.length + 3)).join(''));
  try {
    for (const p of wanted) {
      const row: Row = { runs: 0, tests: 0, alone: 0, faults: 0, killed: 0, wrong: 0 };
      for (const ranks of ranksOf(p)) {
        const one = async (args: string[]): Promise<{ id: string; restarts: number }> => {
          const { id, verdict, restarts } = await run(p, ranks, args);
          row.runs++;
          row.tests += verdict.passed;
          row.alone += verdict.alone;
          row.wrong += verdict.problems.length;
          if (verdict.problems.length > 0)
            say(`${p.name} on ${ranks} ranks ${args.join(' ')}\n${verdict.problems.map((x) => `    ${x}`).join('\n')}`);
          return { id, restarts };
        };
        let undisturbed = await one([]);
        if (!values.faults) continue;
        // Only first incarnations report their calls. On a busy machine a node may fall silent by itself.
        for (let more = 2; undisturbed.restarts > 0 && more > 0; more--) {
          say(`${p.name} on ${ranks} ranks: ${undisturbed.restarts} restarts without a fault; once more`);
          undisturbed = await one([]);
        }
        const made = await room.calls(undisturbed.id, ranks);
        for (let k = 0; k < Number(values.kills); k++) {
          const victim = draw(ranks);
          const fault = `fault=${victim}:${1 + draw(made[victim]!)}`;
          row.faults++;
          if ((await one([fault])).restarts > 0) row.killed++;
          else say(`${p.name} on ${ranks} ranks: ${fault} of ${made[victim]} calls had no effect`);
        }
      }
      const cells = [p.tests.size, row.runs, row.faults, row.killed, row.tests - row.alone, row.alone, row.wrong].map(
        String,
      );
      say(p.name.padEnd(16) + cells.map((c, k) => c.padStart(header[k]!.length + 3)).join(''));
      faults += row.faults;
      struck += row.killed;
      wrong += row.wrong;
    }
  } finally {
    await room.close();
    await server.stop();
    native?.close();
  }
  if (values.faults) say(`the fault took effect in ${struck} of ${faults} runs`);
  return wrong === 0 ? 0 : 1;
}

process.exit(await main());
