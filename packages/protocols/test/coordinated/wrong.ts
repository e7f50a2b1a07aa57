/** A rule that a model of waves finds broken. */
export class Wrong extends Error {}

/** The first rule that is broken in so many seeds; undefined: none is. */
export function firstWrong(seeds: number, run: (seed: number) => unknown): string | undefined {
  for (let seed = 1; seed <= seeds; seed++)
    try {
      run(seed);
    } catch (e) {
      if (e instanceof Wrong) return `${e.message} (seed ${seed})`;
      throw e;
    }
  return undefined;
}
