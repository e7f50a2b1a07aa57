/** One call of a tool in this process: clang, wasm-ld, ar, nm and their kin over the user's disk. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CallStore, cc, DiskFiles, FileError, llvmTool, rememberedCc } from '@mayfly/toolchain/c';
import { launcher } from '@mayfly/toolchain/launcher';
import { VERSION } from '../version.ts';
import { ProgramFiles } from './program-files.ts';
import { failed, type ToolRequest, type ToolResult } from './protocol.ts';

/** This module's bundle has the drivers' code. */
let code: string | undefined;
const ownCode = (): string =>
  (code ??= createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex'));

const stores = new Map<string, CallStore>();
function storeOf(folder: string): CallStore {
  let store = stores.get(folder);
  if (store === undefined) stores.set(folder, (store = new CallStore(folder)));
  return store;
}

/** Whatever goes wrong is this call's result: other calls share the process. */
export function runTool(request: ToolRequest): ToolResult {
  try {
    return callTool(request);
  } catch (error) {
    const why = error instanceof FileError ? error.message : ((error as Error).stack ?? String(error));
    return failed(request.tool, why, error instanceof FileError ? 1 : 70);
  }
}

function callTool({ tool, mayfly, argv, cwd, stdin, calls }: ToolRequest): ToolResult {
  const options = { cwd, ...(stdin === undefined ? {} : { stdin: new Uint8Array(Buffer.from(stdin, 'base64')) }) };
  if (tool === 'mpicc' || tool === 'mpicxx') {
    const call = { ...options, files: new DiskFiles(), driver: tool, launcher: launcher(mayfly), version: VERSION };
    return calls === undefined ? cc(argv, call) : rememberedCc(argv, call, storeOf(calls), ownCode());
  }
  const files = new ProgramFiles();
  const result = llvmTool(tool, argv, { ...options, files });
  files.restore();
  return result;
}
