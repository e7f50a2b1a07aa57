/** What is submitted again is not compiled again. The compiler is the real one; only its calls are counted. */
import { createCompiler, type Asker, type CompileRequest, type CompileResult } from '@mayfly/toolchain';
import { afterAll, expect, it } from 'vitest';
import { remembering } from '../src/jobs/compile-cache.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());
let compiled = 0;
const counted = {
  compile: (r: CompileRequest, asker?: Asker): Promise<CompileResult> => (compiled++, compiler.compile(r, asker)),
  compileModule: compiler.compileModule.bind(compiler),
  unpack: compiler.unpack.bind(compiler),
};
const program = (text: string): CompileRequest => ({ entry: 'main.ts', sources: { 'main.ts': text } });

it(
  'a program that comes twice, or while it is compiled, is compiled once; a changed, a refused and a forgotten ' +
    'one anew',
  async () => {
    const { scripts } = remembering({ scripts: counted, modules: counted });
    const made = await Promise.all([
      scripts.compile(program('console.log(1)')),
      scripts.compile(program('console.log(1)')),
    ]);
    expect(compiled).toBe(1);
    expect(made[0]).toMatchObject({ ok: true });
    expect(await scripts.compile(program('console.log(1)'))).toEqual(made[1]);
    expect(compiled).toBe(1);
    const other = await scripts.compile(program('console.log(2)'));
    expect(compiled).toBe(2);
    expect(other).not.toEqual(made[0]);
    for (const round of [3, 4]) {
      expect(await scripts.compile(program('console.log(')), String(round)).toMatchObject({
        ok: false,
        code: 'COMPILE_FAILED',
      });
      expect(compiled).toBe(round);
    }
    const forgetful = remembering({ scripts: counted, modules: counted }, 10);
    for (const round of [5, 6]) {
      expect(await forgetful.scripts.compile(program('console.log(1)'))).toEqual(made[0]);
      expect(compiled).toBe(round);
    }
  },
);
