/** All ways, in the order in which they are tried. */
import type { Way } from '../way.ts';
import { control } from './control.ts';
import { data } from './data.ts';
import { doors } from './doors.ts';
import { images } from './images.ts';
import { rest } from './rest.ts';

const all = [...doors, ...control, ...data, ...images, ...rest];
/** Those that need another server come last, together. */
export const WAYS: readonly Way[] = all.sort((a, b) =>
  (a.server ?? []).join(' ').localeCompare((b.server ?? []).join(' ')),
);
