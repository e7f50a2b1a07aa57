/** The scenarios of local images over IndexedDB and of erasure codes, for a page to import. */
import { openBrowserImages } from '../store/browser.ts';
import { exercise, type Seen } from './local-images.ts';

export const run = (): Promise<Record<string, Seen>> => exercise(() => openBrowserImages());
export { exerciseCodes as codes } from './codes.ts';
