import { ERRORS, type ErrorCode } from '@mayfly/wire';

/** What to do about an error, from the one registry; undefined for a code that it does not know. */
export const adviceFor = (code: string): string | undefined =>
  code === 'OFFLINE'
    ? 'Check that the server is running and reachable from this machine. The page retries automatically.'
    : ERRORS[code as ErrorCode]?.advice;
