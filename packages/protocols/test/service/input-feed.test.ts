/** Input from outside is read when it can leave: input-feed.ts, I2 and I3, and P5 of push.ts. */
import { expect, test } from 'vitest';
import {
  Flag,
  Kind,
  MayflyError,
  emptyHeader,
  encodeFrame,
  incarnation,
  readFrame,
  taskId,
  type TaskId,
} from '@mayfly/wire';
import { ServedLog, fromTheStart, patchFromLog, positionOf, protocols, type LogIo } from '../../src/index.ts';

const BYTES = 1000;
const text = new TextEncoder();

/** One Channel Memory that has `lines` lines for task 0, and as many answers for each task. */
class Fed {
  readonly logs = new Map<string, Uint8Array[]>();
  /** Arrivals by connection. */
  readonly sent = new Map<number, number[]>();
  /** Of messages that were read where they come from. */
  bytes = 0;
  failed: string[] = [];
  readonly served: ServedLog;
  readonly #tickets: number[] = [];

  constructor(
    readonly tasks: number,
    readonly lines: number,
    readonly count: number,
    refuse?: () => void,
  ) {
    const body = (): Uint8Array => {
      refuse?.();
      this.bytes += BYTES;
      return new Uint8Array(BYTES);
    };
    this.served = new ServedLog(
      {
        policy: protocols.pessimistic.log,
        size: tasks,
        index: 0,
        count: 1,
        durability: 'behind',
        authorise: (c) => ({ task: taskId(Number(c)), incarnation: incarnation(0) }),
        fresh: true,
        stdin: { messages: lines, message: body },
        files: { answerable: () => count, answer: () => ({ error: 0, body: body() }) },
        input: { ahead: 3 * BYTES, perTick: 10 * BYTES },
      },
      {
        perform: (e) => this.#perform(e),
        performed: () => undefined,
        broke: (e) => {
          throw e;
        },
        restart: () => undefined,
        mayPass: () => false,
      },
      {
        fenced: () => undefined,
        covered: () => undefined,
        refused: () => undefined,
        failed: (_cm, e) => void this.failed.push(e.code),
        began: () => undefined,
        stage: () => undefined,
        recovered: () => undefined,
        coreLost: () => undefined,
        wentBack: () => undefined,
      },
    );
    const core = this.served.newCore();
    for (const name of core.streams()) this.logs.set(name, []);
    this.served.begin(core, () => ({ records: [], next: 0 }));
  }

  #perform(e: LogIo): void {
    if (e.type === 'append') this.logs.get(e.stream)!.push(e.bytes.slice());
    else if (e.type === 'sync') this.#tickets.push(e.ticket);
    else if (e.type === 'send' || e.type === 'sendRecord') {
      const bytes = e.type === 'send' ? e.bytes : patchFromLog(this.logs.get(e.stream)![e.lsn]!.slice(), e);
      const { header } = readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
      if (header.kind === Kind.ARRIVAL) this.sent.set(e.conn, [...(this.sent.get(e.conn) ?? []), header.arrival]);
    }
  }

  tick(times = 1): void {
    for (let i = 0; i < times; i++) {
      this.served.step({ type: 'flush' });
      this.served.step({ type: 'tick' });
      for (const ticket of this.#tickets.splice(0)) this.served.step({ type: 'synced', ticket });
    }
  }

  #frame(task: TaskId, kind: number, over: object = {}, body?: Uint8Array): void {
    const bytes = encodeFrame({ ...emptyHeader(kind), src: task, dst: task, ...over }, body);
    this.served.step({ type: 'frames', conn: task + 10, bytes });
  }
  attach(task: TaskId): void {
    const position = positionOf(fromTheStart());
    const body = { capability: String(task), nonce: `nonce-of-${task}`, position, received: 0, resume: false };
    this.#frame(task, Kind.ATTACH, {}, text.encode(JSON.stringify(body)));
  }
  credit(task: TaskId, over: object): void {
    const arrival = this.sent.get(task + 10)?.at(-1) ?? 0;
    this.#frame(task, Kind.CREDIT, { arrival, size: 4 * BYTES, ...over });
  }
}

const T0 = taskId(0);

test('I2: a task that takes nothing has little read for it; one that does gets all of it, in order', () => {
  const fed = new Fed(2, 100, 200);
  fed.tick(30);
  // Three messages fill what may be ahead of each task.
  expect(fed.bytes).toBeLessThanOrEqual(2 * 3 * BYTES);
  fed.attach(T0);
  fed.tick();
  for (let i = 0; i < 300 && (fed.sent.get(10)?.length ?? 0) < 300; i++) {
    fed.credit(T0, {});
    fed.tick();
  }
  expect(fed.sent.get(10)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  expect(fed.failed).toEqual([]);
});

test('I2: all tasks together get no more than their share from one tick to the next', () => {
  const fed = new Fed(100, 0, 10);
  expect(fed.bytes).toBe(10 * BYTES);
  for (let i = 2; i <= 30; i++) {
    fed.tick();
    expect(fed.bytes).toBe(10 * i * BYTES);
  }
});

test('I2: envelopes without bodies are not bodies that have left (P5); I3: one message comes now and then', () => {
  const fed = new Fed(1, 0, 1000);
  fed.attach(T0);
  fed.tick();
  const before = fed.bytes;
  // A receiver that wants no bodies, and says nothing of those that it gets.
  for (let i = 0; i < 400; i++) {
    if (i === 0) fed.credit(T0, { flags: Flag.ENVELOPE_ONLY, size: 1024 });
    fed.tick();
  }
  expect(fed.bytes - before).toBeGreaterThanOrEqual(8 * BYTES);
  expect(fed.bytes - before).toBeLessThanOrEqual(20 * BYTES);
});

test('what the source refuses ends the job', () => {
  const fed = new Fed(1, 0, 10, () => {
    throw new MayflyError('LOG_LIMIT', 'the logs hold too much');
  });
  expect(fed.failed).toEqual(['LOG_LIMIT']);
});
