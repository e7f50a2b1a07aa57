/** C and C++ sources in memory to a checkpointable module, without limits: for tests of what runs modules. */
import { cc } from './driver/cc.ts';
import { MemoryFiles } from './files.ts';
import { instrument, type ModuleInfo } from './instrument.ts';

export interface BuiltModule {
  readonly wasm: Uint8Array;
  readonly info: ModuleInfo;
}

/**
 * @param sources texts by path ('/main.c'); headers among them are found from the root
 * @throws Error with clang's or the linker's messages
 */
export function buildModule(
  sources: Readonly<Record<string, string>>,
  options: {
    readonly flags?: readonly string[];
    readonly includes?: Readonly<Record<string, string>>;
    readonly suspending?: readonly string[];
  } = {},
): BuiltModule {
  const files = new MemoryFiles(sources);
  for (const [path, content] of Object.entries(options.includes ?? {}))
    files.write(`/include/${path}`, new TextEncoder().encode(content));
  const paths = Object.keys(sources)
    .filter((p) => /\.(c|cc|cpp|cxx|C)$/.test(p))
    .map((p) => p.replace(/^\//, ''));
  const driver = paths.some((p) => !p.endsWith('.c')) ? 'mpicxx' : 'mpicc';
  const r = cc(
    [
      '-O1',
      '-I/include',
      '-I/',
      ...(driver === 'mpicxx' ? [] : []),
      ...(options.flags ?? []),
      ...paths,
      '-o',
      '/a.out',
    ],
    { files, cwd: '/', driver },
  );
  if (r.exit !== 0) throw new Error(new TextDecoder().decode(r.stderr));
  return instrument(files.read('/a.out')!);
}
