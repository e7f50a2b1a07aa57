/**
 * Collectives against a dumb oracle: every rank knows every rank's operand, so each computes what it must get, by plain
 * loops.
 */
import type { Buffer, Comm, Op, PersistentRequest, Request } from '../../types/mayfly.d.ts';
import type { MayflyModule } from '../../src/index.ts';

export interface Draw {
  next(n: number): number;
}
export function draws(seed: number): Draw {
  let s = (seed * 2654435761) >>> 0;
  return {
    next(n) {
      s ^= s << 13;
      s >>>= 0;
      s ^= s >>> 17;
      s ^= s << 5;
      s >>>= 0;
      return s % n;
    },
  };
}

const TYPES = [
  Int8Array,
  Uint8Array,
  Int16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
] as const;
type Maker = (typeof TYPES)[number];
const COUNTS = [0, 1, 2, 3, 7, 16, 33, 250];
const LONG_COUNTS = [9000, 17001, 40000];

/** Element i of a rank's operand in case c: small, so that sums are exact everywhere. */
const element = (c: number, rank: number, i: number): number =>
  ((c * 31 + rank * 17 + i * 7 + ((rank * i) % 5)) % 7) - 3;
const positive = (c: number, rank: number, i: number): number => element(c, rank, i) + 3;

/**
 * Loops here run over numbers in a Float64Array, and the engine converts: a loop that meets every kind of array takes
 * the slow path in all of them. Conversion wraps and rounds as a store of one element does. 64-bit integers are apart.
 */
const numbers = (a: Buffer): Float64Array => new Float64Array(a as Float64Array);
const arrayOf = (type: Maker, values: Float64Array): Buffer =>
  type === BigInt64Array ? BigInt64Array.from(Array.from(values, BigInt)) : new (type as typeof Int32Array)(values);

function operand(type: Maker, c: number, rank: number, n: number, unsigned: boolean): Buffer {
  const a = new Float64Array(n);
  for (let i = 0; i < n; i++) a[i] = unsigned ? positive(c, rank, i) : element(c, rank, i);
  return arrayOf(type, a);
}

/** Composition of affine maps x → ax + b modulo a prime: associative, not commutative. Pairs a, b. */
const P = 32749;
export function compose(input: Buffer, inout: Buffer): void {
  const x = input as Int32Array;
  const y = inout as Int32Array;
  for (let i = 0; i + 1 < y.length; i += 2) {
    const [a, b, c, d] = [x[i]!, x[i + 1]!, y[i]!, y[i + 1]!];
    y[i] = (a * c) % P;
    y[i + 1] = (a * d + b) % P;
  }
}

type Fold = (a: never, b: never) => unknown;
const plain: Record<string, Fold> = {
  SUM: (a: number, b: number) => a + b,
  PROD: (a: number, b: number) => a * b,
  MIN: (a: number, b: number) => (a < b ? a : b),
  MAX: (a: number, b: number) => (a > b ? a : b),
  BAND: (a: number, b: number) => a & b,
  BOR: (a: number, b: number) => a | b,
  BXOR: (a: number, b: number) => a ^ b,
  LAND: (a: number, b: number) => Number(Boolean(a) && Boolean(b)),
  LOR: (a: number, b: number) => Number(Boolean(a) || Boolean(b)),
  LXOR: (a: number, b: number) => Number(Boolean(a) !== Boolean(b)),
};

/** a ∘ b for whole operands, into a new array of the same type. */
function fold(op: string, a: Buffer, b: Buffer): Buffer {
  if (op === 'compose') {
    const out = b.slice();
    compose(a, out);
    return out;
  }
  const f = plain[op];
  if (b instanceof BigInt64Array) return b.map((y, i) => f!(a[i] as never, y as never) as bigint);
  const [left, out] = [numbers(a), numbers(b)];
  if (f === undefined)
    for (let i = 0; i + 1 < out.length; i += 2) {
      const [x, ix, y, iy] = [left[i]!, left[i + 1]!, out[i]!, out[i + 1]!];
      const first = op === 'MINLOC' ? x < y : x > y;
      if (first || (x === y && ix < iy)) {
        out[i] = x;
        out[i + 1] = ix;
      }
    }
  else for (let i = 0; i < out.length; i++) out[i] = f(left[i] as never, out[i] as never) as number;
  return arrayOf(b.constructor as Maker, out);
}

function same(a: Buffer, b: Buffer): boolean {
  if (a.length !== b.length) return false;
  if (a instanceof BigInt64Array || b instanceof BigInt64Array) return a.every((x: unknown, i: number) => x === b[i]);
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
  return true;
}
const concat = (parts: Buffer[], type: Maker): Buffer => {
  const out = new type(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p as never, at);
    at += p.length;
  }
  return out;
};

