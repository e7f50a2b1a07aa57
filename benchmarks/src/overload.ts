/**
 * Overload: idle nodes by the thousand on one server, and more messages than their receiver takes. The server's
 * resident memory before, at its highest; the same of the senders' processes, which must stall instead of keeping what
 * the server does not take; and how many messages each sender had placed when the first of them was done: the spread of
 * that is fairness. Every message is checked.
 *
 * Goals: the memory of the flood stays far below its bytes (they lie in the log); spread below 3 %, as the paper
 * reports for its Figure 7. `npm run bench -- overload --gb 10` floods with more than the default of 4 GB.
 */
import { readFileSync } from 'node:fs';
import { io, type Socket } from 'socket.io-client';
import { CONTROL_VERSION } from '@mayfly/wire';
import { MayflySide } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { bytes, deviation, percent, print } from './table.ts';

const IDLE = Number(process.env['MAYFLY_OVERLOAD_NODES'] ?? usually(2000, 100));
const SENDERS = 4;
const SIZE = 256 << 10;
const LIMIT_MS = 1_800_000;

/** Highest resident memory of a process so far, bytes; undefined where the system does not say. */
const highestOf = (pid: number | undefined): number | undefined => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return undefined;
  }
};

const resident = async (side: MayflySide): Promise<number> =>
  Number(/^process_resident_memory_bytes (\S+)$/m.exec(await side.text('/metrics'))![1]);

async function idle(side: MayflySide): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < IDLE; i++) {
    const s = io(`${side.url}/node`, { transports: ['websocket'], forceNew: true });
    await s.timeout(120_000).emitWithAck('hello', {
      version: CONTROL_VERSION,
      name: `idle${i}`,
      engine: 'none',
      slots: 0,
      holds: [],
      images: [],
    });
    sockets.push(s);
  }
  return sockets;
}

export async function overload(): Promise<boolean> {
  const total = Number(process.env['MAYFLY_OVERLOAD_BYTES'] ?? usually(2 ** 32, 2 ** 28));
  const side = await MayflySide.start();
  try {
    const before = await resident(side);
    const sockets = await idle(side);
    const withNodes = await resident(side);
    for (const s of sockets) s.disconnect();
    const nodes = await side.headless(SENDERS + 1, 1);
    const nodesBefore = nodes.map((n) => highestOf(n.pid) ?? 0);
    const start = await resident(side);
    const count = Math.ceil(total / SENDERS / SIZE);
    let highest = start;
    const id = await side.submit('overload', SENDERS + 1, [String(count), String(SIZE)]);
    await side.until(
      id,
      'its answer',
      async (j) => {
        highest = Math.max(highest, await resident(side));
        return j.state === 'done';
      },
      200,
      LIMIT_MS,
    );
    const nodesHighest = nodes.map((n) => highestOf(n.pid) ?? 0);
    const said = await side.text(`/api/jobs/${id}/tasks/0/stdout`);
    const placed = await Promise.all(
      Array.from(
        { length: SENDERS },
        async (_, i) => JSON.parse(await side.text(`/api/jobs/${id}/files/overload-${i + 1}.json`)) as number[],
      ),
    );
    const firstDone = Math.min(...placed.map((at) => at.at(-1)!));
    const began = Math.min(...placed.map((at) => at[0]!));
    const shares = placed.map((at) => at.filter((ms) => ms <= firstDone).length);
    const spread = deviation(shares);
    console.log(
      `\n${IDLE} idle nodes; then ${SENDERS} senders and one receiver that reads the last messages first, ` +
        `${bytes(total)} unmatched in messages of ${bytes(SIZE)}`,
    );
    print(
      ['', 'before', 'highest', 'per node / of the bytes sent'],
      [
        ['idle nodes', bytes(before), bytes(withNodes), bytes(Math.max(0, withNodes - before) / IDLE)],
        ['unmatched', bytes(start), bytes(highest), percent((highest - start) / total)],
        [
          'the same, largest of the nodes',
          bytes(Math.max(...nodesBefore)),
          bytes(Math.max(...nodesHighest)),
          percent((Math.max(...nodesHighest) - Math.max(...nodesBefore)) / (total / SENDERS)),
        ],
      ],
    );
    console.log(
      `${Math.round((shares.reduce((a, b) => a + b, 0) * SIZE) / 1048.576 / (firstDone - began))} MB/s; ` +
        `messages placed by each sender when the first was done: ${shares.join(', ')}, spread ` +
        `${percent(spread)} (goal 3 %); the receiver: ${said.trim()}`,
    );
    console.log(
      '\nNot measured: several machines, tabs, slots of the idle nodes (they have none), how long the drain takes.',
    );
    return said === `all ${count * SENDERS}\n` && quick(highest - start < total / 2);
  } finally {
    await side.stop();
  }
}
