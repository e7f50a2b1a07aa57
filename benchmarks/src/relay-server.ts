/** The relay as a process of its own, as the Mayfly server is one; prints its port and ends with its parent. */
import { startRelay } from './relay-peer.ts';

const relay = await startRelay();
process.stdout.write(`${relay.port}\n`);
process.on('disconnect', () => process.exit(0));
