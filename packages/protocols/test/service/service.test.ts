/** The composition of the cores: what waits for what, and what an effect that fails takes with it (L1–L3, V1–V4). */
import { describe, expect, it } from 'vitest';
import {
  Kind,
  emptyHeader,
  encodeFrame,
  imageId,
  incarnation,
  jobId,
  nodeId,
  readFrames,
  taskId,
  type Attach,
} from '@mayfly/wire';
import {
  CheckpointServer,
  Dispatcher,
  JobService,
  ServedLog,
  protocols,
  type DispatcherIo,
  type ImagesIo,
  type JobSpec,
  type LogAnswers,
  type LogIo,
  type ServedLogOptions,
  type ServicePolicy,
  type StreamName,
} from '../../src/index.ts';

const job = jobId('abcdefghijkl');
const task = taskId(0);
const spec: JobSpec = {
  id: job,
  name: 'test',
  size: 1,
  protocol: 'pessimistic',
  durability: 'behind',
  program: { language: 'typescript', entry: 'main.ts', hash: 'ab'.repeat(32) },
  args: [],
  files: [],
  seed: 1,
  channelMemories: 1,
  checkpointMs: 1000,
  interactive: false,
  limits: { memoryBytes: 1, fileBytes: 1 },
  submittedAt: 0,
};

/** A Channel Memory over streams in memory. `fails`: an effect that cannot be performed. */
function served(answers: LogAnswers, fails: (e: LogIo) => boolean = () => false, of: Partial<ServedLogOptions> = {}) {
  const streams = new Map<string, Uint8Array[]>();
  const performed: LogIo[] = [];
  const broke: unknown[] = [];
  const typed: Uint8Array[] = [];
  const log = new ServedLog(
    {
      policy: protocols.pessimistic.log,
      size: 1,
      index: 0,
      count: 1,
      durability: 'behind',
      authorise: (c) => ({ task, incarnation: incarnation(Number(c)) }),
      fresh: true,
      stdin: {
        get messages() {
          return typed.length;
        },
        message: (n) => typed[n - 1]!,
      },
      files: { answerable: () => 0, answer: () => undefined },
      ...of,
    },
    {
      perform: (e) => {
        if (fails(e)) throw new Error('the disk is full');
        if (e.type === 'append') streams.set(e.stream, [...(streams.get(e.stream) ?? []), e.bytes.slice()]);
        performed.push(e);
      },
      performed: () => undefined,
      broke: (error) => broke.push(error),
      restart: () => undefined,
      mayPass: () => false,
    },
    answers,
  );
  const begin = (): void => {
    const read = (name: StreamName) => {
      const records = streams.get(name) ?? [];
      return { records: records.map((bytes, lsn) => ({ lsn, bytes: bytes.slice() })), next: records.length };
    };
    log.begin(log.newCore(), read);
  };
  return { log, streams, performed, broke, typed, begin };
}

/** What reaches the other cores, in words. */
function heard(): { answers: LogAnswers; said: string[] } {
  const said: string[] = [];
  const answers: LogAnswers = {
    fenced: (_cm, t, n) => void said.push(`fenced ${t}.${n}`),
    covered: (_cm, image) => void said.push(`covered ${image}`),
    refused: (_cm, t, n) => void said.push(`refused ${t}.${n}`),
    failed: (_cm, e) => void said.push(`failed ${e.code}`),
    began: (t) => void said.push(`began ${t}`),
    stage: (_cm, e) => void said.push(`${e.type} ${'task' in e ? e.task : ''}`),
    recovered: () => undefined,
    coreLost: (cm) => void said.push(`lost core ${cm}`),
    wentBack: (_cm, epoch) => void said.push(`went back in epoch ${epoch}`),
  };
  return { answers, said };
}

function attach(n: number): Uint8Array {
  const h = emptyHeader(Kind.ATTACH);
  h.src = task;
  h.incarnation = incarnation(n);
  const position = protocols.pessimistic.recovery.start;
  const body: Attach = { capability: String(n), nonce: 'a-nonce-of-its-own', position, received: 0, resume: false };
  return encodeFrame(h, new TextEncoder().encode(JSON.stringify(body)));
}

