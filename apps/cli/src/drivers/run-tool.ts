/** One call of a tool in this process: clang, wasm-ld and their kin over the user's disk. */
import { cc, DiskFiles, llvmTool } from '@mayfly/toolchain/c';
import type { ToolRequest, ToolResult } from './protocol.ts';

export function runTool({ tool, argv, cwd, stdin }: ToolRequest): ToolResult {
  const options = {
    files: new DiskFiles(),
    cwd,
    ...(stdin === undefined ? {} : { stdin: new Uint8Array(Buffer.from(stdin, 'base64')) }),
  };
  return tool === 'mpicc' || tool === 'mpicxx' ? cc(argv, { ...options, driver: tool }) : llvmTool(tool, argv, options);
}
