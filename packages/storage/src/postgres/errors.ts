/** What an error of PostgreSQL, or of the connection to it, means for the storage. */
import { MayflyError } from '@mayfly/wire';

/** Errors of sockets and of name look-ups. */
const AWAY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up',
  ENOENT: 'its socket is missing',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
};

/** SQLSTATE, or its class. */
const REFUSED: Readonly<Record<string, string>> = {
  '28P01': 'it refuses the user or the password',
  28000: 'it refuses the user',
  '3D000': 'it has no database of this name',
  42501: 'the user lacks a right',
  25006: 'it is read-only, as a standby is',
  53300: 'it has too many connections',
  53200: 'it has too little memory',
  58030: 'its disk reports an input/output error',
  '57P01': 'it is shutting down',
  '57P02': 'it crashed and recovers',
  '57P03': 'it is starting or stopping',
  57014: 'it took too long',
  '08': 'the connection broke',
  40: 'a transaction collided with another',
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Of the driver, which gives these no code. */
const BROKEN = /^(Connection terminated|Query read timeout|timeout exceeded|timeout expired|Client (has|was) )/;

/** Not an answer of the database: whether a statement that was under way took effect is unknown. */
export const isBroken = (error: unknown): boolean => {
  if (error instanceof MayflyError) return false;
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string };
  if (code === undefined) return BROKEN.test(message);
  return !SQLSTATE.test(code) || code in AWAY || code.startsWith('08') || code.startsWith('57P');
};

/** In the words of the registry of errors. The text of a statement, and values, stay out of it. */
export function databaseError(error: unknown, place: string): MayflyError {
  if (error instanceof MayflyError) return error;
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string };
  if (code === '53100') return new MayflyError('DISK_FULL', `The database at ${place} has no space left on its disk.`);
  if (code.startsWith('XX00') && code !== 'XX000')
    return new MayflyError('DAMAGED_DATA', `The database at ${place} reports damaged data (${code}): ${message}`);
  const known = AWAY[code] ?? REFUSED[code] ?? REFUSED[code.slice(0, 2)];
  if (known !== undefined || isBroken(error)) {
    const why = `the database at ${place}: ${known ?? 'the connection broke'} (${code === '' ? message : code})`;
    return new MayflyError('STORAGE_FAILED', `Nothing can be stored for now. T${why.slice(1)}.`, { why });
  }
  return new MayflyError('INTERNAL', `The database at ${place} refused a statement (${code}): ${message}`);
}
