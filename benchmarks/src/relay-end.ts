/**
 * One end of the relay peer as a Node process. argv: url, leads (1|0), plan (JSON). Prints the series when it leads.
 */
import { WebSocket } from 'ws';
import { END_SOURCE, type Series } from './relay-peer.ts';

const [url, leads, plan] = process.argv.slice(2);
// The very text that the browser's worker runs, so that both peers measure one program.
const relayEnd = new Function(`${END_SOURCE}; return relayEnd;`)() as (...a: unknown[]) => Promise<Series[]>;
const series = await relayEnd(WebSocket, url, leads === '1', JSON.parse(plan!), () => performance.now());
if (leads === '1') process.stdout.write(JSON.stringify(series) + '\n');
process.exit(0);
