/** Rounds on disk over the server's own file service: what is not whole there is an error, and never data. */
import { expect, test } from 'vitest';
import { MemoryFiles } from '@mayfly/protocols';
import { FILES, WORLD, WorldMode, taskId } from '@mayfly/wire';
import {
  COMM_SELF,
  ERR,
  Interrupted,
  createLayer,
  fail,
  files,
  thenLetGo,
  type Arrival,
  type Device,
  type Layer,
} from '../../src/index.ts';
import * as disk from '../../src/ckpt/disk.ts';
import { scratch } from '../../src/layer.ts';
import { settled } from '../../src/requests.ts';

const HEAD = 24;

/** A rank whose files are those of `server`. */
function rank(server: MemoryFiles, interrupts = (_call: string): boolean => false): Layer {
  const inbox: Arrival[] = [];
  let [number, sent] = [0, 0];
  const device: Device = {
    ...{ task: taskId(0), size: 1, unexpectedBytes: 1 << 20, tellsLosses: true },
    send: (dst, mode, _context, _tag, _word, body) => {
      if (dst !== WORLD) throw new Error('a message to a rank');
      const a = server.deliver(taskId(0), ++sent, mode, body.slice());
      if (!a) return;
      const head = { number: ++number, src: FILES, mode: WorldMode.ANSWER, context: a.error, tag: 0, word: 0 };
      inbox.push({ ...head, size: a.body.length, body: a.body });
    },
    wait: (why) => {
      if (interrupts(why.call)) return undefined;
      const a = inbox.shift();
      if (!a) throw new Error(`waits for ever in ${why.call}`);
      return a;
    },
    poll: () => undefined,
    pull: () => {
      throw new Error('nothing is in the log');
    },
    unexpected: () => undefined,
    clock: () => 0,
    place: (read) => read(),
  };
  return createLayer(device, () => new Uint8Array(64));
}

const data = Uint8Array.from({ length: 1000 }, (_, i) => i * 7);
const written = (): { server: MemoryFiles; layer: Layer; path: string } => {
  const server = new MemoryFiles(1 << 20, new Map(), 1);
  const layer = rank(server);
  disk.write(layer, 'mpi-ckpt/3', 0, 0, 1, new Uint8Array(1500), 'MPI_Ckpt_here');
  disk.write(layer, 'mpi-ckpt/3', 0, 1, 2, Uint8Array.of(1, 2, 3), 'MPI_Ckpt_here');
  disk.write(layer, 'mpi-ckpt/3', 0, 0, 3, data, 'MPI_Ckpt_here');
  return { server, layer, path: 'mpi-ckpt/3/0.0' };
};
/** What a file has, or the class and the text of the error. */
function read(layer: Layer, slot: number): unknown {
  try {
    return disk.read(layer, 'mpi-ckpt/3', 0, slot, 'MPI_Ckpt_ctrl');
  } catch (e) {
    const { errorClass, message } = e as { errorClass: number; message: string };
    return [errorClass, message];
  }
}
const BEFORE = { round: 2, data: Uint8Array.of(1, 2, 3) };

test('a round is in one of two files; a longer one may have been there', () => {
  const { layer } = written();
  expect(read(layer, 0)).toEqual({ round: 3, data });
  expect(read(layer, 1)).toEqual(BEFORE);
  expect(read(rank(new MemoryFiles(1 << 20, new Map(), 1)), 1)).toEqual([ERR.NO_SUCH_FILE, expect.any(String)]);
});

/** Another program, or this one, does that to the file. */
function damaged(layer: Layer, path: string, damage: (file: number) => number): void {
  const file = settled(layer, files.open(layer, COMM_SELF, path, files.Amode.RDWR)).result;
  settled(layer, damage(file));
  settled(layer, files.close(layer, file));
}
const sized = (layer: Layer, path: string, bytes: number): void =>
  damaged(layer, path, (file) => files.resize(layer, file, bytes, false));
function overwritten(layer: Layer, path: string, offset: number, byte: number): void {
  const b = scratch(layer, 1);
  layer.memory.view(b)[0] = byte;
  damaged(layer, path, (file) => files.access(layer, file, true, { by: 'offset', offset }, b, 'MPI_File_write_at'));
}

test.each([
  ['one byte is missing', 'bytes should be there', (l: Layer, p: string) => sized(l, p, HEAD + data.length - 1)],
  ['only its head is there', 'bytes should be there', (l: Layer, p: string) => sized(l, p, HEAD)],
  ['a length of 2 to the 58th', 'bytes should be there', (l: Layer, p: string) => overwritten(l, p, 15, 4)],
  ['another round is in its head', 'bytes have changed', (l: Layer, p: string) => overwritten(l, p, 0, 2)],
  ['a byte of the data is another', 'bytes have changed', (l: Layer, p: string) => overwritten(l, p, 500, 1)],
] as const)('%s: MPI_ERR_CHECKPOINT that names the file', (_, text, damage) => {
  const { layer, path } = written();
  damage(layer, path);
  expect(read(layer, 0)).toEqual([ERR.CHECKPOINT, expect.stringMatching(`'${path}' is damaged: .*${text}`)]);
  expect(read(layer, 1)).toEqual(BEFORE);
});

test('the server lost the end of a file: zeros are no data', () => {
  const { server, layer, path } = written();
  server.files.set(path, server.files.get(path)!.slice(0, 100));
  expect(read(layer, 0)).toEqual([ERR.CHECKPOINT, expect.stringContaining('bytes have changed')]);
});

test.each([0, 1, HEAD - 1])('%i bytes of a file are no round', (bytes) => {
  const { layer, path } = written();
  sized(layer, path, bytes);
  expect(read(layer, 0)).toEqual([
    ERR.CHECKPOINT,
    expect.stringContaining(`'${path}' is damaged: it has ${bytes} bytes`),
  ]);
  expect(read(layer, 1)).toEqual(BEFORE);
});

test('what unwinds the stack comes through a write and a read, and no further request is made behind it', () => {
  const server = new MemoryFiles(1 << 20, new Map(), 1);
  let waits = 0;
  for (const at of [1, 2, 3]) {
    waits = 0;
    const layer = rank(server, () => ++waits === at);
    expect(() => disk.write(layer, 'mpi-ckpt/3', 0, 0, 1, data, 'MPI_Ckpt_here')).toThrow(Interrupted);
    expect(waits).toBe(at);
  }
  disk.write(rank(server), 'mpi-ckpt/3', 0, 0, 1, data, 'MPI_Ckpt_here');
  for (const at of [1, 2, 3, 4, 5]) {
    waits = 0;
    const layer = rank(server, () => ++waits === at);
    expect(() => disk.read(layer, 'mpi-ckpt/3', 0, 0, 'MPI_Ckpt_ctrl')).toThrow(Interrupted);
    expect(waits).toBe(at);
  }
});

test('where using and closing fail, the first error counts', () => {
  const failing = (text: string) => () => fail(ERR.IO, 'MPI_File_write_at', text);
  expect(() => thenLetGo(failing('written'), failing('closed'))).toThrow(/written/);
  expect(() => thenLetGo(() => 1, failing('closed'))).toThrow(/closed/);
});
