/** Names of jobs and of their files, as all adapters take them. */
import { MayflyError } from '@mayfly/wire';

const JOB = /^[0-9a-z]{12}$/;
const FILE = /^(?:submission\.json|program(?:-[1-9]\d?)?\.(?:js|wasm)(?:\.map)?|in\/[0-9a-f]{64})$/;

/** @throws MayflyError BAD_REQUEST */
export function needJob(job: string): void {
  if (!JOB.test(job)) throw new MayflyError('BAD_REQUEST', `'${job}' is not the id of a job`);
}

/** @throws MayflyError BAD_REQUEST */
export function needFileName(name: string): void {
  if (!FILE.test(name)) throw new MayflyError('BAD_REQUEST', `'${name}' is not the name of a job's file`);
}
