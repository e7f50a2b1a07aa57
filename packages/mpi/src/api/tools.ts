/** The tool interface of the API (MPI 4.1 §15.3): the variables by name. */
import { ERR, fail } from '../errors.ts';
import { CATEGORIES, CONTROL, PERFORMANCE } from '../tool-variables.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export function toolModule(context: Context): typeof Mayfly.tool {
  const read = (name: string): number => {
    const { layer } = context;
    const control = CONTROL.find((v) => v.name === name);
    if (control) return control.read(layer);
    const v = PERFORMANCE.find((p) => p.name === name);
    return v
      ? v.read(layer, context.images)
      : fail(
          ERR.ARG,
          'tool.read',
          `there is no variable '${String(name)}' (there are ` +
            `${[...CONTROL, ...PERFORMANCE].map((p) => p.name).join(', ')})`,
        );
  };
  return {
    controlVariables: CONTROL.map(({ name, text }) => ({ name, description: text, kind: 'control' as const })),
    performanceVariables: PERFORMANCE.map(({ name, text, kind }) => ({ name, description: text, kind })),
    categories: CATEGORIES.map(({ name, text, control, performance }) => ({
      name,
      description: text,
      variables: [...control, ...performance],
    })),
    read: (name) => context.call(() => read(name)),
    start: (names) =>
      context.call(() => {
        const list = names ?? PERFORMANCE.filter((v) => v.counts).map((v) => v.name);
        const since = new Map(
          list.map((name) => [
            name,
            PERFORMANCE.find((v) => v.name === name)?.counts
              ? read(name)
              : fail(ERR.ARG, 'tool.start', `'${String(name)}' is not a counter variable`),
          ]),
        );
        return {
          read: () =>
            context.call(() => Object.fromEntries([...since].map(([name, from]) => [name, read(name) - from]))),
          reset: () => context.call(() => void since.forEach((_, name) => since.set(name, read(name)))),
        };
      }),
  };
}
