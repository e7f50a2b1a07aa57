/**
 * Between a driver and the warm compile server of the same user: one request a connection.
 *   → {tool, argv, cwd, stdin?, calls?} as JSON, one line
 *   ← {pid} as JSON, one line: taken
 *   ← {exit, stdout, stderr} as JSON, one line, the last two in bytes; then these bytes
 */
import type { Tool } from './names.ts';

/** clang recurses deeply in nested templates; a thread's usual stack ends it with a crash. */
export const STACK_MB = 32;

export interface ToolRequest {
  readonly tool: Tool;
  /** How `mayfly` was called: node and its script. */
  readonly mayfly: readonly string[];
  readonly argv: readonly string[];
  readonly cwd: string;
  /** base64 */
  readonly stdin?: string;
  /** The folder of remembered calls (call-folder.ts); undefined: none are used. */
  readonly calls?: string;
}

export interface ToolResult {
  readonly exit: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Of a call that came to no result. */
export const failed = (tool: Tool, why: string, exit: number): ToolResult => ({
  exit,
  stdout: new Uint8Array(0),
  stderr: new TextEncoder().encode(`${tool}: error: ${why}\n`),
});

export function encodeResult({ exit, stdout, stderr }: ToolResult): Uint8Array {
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ exit, stdout: stdout.length, stderr: stderr.length })}\n`),
    stdout,
    stderr,
  ]);
}

/** The result behind the line of acknowledgement; undefined while something is missing. */
export function decodeResult(bytes: Buffer): ToolResult | undefined {
  const ack = bytes.indexOf(10);
  const head = ack < 0 ? -1 : bytes.indexOf(10, ack + 1);
  if (head < 0) return undefined;
  const { exit, stdout, stderr } = JSON.parse(bytes.toString('utf8', ack + 1, head)) as {
    exit: number;
    stdout: number;
    stderr: number;
  };
  const body = bytes.subarray(head + 1);
  return body.length < stdout + stderr
    ? undefined
    : { exit, stdout: body.subarray(0, stdout), stderr: body.subarray(stdout, stdout + stderr) };
}
