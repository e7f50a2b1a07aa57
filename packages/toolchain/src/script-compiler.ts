/**
 * TypeScript and JavaScript inside the compile process: the checker, warm, and its texts from the disk. Loaded when the
 * first such program comes.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.ts';
import { compile } from './compile.ts';
import { TypeChecker } from './type-check.ts';
import type { CompileRequest, CompileResult } from './compile-request.ts';

export interface ScriptCompiler {
  warm(): Promise<void>;
  compile(request: CompileRequest): Promise<CompileResult>;
}

/**
 * @param dist where types/ lies
 * @param workingDir of esbuild
 */
export function createScriptCompiler(dist: string, workingDir: string): ScriptCompiler {
  const libDir = dirname(createRequire(import.meta.url).resolve('typescript'));
  const checker = new TypeChecker(
    {
      mayfly: readFileSync(join(dist, 'types/mayfly.d.ts'), 'utf8'),
      globals: readFileSync(join(dist, 'types/globals.d.ts'), 'utf8'),
    },
    (name) => {
      try {
        return readFileSync(join(libDir, name), 'utf8');
      } catch {
        return undefined;
      }
    },
  );
  return {
    async warm() {
      await bundle('main.ts', new Map([['main.ts', '']]), checker.exports, workingDir);
    },
    compile: (request) => compile(request, checker, workingDir),
  };
}
