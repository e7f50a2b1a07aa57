import * as Comlink from 'comlink';
import type { DaemonApi, PageHost } from '../daemon/api.ts';
import { Frames } from './frames.ts';
import { holdAwake, loadIdentity, saveIdentity } from './identity.ts';
import { whyNotHere } from './possible.ts';
import type { VolunteerSnapshot } from './snapshot.ts';

export interface VolunteerOptions {
  /** Base URL of the server; default: where the page came from. */
  server?: string;
  name: string;
  slots: number;
  room?: string;
  /** Makes the daemon worker; default: the one of this package, as Vite bundles it. */
  daemonWorker?: () => Worker;
}

/**
 * One volunteer per page.
 *
 *   const v = createVolunteer({ name: 'desk 7', slots: 2 });
 *   const off = v.subscribe(() => show(v.snapshot()));
 *   await v.start();
 */
export interface Volunteer {
  /** Resolves when the server welcomed this node. Rejects when it refuses it, or when this browser cannot (see whyNotHere). */
  start(): Promise<void>;
  /** Says goodbye, gives the ranks back and ends every worker. */
  stop(): Promise<void>;
  setSlots(slots: number): void;
  setName(name: string): void;
  /** A new object after each change. */
  snapshot(): VolunteerSnapshot;
  /** Called after each change, at most about five times per second. Returns how to end it. */
  subscribe(listener: () => void): () => void;
}

/** Below this and not charging, no new ranks are taken. */
const LOW_BATTERY = 0.2;

interface Battery extends EventTarget {
  charging: boolean;
  level: number;
}

export function createVolunteer(options: VolunteerOptions): Volunteer {
  const server = (options.server ?? location.origin).replace(/\/+$/, '');
  let { name, slots } = options;
  let worker: Worker | undefined;
  let daemon: Comlink.Remote<DaemonApi> | undefined;
  let frames: Frames | undefined;
  let letSleep: (() => void) | undefined;
  let lowBattery = false;
  let last: VolunteerSnapshot = { phase: 'off', name, slots, ranks: [], history: [] };
  const listeners = new Set<() => void>();

  const show = (s: VolunteerSnapshot): void => {
    last = lowBattery && s.phase === 'idle' ? { ...s, slots, phase: 'paused', reason: 'the battery is low; no new ranks are taken until it charges' } : { ...s, slots };
    for (const l of listeners) l();
  };
  const offered = (): number => (lowBattery ? 0 : slots);

  const onHide = (): void => {
    if (document.visibilityState === 'hidden') void daemon?.checkpoint();
  };
  const onFreeze = (): void => void daemon?.checkpoint();
  const onPageHide = (): void => {
    void daemon?.checkpoint();
    void daemon?.farewell('the page was closed');
  };
  const onPageShow = (e: PageTransitionEvent): void => {
    // Back from the browser's cache: the server was told goodbye.
    if (e.persisted && daemon) void stop().then(start);
  };

  let battery: Battery | undefined;
  const onBattery = (): void => {
    const low = battery !== undefined && !battery.charging && battery.level < LOW_BATTERY;
    if (low === lowBattery) return;
    lowBattery = low;
    void daemon?.setSlots(offered());
    show(last);
  };

  async function start(): Promise<void> {
    if (daemon) return;
    const why = whyNotHere();
    if (why) {
      show({ ...last, phase: 'paused', reason: why });
      throw new Error(why);
    }
    worker = options.daemonWorker?.() ?? new Worker(new URL('../daemon/entry-browser.ts', import.meta.url), { type: 'module', name: 'mayfly daemon' });
    const remote = Comlink.wrap<DaemonApi>(worker);
    daemon = remote;
    frames = new Frames(server, (frame, reason) => void remote.frameDied(frame, reason));
    const mine = frames;
    const awake = `mayfly-awake-${crypto.randomUUID()}`;
    letSleep = await holdAwake(awake);
    const identity = await loadIdentity();
    if (daemon !== remote) return;
    document.addEventListener('visibilitychange', onHide);
    document.addEventListener('freeze', onFreeze);
    addEventListener('pagehide', onPageHide);
    addEventListener('pageshow', onPageShow);
    battery ??= await (navigator as { getBattery?: () => Promise<Battery> }).getBattery?.().catch(() => undefined);
    battery?.addEventListener('levelchange', onBattery);
    battery?.addEventListener('chargingchange', onBattery);
    onBattery();
    const host: PageHost = {
      async openFrame(id) {
        const port = await mine.open(id);
        return Comlink.transfer(port, [port]);
      },
      closeFrame: (id) => mine.close(id),
      saveIdentity: (i) => void saveIdentity(i),
      onChange(s) {
        if (daemon === remote) show(s);
      },
      onNote: () => undefined,
    };
    show({ ...last, phase: 'connecting' });
    await remote.start({ server, name, slots: offered(), ...(options.room === undefined ? {} : { room: options.room }) }, Comlink.proxy(host), identity, awake);
  }

  async function stop(): Promise<void> {
    const d = daemon;
    const w = worker;
    daemon = undefined;
    worker = undefined;
    document.removeEventListener('visibilitychange', onHide);
    document.removeEventListener('freeze', onFreeze);
    removeEventListener('pagehide', onPageHide);
    removeEventListener('pageshow', onPageShow);
    battery?.removeEventListener('levelchange', onBattery);
    battery?.removeEventListener('chargingchange', onBattery);
    letSleep?.();
    letSleep = undefined;
    // The daemon waits 5 s at most for the last images, and 1 s for the answer to its goodbye.
    if (d) await Promise.race([d.stop('stopped by the volunteer'), new Promise((r) => setTimeout(r, 7000))]);
    frames?.closeAll();
    frames = undefined;
    w?.terminate();
    const { reason: _r, error: _e, ...rest } = last;
    show({ ...rest, phase: 'off', ranks: [] });
  }

  return {
    start,
    stop,
    setSlots(n) {
      slots = n;
      void daemon?.setSlots(offered());
      show(last);
    },
    setName(s) {
      name = s;
      void daemon?.setName(s);
      show({ ...last, name: s });
    },
    snapshot: () => last,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
