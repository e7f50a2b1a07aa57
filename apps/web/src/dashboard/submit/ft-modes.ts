/** FT-MPI's modes in the form (docs/ft-mpi.md): what can be chosen, and the option that comes of a choice. Pure. */
import { ftModes, type FtModes, type FtOption } from '@mayfly/wire';

interface Choice<Mode> {
  mode: Mode;
  title: string;
  effect: string;
}

/** Undefined: ULFM alone. */
export const COMMUNICATORS: readonly Choice<FtModes['communicators'] | undefined>[] = [
  {
    mode: undefined,
    title: 'ULFM',
    effect: 'calls that involve the lost rank fail, and the program makes new communicators; the default',
  },
  {
    mode: 'rebuild',
    title: 'FT-MPI, rebuild',
    effect: 'the rank starts again from main, and MPI_COMM_WORLD is as before; needs a free slot within a time',
  },
  { mode: 'shrink', title: 'FT-MPI, shrink', effect: 'the ranks that are left are numbered from 0' },
  { mode: 'blank', title: 'FT-MPI, blank', effect: 'the others keep their ranks, and the lost one stays empty' },
  { mode: 'abort', title: 'FT-MPI, abort', effect: 'the loss ends the job' },
];

export const MESSAGES: readonly Choice<FtModes['messages']>[] = [
  { mode: 'reset', title: 'Reset', effect: 'messages and requests of before are dropped; the default' },
  { mode: 'cont', title: 'Continue', effect: 'those between ranks that are left go on' },
];

/** The option with another communicator mode; the message mode stays. */
export const withCommunicators = (
  ft: FtOption | undefined,
  communicators: FtModes['communicators'] | undefined,
): FtOption | undefined =>
  communicators === undefined
    ? undefined
    : { ...ftModes({ ...ft, communicators }), ...(communicators === 'rebuild' ? slotOf(ft) : {}) };

/** The option with another message mode; what else it has stays. */
export const withMessages = (ft: FtOption, messages: FtModes['messages']): FtOption => ({
  ...ftModes({ ...ft, messages }),
  ...slotOf(ft),
});

/** The option with another limit for a slot, ms; undefined: the server's. */
export const withSlotMs = (ft: FtOption, slotMs: number | undefined): FtOption => ({
  ...ftModes(ft),
  ...slotOf({ slotMs }),
});

const slotOf = (ft: { slotMs?: number | undefined } | undefined): Pick<FtOption, 'slotMs'> =>
  ft?.slotMs === undefined ? {} : { slotMs: ft.slotMs };

/** Whether a replacement may have to wait for a slot. */
export const asksForSlot = (ft: FtOption | undefined): ft is FtOption =>
  ft !== undefined && ftModes(ft).communicators === 'rebuild';

/** Whether messages of before are a question: after a loss under `abort` there is no job, and ULFM drops none. */
export const asksForMessages = (ft: FtOption | undefined): ft is FtOption =>
  ft !== undefined && ftModes(ft).communicators !== 'abort';
