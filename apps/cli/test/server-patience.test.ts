/** When a server takes a node for lost: the options of the command line, and what a real server tells a node. */
import { createServer } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import { CONTROL_VERSION, type Welcome } from '@mayfly/wire';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { expect, it } from 'vitest';
import { patienceOf } from '../src/commands/server.ts';

it('seconds become milliseconds, and what was not said stays the default', () => {
  expect(patienceOf({})).toEqual({});
  expect(patienceOf({ heartbeat: 0.1, silence: 20, grace: 1.5, restartGrace: 30 })).toEqual({
    heartbeatMs: 100,
    silentMs: 20_000,
    graceMs: 1500,
    restartGraceMs: 30_000,
  });
});

it('a node learns with its welcome how often to say that it is alive', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mayfly-patience-'));
  const dispatcher = patienceOf({ heartbeat: 2.5 });
  const server = await createServer({ dataDir, port: 0, log: 'silent', dispatcher, ...sharedCompiler() });
  const socket = io(`${server.localUrl}/node`, { transports: ['websocket'] });
  try {
    const hello = {
      version: CONTROL_VERSION,
      name: 'one',
      engine: 'test',
      slots: 1,
      session: 's',
      holds: [],
      images: [],
    };
    const welcome = await new Promise<Welcome>((resolve) => socket.emit('hello', hello, resolve));
    expect(welcome.heartbeatMs).toBe(2500);
  } finally {
    socket.close();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
