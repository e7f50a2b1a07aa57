/** Lets a page measure the erasure codes (codes.ts). */
import { measure } from './codes-measure.ts';

Object.assign(globalThis, { measureCodes: measure });
