/**
 * The volunteer of one page: its daemon worker and its frames, and the person's wishes about when they may work.
 *
 * Invariants
 *  P1 One change of the daemon's state at a time: what is wanted is compared with what is, until both agree.
 *  P2 A pause gives the ranks back first (last images, then goodbye): the job continues elsewhere instead of waiting
 *  for this tab.
 *  P3 A Web Lock is held per job that has a frame here, and none when there is no work: the browser's power saving
 *  keeps its way otherwise.
 */
import * as Comlink from 'comlink';
import type { DaemonApi, PageHost } from '../daemon/api.ts';
import type { BoardName, JobId } from '@mayfly/wire';
import { loadWorker } from './daemon-worker.ts';
import { Frames } from './frames.ts';
import { holdAwake, loadIdentity, saveIdentity } from './identity.ts';
import { GLANCE_MS, holdOf, lowBattery, nextLook, NO_WISHES, type Circumstances, type Wishes } from './policy.ts';
import { AT_EASE, eased, easeWords, nextEase, type Pressure } from './pressure.ts';
import { getBattery, watchIdle, watchPressure, type Battery } from './machine-state.ts';
import { whyNotHere } from './browser-support.ts';
import type { VolunteerSnapshot } from './snapshot.ts';

export interface VolunteerOptions {
  /** Base URL of the server; default: where the page came from. */
  server?: string;
  name: string;
  slots: number;
  /** Percent of a processor that each rank may use; default 100. */
  share?: number;
  room?: string;
  /**
   * Under which name (and team) the board of the room counts what this tab gives; absent: among those without a name.
   */
  board?: BoardName;
  wishes?: Wishes;
  /** False: a node of its own that no reload comes back as (several in one page). Default true. */
  identity?: boolean;
  /** Makes the daemon worker; default: the one of this package, as Vite bundles it. */
  daemonWorker?: () => Worker;
}

/** A page that is hidden for so long may stay hidden, and be frozen. */
const HIDDEN_MS = 500;

/**
 * One volunteer per page; more only without an identity that is kept.
 *
 *   const v = createVolunteer({ name: 'desk 7', slots: 2 });
 *   const off = v.subscribe(() => show(v.snapshot()));
 *   await v.start();
 */
export interface Volunteer {
  /**
   * Resolves when the server welcomed this node, or when a wish keeps it from working. Rejects when it is refused, or
   * when this browser cannot (see whyNotHere).
   */
  start(): Promise<void>;
  /**
   * Sends a goodbye, gives the ranks back and ends every worker. `patience`: ms that last images are waited for;
   * default 5 s.
   */
  stop(patience?: number): Promise<void>;
  /** A stop that waits for last images waits no longer. */
  hurry(): void;
  setSlots(slots: number): void;
  setShare(percent: number): void;
  setWishes(wishes: Wishes): void;
  setName(name: string): void;
  /** A small picture of what the job of a rank here has written so far. */
  picture(job: JobId): Promise<{ path: string; bytes: Uint8Array<ArrayBuffer> } | undefined>;
  /** A new object after each change. */
  snapshot(): VolunteerSnapshot;
  /** Called after each change, at most about five times per second. Returns how to end it. */
  subscribe(listener: () => void): () => void;
}

const PATIENCE_MS = 5000;
/** How long past its patience a daemon that does not answer is waited for. */
const MORE_MS = 2000;

const daemonWorker = (): Worker =>
  new Worker(new URL('../daemon/entry-browser.ts', import.meta.url), { type: 'module', name: 'mayfly daemon' });

export const NOTHING_GIVEN = { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 };

