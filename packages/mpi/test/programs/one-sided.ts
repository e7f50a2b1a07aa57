/**
 * Random operations on windows against a sequential oracle. The ranks draw the same numbers, so each knows what all do
 * and computes what every window has to hold. Every origin has a part of each window to itself, on which its operations
 * take effect in order; all share a part, to which they only add.
 */
import { attempts } from './attempts.ts';
import type { MayflyModule } from '../../src/index.ts';
import type { Program } from './program.ts';

const PART = 24;

/** Numbers of one origin in one epoch, the same wherever they are drawn. */
function drawer(seed: number): (below: number) => number {
  let x = (seed * 2654435761) >>> 0;
  return (below) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return Math.floor((x / 4294967296) * below);
  };
}

interface Operation {
  what: 'put' | 'get' | 'add' | 'fetch' | 'swap' | 'share';
  target: number;
  /** In the origin's part, or in the shared one. */
  at: number;
  values: number[];
}

const KINDS = ['put', 'get', 'add', 'fetch', 'swap', 'share'] as const;

/** What an origin does in an epoch to its targets. */
function operations(seed: number, origin: number, targets: readonly number[]): Operation[] {
  const draw = drawer(seed * 131 + origin);
  return Array.from({ length: 2 + draw(6) }, () => {
    const what = KINDS[draw(KINDS.length)]!;
    const length = what === 'swap' ? 1 : 1 + draw(PART - 1);
    return {
      what,
      target: targets[draw(targets.length)]!,
      at: draw(PART - length + 1),
      values: Array.from({ length }, () => draw(3)),
    };
  });
}

/** One operation on the oracle's memory; returns what a fetching one gets. */
function apply(o: Operation, memory: Int32Array, part: number): Int32Array {
  const from = o.at + part * PART;
  const old = memory.slice(from, from + o.values.length);
  o.values.forEach((v, i) => {
    if (o.what === 'put') memory[from + i] = v;
    else if (o.what === 'add' || o.what === 'fetch') memory[from + i]! += v;
    else if (o.what === 'swap' && old[i] === 1) memory[from + i] = v;
  });
  return old;
}

const EPOCHS = ['fence', 'post', 'lock', 'lockAll', 'count'] as const;