describe('a Channel Memory', () => {
  it('hears of fences, ended tasks, input and orders when it begins, in this order (L2)', () => {
    const { answers, said } = heard();
    const s = served(answers);
    s.log.order({ type: 'cover', task, image: imageId('image'), position: protocols.pessimistic.recovery.start });
    s.log.fence(task, incarnation(2));
    s.typed.push(Uint8Array.of(1));
    expect(said).toEqual([]);
    s.begin();
    expect(said).toEqual(['fenced 0.2', 'covered image']);
    expect(s.streams.get('t0')).toHaveLength(1);
    s.log.drop();
    s.log.order({ type: 'uncover', task, image: imageId('image') });
    s.log.done(task);
    s.begin();
    // The line is logged, and is not given twice; a lower incarnation stays out.
    const lines = s.streams
      .get('t0')!
      .flatMap((bytes) => [...readFrames(bytes)])
      .filter((f) => f.body.length === 1);
    expect(lines).toHaveLength(1);
    s.log.step({ type: 'frames', conn: 1, bytes: attach(1) });
    const answer = s.performed.filter((e) => e.type === 'send').at(-1)!;
    expect([...readFrames(answer.bytes)][0]!.header.kind).toBe(Kind.REFUSED);
  });

  it('ends the job when the record of standard input has fewer lines than the log', () => {
    const { answers, said } = heard();
    const s = served(answers);
    s.typed.push(Uint8Array.of(1), Uint8Array.of(2));
    s.begin();
    s.log.drop();
    s.begin();
    expect(said).toEqual([]);
    s.log.drop();
    s.typed.pop();
    s.begin();
    expect(said).toEqual(['failed DAMAGED_DATA']);
  });

  it('of two orders for the same thing that wait, keeps the later one', () => {
    const { answers, said } = heard();
    const s = served(answers);
    s.log.order({ type: 'cover', task, image: imageId('image'), position: protocols.pessimistic.recovery.start });
    s.log.order({ type: 'uncover', task, image: imageId('image') });
    s.begin();
    expect(said).toEqual([]);
  });

  it('does nothing of a step after an effect that failed, and is used no more (L3)', () => {
    const { answers, said } = heard();
    let full = false;
    const s = served(answers, (e) => full && e.type === 'append');
    s.begin();
    const before = s.log.core;
    full = true;
    s.log.step({ type: 'frames', conn: 1, bytes: attach(0) });
    expect(s.broke).toHaveLength(1);
    expect(s.log.core).toBeUndefined();
    expect(s.performed.filter((e) => e.type !== 'append')).toEqual([]);
    s.log.fence(task, incarnation(1));
    expect(said).toEqual([]);
    full = false;
    s.begin();
    expect(s.log.core).not.toBe(before);
    expect(said).toEqual(['fenced 0.1']);
  });
});

