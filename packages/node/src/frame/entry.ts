/**
 * Script of the sandboxed frame's document (opaque origin, one per job). Workers of an opaque origin must come from
 * blob: URLs; their sources are inside this script. The page hands over one port, which this script passes to the comm
 * worker.
 */
import commSource from 'mayfly:comm-worker';
import rankSource from 'mayfly:rank-worker';
import { webWorker } from '../web-worker.ts';
import { startFrame } from './worker-parent.ts';

const urlOf = (source: string): string => URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
const commUrl = urlOf(commSource);
const rankUrl = urlOf(rankSource);

addEventListener('message', (event: MessageEvent<{ type: string; server: string }>) => {
  const port = event.ports[0];
  if (event.source !== parent || event.data?.type !== 'mayfly:frame' || !port) return;
  if (!crossOriginIsolated) {
    parent.postMessage({ type: 'mayfly:dead', why: 'the sandboxed frame is not cross-origin isolated' }, '*');
    return;
  }
  startFrame(
    { spawnComm: () => webWorker(commUrl, 'comm'), spawnRank: () => webWorker(rankUrl, 'rank'), ahead: true },
    event.data.server,
    port,
    (why) => parent.postMessage({ type: 'mayfly:dead', why }, '*'),
  );
});
parent.postMessage({ type: 'mayfly:ready' }, '*');
