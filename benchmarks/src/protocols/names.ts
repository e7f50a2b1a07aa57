/** Which protocols there are: what a job may choose, in the order of the table. */
import { ProtocolName } from '@mayfly/wire';

const WANTED = ['none', 'pessimistic', 'vcl', 'pcl'];
const THERE: readonly string[] = ProtocolName.anyOf.map((p) => p.const);

const place = (name: string): number => (WANTED.includes(name) ? WANTED.indexOf(name) : WANTED.length);

/** Of this version; `none` first. */
export const PROTOCOL_NAMES = THERE.toSorted((a, b) => place(a) - place(b)) as ProtocolName[];
/** Those of the comparison that no job can choose yet. */
export const MISSING = WANTED.filter((name) => !THERE.includes(name));
