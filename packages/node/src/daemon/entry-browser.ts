/** The node daemon as a worker of the page (same origin: control socket and IndexedDB live here). */
import { memoryImages, type LocalImages } from '@mayfly/checkpoint';
import { openBrowserImages } from '@mayfly/checkpoint/browser';
import * as Comlink from 'comlink';
import { browserName } from '../browser-name.ts';
import type { CommToDaemon, DaemonToComm } from '../messages.ts';
import { channelOf, type PortLike } from '../thread-ports.ts';
import type { DaemonApi } from './api.ts';
import { Daemon } from './daemon.ts';
import { READY } from './ready.ts';
import { measureSpeed } from './speed.ts';

let daemon: Daemon | undefined;
let frames = 0;
const deaths = new Map<number, (why: string) => void>();
const session = crypto.randomUUID();

const api: DaemonApi = {
  async start(options, host, identity, held) {
    // Private windows may refuse IndexedDB: images then live as long as the tab.
    const images: LocalImages = await openBrowserImages().catch(() => memoryImages());
    daemon = new Daemon(
      options,
      {
        async openFrame() {
          const id = frames++;
          const port = await host.openFrame(id);
          return {
            channel: channelOf<DaemonToComm, CommToDaemon>(port as unknown as PortLike),
            onDeath: (handler) => void deaths.set(id, handler),
            tells: false,
            close() {
              deaths.delete(id);
              host.closeFrame(id);
            },
          };
        },
        spareFrame: true,
        holdAwake(job) {
          // Waiting for a lock that the page holds keeps Energy Saver from freezing a tab that computes (see
          // docs/sandbox.md).
          void host
            .hold(job)
            .then((lock) => lock && navigator.locks?.request(lock, () => undefined))
            .catch(() => undefined);
          return () => host.letGo(job);
        },
        images,
        now: Date.now,
        after(ms, run) {
          const t = setTimeout(run, ms);
          return () => clearTimeout(t);
        },
        engine: browserName(navigator.userAgent),
        speed: () => measureSpeed(() => performance.now()),
        loadIdentity: () => identity,
        saveIdentity: (i) => host.saveIdentity(i),
        session,
      },
      (snapshot) => host.onChange(snapshot),
      (text) => host.onNote(text),
    );
    if (held !== undefined) await daemon.rest(held, held);
    else await daemon.start();
  },
  async stop(reason, patience) {
    await daemon?.stop(reason, patience);
    return daemon?.snapshot();
  },
  rest: async (reason, why) => daemon?.rest(reason, why),
  resume: async () => daemon?.start(),
  hurry: () => daemon?.hurry(),
  setShare: (percent) => daemon?.setShare(percent),
  picture: async (job) => daemon?.picture(job),
  setSlots: (n) => daemon?.setSlots(n),
  setName: (s) => daemon?.setName(s),
  foresee: () => daemon?.foresee(),
  farewell: (reason) => daemon?.farewell(reason),
  frameDied: (frame, why) => deaths.get(frame)?.(why),
};
Comlink.expose(api);
postMessage(READY);
