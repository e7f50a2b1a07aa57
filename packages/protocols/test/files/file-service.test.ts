/** The file service's core (S1–S5) against a dumb model, and its redo after a crash. */
import {
  AT_END,
  FILE_PIECES,
  FileOp,
  SpawnRefusal,
  WorldMode,
  decodeFileRequest,
  fileValue,
  taskId,
} from '@mayfly/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError, FileService, GONE, MemoryFiles, type FileSnapshot, type Outcome } from '../../src/index.ts';
import { client, request, result } from './messages.ts';

const text = new TextEncoder();
const CREATE = 2;
const EXCL = 8;
const APPEND = 1;
const DELETE_ON_CLOSE = 4;

describe('the file service', () => {
  it('opens, writes, reads, and says what is wrong', () => {
    const files = new MemoryFiles(1000, new Map([['in.txt', text.encode('hello')]]));
    const ask = client(files);
    expect(ask(FileOp.OPEN, { name: 'x', value: 0 }).error).toBe(FileError.NO_SUCH_FILE);
    expect(ask(FileOp.OPEN, { name: '../x', value: CREATE }).error).toBe(FileError.BAD_FILE);
    expect(ask(FileOp.OPEN, { name: 'in.txt/x', value: CREATE }).error).toBe(FileError.BAD_FILE);
    const opened = ask(FileOp.OPEN, { name: 'x', value: CREATE });
    const session = fileValue(opened.body, 0);
    expect(ask(FileOp.OPEN, { name: 'x', value: CREATE | EXCL }).error).toBe(FileError.FILE_EXISTS);
    expect(ask(FileOp.DELETE, { name: 'x' }).error).toBe(FileError.FILE_IN_USE);
    // Every other pair of bytes.
    expect(fileValue(ask(FileOp.WRITE, { session, segments: [1, 2, 3, 4], data: text.encode('abcdef') }).body, 0)).toBe(
      6,
    );
    expect([...files.files.get('x')!]).toEqual([0, 97, 98, 0, 0, 99, 100, 0, 0, 101, 102]);
    expect([...ask(FileOp.READ, { session, segments: [0, 2, 9, 4] }).body]).toEqual([0, 97, 0, 99, 0, 101]);
    expect(ask(FileOp.WRITE, { session, segments: [995, 6, 1, 0], data: new Uint8Array(6) }).error).toBe(
      FileError.QUOTA,
    );
    expect(ask(FileOp.WRITE, { session, segments: [0, 3, 1, 0], data: new Uint8Array(2) }).error).toBe(FileError.ARG);
    expect(ask(FileOp.READ, { session, segments: [2 ** 53 - 2, 4, 1, 0] }).error).toBe(FileError.ARG);
    expect(ask(FileOp.RESIZE, { session, value: 1001 }).error).toBe(FileError.QUOTA);
    // S3: the limit itself is not beyond it.
    expect(ask(FileOp.RESIZE, { session, value: 1000 }).error).toBe(FileError.NONE);
    expect(ask(FileOp.WRITE, { session, segments: [996, 4, 1, 0], data: new Uint8Array(4) }).error).toBe(
      FileError.NONE,
    );
    expect(fileValue(ask(FileOp.ADVANCE, { session, value: 5 }).body, 0)).toBe(0);
    expect(fileValue(ask(FileOp.ADVANCE, { session, value: 1 }).body, 0)).toBe(5);
    expect(ask(99 as FileOp, { session }).error).toBe(FileError.ARG);
    expect(ask(FileOp.CLOSE, { session }).error).toBe(FileError.NONE);
    expect(ask(FileOp.SIZE, { session }).error).toBe(FileError.FILE);
  });

  it('an input file is read as it is, and becomes a result file, whole, when it is written to', () => {
    const files = new MemoryFiles(8, new Map([['in.txt', text.encode('hello')]]));
    const ask = client(files);
    const session = fileValue(ask(FileOp.OPEN, { name: 'in.txt', value: 0 }).body, 0);
    expect(new TextDecoder().decode(ask(FileOp.READ, { session, segments: [1, 100, 1, 0] }).body)).toBe('ello');
    expect(ask(FileOp.WRITE, { session, segments: [8, 1, 1, 0], data: text.encode('!') }).error).toBe(FileError.QUOTA);
    expect(files.files.size).toBe(0);
    ask(FileOp.WRITE, { session, segments: [0, 1, 1, 0], data: text.encode('J') });
    expect(new TextDecoder().decode(files.files.get('in.txt'))).toBe('Jello');
    ask(FileOp.CLOSE, { session });
    expect(ask(FileOp.DELETE, { name: 'in.txt' }).error).toBe(FileError.NONE);
    expect(ask(FileOp.OPEN, { name: 'in.txt', value: 0 }).error).toBe(FileError.NO_SUCH_FILE);
    const again = ask(FileOp.OPEN, { name: 'in.txt', value: CREATE | DELETE_ON_CLOSE | APPEND });
    expect(fileValue(again.body, 1)).toBe(0);
    ask(FileOp.CLOSE, { session: fileValue(again.body, 0) });
    expect(files.files.size).toBe(0);
    expect(files.service.total).toBe(0);
  });

  it('bounds what one request makes the server read, and what it keeps of requests (S7)', () => {
    const input = new Map([['in', new Uint8Array(60_000)]]);
    const files = new MemoryFiles(1000, input);
    const ask = client(files);
    const session = fileValue(ask(FileOp.OPEN, { name: 'in', value: 0 }).body, 0);
    // 128 bytes that asked for 258 MB.
    expect(ask(FileOp.READ, { session, segments: [0, 60_000, 4300, 0] }).error).toBe(FileError.ARG);
    expect(ask(FileOp.READ, { session, segments: [0, 1, FILE_PIECES + 1, 0] }).error).toBe(FileError.ARG);
    expect(ask(FileOp.READ, { session, segments: [0, 60_000, 279, 0] }).body.length).toBe(279 * 60_000);
    // One that takes no answers.
    const service = new FileService(1000, new Map([['in', 10]]), undefined, 0, undefined, 100);
    let n = 0;
    const say = (op: FileOp, r: Parameters<typeof request>[1]): unknown => {
      const body = request(op, r);
      const outcome = service.decide(taskId(0), ++n, WorldMode.REQUEST, body, 1000, false);
      if ('fatal' in outcome) return outcome.fatal;
      service.apply(outcome, body);
      return undefined;
    };
    expect(say(FileOp.OPEN, { name: 'in', value: 0 })).toBeUndefined();
    const read = { session: 1, segments: [0, 1, 1, 0] };
    expect(Array.from({ length: 5 }, () => say(FileOp.READ, read))).toEqual([...Array(4).fill(undefined), 'requests']);
    const again = new FileService(1000, new Map(), undefined, 0, undefined, 100);
    again.restore(service.snapshot());
    const over = again.decide(taskId(0), n, WorldMode.REQUEST, request(FileOp.READ, read), 1000, false);
    expect(over).toMatchObject({ fatal: 'requests' });
    service.forget(taskId(0), 4);
    expect(say(FileOp.READ, read)).toBeUndefined();
  });

  it('S8: a job has so many files, whoever makes them, and of no bytes as well', () => {
    const input = new Map([['in', 1]]);
    const service = new FileService(1000, input, undefined, 0, undefined, undefined, 3);
    let n = 0;
    const say = (mode: number, body: Uint8Array): string | number => {
      const outcome = service.decide(taskId(0), ++n, mode, body, 1000, false);
      if ('fatal' in outcome) return outcome.fatal;
      service.apply(outcome, body);
      return outcome.error;
    };
    const ask = (op: FileOp, r: Parameters<typeof request>[1]): string | number =>
      say(WorldMode.REQUEST, request(op, r));
    expect(ask(FileOp.OPEN, { name: 'in', value: 0 })).toBe(FileError.NONE);
    for (const path of ['a', 'd/b', 'd/c']) expect(say(WorldMode.FILE, result(path, 0))).toBe(FileError.NONE);
    expect(say(WorldMode.FILE, result('e', 0))).toBe('files');
    expect(say(WorldMode.CUT, result('e', 5))).toBe('files');
    expect(ask(FileOp.OPEN, { name: 'e', value: CREATE })).toBe(FileError.NO_SPACE);
    // An input file that is written to would be one more.
    expect(ask(FileOp.RESIZE, { session: 1, value: 5 })).toBe(FileError.NO_SPACE);
    // Those that are there may grow and go.
    expect(say(WorldMode.FILE, result('a', 0, Uint8Array.of(1)))).toBe(FileError.NONE);
    expect(say(WorldMode.FILE, result('d', 0))).toBe('conflict');
    for (const path of ['d/b', 'd/c']) expect(ask(FileOp.DELETE, { name: path })).toBe(FileError.NONE);
    expect(say(WorldMode.FILE, result('d', 0))).toBe(FileError.NONE);
    expect(ask(FileOp.RESIZE, { session: 1, value: 5 })).toBe(FileError.NONE);
  });

  it('makes the last of many files in the time of the first', () => {
    const service = new FileService(1000, new Map());
    let looked = 0;
    const { keys } = Map.prototype;
    // A scan of all files is a scan of their names.
    service.files.keys = function () {
      looked++;
      return keys.call(this) as MapIterator<string>;
    };
    for (let n = 1; n <= 1000; n++) {
      const body = result(`d${n % 7}/f${n}`, 0);
      const outcome = service.decide(taskId(0), n, WorldMode.FILE, body, 1000, false);
      service.apply(outcome as Outcome, body);
    }
    expect(service.files.size).toBe(1000);
    expect(looked).toBe(0);
  });

  it('what is no request is none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (noise) => {
        const files = new MemoryFiles(100);
        try {
          files.deliver(taskId(0), 1, WorldMode.REQUEST, noise);
        } catch (e) {
          expect((e as Error).message).toContain('malformed');
          expect(decodeFileRequest(noise)).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
    const big = request(FileOp.SEEK, { session: 1, value: 0 });
    new DataView(big.buffer).setUint32(20, 0x20_0000, true); // value 2⁵³
    // A number that is none is refused, and changes nothing.
    const files = new MemoryFiles(1000);
    const ask = client(files);
    expect(fileValue(ask(FileOp.OPEN, { name: 'x', value: CREATE }).body, 0)).toBe(1);
    for (const op of [FileOp.SEEK, FileOp.RESIZE, FileOp.PREALLOCATE, FileOp.ADVANCE]) {
      new DataView(big.buffer).setUint8(0, op);
      expect(files.deliver(taskId(0), 1 + op, WorldMode.REQUEST, big)!.error).toBe(FileError.ARG);
    }
    expect([files.service.size('x'), files.service.total]).toEqual([0, 0]);
  });

  const segment = fc.tuple(fc.nat(40), fc.nat(6), fc.nat(4), fc.nat(9));
  const segments = fc.array(segment, { maxLength: 3 }).map((l) => l.flat());
  const name = fc.constantFrom('a', 'b', 'd/e', 'in');
  const session = fc.integer({ min: 1, max: 4 });
  const message = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constant(FileOp.OPEN),
        name,
        value: fc.constantFrom(0, CREATE, CREATE | EXCL, CREATE | DELETE_ON_CLOSE, CREATE | APPEND),
      }),
    },
    { weight: 8, arbitrary: fc.record({ op: fc.constant(FileOp.WRITE), session, segments, seed: fc.nat(255) }) },
    { weight: 4, arbitrary: fc.record({ op: fc.constant(FileOp.READ), session, segments }) },
    fc.record({
      op: fc.constantFrom(FileOp.ADVANCE, FileOp.SEEK, FileOp.RESIZE, FileOp.PREALLOCATE),
      session,
      value: fc.nat(60),
    }),
    fc.record({ op: fc.constantFrom(FileOp.CLOSE, FileOp.SIZE), session }),
    fc.record({ op: fc.constant(FileOp.DELETE), name }),
    {
      weight: 4,
      arbitrary: fc.record({ result: name, offset: fc.oneof(fc.nat(30), fc.constant(GONE)), cut: fc.boolean() }),
    },
    { weight: 4, arbitrary: fc.record({ result: name, offset: fc.constant(AT_END), cut: fc.constant(false) }) },
    fc.record({ op: fc.constantFrom(FileOp.SIZE, FileOp.MKDIR, FileOp.RMDIR), session: fc.constant(0), name }),
    fc.record({ op: fc.constant(FileOp.READ), session: fc.constant(0), name, segments }),
  );
  type Message = {
    op?: FileOp;
    name?: string;
    session?: number;
    value?: number;
    segments?: number[];
    seed?: number;
    result?: string;
    offset?: number;
    cut?: boolean;
  };
  const LIMIT = 300;
  const INPUTS = new Map([['in', text.encode('input')]]);

  function bodyOf(m: Message): [mode: number, body: Uint8Array] {
    if (m.result !== undefined)
      return m.cut || m.offset === GONE
        ? [WorldMode.CUT, result(m.result, m.offset!)]
        : [WorldMode.FILE, result(m.result, m.offset!, Uint8Array.of(1, 2, 3))];
    const list = m.segments ?? [];
    let bytes = 0;
    for (let i = 0; i < list.length; i += 4) bytes += list[i + 1]! * list[i + 2]!;
    const data = m.op === FileOp.WRITE ? Uint8Array.from({ length: bytes }, (_, i) => (m.seed! + i) & 255) : undefined;
    return [WorldMode.REQUEST, request(m.op!, { ...m, ...(data && { data }) })];
  }

  it('S2, S3: written as a model has it, byte by byte, and within the limit', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const files = new MemoryFiles(LIMIT, INPUTS);
        const open = new Map<number, string>();
        const model = new Map<string, number[]>();
        const hidden = new Set<string>();
        const content = (p: string): number[] | undefined =>
          model.get(p) ?? (INPUTS.has(p) && !hidden.has(p) ? [...INPUTS.get(p)!] : undefined);
        let n = 0;
        for (const m of messages as Message[]) {
          const [mode, body] = bodyOf(m);
          let answer;
          try {
            answer = files.deliver(taskId(0), ++n, mode, body);
          } catch {
            return; // the job ends
          }
          if (m.result !== undefined) {
            if (m.offset === GONE) model.delete(m.result);
            else {
              const c = m.offset === AT_END ? (content(m.result) ?? []) : (model.get(m.result) ?? []);
              const at = m.offset === AT_END ? c.length : m.offset!;
              if (m.cut) while (c.length > m.offset!) c.pop();
              while (c.length < at) c.push(0);
              if (!m.cut) [1, 2, 3].forEach((b, i) => (c[at + i] = b));
              model.set(m.result, c);
            }
          } else if (answer!.error === FileError.NONE) {
            const path = m.session === 0 ? m.name! : open.get(m.session!)!;
            if (m.op === FileOp.OPEN) {
              open.set(fileValue(answer!.body, 0), m.name!);
              if (!content(m.name!)) model.set(m.name!, []);
            } else if (
              m.op === FileOp.WRITE &&
              m.segments!.some((_, i) => i % 4 === 0 && m.segments![i + 1]! * m.segments![i + 2]! > 0)
            ) {
              const c = content(path) ?? [];
              let at = 0;
              for (let i = 0; i < m.segments!.length; i += 4)
                for (let k = 0; k < m.segments![i + 2]!; k++)
                  for (let b = 0; b < m.segments![i + 1]!; b++) {
                    const to = m.segments![i]! + k * m.segments![i + 3]! + b;
                    while (c.length <= to) c.push(0);
                    c[to] = (m.seed! + at++) & 255;
                  }
              model.set(path, c);
            } else if (m.op === FileOp.WRITE) {
              if (!model.has(path)) model.set(path, content(path) ?? []);
            } else if (m.op === FileOp.READ) {
              const c = content(path) ?? [];
              const want: number[] = [];
              read: for (let i = 0; i < m.segments!.length; i += 4)
                for (let k = 0; k < m.segments![i + 2]!; k++)
                  for (let b = 0; b < m.segments![i + 1]!; b++) {
                    const from = m.segments![i]! + k * m.segments![i + 3]! + b;
                    if (from >= c.length) break read;
                    want.push(c[from]!);
                  }
              expect([...answer!.body]).toEqual(want);
            } else if (
              m.op === FileOp.RESIZE ||
              (m.op === FileOp.PREALLOCATE && m.value! > (content(path)?.length ?? 0))
            ) {
              const c = content(path) ?? [];
              c.length = Math.min(c.length, m.value!);
              while (c.length < m.value!) c.push(0);
              model.set(path, c);
            } else if (m.op === FileOp.DELETE) {
              model.delete(m.name!);
              hidden.add(m.name!);
            } else if (m.op === FileOp.CLOSE) return; // DELETE_ON_CLOSE is held against the redo below
          }
          expect(Object.fromEntries([...files.files].map(([p, b]) => [p, [...b]]))).toEqual(Object.fromEntries(model));
          expect(files.service.total).toBe([...model.values()].reduce((a, c) => a + c.length, 0));
          expect(files.service.total).toBeLessThanOrEqual(LIMIT);
        }
      }),
      { numRuns: 150 },
    );
  });

  /** What a service that breaks a rule would do with its snapshot, and with records that it repeats. */
  interface Planted {
    snapshot?(s: FileSnapshot): FileSnapshot;
    repeated?(o: Outcome, body: Uint8Array, service: FileService): Outcome;
  }
  const survives = ({ snapshot: kept = (s) => s, repeated = (o) => o }: Planted = {}) =>
    fc.property(
      fc.array(fc.tuple(message, fc.nat(1)), { maxLength: 30 }),
      fc.nat(30),
      fc.nat(30),
      (messages, at, crash) => {
        const files = new MemoryFiles(LIMIT, INPUTS);
        const journal: { outcome: Outcome; body: Uint8Array }[] = [];
        let snapshot = JSON.stringify(files.service.snapshot());
        let onDisk = new Map<string, Uint8Array>();
        const n = [0, 0];
        messages.forEach(([m, task], i) => {
          const copy = (): Map<string, Uint8Array> => new Map([...files.files].map(([p, b]) => [p, b.slice()]));
          if (i === at) {
            snapshot = JSON.stringify(files.service.snapshot());
            journal.length = 0;
          }
          // What is on the disk after a loss of power: anything from the snapshot to the end.
          if (i === Math.max(at, crash)) onDisk = copy();
          const [mode, body] = bodyOf(m as Message);
          const outcome = files.service.decide(
            taskId(task),
            ++n[task]!,
            mode,
            body,
            LIMIT - files.service.total,
            false,
          );
          if ('fatal' in outcome) return;
          journal.push({ outcome, body });
          files.redo(outcome, body);
        });
        const again = new MemoryFiles(LIMIT, INPUTS);
        if (at >= messages.length || Math.max(at, crash) >= messages.length)
          onDisk = new Map([...files.files].map(([p, b]) => [p, b.slice()]));
        for (const [p, b] of onDisk) again.files.set(p, b);
        again.service.restore(kept(JSON.parse(snapshot) as FileSnapshot));
        for (const { outcome, body } of journal) again.redo(repeated(outcome, body, again.service), body);
        expect(Object.fromEntries([...again.files].filter(([p]) => again.service.files.has(p)))).toEqual(
          Object.fromEntries(files.files),
        );
        expect(again.service.snapshot()).toEqual(files.service.snapshot());
        for (const task of [taskId(0), taskId(1)])
          for (let r = 1; r <= files.service.requests(task); r++)
            expect(again.answer(task, r)).toEqual(files.answer(task, r));
      },
    );

  it(
    'S1, S2, S4: a snapshot and the records behind it bring back files, pointers and answers, whatever of them ' +
      'the files had already',
    () => fc.assert(survives(), { numRuns: 300 }),
  );

  it.each<[string, Planted]>([
    ['S9: directories that are forgotten', { snapshot: ({ made: _, ...s }) => s }],
    [
      'S10: an end that is looked for again',
      { repeated: (o, body, service) => ({ ...o, value: endOf(o, body, service) ?? o.value }) },
    ],
  ])('a planted bug is found: %s', (_, planted) => {
    // The same cases in every run: chance decides nothing here.
    expect(fc.check(survives(planted), { seed: 1, numRuns: 20_000, endOnFailure: true }).failed).toBe(true);
  });
});

