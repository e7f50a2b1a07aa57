/**
 * What each event costs the dispatcher's core, by the number of nodes: 200 and, a hundred times as many, 20,000. The
 * core alone, in this process, on a registry and logs that answer at once.
 *
 * Goal: with 20,000 nodes an event of one node costs 5 ms at most, and one that looks at all of them by its nature (*)
 * 250 ms. Means of many events, of which few look at all nodes (D34). Does not measure: sockets, the registry, pages.
 */
import { Dispatcher, nodeViews, type DispatcherEffect, type DispatcherEvent, type JobSpec } from '@mayfly/protocols';
import { incarnation, jobId, nodeId, taskId, type JobId } from '@mayfly/wire';
import { quick, usually } from './short.ts';
import { print } from './table.ts';

type EventOf<T extends DispatcherEvent['type']> = Omit<Extract<DispatcherEvent, { type: T }>, 'now' | 'type'>;

const SIZES = usually([200, 20_000], [200, 2000]);
const NOTHING = { arrivals: 0, consumed: 0, determinants: 0, held: [], sent: [] };
/** Ranks of the largest job. */
const RANKS = 1000;
/** µs with the most nodes: of an event, and of one that looks at all nodes. */
const GOAL = 5000;
const GOAL_ALL = 250_000;
/** Times that an event is repeated. */
const TIMES = 100;

const job = (n: number, size: number): JobSpec => ({
  id: jobId(`job${String(n).padStart(9, '0')}`),
  name: 'job',
  size,
  protocol: 'pessimistic',
  durability: 'behind',
  program: { language: 'typescript', entry: 'main.ts', hash: '0'.repeat(64) },
  args: [],
  files: [],
  seed: 1,
  channelMemories: 1,
  checkpointMs: 1e9,
  interactive: false,
  limits: { memoryBytes: 1, fileBytes: 1 },
  submittedAt: 0,
});

class Core {
  now = 1_000_000;
  /** Time between two events, ms. */
  everyMs = 0.05;
  readonly dispatcher = new Dispatcher();
  readonly #last = new Map<string, number>();

  constructor() {
    this.send('recover', { entries: [], images: [] });
  }

  send<K extends DispatcherEvent['type']>(type: K, e: EventOf<K>): void {
    // So that what is put off for a while (D34) comes as often as it would.
    this.now += this.everyMs;
    const queue = [{ type, now: this.now, ...e } as unknown as DispatcherEvent];
    for (let i = 0; i < queue.length; i++)
      for (const effect of this.dispatcher.step(queue[i]!)) {
        const answer = this.#answer(effect);
        if (answer) queue.push(answer);
      }
  }

  /** A pause, and a tick. */
  pass(): void {
    this.now += 100;
    this.send('tick', {});
  }

  #answer(e: DispatcherEffect): DispatcherEvent | undefined {
    const { now } = this;
    switch (e.type) {
      case 'persist':
        return { type: 'persisted', now, token: e.token };
      case 'fenceCs':
        return { type: 'imageChosen', now, job: e.job, task: e.task, incarnation: e.incarnation };
      case 'fenceCm': {
        const { job: id, task, incarnation: n, cm } = e;
        return { type: 'fencedCm', now, job: id, task, incarnation: n, cm, sends: 0, consumed: 0, logs: NOTHING };
      }
      case 'assign':
        this.#last.set(`${e.job}/${e.task}`, e.incarnation);
        return undefined;
      default:
        return undefined;
    }
  }

  come(n: number): void {
    this.send('hello', {
      connection: `c${n}`,
      fresh: nodeId(`node${String(n).padStart(6, '0')}`),
      session: `s${n}`,
      name: `tab ${n}`,
      engine: 'bench',
      slots: 1,
      holds: [],
      images: [],
    });
  }

  exit(id: JobId, task: number): void {
    const acting = incarnation(this.#last.get(`${id}/${task}`) ?? 0);
    this.send('exit', { job: id, task: taskId(task), incarnation: acting, report: { code: 0 } });
  }
}

/** Microseconds of one of `times` calls, after a few that warm up. */
function cost(times: number, f: (i: number) => void): number {
  const began = performance.now();
  for (let i = 0; i < times; i++) f(i);
  return ((performance.now() - began) * 1000) / times;
}

/** By event, µs. */
function measure(nodes: number): Map<string, number> {
  const core = new Core();
  const out = new Map<string, number>();
  const note = (what: string, us: number): void => void out.set(what, us);
  note(
    'a node comes, nobody waits',
    cost(nodes, (i) => core.come(i)),
  );
  note(
    'a heartbeat',
    cost(10 * TIMES, (i) => core.send('heartbeat', { connection: `c${i % nodes}`, tasks: [] })),
  );
  for (let i = 0; i < nodes; i++) core.send('heartbeat', { connection: `c${i}`, tasks: [] });
  note(
    'the list of nodes *',
    cost(10, () => nodeViews(core.dispatcher)),
  );
  core.pass();
  note(
    'a job of 100 ranks starts *',
    cost(1, () => {
      core.send('submit', { job: job(0, 100) });
      core.pass();
    }),
  );
  let last = 0;
  for (let left = nodes - 100; left > 0; left -= RANKS) {
    core.send('submit', { job: job(++last, Math.min(RANKS, left)) });
    core.pass();
  }
  const full = job(last, 0).id;
  note(
    'a tick *',
    cost(10, () => core.send('tick', {})),
  );
  core.send('submit', { job: job(++last, RANKS) });
  core.everyMs = 1;
  note(
    'a node comes, a job waits',
    cost(2 * TIMES, (i) => core.come(nodes + i)),
  );
  note(
    'a rank ends, a job waits',
    cost(TIMES / 2, (i) => core.exit(full, i)),
  );
  note(
    'a node leaves',
    cost(TIMES, (i) => core.send('disconnected', { connection: `c${nodes + i}` })),
  );
  core.send('cancel', { job: job(last, 0).id });
  note(
    'a rank is lost and assigned',
    cost(2 * TIMES, (i) => core.send('kill', { job: job(0, 0).id, task: taskId(i % 100) })),
  );
  note(
    'a job of one rank comes and ends',
    cost(2 * TIMES, () => {
      const small = job(++last, 1);
      core.send('submit', { job: small });
      core.exit(small.id, 0);
    }),
  );
  return out;
}

/** @returns whether every event keeps to its goal */
export async function nodes(): Promise<boolean> {
  measure(SIZES[0]!); // warms up
  const [few, many] = SIZES.map(measure) as [Map<string, number>, Map<string, number>];
  let good = true;
  const rows = [...few].map(([what, us]) => {
    const goal = what.endsWith('*') ? GOAL_ALL : GOAL;
    if (many.get(what)! > goal) good = false;
    return [what, us.toFixed(0), many.get(what)!.toFixed(0), goal.toFixed(0)];
  });
  print(['µs of the core', `${SIZES[0]} nodes`, `${SIZES[1]} nodes`, 'at most'], rows);
  return Promise.resolve(quick(good));
}
