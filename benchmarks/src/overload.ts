/**
 * Overload: idle nodes by the thousand on one server, and more messages than their receiver takes. The server's resident memory before, at
 * its highest and after; what each sender paid per message, and the spread of that over the senders (fairness). Every message is checked.
 *
 * Goals: the memory of the flood stays far below its bytes (they lie in the log); spread below 3 %, as the paper reports for its Figure 7.
 */
import { io, type Socket } from 'socket.io-client';
import { CONTROL_VERSION } from '@mayfly/wire';
import { MayflySide } from './mayfly-side.ts';
import { bytes, deviation, mean, percent, print, us } from './table.ts';

const IDLE = Number(process.env['MAYFLY_OVERLOAD_NODES'] ?? 1900);
const SENDERS = 4;
const SIZE = 256 << 10;
const TOTAL = Number(process.env['MAYFLY_OVERLOAD_BYTES'] ?? 2 ** 30);

const resident = async (side: MayflySide): Promise<number> => Number(/^process_resident_memory_bytes (\S+)$/m.exec(await side.text('/metrics'))![1]);

async function idle(side: MayflySide): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < IDLE; i++) {
    const s = io(`${side.url}/node`, { transports: ['websocket'], forceNew: true });
    await s.timeout(120_000).emitWithAck('hello', { version: CONTROL_VERSION, name: `idle${i}`, engine: 'none', slots: 0, holds: [], images: [] });
    sockets.push(s);
  }
  return sockets;
}

export async function overload(): Promise<boolean> {
  const side = await MayflySide.start();
  try {
    const before = await resident(side);
    const sockets = await idle(side);
    const withNodes = await resident(side);
    for (const s of sockets) s.disconnect();
    await side.headless(SENDERS + 1, 1);
    const start = await resident(side);
    const count = Math.ceil(TOTAL / SENDERS / SIZE);
    let highest = start;
    const id = await side.submit('overload', SENDERS + 1, [String(count), String(SIZE)]);
    await side.until(id, 'its answer', async (j) => {
      highest = Math.max(highest, await resident(side));
      return j.state === 'done';
    }, 200);
    const said = await side.text(`/api/jobs/${id}/tasks/0/stdout`);
    const paid = await Promise.all(Array.from({ length: SENDERS }, async (_, i) => JSON.parse(await side.text(`/api/jobs/${id}/files/overload-${i + 1}.json`)) as number));
    console.log(`\n${IDLE} idle nodes; then ${SENDERS} senders and one receiver that looks at the last messages first, ${bytes(TOTAL)} unmatched in messages of ${bytes(SIZE)}`);
    print(
      ['', 'server before', 'highest', 'per node / of the bytes sent'],
      [
        ['idle nodes', bytes(before), bytes(withNodes), bytes(Math.max(0, withNodes - before) / IDLE)],
        ['unmatched', bytes(start), bytes(highest), percent((highest - start) / TOTAL)],
      ],
    );
    console.log(`a sender paid ${us(mean(paid))} per message; spread over senders ${percent(deviation(paid))} (goal 3 %); the receiver: ${said.trim()}`);
    console.log('\nNot measured: several machines, tabs, slots of the idle nodes (they have none), how long the drain takes.');
    return said === `all ${count * SENDERS}\n` && highest - start < TOTAL / 2;
  } finally {
    await side.stop();
  }
}