/** Where the file of a message at its end, as {@link result} makes it, ends now. */
function endOf(o: Outcome, body: Uint8Array, service: FileService): number | undefined {
  const name = new DataView(body.buffer).getUint16(0, true);
  const end = o.mode === WorldMode.FILE && body[2 + name] === 254 && body[3 + name] === 255;
  return end ? (service.size(new TextDecoder().decode(body.subarray(2, 2 + name))) ?? 0) + 1 : undefined;
}

it('a service that is not told of tasks has none, and adds none', () => {
  const service = new FileService(10, new Map());
  expect(service.tasksOfJob).toBe(0);
  const body = request(FileOp.SPAWN, { data: text.encode(JSON.stringify([{ args: [], count: 1 }])) });
  expect(service.decide(taskId(0), 1, WorldMode.REQUEST, body, 10, false)).toMatchObject({
    error: FileError.SPAWN,
    value: SpawnRefusal.LIMIT,
  });
});

describe('files in memory', () => {
  it('an effect of the journal on a file that a later one has removed already makes it again', () => {
    const files = new MemoryFiles(10);
    files.perform({ type: 'write', path: 'x', segments: [1, 1, 1, 0], data: Uint8Array.of(7) });
    files.perform({ type: 'resize', path: 'y', size: 2 });
    expect([...files.files].map(([path, bytes]) => [path, ...bytes])).toEqual([
      ['x', 0, 7],
      ['y', 0, 0],
    ]);
  });
});

