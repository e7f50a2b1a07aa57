/**
 * The kinds of a rank's time in words and colours. The colours of a scheme differ in lightness as well as in hue, so
 * that lanes can be told apart without seeing hues; `dead`, `paused` and `starting` are hatched besides where a row is
 * high enough.
 */
import { LANE_KINDS, type LaneKind } from '@mayfly/wire';

export interface KindLook {
  kind: LaneKind;
  label: string;
  /** What it means, for the legend. */
  title: string;
  light: string;
  dark: string;
  hatch?: 'diagonal' | 'dots' | 'upright';
}

const LOOKS: Record<LaneKind, Omit<KindLook, 'kind'>> = {
  computing: { label: 'computing', title: 'the program runs', light: '#0d7a70', dark: '#4ecbbb' },
  waiting: { label: 'waiting', title: 'blocked in an MPI call for a message', light: '#b9d2ec', dark: '#2d4a6e' },
  sending: { label: 'sending', title: 'blocked because the send buffer is full', light: '#dd9a26', dark: '#c98a1e' },
  checkpointing: {
    label: 'checkpoint',
    title: 'stopped while its memory is copied for a checkpoint',
    light: '#47237f',
    dark: '#e2d0ff',
  },
  replaying: {
    label: 'replaying',
    title: 'a new incarnation repeats the work of the lost one; after a rollback all ranks repeat what it undid',
    light: '#a97be0',
    dark: '#8a5fd0',
  },
  resting: {
    label: 'resting',
    title: 'throttled by the settings of its volunteer',
    light: '#e4e9e6',
    dark: '#2a3532',
  },
  starting: {
    label: 'starting',
    title: 'an incarnation has a node and loads its program or checkpoint',
    light: '#98a6a0',
    dark: '#6c7a75',
    hatch: 'upright',
  },
  dead: {
    label: 'without a node',
    title: 'no volunteer runs the rank; it waits for a slot',
    light: '#4f5d66',
    dark: '#aab8bd',
    hatch: 'diagonal',
  },
  paused: { label: 'paused', title: 'the owner has paused the job', light: '#efd9a8', dark: '#5f4f27', hatch: 'dots' },
};

export const KINDS: readonly KindLook[] = LANE_KINDS.map((kind) => ({ kind, ...LOOKS[kind] }));
export const DEAD = LANE_KINDS.indexOf('dead');

export const isDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches;

/** r, g, b of each kind. */
export const coloursOf = (dark: boolean): [number, number, number][] =>
  KINDS.map((k) => {
    const n = parseInt((dark ? k.dark : k.light).slice(1), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
  });
