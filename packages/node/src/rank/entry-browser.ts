/**
 * The rank worker in a browser's sandboxed frame. The bundle's banner holds the engine's own globals for the code in
 * here.
 */
import type { FromRank, RankInit, RankRun, RankToComm } from '../messages.ts';
import { runRank } from './host.ts';

const scope = globalThis as unknown as Record<PropertyKey, unknown> & {
  importScripts(url: string): void;
  postMessage(message: unknown): void;
  onmessage: ((e: MessageEvent) => void) | null;
};
const { importScripts } = scope;
const now = Date.now.bind(Date);
const tell = scope.postMessage.bind(scope);

scope.onmessage = (first: MessageEvent<RankInit>) => {
  scope.onmessage = null;
  const { memory, port } = first.data;
  const p = port as unknown as MessagePort;
  const wake = (): void => p.postMessage({ type: 'wake' } satisfies RankToComm);
  p.onmessage = (e: MessageEvent<RankRun>) => {
    p.onmessage = null;
    runRank(memory, wake, e.data, {
      now,
      broken: (why) => tell({ type: 'broken', why } satisfies FromRank),
      global: scope,
      evaluate(source) {
        // Under the frame's policy a script can come from a blob: URL only.
        const url = programUrl(source);
        importScripts.call(scope, url);
      },
    });
  };
};

// Taken before the world is scrubbed.
const makeUrl = URL.createObjectURL.bind(URL);
const EngineBlob = Blob;
const programUrl = (source: string): string => makeUrl(new EngineBlob([source], { type: 'text/javascript' }));