describe('S6: a spawn', () => {
  const parts = (...counts: number[]): Uint8Array =>
    text.encode(JSON.stringify(counts.map((count) => ({ args: ['x'], count }))));

  it('is decided once: its tasks are numbered without gaps, and a redo after a crash asks nobody again', () => {
    let free = 3;
    const made = (): MemoryFiles => new MemoryFiles(100, new Map(), 2, (n) => (n <= free ? 0 : SpawnRefusal.SLOTS));
    const files = made();
    const bodies = [
      request(FileOp.SPAWN, { data: parts(1, 2) }),
      request(FileOp.SPAWN, { data: parts(4) }),
      request(FileOp.SPAWN, { data: text.encode('[]') }),
      request(FileOp.SPAWN, { data: parts(1) }),
    ];
    const outcomes = bodies.map((body, i) => {
      const o = files.service.decide(taskId(1), i + 1, WorldMode.REQUEST, body, 100, false) as Outcome;
      files.service.apply(o, body);
      return o;
    });
    const answers = (of: MemoryFiles): number[][] =>
      bodies.map((_, i) => ((a) => [a.error, fileValue(a.body, 0)])(of.answer(taskId(1), i + 1)));
    expect(answers(files)).toEqual([
      [0, 2],
      [FileError.SPAWN, SpawnRefusal.SLOTS],
      [FileError.SPAWN, SpawnRefusal.MALFORMED],
      [0, 5],
    ]);
    expect(files.service.tasksOfJob).toBe(6);
    // The journal is done again where nothing is free any more, over a snapshot that has the first of them.
    free = 0;
    const again = made();
    again.redo(outcomes[0]!, bodies[0]!);
    const later = made();
    later.service.restore(structuredClone(again.service.snapshot()));
    bodies.slice(1).forEach((body, i) => later.redo(outcomes[i + 1]!, body));
    expect(answers(later)).toEqual(answers(files));
    expect(later.service.spawned).toEqual([
      {
        first: 2,
        root: 1,
        parts: [
          { args: ['x'], count: 1 },
          { args: ['x'], count: 2 },
        ],
      },
      { first: 5, root: 1, parts: [{ args: ['x'], count: 1 }] },
    ]);
  });
});
