/**
 * Datatypes (MPI 4.1 chapter 5) over the layer's table: constructors, enquiries, packing, and what statuses say about
 * them.
 */
import { ERR, LINEAR, PREDEFINED_TYPES, UNDEFINED, f90Integer, f90Real, linear, types } from '@mayfly/mpi';
import { WITH_LONG64, constant, entries } from '../abi/constants.ts';
import { copyAttributes, deleteAttributes } from './attributes.ts';
import type { Implementations } from './define.ts';
import { Null } from './handles.ts';
import type { Core } from './core.ts';
import type { Word } from '../program.ts';

const [[, LONG64], , [, LONG64_INT]] = entries(WITH_LONG64) as [[string, number], unknown, [string, number]];

export function datatypes(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const old = (handle: number): number => core.type(handle).handle;
  const made = (at: number, make: () => number): number =>
    success(() => {
      heap.check(at, 4, 'newtype');
      heap.setInt(at, core.typeHandle(make()), 'newtype');
    });
  const n = (count: number): number => core.count(count, 0);
  /** MPI_Aint lists, which are MPI_Count in the large form. */
  const bytesList = (at: number, count: number): number[] => heap.counts(at, count, 'array_of_displacements');
  const aint = (at: number, value: number, what: string): void => heap.setCount(at, value, what);
  /** "If the OUT argument cannot express the value, it is set to MPI_UNDEFINED" (§5.1.5). */
  const small = (value: number): number => (heap.large || value <= 0x7fff_ffff ? value : UNDEFINED);
  const fill = (count: number, x: number): number[] => new Array<number>(count).fill(x);

  const vector = (count: number, length: number, stride: number, type: number, at: number): number =>
    made(at, () => types.vector(layer, n(count), length, stride, old(type), false));
  const hvector = (count: number, length: number, stride: number, type: number, at: number): number =>
    made(at, () => types.vector(layer, n(count), length, stride, old(type), true));
  const hindexed = (count: number, lengths: number, displs: number, type: number, at: number): number =>
    made(at, () =>
      types.indexed(
        layer,
        heap.counts(lengths, n(count), 'array_of_blocklengths'),
        bytesList(displs, count),
        old(type),
        true,
      ),
    );
  const struct = (count: number, lengths: number, displs: number, list: number, at: number): number =>
    made(at, () =>
      types.struct(
        layer,
        heap.counts(lengths, n(count), 'array_of_blocklengths'),
        bytesList(displs, count),
        heap.ints(list, count, 'array_of_types').map(old),
      ),
    );
  const extent = (type: number, lb: number, at: number, wide: boolean): number =>
    success(() => {
      const { layout } = core.type(type);
      (wide ? heap.setWide : aint).call(heap, lb, layout.lb, 'lb');
      (wide ? heap.setWide : aint).call(heap, at, layout.extent, 'extent');
    });
  const trueExtent = (type: number, lb: number, at: number, wide: boolean): number =>
    success(() => {
      const t = types.trueExtent(core.type(type));
      (wide ? heap.setWide : aint).call(heap, lb, t.lb, 'true_lb');
      (wide ? heap.setWide : aint).call(heap, at, t.extent, 'true_extent');
    });
  /** Writes a number of elements: as it is where the argument holds it, else MPI_UNDEFINED. */
  const setElementCount = (at: number, count: bigint, wide: boolean): void => {
    if (wide) heap.setWide(at, count, 'count');
    else heap.setInt(at, count <= 0x7fff_ffffn ? Number(count) : UNDEFINED, 'count');
  };
  const getElements = (status: number, type: number, at: number, wide: boolean): number =>
    success(() => {
      const { layout, signature } = core.type(type);
      const bytes = core.statusBytes(status);
      const count = types.elementsIn(signature, bytes);
      setElementCount(
        at,
        layout.size === 0
          ? bytes === 0n
            ? 0n
            : BigInt(UNDEFINED)
          : types.bytesOf(signature, count) === bytes
            ? count
            : BigInt(UNDEFINED),
        wide,
      );
    });
  const setElements = {
    exact: (status: Word, type: Word, count: Word): number =>
      success(() => {
        if (count < 0) core.fail(ERR.COUNT, `count ${count} is negative`);
        const bytes = types.bytesOf(core.type(Number(type)).signature, BigInt(count));
        if (bytes >> 63n !== 0n)
          core.fail(ERR.VALUE_TOO_LARGE, `${count} elements have ${bytes} bytes, which a status cannot hold`);
        core.setStatusBytes(Number(status), bytes);
      }),
  };

  /** Room for packed data: position moves on. */
  const packing = (
    buffer: number,
    size: number,
    at: number,
    bytes: number,
    what: string,
    position: (at: number) => number,
    move: (at: number, to: number) => void,
  ): number => {
    const from = position(at);
    if (from < 0 || from + bytes > size)
      core.fail(ERR.TRUNCATE, `${what} has ${size} bytes, from position ${from} on ${bytes} are needed`);
    heap.check(buffer, size > 0 ? size : 0, what);
    move(at, from + bytes);
    return (buffer >>> 0) + from;
  };
  const packed = (input: number, count: number, type: number, buffer: number, size: number, at: number): number =>
    success(() => {
      const t = core.committed(type, 0);
      const bytes = t.layout.size * n(count);
      core.checkPlace(input, count, t, 0, 'inbuf');
      const to = packing(
        buffer,
        size,
        at,
        bytes,
        'outbuf',
        (a) => heap.count(a, 'position'),
        (a, x) => heap.setCount(a, x, 'position'),
      );
      layer.memory.pack(t.layout, count, LINEAR, input >>> 0, layer.memory.view(linear(to, bytes)));
    });
  const unpacked = (buffer: number, size: number, at: number, output: number, count: number, type: number): number =>
    success(() => {
      const t = core.committed(type, 0);
      const bytes = t.layout.size * n(count);
      core.checkPlace(output, count, t, 0, 'outbuf');
      const from = packing(
        buffer,
        size,
        at,
        bytes,
        'inbuf',
        (a) => heap.count(a, 'position'),
        (a, x) => heap.setCount(a, x, 'position'),
      );
      layer.memory.unpack(t.layout, count, layer.memory.view(linear(from, bytes)), LINEAR, output >>> 0);
    });

  function contents(type: number): types.Contents {
    const t = core.type(type);
    if (t.contents.combiner === types.Combiner.NAMED)
      core.fail(ERR.TYPE, `${t.name} is predefined: it has no contents`);
    return t.contents;
  }
  /**
   * "The datatypes returned … are handles to datatype objects that are equivalent" (§5.1.13): a derived one is made
   * again for the program.
   */
  function component(t: number | types.TypeRecord): number {
    if (typeof t === 'number') return core.typeHandle(t);
    const { types: table } = layer.state;
    const handle = table.next++;
    table.rows.set(handle, { ...t, handle, attributes: new Map() });
    return core.typeHandle(handle);
  }
  const room = (have: number, need: number, what: string): void =>
    void (have < need && core.fail(ERR.ARG, `${what} ${have} is less than the ${need} that there are`));
  const getContents = (
    type: number,
    ints: number,
    addresses: number,
    list: number,
    atInts: number,
    atAddresses: number,
    atTypes: number,
  ): number =>
    success(() => {
      const c = contents(type);
      room(ints, c.ints.length, 'max_integers');
      room(addresses, c.addresses.length, 'max_addresses');
      room(list, c.types.length, 'max_datatypes');
      heap.setInts(atInts, c.ints, 'array_of_integers');
      heap.setInts(atAddresses, c.addresses, 'array_of_addresses');
      heap.setInts(atTypes, c.types.map(component), 'array_of_datatypes');
    });

  const out: Implementations = {
    Type_contiguous: (count: number, type: number, at: number) =>
      made(at, () => types.contiguous(layer, n(count), old(type))),
    Type_vector: vector,
    Type_create_hvector: hvector,
    Type_hvector: hvector,
    Type_indexed: (count: number, lengths: number, displs: number, type: number, at: number) =>
      made(at, () =>
        types.indexed(
          layer,
          heap.counts(lengths, n(count), 'array_of_blocklengths'),
          heap.counts(displs, count, 'array_of_displacements'),
          old(type),
          false,
        ),
      ),
    Type_create_hindexed: hindexed,
    Type_hindexed: hindexed,
    Type_create_indexed_block: (count: number, length: number, displs: number, type: number, at: number) =>
      made(at, () =>
        types.indexed(
          layer,
          fill(n(count), length),
          heap.counts(displs, count, 'array_of_displacements'),
          old(type),
          false,
          true,
        ),
      ),
    Type_create_hindexed_block: (count: number, length: number, displs: number, type: number, at: number) =>
      made(at, () => types.indexed(layer, fill(n(count), length), bytesList(displs, count), old(type), true, true)),
    Type_create_struct: struct,
    Type_struct: struct,
    Type_create_resized: (type: number, lb: number, size: number, at: number) =>
      made(at, () => types.resized(layer, old(type), lb, size)),
    Type_create_subarray: (
      dims: number,
      sizes: number,
      subsizes: number,
      starts: number,
      order: number,
      type: number,
      at: number,
    ) =>
      made(at, () => {
        core.count(dims, 0, 'ndims');
        const fortran = order === constant('MPI_ORDER_FORTRAN');
        if (!fortran && order !== constant('MPI_ORDER_C'))
          core.fail(ERR.ARG, `order ${order} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN`);
        const list = (a: number, what: string): number[] => heap.counts(a, dims, what);
        return types.subarray(
          layer,
          list(sizes, 'array_of_sizes'),
          list(subsizes, 'array_of_subsizes'),
          list(starts, 'array_of_starts'),
          order,
          fortran,
          old(type),
        );
      }),
    Type_create_darray: (
      size: number,
      rank: number,
      dims: number,
      gsizes: number,
      distribs: number,
      dargs: number,
      psizes: number,
      order: number,
      type: number,
      at: number,
    ) =>
      made(at, () => {
        core.count(dims, 0, 'ndims');
        const fortran = order === constant('MPI_ORDER_FORTRAN');
        if (!fortran && order !== constant('MPI_ORDER_C'))
          core.fail(ERR.ARG, `order ${order} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN`);
        const list = (a: number, what: string): number[] => heap.ints(a, dims, what);
        return types.darray(
          layer,
          {
            size,
            rank,
            gsizes: heap.counts(gsizes, dims, 'array_of_gsizes'),
            distribs: list(distribs, 'array_of_distribs'),
            dargs: list(dargs, 'array_of_dargs'),
            psizes: list(psizes, 'array_of_psizes'),
            order,
            fortran,
          },
          old(type),
        );
      }),
    Type_dup: (type: number, at: number) =>
      made(at, () => {
        const from = core.type(type);
        const handle = types.dup(layer, from.handle);
        try {
          copyAttributes(core, 'type', type, core.typeAttributes(from), layer.state.types.rows.get(handle)!.attributes);
        } catch (e) {
          layer.state.types.rows.delete(handle);
          throw e;
        }
        return handle;
      }),
    Type_commit: (at: number) => success(() => types.commit(layer, core.type(heap.int(at, 'datatype')).handle)),
    Type_free: (at: number) =>
      success(() => {
        const handle = heap.int(at, 'datatype');
        const t = core.type(handle);
        if (t.handle >= types.FIRST_DERIVED) deleteAttributes(core, 'type', handle, t.attributes);
        // Persistent requests name the type at every start.
        types.free(
          layer,
          t.handle,
          core.state.slots.some((s) => s?.persistent !== undefined),
        );
        heap.setInt(at, Null.DATATYPE, 'datatype');
      }),
    Type_size: (type: number, at: number) =>
      success(() => heap.setCount(at, small(core.type(type).layout.size), 'size')),
    Type_size_x: (type: number, at: number) => success(() => heap.setWide(at, core.type(type).layout.size, 'size')),
    Type_get_extent: (type: number, lb: number, at: number) => extent(type, lb, at, false),
    Type_get_extent_x: (type: number, lb: number, at: number) => extent(type, lb, at, true),
    Type_get_true_extent: (type: number, lb: number, at: number) => trueExtent(type, lb, at, false),
    Type_get_true_extent_x: (type: number, lb: number, at: number) => trueExtent(type, lb, at, true),
    Type_extent: (type: number, at: number) => success(() => heap.setInt(at, core.type(type).layout.extent, 'extent')),
    Type_lb: (type: number, at: number) => success(() => heap.setInt(at, core.type(type).layout.lb, 'displacement')),
    Type_ub: (type: number, at: number) =>
      success(() => heap.setInt(at, core.type(type).layout.lb + core.type(type).layout.extent, 'displacement')),
    Type_get_name: (type: number, at: number, length: number) =>
      success(() =>
        heap.setInt(
          length,
          heap.setString(
            at,
            type === Null.DATATYPE ? 'MPI_DATATYPE_NULL' : core.typeName(core.type(type)),
            128,
            'type_name',
          ),
          'resultlen',
        ),
      ),
    Type_set_name: (type: number, at: number) =>
      success(() => core.setTypeName(core.type(type), heap.string(at, 'type_name', 127))),
    Type_get_envelope: (type: number, ints: number, addresses: number, list: number, combiner: number) =>
      success(() => {
        const c = core.type(type).contents;
        heap.setInt(ints, c.ints.length, 'num_integers');
        heap.setInt(addresses, c.addresses.length, 'num_addresses');
        heap.setInt(list, c.types.length, 'num_datatypes');
        heap.setInt(combiner, c.combiner, 'combiner');
      }),
    Type_get_envelope_c: (
      type: number,
      ints: number,
      addresses: number,
      counts: number,
      list: number,
      combiner: number,
    ) =>
      success(() => {
        const c = core.type(type).contents;
        heap.setWide(ints, c.ints.length, 'num_integers');
        heap.setWide(addresses, c.addresses.length, 'num_addresses');
        heap.setWide(counts, 0, 'num_large_counts');
        heap.setWide(list, c.types.length, 'num_datatypes');
        heap.setInt(combiner, c.combiner, 'combiner');
      }),
    Type_get_contents: getContents,
    Type_get_contents_c: (
      type: number,
      ints: number,
      addresses: number,
      _counts: number,
      list: number,
      atInts: number,
      atAddresses: number,
      _atCounts: number,
      atTypes: number,
    ) => getContents(type, ints, addresses, list, atInts, atAddresses, atTypes),
    Type_create_f90_integer: (r: number, at: number) => made(at, () => f90Integer(layer, r)),
    Type_create_f90_real: (p: number, r: number, at: number) => made(at, () => f90Real(layer, p, r, false)),
    Type_create_f90_complex: (p: number, r: number, at: number) => made(at, () => f90Real(layer, p, r, true)),
    Type_match_size: (typeclass: number, size: number, at: number) =>
      made(at, () => {
        const name = {
          [constant('MPI_TYPECLASS_INTEGER')]: 'MPI_INTEGER',
          [constant('MPI_TYPECLASS_REAL')]: 'MPI_REAL',
          [constant('MPI_TYPECLASS_COMPLEX')]: 'MPI_COMPLEX',
        }[typeclass];
        for (const t of PREDEFINED_TYPES.values())
          if (name !== undefined && t.name === `${name}${size}`) return t.handle;
        return core.fail(ERR.ARG, `there is no datatype of ${size} bytes in class ${typeclass}`);
      }),
    Type_get_value_index: (value: number, index: number, at: number) =>
      success(() => {
        const pairs = [
          ['FLOAT', 'FLOAT_INT'],
          ['DOUBLE', 'DOUBLE_INT'],
          ['LONG', 'LONG_INT'],
          ['INT', '2INT'],
          ['SHORT', 'SHORT_INT'],
          ['LONG_DOUBLE', 'LONG_DOUBLE_INT'],
        ].map(([v, pair]) => [constant(`MPI_${v!}`), constant(`MPI_${pair!}`)] as const);
        const found = [...pairs, [LONG64, LONG64_INT] as const].find(([v]) => v === value);
        heap.setInt(at, found && index === constant('MPI_INT') ? found[1] : Null.DATATYPE, 'pair_type');
      }),
    Pack: packed,
    Unpack: unpacked,
    Pack_size: (count: number, type: number, _comm: number, at: number) =>
      success(() => heap.setCount(at, small(core.committed(type, 0).layout.size * n(count)), 'size')),
    Get_address: (address: number, at: number) => success(() => heap.setInt(at, address, 'address')),
    Address: (address: number, at: number) => success(() => heap.setInt(at, address, 'address')),
    Aint_add: (base: number, disp: number) => (base + disp) | 0,
    Aint_diff: (a: number, b: number) => (a - b) | 0,
    Get_count: (status: number, type: number, at: number) =>
      success(() => {
        const size = BigInt(core.type(type).layout.size);
        const bytes = core.statusBytes(status);
        setElementCount(
          at,
          size === 0n
            ? bytes === 0n
              ? 0n
              : BigInt(UNDEFINED)
            : bytes % size === 0n
              ? bytes / size
              : BigInt(UNDEFINED),
          heap.large,
        );
      }),
    Get_elements: (status: number, type: number, at: number) => getElements(status, type, at, heap.large),
    Get_elements_x: (status: number, type: number, at: number) => getElements(status, type, at, true),
    Status_set_elements: setElements,
    Status_set_elements_x: setElements,
    Status_set_cancelled: (status: number, flag: number) =>
      success(() => heap.setInt(heap.check(status, 32, 'status') + 20, flag ? 1 : 0, 'status')),
    Test_cancelled: (status: number, flag: number) =>
      success(() => heap.setInt(flag, heap.int(heap.check(status, 32, 'status') + 20, 'status'), 'flag')),
    Status_get_source: (status: number, at: number) =>
      success(() => heap.setInt(at, heap.int(status, 'status'), 'source')),
    Status_get_tag: (status: number, at: number) =>
      success(() => heap.setInt(at, heap.int(status + 4, 'status'), 'tag')),
    Status_get_error: (status: number, at: number) =>
      success(() => heap.setInt(at, heap.int(status + 8, 'status'), 'error')),
    Status_set_source: (status: number, x: number) => success(() => heap.setInt(status, x, 'status')),
    Status_set_tag: (status: number, x: number) => success(() => heap.setInt(status + 4, x, 'status')),
    Status_set_error: (status: number, x: number) => success(() => heap.setInt(status + 8, x, 'status')),
  };
  // A status is the same eight numbers in all languages.
  const of = { c: 'status', f: 'f_status', f08: 'f08_status' };
  for (const [a, from] of Object.entries(of))
    for (const [b, to] of Object.entries(of))
      if (a !== b)
        out[`Status_${a}2${b}`] = (p: number, q: number) => success(() => heap.setInts(q, heap.ints(p, 8, from), to));
  return out;
}