describe('the service', () => {
  function service(table?: ConstructorParameters<typeof JobService>[2]) {
    const changed: unknown[] = [];
    const io: (DispatcherIo | ImagesIo)[] = [];
    const host = {
      now: () => 1000,
      dispatcher: (e: DispatcherIo) => void io.push(e),
      images: (e: ImagesIo) => void io.push(e),
      defect: (_core: string, _event: string, error: unknown) => {
        throw error;
      },
      commit(changes: readonly unknown[], then: () => void) {
        changed.push(...changes);
        then();
      },
      log: () => undefined,
    };
    const cores = { dispatcher: new Dispatcher(), images: new CheckpointServer() };
    const s = new JobService(cores, host, table);
    /** Carries out commits at once. */
    const commit = (): void => {
      for (let e = io.shift(); e; e = io.shift()) {
        done.push(e);
        if (e.type === 'persist') s.dispatch({ type: 'persisted', token: e.token });
      }
    };
    const done: (DispatcherIo | ImagesIo)[] = [];
    const hello = (): void =>
      s.dispatch({
        type: 'hello',
        connection: 'c',
        fresh: nodeId('node'),
        name: 'n',
        engine: 'e',
        slots: 1,
        holds: [],
        images: [],
      });
    return { s, commit, done, hello, changed };
  }

  it('assigns a rank after the images and every Channel Memory have fenced, however late the job opens (V3)', () => {
    const { s, commit, done, hello } = service();
    hello();
    s.dispatch({ type: 'submit', job: spec });
    commit();
    expect(done.some((e) => e.type === 'openJob')).toBe(true);
    expect(done.some((e) => e.type === 'assign')).toBe(false);
    const log = served(s.answersOf(job));
    s.open(job, [log.log]);
    s.acting(spec, []);
    commit();
    expect(done.some((e) => e.type === 'assign')).toBe(false);
    log.begin();
    commit();
    expect(done.filter((e) => e.type === 'assign')).toMatchObject([{ job, task, incarnation: 0 }]);
  });

  it('gives a part of a protocol that it does not know what it had in the registry, and what happens to its job', () => {
    const heard: unknown[] = [];
    const part: ServicePolicy = {
      kinds: ['tally'],
      begin: () => ({
        tick: () => heard.push('tick'),
        recover: (left, worked) => heard.push(left, worked),
        began: (t) => heard.push(`began ${t}`),
        answered: (_cm, a) => heard.push(a.type),
        grow: (tasks) => heard.push(`grown to ${tasks}`),
        end: () => heard.push('end'),
        keys: () => [`tally/${job}/1`],
      }),
    };
    const { s, commit, hello, changed } = service({ ...protocols, pessimistic: { service: part } });
    hello();
    s.recover([
      ['alive', { at: 500 }],
      [`tally/${job}/1`, 7],
      [`other/${job}/1`, 8],
    ]);
    s.dispatch({ type: 'submit', job: spec });
    commit();
    const answers = s.answersOf(job);
    const log = served(answers, undefined, { policy: protocols.vcl.log, fresh: false });
    s.open(job, [log.log]);
    s.acting(spec, []);
    answers.began(task);
    answers.stage(0, { type: 'recorded', task, wave: 1 });
    s.tick();
    s.ending(job);
    s.close(job);
    expect(heard).toEqual([[[`tally/${job}/1`, 7]], { since: 1000, until: 500 }, 'began 0', 'recorded', 'tick', 'end']);
    expect(changed).toEqual([[`tally/${job}/1`, undefined]]);
  });

  it('lets the dispatcher hear of new tasks once every Channel Memory has them (V4)', () => {
    const { s, commit, hello } = service();
    hello();
    const wide = { ...spec, capacity: 2 };
    s.dispatch({ type: 'submit', job: wide });
    commit();
    const log = served(s.answersOf(job));
    s.open(job, [log.log]);
    s.acting(wide, []);
    log.begin();
    commit();
    const tasks = (): number => s.dispatcher.core.jobs.get(job)!.tasks.length;
    let opened = (): void => undefined;
    let told = false;
    const group = { first: 1, root: task, parts: [{ count: 1, args: [] }] } as never;
    s.spawned(
      job,
      group,
      (_log, size, done) => {
        expect(size).toBe(2);
        opened = () => done(true);
      },
      () => (told = true),
    );
    commit();
    expect([tasks(), log.log.core!.tasks, told]).toEqual([1, 1, false]);
    opened();
    expect([tasks(), log.log.core!.tasks, told]).toEqual([2, 2, true]);
  });

  it('tells the logs of an ended task, and hears nothing of a core that has ended', () => {
    const { s, commit, done, hello } = service();
    hello();
    s.dispatch({ type: 'submit', job: spec });
    commit();
    const log = served(s.answersOf(job));
    s.open(job, [log.log]);
    s.acting(spec, []);
    log.begin();
    commit();
    s.exited(job, task, incarnation(0), { code: 0 });
    commit();
    expect(done.map((e) => e.type)).toEqual(expect.arrayContaining(['taskDone', 'jobEnded']));
    s.close(job);
    expect(s.logs(job)).toEqual([]);
    s.end('dispatcher');
    done.length = 0;
    s.dispatch({ type: 'tick' });
    expect(done).toEqual([]);
  });
});
