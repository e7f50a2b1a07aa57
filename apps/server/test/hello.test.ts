/** X4: who connects to /node and never says a good Hello does not stay; time is the test's. */
import { EventEmitter } from 'node:events';
import { CheckpointServer, Dispatcher, JobService } from '@mayfly/protocols';
import { openEmbeddedStorage } from '@mayfly/storage';
import { CONTROL_VERSION } from '@mayfly/wire';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { NodeSockets } from '../src/hosts/node-sockets.ts';
import { Rooms } from '../src/rooms.ts';
import { Secrets } from '../src/secrets.ts';
import { freshDir, later } from './harness.ts';

it('a connection without a good Hello is closed after its time, and gives its place free; one with it stays', async () => {
  const storage = await openEmbeddedStorage({ dataDir: await freshDir() });
  later(() => storage.close());
  const secrets = await Secrets.open(storage.registry, 'token-of-the-test');
  let due: (() => void)[] = [];
  const host = new NodeSockets({
    secrets,
    rooms: await Rooms.open(storage.registry),
    logger: pino({ level: 'silent' }),
    listener: new Proxy({}, { get: () => () => undefined }) as never,
    service: new JobService(
      { dispatcher: new Dispatcher(), images: new CheckpointServer() },
      {
        now: () => Date.now(),
        dispatcher: (e) => {
          if (e.type === 'welcome') host.welcome(e);
        },
        images: () => undefined,
        commit: (_changes, then) => then(),
        log: () => undefined,
        defect: (_core, _event, error) => {
          throw error;
        },
      },
    ),
    room: undefined,
    messagesPerMinute: 1000,
    maxNodes: 3,
    trustProxy: 0,
    after: (_ms, run) => (due.push(run), () => (due = due.filter((d) => d !== run))),
  });
  later(async () => host.close());
  const namespace = new EventEmitter();
  host.serve(namespace as never);
  const connect = (id: string): EventEmitter & { closed: boolean } => {
    const socket = Object.assign(new EventEmitter(), {
      id,
      closed: false,
      handshake: { address: 'test' },
      use: () => undefined,
      conn: new EventEmitter(),
      disconnect: () => {
        if (socket.closed) return;
        socket.closed = true;
        socket.emit('disconnect');
      },
    });
    namespace.emit('connection', socket);
    return socket;
  };
  const hello = (socket: EventEmitter, more: object = {}): Promise<{ node?: string; error?: object }> =>
    new Promise((resolve) =>
      socket.emit(
        'hello',
        {
          version: CONTROL_VERSION,
          session: 'session',
          name: 'n',
          engine: 'test',
          slots: 1,
          holds: [],
          images: [],
          ...more,
        },
        resolve,
      ),
    );

  // X6: a second Hello ends the connection, and its node is the only one that it made.
  const twice = connect('twice');
  expect((await hello(twice)).node).toBeDefined();
  twice.emit('hello', { version: CONTROL_VERSION }, () => undefined);
  void hello(twice);
  expect(twice.closed).toBe(true);
  expect(host.count).toBe(0);
  expect(due).toEqual([]);

  const [silent, wrong, good] = [connect('silent'), connect('wrong'), connect('good')];
  expect((await hello(wrong, { version: 999 })).error).toBeDefined();
  expect((await hello(good)).node).toBeDefined();
  expect(connect('one too many').closed).toBe(true);
  expect(host.count).toBe(3);
  for (const run of due.splice(0)) run();
  expect([silent.closed, wrong.closed, good.closed]).toEqual([true, true, false]);
  expect(host.count).toBe(1);
  expect((await hello(connect('next'))).node).toBeDefined();
  expect(due).toEqual([]);
});
