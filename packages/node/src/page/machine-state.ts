/** What some browsers report about the machine: battery, pressure on the processor, and whether a person uses it. */
import type { Pressure } from './pressure.ts';

export interface Battery extends EventTarget {
  charging: boolean;
  level: number;
}

interface PressureRecord {
  state: Pressure;
}
type PressureObserverLike = new (onChange: (records: PressureRecord[]) => void) => {
  observe(source: 'cpu', options?: { sampleInterval: number }): Promise<void>;
  disconnect(): void;
};

interface IdleDetectorLike extends EventTarget {
  userState: 'active' | 'idle' | null;
  screenState: 'locked' | 'unlocked' | null;
  start(options: { threshold: number; signal: AbortSignal }): Promise<void>;
}
type IdleDetectorClass = (new () => IdleDetectorLike) & { requestPermission(): Promise<'granted' | 'denied'> };

const own = globalThis as { PressureObserver?: PressureObserverLike; IdleDetector?: IdleDetectorClass };
const SAMPLE_MS = 2000;
/** The least that browsers allow. */
const IDLE_MS = 60_000;

export const getBattery = async (): Promise<Battery | undefined> =>
  (navigator as { getBattery?: () => Promise<Battery> }).getBattery?.().catch(() => undefined);

/** Returns how to end it. */
export function watchPressure(onState: (state: Pressure) => void): () => void {
  if (!own.PressureObserver) return () => undefined;
  const observer = new own.PressureObserver((records) => {
    const last = records.at(-1);
    if (last) onState(last.state);
  });
  // Refused by policy, or unknown on this machine: there are no reports then.
  void observer.observe('cpu', { sampleInterval: SAMPLE_MS }).catch(() => undefined);
  return () => observer.disconnect();
}

/** Only from a click: the browser asks the person. */
export const mayDetectIdle = async (): Promise<boolean> =>
  (await own.IdleDetector?.requestPermission().catch(() => 'denied')) === 'granted';

/**
 * `away`: the machine has not been used for a minute, or its screen is locked. There are no reports without the
 * permission. Returns how to end it.
 */
export function watchIdle(onState: (away: boolean) => void): () => void {
  if (!own.IdleDetector) return () => undefined;
  const detector = new own.IdleDetector();
  const end = new AbortController();
  const say = (): void => onState(detector.userState === 'idle' || detector.screenState === 'locked');
  detector.addEventListener('change', say);
  void detector.start({ threshold: IDLE_MS, signal: end.signal }).then(say, () => undefined);
  return () => {
    detector.removeEventListener('change', say);
    end.abort();
  };
}
