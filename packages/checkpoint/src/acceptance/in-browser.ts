/** The scenario of local images over IndexedDB, for a page to import. */
import { openBrowserImages } from '../store/browser.ts';
import { exercise, type Seen } from './local-images.ts';

export const run = (): Promise<Record<string, Seen>> => exercise(() => openBrowserImages());
