/**
 * mpi.h for a run that checks a program (formats.ts): each buffer is tied to its datatype, so that clang reports a
 * `size_t`, which keeps 32 bits, that is sent as MPI_UNSIGNED_LONG. Objects are the same as with the mpi.h that has no
 * tags.
 */
import { MemoryFiles } from '../../files.ts';
import { resources } from '../../resources.ts';

/** The datatypes of the program's `long`, of what it is rewritten to, and of addresses. */
const TAGGED = {
  MPI_LONG: 'long long',
  MPI_UNSIGNED_LONG: 'unsigned long long',
  MPI_LONG_LONG: 'long long',
  MPI_UNSIGNED_LONG_LONG: 'unsigned long long',
  MPI_AINT: 'long',
} as const;

/** The datatypes of 64 bits where the program's `long` has 32. */
const TAGGED_NARROW = {
  MPI_LONG_LONG: 'long long',
  MPI_UNSIGNED_LONG_LONG: 'unsigned long long',
  MPI_INT64_T: 'long long',
  MPI_UINT64_T: 'unsigned long long',
} as const;

export function withTags(header: string, types: Readonly<Record<string, string>> = TAGGED): string {
  // clang finds the type by the number in the datatype's macro, the last one that the header defines.
  const tags = Object.entries(types).map(([name, type]) => {
    const value = [...header.matchAll(new RegExp(`#define ${name}\\s.*\\b(0x\\w+)\\)`, 'g'))].at(-1)![1]!;
    return `static const int mayfly_${name} __attribute__((unused, type_tag_for_datatype(mayfly, ${type}))) = ${value};\n`;
  });
  const tied = header.replace(/^(int P?MPI_\w+)\((.*)\);$/gm, (all, name: string, list: string) => {
    const pairs = pairsOf(list).map(
      ([buffer, type]) => ` __attribute__((pointer_with_type_tag(mayfly, ${buffer + 1}, ${type + 1})))`,
    );
    return pairs.length === 0 ? all : `${name}(${list})${pairs.join('')};`;
  });
  // Inside its guard: many programs include it twice.
  const end = tied.lastIndexOf('#endif');
  return tied.slice(0, end) + tags.join('') + tied.slice(end);
}

/** Which parameters are a buffer and its datatype. */
function pairsOf(list: string): [buffer: number, datatype: number][] {
  const parameters = list.split(', ');
  return parameters.flatMap((p, i) => {
    if (!/\bvoid \*\w*(?:buf|buffer|addr)$/.test(p)) return [];
    const type = parameters.findIndex((q, k) => k > i && /^MPI_Datatype \w+$/.test(q));
    return type === -1 ? [] : [[i, type] as [number, number]];
  });
}

/** Where one datatype describes two sides, or memory and the standard's own length of it. */
const NOT_NARROW =
  /^P?MPI_(?:R?(?:Put|Get|Accumulate|Get_accumulate)|Fetch_and_op|Compare_and_swap|(?:P|Unp)ack_external)(?:_c)?$/;

let datatypes: Map<string, { datatype: number; buffers: number[] }[]> | undefined;

/** Of a function of MPI, the datatypes whose elements may have 32 bits in memory and 64 in the message. */
export function datatypesOf(name: string): readonly { readonly datatype: number; readonly buffers: number[] }[] {
  datatypes ??= new Map(
    [...mpiHeader().matchAll(/^int (P?MPI_\w+)\((.*)\);$/gm)].map(([, name, list]) => {
      const types = new Map<number, number[]>();
      for (const [buffer, datatype] of NOT_NARROW.test(name!) ? [] : pairsOf(list!)) {
        // What is unpacked has no type of its own.
        if (/_Unpack(_c)?$/.test(name!) && buffer === 0) continue;
        types.set(datatype, [...(types.get(datatype) ?? []), buffer]);
      }
      return [name!, [...types].map(([datatype, buffers]) => ({ datatype, buffers }))];
    }),
  );
  return datatypes.get(name) ?? [];
}

const mpiHeader = (): string => new TextDecoder().decode(resources().files.read('/include/mpi.h'));

let tagged: MemoryFiles | undefined;

/** The folder of mpi.h, with tags. */
export function taggedHeaders(): MemoryFiles {
  tagged ??= new MemoryFiles({
    '/mpi.h': withTags(mpiHeader()),
  });
  return tagged;
}

/** Always the same bytes. */
export const taggedHeader = (): Uint8Array => taggedHeaders().read('/mpi.h')!;

/** The same for a program whose `long` has 32 bits. */
export const narrowTaggedHeaders = (): MemoryFiles =>
  new MemoryFiles({ '/mpi.h': withTags(mpiHeader(), TAGGED_NARROW) });
