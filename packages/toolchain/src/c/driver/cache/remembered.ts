/**
 * Calls of a driver, remembered by content: one whose command line, folder and files are those of an earlier call
 * writes that call's files and output. A tool here sees no clock, no environment and no files but through the tree
 * (wasi-process.ts), so the note of what it asked of the tree (traced-files.ts) says all that its result depends on.
 *
 * A call that fails is not remembered: clang says again why.
 */
import { FileError } from '../../files.ts';
import { cc } from '../cc.ts';
import { llvmVersion } from '../../llvm.ts';
import { resources } from '../../resources.ts';
import type { DriverOptions, DriverResult } from '../run.ts';
import type { CallStore, RememberedCall } from './call-store.ts';
import { hashOf, TracedFiles, unchanged } from './traced-files.ts';

/** @param code what identifies the drivers' own code: calls of another version are not used */
export function rememberedCc(
  argv: readonly string[],
  options: DriverOptions,
  store: CallStore,
  code: string,
): DriverResult {
  const key = keyOf(argv, options, code);
  for (const call of store.calls(key)) {
    const result = repeat(call, options, store);
    if (result !== undefined) {
      store.used(key, call);
      return result;
    }
  }
  const files = new TracedFiles(options.files);
  const precompiled = { store, version: hashOf(JSON.stringify([code, ownFiles()])) };
  const result = cc(argv, { precompiled, ...options, files });
  if (result.exit === 0 && !files.unrepeatable)
    store.remember(key, {
      inputs: [...files.note()],
      outputs: [...files.outputs].map(([path, { bytes, executable }]) => ({
        path,
        executable,
        bytes: store.put(bytes),
      })),
      stdout: store.put(result.stdout),
      stderr: store.put(result.stderr),
    });
  return result;
}

function repeat(call: RememberedCall, options: DriverOptions, store: CallStore): DriverResult | undefined {
  if (!unchanged(options.files, call.inputs)) return undefined;
  const [stdout, stderr, ...outputs] = [call.stdout, call.stderr, ...call.outputs.map((o) => o.bytes)].map((hash) =>
    store.get(hash),
  );
  if (stdout === undefined || stderr === undefined || outputs.includes(undefined)) return undefined;
  try {
    call.outputs.forEach(({ path, executable }, i) => options.files.write(path, outputs[i]!, executable));
  } catch (error) {
    // The call itself says what is wrong there.
    if (error instanceof FileError) return undefined;
    throw error;
  }
  return { exit: 0, stdout, stderr };
}

let own: string | undefined;

/** mpi.h, the compatibility layer and clang, by content or version. */
function ownFiles(): string {
  own ??= hashOf(
    JSON.stringify([llvmVersion(), [...resources().files.files].map(([path, bytes]) => [path, hashOf(bytes)])]),
  );
  return own;
}

function keyOf(argv: readonly string[], { cwd, driver, stdin, launcher, ...o }: DriverOptions, code: string): string {
  const bytes = [stdin, launcher].map((b) => (b === undefined ? null : hashOf(b)));
  return hashOf(
    JSON.stringify([code, ownFiles(), driver, cwd, argv, bytes, o.maxPages ?? null, o.plain ?? false, o.version ?? '']),
  );
}