export function createVolunteer(options: VolunteerOptions): Volunteer {
  const server = (options.server ?? location.origin).replace(/\/+$/, '');
  let { name, slots } = options;
  let share = options.share ?? 100;
  let wishes = options.wishes ?? NO_WISHES;
  let worker: Worker | undefined;
  let daemon: Comlink.Remote<DaemonApi> | undefined;
  /** While the worker's script is under way. */
  let loading: AbortController | undefined;
  let frames: Frames | undefined;
  let battery: Battery | undefined;
  let hidden: ReturnType<typeof setTimeout> | undefined;
  let away: boolean | undefined;
  let ease = AT_EASE;
  /** Ends what listens to the machine. */
  let deaf: (() => void)[] = [];
  let noIdle: (() => void) | undefined;
  let visibleSince = Date.now() - GLANCE_MS;
  let look: ReturnType<typeof setTimeout> | undefined;
  /** Which of the volunteer's choices stops the daemon, as the page words it; undefined: it works, or is about to. */
  let held: string | undefined;
  let settling: Promise<void> | undefined;
  let noMore = false;
  const locks = new Map<JobId, () => void>();
  /** Jobs that are here, whether their lock has come or not. */
  const here = new Set<JobId>();
  let last: VolunteerSnapshot = { phase: 'off', name, slots, ranks: [], gave: NOTHING_GIVEN, history: [] };
  const listeners = new Set<() => void>();

  /** The daemon's last snapshot; `last` is the same as the page should see it. */
  let raw = last;
  const show = (s: VolunteerSnapshot): void => {
    raw = s;
    const reason = s.reason ?? (s.phase === 'working' ? easeWords(ease) : undefined);
    last =
      noMore && s.phase === 'idle'
        ? { ...s, slots, phase: 'paused', reason: 'the battery is low; this tab takes no new ranks until it charges' }
        : { ...s, slots, ...(reason === undefined ? {} : { reason }) };
    for (const l of listeners) l();
  };
  const given = (): number => Math.max(1, Math.round(share * ease.factor));
  const offered = (): number => (noMore ? 0 : slots);
  const circumstances = (): Circumstances => ({
    now: Date.now(),
    visible: document.visibilityState !== 'hidden',
    visibleSince,
    battery,
    away,
  });

  /** P1. Rejects when the server refuses the node. */
  function settle(): Promise<void> {
    return (settling ??= (async () => {
      for (;;) {
        const d = daemon;
        if (!d) return;
        const why = holdOf(wishes, circumstances());
        if (why === held) return;
        held = why;
        if (why === undefined) await d.resume();
        else await d.rest(why, why);
      }
    })().finally(() => {
      settling = undefined;
    }));
  }

  /** Looks whether the wishes want something else by now. */
  function consider(): void {
    if (!daemon) return;
    const c = circumstances();
    const low = lowBattery(c);
    if (low !== noMore) {
      noMore = low;
      if (low) void daemon.foresee();
      void daemon.setSlots(offered());
      show(raw);
    }
    if (wishes.onlyIdle && !noIdle)
      noIdle = watchIdle((is) => {
        away = is;
        consider();
      });
    if (!wishes.onlyIdle) quietIdle();
    press(undefined);
    settle().catch(() => undefined); // the snapshot says why it was refused
    clearTimeout(look);
    const times = [nextLook(wishes, c), wishes.easeOff ? nextEase(ease, c.now) : undefined].filter(
      (ms) => ms !== undefined,
    );
    if (times.length > 0) look = setTimeout(consider, Math.min(Math.min(...times) + 50, 2 ** 31 - 1));
  }

  function press(state: Pressure | undefined): void {
    const next = wishes.easeOff ? eased(ease, state, Date.now()) : AT_EASE;
    if (next === ease) return;
    const changed = next.factor !== ease.factor;
    ease = next;
    if (!changed) return;
    void daemon?.setShare(given());
    show(raw);
  }
  function quietIdle(): void {
    noIdle?.();
    noIdle = undefined;
    away = undefined;
  }

  const onVisibility = (): void => {
    visibleSince = Date.now();
    clearTimeout(hidden);
    // A page that is being closed is hidden first.
    if (document.visibilityState === 'hidden') hidden = setTimeout(() => void daemon?.foresee(), HIDDEN_MS);
    consider();
  };
  const onFreeze = (): void => void daemon?.foresee();
  const onPageHide = (): void => {
    clearTimeout(hidden);
    void daemon?.farewell('the page was closed');
  };
  const onPageShow = (e: PageTransitionEvent): void => {
    // Back from the browser's cache: the server already has this node's goodbye.
    if (e.persisted && daemon) void stop().then(start);
  };

  async function start(): Promise<void> {
    if (daemon || loading) return;
    const why = whyNotHere();
    if (why) {
      show({ ...raw, phase: 'paused', reason: why });
      throw new Error(why);
    }
    const load = (loading = new AbortController());
    show({ ...raw, phase: 'connecting' });
    const loaded = await loadWorker(options.daemonWorker ?? daemonWorker, load.signal).catch(() => undefined);
    if (!loaded || load.signal.aborted) return void loaded?.terminate(); // stopped meanwhile
    loading = undefined;
    worker = loaded;
    const remote = Comlink.wrap<DaemonApi>(worker);
    daemon = remote;
    frames = new Frames(server, (frame, reason) => void remote.frameDied(frame, reason));
    const mine = frames;
    const identity = options.identity === false ? undefined : await loadIdentity();
    if (daemon !== remote) return;
    document.addEventListener('visibilitychange', onVisibility);
    document.addEventListener('freeze', onFreeze);
    addEventListener('pagehide', onPageHide);
    addEventListener('pageshow', onPageShow);
    battery ??= await getBattery();
    if (daemon !== remote) return;
    ease = AT_EASE;
    for (const change of ['levelchange', 'chargingchange']) {
      battery?.addEventListener(change, consider);
      deaf.push(() => battery?.removeEventListener(change, consider));
    }
    deaf.push(
      watchPressure((state) => {
        press(state);
        consider();
      }),
    );
    noMore = lowBattery(circumstances());
    const host: PageHost = {
      async openFrame(id) {
        const port = await mine.open(id);
        return Comlink.transfer(port, [port]);
      },
      closeFrame: (id) => mine.close(id),
      // P3
      async hold(job) {
        const lock = `mayfly-job-${job}-${crypto.randomUUID()}`;
        here.add(job);
        const free = await holdAwake(lock);
        if (!free) return undefined;
        locks.get(job)?.();
        if (here.has(job)) locks.set(job, free);
        else free();
        return lock;
      },
      letGo(job) {
        here.delete(job);
        locks.get(job)?.();
        locks.delete(job);
      },
      saveIdentity: (i) => void (options.identity === false || saveIdentity(i)),
      onChange(s) {
        if (daemon === remote) show(s);
      },
      onNote: () => undefined,
    };
    held = holdOf(wishes, circumstances());
    show({ ...raw, phase: held === undefined ? 'connecting' : 'paused', ...(held ? { reason: held } : {}) });
    const cores = navigator.hardwareConcurrency;
    const begun = remote.start(
      {
        server,
        name,
        slots: offered(),
        share,
        ...(cores ? { cores } : {}),
        ...(options.room === undefined ? {} : { room: options.room }),
        ...(options.board === undefined ? {} : { board: options.board }),
      },
      Comlink.proxy(host),
      identity,
      held,
    );
    settling = begun.finally(() => {
      settling = undefined;
    });
    await settling;
    consider();
  }

  async function stop(patience = PATIENCE_MS): Promise<void> {
    loading?.abort();
    loading = undefined;
    const d = daemon;
    const w = worker;
    // Whatever becomes of its daemon: who leaves is gone.
    const words =
      d &&
      (await Promise.race([
        d.stop('stopped by the volunteer', patience).catch(() => undefined),
        new Promise<undefined>((r) => setTimeout(r, patience + MORE_MS)),
      ]));
    if (daemon !== d) return; // another stop was quicker
    if (words) raw = words;
    daemon = undefined;
    worker = undefined;
    clearTimeout(look);
    clearTimeout(hidden);
    document.removeEventListener('visibilitychange', onVisibility);
    document.removeEventListener('freeze', onFreeze);
    removeEventListener('pagehide', onPageHide);
    removeEventListener('pageshow', onPageShow);
    for (const end of deaf) end();
    deaf = [];
    quietIdle();
    frames?.closeAll();
    frames = undefined;
    for (const free of locks.values()) free();
    locks.clear();
    here.clear();
    w?.terminate();
    const { reason: _r, error: _e, ...rest } = raw;
    show({ ...rest, phase: 'off', ranks: [] });
  }

  return {
    start,
    stop,
    hurry: () => void daemon?.hurry(),
    setSlots(n) {
      slots = n;
      void daemon?.setSlots(offered());
      show(raw);
    },
    setShare(percent) {
      share = percent;
      void daemon?.setShare(given());
    },
    setWishes(w) {
      wishes = w;
      consider();
    },
    setName(s) {
      name = s;
      void daemon?.setName(s);
      show({ ...raw, name: s });
    },
    picture: async (job) => daemon?.picture(job),
    snapshot: () => last,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