export const oneSidedPrograms: Record<string, Program> = {
  'random windows': (m: MayflyModule, { seed, epochs }: { seed: number; epochs: number }) => {
    const { COMM_WORLD: comm, checkpoint } = m;
    const { rank, size } = comm;
    const shared = size; // the part behind those of the origins
    const memory = new Int32Array((size + 1) * PART);
    const win = m.Win.create(memory, comm);
    const model = Array.from({ length: size }, () => new Int32Array((size + 1) * PART));
    const all = Array.from({ length: size }, (_, i) => i);
    const state = { epoch: 0, model, wrong: [] as string[], seen: [] as number[] };
    checkpoint.register('state', state);
    const { restarted } = checkpoint.open({ intervalMs: 0 });
    if (restarted) checkpoint.rollback('state');
    if (!restarted) win.fence();
    for (; state.epoch < epochs; state.epoch++) {
      checkpoint.here();
      const e = state.epoch;
      const draw = drawer(seed * 977 + e);
      const kind = EPOCHS[draw(EPOCHS.length)]!;
      // Without a look at the end nothing keeps fast ranks from running ahead.
      const look = draw(3) === 0 || e === epochs - 1;
      const reach = 1 + draw(size);
      const targetsOf = (origin: number): number[] => all.map((k) => (origin + k) % size).slice(0, reach);
      const got: { into: Int32Array; want: Int32Array; what: string }[] = [];
      const issue = (o: Operation, want: Int32Array): void => {
        const values = Int32Array.from(o.values);
        const into = new Int32Array(values.length);
        const disp = o.at + (o.what === 'share' ? shared : rank) * PART;
        if (o.what === 'put') win.put(values, o.target, disp);
        else if (o.what === 'add' || (o.what === 'share' && o.at % 2 === 0)) win.accumulate(values, o.target, disp);
        else if (o.what === 'get') win.get(into, o.target, disp);
        else if (o.what === 'swap') win.compareAndSwap(values, Int32Array.of(1), into, o.target, disp);
        else win.getAccumulate(values, into, o.target, disp, m.SUM);
        if (o.what === 'get' || o.what === 'fetch' || o.what === 'swap')
          got.push({ into, want, what: `${kind} ${e}: ${o.what} ${o.target} ${o.at}` });
        // What stood in the shared part depends on who came first: it has to be the same again in a replay.
        else if (o.what === 'share' && o.at % 2 === 1) got.push({ into, want: into, what: 'shared' });
      };
      // Some see what comes from faster ranks before they have begun the epoch themselves.
      if (draw(2) === 0 && (rank + e) % 2 === 0) win.sync();
      const mine: [Operation, Int32Array][] = [];
      if (kind !== 'count')
        for (const origin of all)
          for (const o of operations(seed * 7919 + e, origin, targetsOf(origin))) {
            const before = apply(
              o.what === 'share' ? { ...o, what: 'add' } : o,
              state.model[o.target]!,
              o.what === 'share' ? shared : origin,
            );
            if (origin === rank) mine.push([o, before]);
          }
      else state.model[e % size]![shared * PART]! += size;
      switch (kind) {
        case 'fence':
          win.fence(m.MODE_NOPRECEDE);
          for (const [o, want] of mine) issue(o, want);
          win.fence(draw(2) === 0 ? m.MODE_NOSUCCEED : 0);
          break;
        case 'post': {
          const targets = targetsOf(rank);
          const origins = all.filter((origin) => targetsOf(origin).includes(rank));
          const late = (rank + e) % 3 === 0;
          if (!late) win.post(origins);
          win.start(targets);
          for (const [o, want] of mine) issue(o, want);
          if (late) {
            win.sync();
            win.post(origins);
          }
          win.complete();
          if (e % 2 === 0) win.wait();
          else while (!win.test());
          break;
        }
        case 'lock':
          for (const target of new Set(mine.map(([o]) => o.target))) {
            win.lock(target, (rank + e) % 2 === 0 ? 'exclusive' : 'shared');
            for (const [o, want] of mine) if (o.target === target) issue(o, want);
            win.unlock(target);
          }
          break;
        case 'lockAll':
          win.lockAll();
          mine.forEach(([o, want], i) => {
            issue(o, want);
            if (i === 2) win.flush(o.target);
            if (i === 3) win.flushLocal();
          });
          win.flush();
          win.unlockAll();
          break;
        case 'count': {
          // Read, add one, write: only an exclusive lock keeps the counts of others.
          const target = e % size;
          const n = new Int32Array(1);
          win.lock(target);
          win.get(n, target, shared * PART);
          win.flush(target);
          state.seen.push(n[0]!);
          n[0]! += 1;
          win.put(n, target, shared * PART);
          win.unlock(target);
        }
      }
      for (const g of got) {
        if (g.what === 'shared') state.seen.push(...g.into);
        else if (g.into.some((v, i) => v !== g.want[i]))
          state.wrong.push(`${g.what}: ${[...g.into].join(' ')}, not ${[...g.want].join(' ')}`);
      }
      if (kind === 'lock' || kind === 'lockAll' || kind === 'count' || look) comm.barrier();
      if (!look) continue;
      if (memory.some((v, i) => v !== state.model[rank]![i]))
        state.wrong.push(`${kind} ${e}: ${[...memory].join(' ')}, not ${[...state.model[rank]!].join(' ')}`);
      comm.barrier();
    }
    checkpoint.close();
    win.free();
    return { wrong: state.wrong, memory, seen: state.seen };
  },
  'window errors': (m: MayflyModule) => {
    const win = m.Win.create(new Float64Array(4));
    const { COMM_WORLD: comm } = m;
    win.setErrhandler(m.ERRORS_RETURN);
    comm.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const { said, attempt } = attempts();
    const one = Float64Array.of(1);
    attempt(() => win.put(one, 0));
    win.lock(0);
    attempt(() => win.put(one, 0, 4));
    attempt(() => win.put(one, 0, -1));
    attempt(() => win.put(one, 9));
    attempt(() => win.put([1] as never, 0));
    attempt(() => win.get(one, m.PROC_NULL));
    attempt(() => win.accumulate(one, 0, 0, m.BAND));
    attempt(() => win.compareAndSwap(one, one, one, 0));
    attempt(() => win.free());
    win.unlock(0);
    attempt(() => win.fence(1));
    win.name = 'the window';
    said.push(`${win.name}, rank ${win.rank} of ${win.group.size}, ${win.memory!.length} elements`);
    win.free();
    attempt(() => win.fence());
    attempt(() => m.Win.create({} as never));
    attempt(() => m.Win.create(null, {} as never));
    return said;
  },
};
