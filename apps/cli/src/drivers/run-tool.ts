/** One call of a tool in this process: clang, wasm-ld, ar, nm and their kin over the user's disk. */
import { cc, DiskFiles, llvmTool } from '@mayfly/toolchain/c';
import { launcher } from '@mayfly/toolchain/launcher';
import { VERSION } from '../version.ts';
import { ProgramFiles } from './program-files.ts';
import type { ToolRequest, ToolResult } from './protocol.ts';

export function runTool({ tool, mayfly, argv, cwd, stdin }: ToolRequest): ToolResult {
  const options = { cwd, ...(stdin === undefined ? {} : { stdin: new Uint8Array(Buffer.from(stdin, 'base64')) }) };
  if (tool === 'mpicc' || tool === 'mpicxx')
    return cc(argv, { ...options, files: new DiskFiles(), driver: tool, launcher: launcher(mayfly), version: VERSION });
  const files = new ProgramFiles();
  const result = llvmTool(tool, argv, { ...options, files });
  files.restore();
  return result;
}