const NAMES = [
  'bcast',
  'reduce',
  'allreduce',
  'scan',
  'exscan',
  'gather',
  'gatherv',
  'scatter',
  'scatterv',
  'allgather',
  'allgatherv',
  'alltoall',
  'alltoallv',
  'reduceScatter',
  'reduceScatterBlock',
  'barrier',
] as const;

/** Runs `cases` random collectives on `comm`; returns what was wrong, in words. */
export function checkCollectives(m: MayflyModule, comm: Comm, seed: number, cases: number, long: boolean): string[] {
  const d = draws(seed);
  const { IN_PLACE } = m;
  const wrong: string[] = [];
  const affine = m.Op.create(compose, false);
  const p = comm.size;
  const me = comm.rank;
  for (let c = 0; c < cases; c++) {
    const name = NAMES[d.next(NAMES.length)]!;
    let type: Maker = TYPES[d.next(TYPES.length)]!;
    const counts = long ? LONG_COUNTS : COUNTS;
    let n = counts[d.next(counts.length)]!;
    const root = d.next(p);
    const inPlace = d.next(3) === 0;
    const form = d.next(3);
    const displaced = d.next(2) === 0;
    const float = type === Float32Array || type === Float64Array;
    const ops =
      type === BigInt64Array
        ? ['SUM', 'MIN', 'MAX']
        : [
            'SUM',
            'PROD',
            'MIN',
            'MAX',
            'MINLOC',
            'MAXLOC',
            'compose',
            ...(float ? [] : ['BAND', 'BOR', 'BXOR', 'LAND', 'LOR', 'LXOR']),
          ];
    const opName = ops[d.next(ops.length)]!;
    if (opName === 'compose') type = Int32Array;
    if (opName === 'PROD') type = Float64Array;
    if (opName === 'compose' || opName.endsWith('LOC')) n += n % 2;
    const unsigned = opName === 'compose' || type === Uint8Array || type === Uint32Array;
    // In one byte a sum or product of positives could wrap differently from a fold of numbers: it does not, typed
    // arrays wrap alike.
    const op: Op = opName === 'compose' ? affine : (m as unknown as Record<string, Op>)[opName]!;
    const of = (rank: number, length = n): Buffer => operand(type, c, rank, length, unsigned);
    const mine = of(me);
    const label =
      `case ${c} seed ${seed}: ${name} ${type.name}[${n}] ${opName} root ${root} ` +
      `${inPlace ? 'in place ' : ''}${['', 'non-blocking ', 'persistent '][form]}on ${p}, rank ${me}`;
    const expect = (got: Buffer, wanted: Buffer): void => {
      if (!same(got, wanted))
        wrong.push(
          `${label}: got ${String(got.slice(0, 8) as unknown)} wanted ${String(wanted.slice(0, 8) as unknown)}`,
        );
    };
    /** One of the three forms of a collective. */
    const run = (call: (typeof NAMES)[number], ...args: unknown[]): void => {
      const f = (comm as unknown as Record<string, (...a: unknown[]) => Request & PersistentRequest>)[
        ['', 'i', ''][form]! + call + ['', '', 'Init'][form]!
      ]!.apply(comm, args);
      if (form === 2) f.start();
      if (form > 0) f.wait();
      if (form === 2) f.free();
    };
    const ranks = Array.from({ length: p }, (_, r) => r);
    const reduced = (to: number, length = n): Buffer =>
      ranks
        .slice(0, to)
        .map((r) => of(r, length))
        .reduce((a, b) => fold(opName, a, b));
    const lengths = ranks.map((r) => ((r * 3 + c) % 5 === 4 ? 0 : ((r * 7 + c) % 4) + (long ? n >> 3 : 0)));
    const gap = displaced ? 2 : 0;
    const displs = ranks.map((r) => lengths.slice(0, r).reduce((a, b) => a + b + gap, 0));
    const total = lengths.reduce((a, b) => a + b + gap, 0);
    const spread = (parts: Buffer[]): Buffer => {
      const out = new type(total);
      parts.forEach((x, r) => out.set(x as never, displs[r]));
      return out;
    };
    const vector = (data: Buffer): { data: Buffer; counts: number[]; displs?: number[] } =>
      displaced ? { data, counts: lengths, displs } : { data, counts: lengths };
    switch (name) {
      case 'barrier':
        run('barrier');
        break;
      case 'bcast': {
        const buf = me === root ? mine : new type(n);
        run('bcast', buf, root);
        expect(buf, of(root));
        break;
      }
      case 'reduce': {
        const recv = me === root ? (inPlace ? mine.slice() : new type(n)) : null;
        const send = inPlace && me === root ? IN_PLACE : mine;
        run('reduce', send, recv, op, root);
        if (recv) expect(recv, reduced(p));
        expect(mine, of(me));
        break;
      }
      case 'allreduce': {
        const recv = inPlace ? mine.slice() : new type(n);
        const send = inPlace ? IN_PLACE : mine;
        run('allreduce', send, recv, op);
        expect(recv, reduced(p));
        break;
      }
      case 'scan':
      case 'exscan': {
        const recv = inPlace ? mine.slice() : new type(n);
        run(name, inPlace ? IN_PLACE : mine, recv, op);
        if (name === 'scan') expect(recv, reduced(me + 1));
        else if (me > 0) expect(recv, reduced(me));
        else expect(recv, inPlace ? mine : new type(n));
        break;
      }
      case 'gather': {
        const recv = me === root ? new type(n * p) : null;
        if (recv && inPlace) recv.set(mine as never, n * me);
        const send = recv && inPlace ? IN_PLACE : mine;
        run('gather', send, recv, root);
        if (recv)
          expect(
            recv,
            concat(
              ranks.map((r) => of(r)),
              type,
            ),
          );
        break;
      }
      case 'gatherv': {
        const recv = me === root ? new type(total) : null;
        if (recv && inPlace) recv.set(of(me, lengths[me]) as never, displs[me]);
        run('gatherv', recv && inPlace ? IN_PLACE : of(me, lengths[me]), recv && vector(recv), root);
        if (recv) expect(recv, spread(ranks.map((r) => of(r, lengths[r]))));
        break;
      }
      case 'scatter': {
        const all =
          me === root
            ? concat(
                ranks.map((r) => of(r)),
                type,
              )
            : null;
        const recv = new type(n);
        const into = all && inPlace ? IN_PLACE : recv;
        run('scatter', all, into, root);
        if (into === recv) expect(recv, mine);
        break;
      }
      case 'scatterv': {
        const all = me === root ? spread(ranks.map((r) => of(r, lengths[r]))) : null;
        const recv = new type(lengths[me]!);
        run('scatterv', all && vector(all), all && inPlace ? IN_PLACE : recv, root);
        if (!(all && inPlace)) expect(recv, of(me, lengths[me]));
        break;
      }
      case 'allgather': {
        const recv = new type(n * p);
        if (inPlace) recv.set(mine as never, n * me);
        const send = inPlace ? IN_PLACE : mine;
        run('allgather', send, recv);
        expect(
          recv,
          concat(
            ranks.map((r) => of(r)),
            type,
          ),
        );
        break;
      }
      case 'allgatherv': {
        const recv = new type(total);
        if (inPlace) recv.set(of(me, lengths[me]) as never, displs[me]);
        run('allgatherv', inPlace ? IN_PLACE : of(me, lengths[me]), vector(recv));
        expect(recv, spread(ranks.map((r) => of(r, lengths[r]))));
        break;
      }
      case 'alltoall': {
        const k = long ? Math.min(n, 12000) : n;
        const blockOf = (from: number, to: number): Buffer => of(from * p + to, k);
        const send = concat(
          ranks.map((r) => blockOf(me, r)),
          type,
        );
        const recv = inPlace ? send : new type(k * p);
        run('alltoall', inPlace ? IN_PLACE : send, recv);
        expect(
          recv,
          concat(
            ranks.map((r) => blockOf(r, me)),
            type,
          ),
        );
        break;
      }
      case 'alltoallv': {
        const len = (from: number, to: number): number => (from + to + c) % 4;
        const blockOf = (from: number, to: number): Buffer => of(from * p + to, len(from, to));
        const send = concat(
          ranks.map((r) => blockOf(me, r)),
          type,
        );
        const out = ranks.map((r) => len(me, r));
        const into = ranks.map((r) => len(r, me));
        const recv = inPlace ? send : new type(into.reduce((a, b) => a + b, 0));
        run('alltoallv', inPlace ? IN_PLACE : { data: send, counts: out }, { data: recv, counts: into });
        expect(
          recv,
          concat(
            ranks.map((r) => blockOf(r, me)),
            type,
          ),
        );
        break;
      }
      case 'reduceScatter': {
        const even = lengths.map((l) => l + (l % 2));
        const sum = even.reduce((a, b) => a + b, 0);
        const recv = inPlace ? of(me, sum) : new type(even[me]!);
        run('reduceScatter', inPlace ? IN_PLACE : of(me, sum), recv, even, op);
        const from = even.slice(0, me).reduce((a, b) => a + b, 0);
        expect(recv.subarray(0, even[me]), reduced(p, sum).subarray(from, from + even[me]!));
        break;
      }
      case 'reduceScatterBlock': {
        const recv = inPlace ? of(me, n * p) : new type(n);
        run('reduceScatterBlock', inPlace ? IN_PLACE : of(me, n * p), recv, op);
        expect(recv.subarray(0, n), reduced(p, n * p).subarray(n * me, n * (me + 1)));
        break;
      }
    }
  }
  affine.free();
  return wrong;
}
