/**
 * Closes the built-in objects of a rank's thread before its program starts. The program shares them with our own code
 * (host, MPI layer, endpoint, rings) and, in Node, with Node's: a setter on `Object.prototype` or another
 * `Array.prototype.push` would be called by code that holds more than the program may have.
 *
 * Invariants
 *  H1 Every built-in object that a program can reach is frozen: nothing is added to it, nothing in it is replaced. The
 *  exception is `Error.stackTraceLimit`.
 *  H2 What a program does with its own objects still works: `toString` and the like may be assigned to an object that
 *  inherits them from a closed one.
 *  H3 Reading and calling costs what it did. What V8 makes slow is avoided here, see {@link close}.
 *
 * Not closed: the global object takes new names (those that exist stay what they are), and the objects of the module
 * 'mayfly' and of `Math` belong to the program alone.
 */

/**
 * What programs assign to objects of their own although a closed prototype has it. There it becomes an accessor whose
 * setter defines the property where the assignment meant it. Not for what engines look up by itself (species,
 * iterators): they would take the slow way for all arrays.
 */
const OVERRIDABLE: readonly (readonly [names: string, of: () => readonly object[]])[] = [
  [
    'constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf',
    () => [Object.prototype],
  ],
  ['apply bind call toString', () => [Function.prototype]],
  [
    'constructor message name toString',
    () =>
      [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map(
        (e) => e.prototype,
      ),
  ],
  ['constructor toString', () => [Map, Set, WeakMap, WeakSet, Date].map((c) => c.prototype as object)],
  ['toString', () => [Array.prototype]],
];

const WHY = 'built-in objects are closed to programs: make a function or a class of your own';

function overridable(owner: object, name: string): void {
  const d = Reflect.getOwnPropertyDescriptor(owner, name);
  if (!d || !('value' in d) || !d.configurable) return;
  const value: unknown = d.value;
  Object.defineProperty(owner, name, {
    get: () => value,
    set(this: object, own: unknown) {
      if (this === owner) throw new TypeError(`${name} cannot be replaced here: ${WHY}`);
      Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
    },
    enumerable: false,
    configurable: false,
  });
}

/** Objects that no name leads to. */
function nameless(): unknown[] {
  const found: unknown[] = [
    [][Symbol.iterator](),
    new Map().entries(),
    new Set().values(),
    ''[Symbol.iterator](),
    'a'.matchAll(/a/g),
    function* () {},
    async function () {},
    async function* () {},
  ];
  // Errors that the engine's own library throws have classes of their own; Node loads these when it first needs them.
  for (const fails of [
    () => structuredClone(() => 0),
    () => atob('*'),
    () => btoa('\u{100}'),
    () => new TextDecoder('?'),
    () => new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.of(255)),
    () => structuredClone(0, { transfer: [0] } as never),
  ])
    try {
      fails();
    } catch (e) {
      found.push(Object.getPrototypeOf(e));
    }
  return found;
}

/** Everything that leads to from these, but for the objects of `without`. */
function reachable(from: readonly unknown[], without: ReadonlySet<unknown>): Set<object> {
  const seen = new Set<object>();
  const next = [...from];
  while (next.length > 0) {
    const o = next.pop();
    if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o) || without.has(o)) continue;
    seen.add(o);
    next.push(Object.getPrototypeOf(o));
    for (const name of Reflect.ownKeys(o)) {
      const d = Reflect.getOwnPropertyDescriptor(o, name)!;
      next.push(d.value, d.get, d.set);
    }
  }
  return seen;
}

function lockProperty(o: object, name: PropertyKey): void {
  const d = Reflect.getOwnPropertyDescriptor(o, name)!;
  if (d.configurable || d.writable)
    Object.defineProperty(o, name, { ...('value' in d ? { writable: false } : {}), configurable: false });
}

/** What freezing does, property by property. */
function lock(o: object, without: readonly PropertyKey[]): void {
  for (const name of Reflect.ownKeys(o)) if (!without.includes(name)) lockProperty(o, name);
  Object.preventExtensions(o);
}

/**
 * Freezes an object in the prototype chain of arrays. V8 gives a frozen object "frozen elements", and whatever inherits
 * from it then stores elements (of typed arrays, too) 5 to 20 times slower; and it gives up its fast ways for arrays
 * when `constructor` or `Symbol.iterator` of their prototype is redefined. Neither happens when an object is frozen
 * whose properties lie in a dictionary, which redefining any other of them brings about. Being looked through as a
 * prototype makes it fast again. (`npm run bench -- closed` measures it.)
 */
function freezeBelowArrays(o: object): void {
  for (const name of Reflect.ownKeys(o)) {
    const d = Reflect.getOwnPropertyDescriptor(o, name)!;
    if (typeof name !== 'string' || name === 'constructor' || name === 'length' || !d.configurable || !d.writable)
      continue;
    Object.defineProperty(o, name, { writable: false });
    Object.freeze(o);
    break;
  }
  // Those of a kind of typed array have nothing but a constructor.
  if (!Object.isFrozen(o)) lock(o, []);
  const below = Object.create(o) as Record<string, unknown>;
  for (let i = 0; i < 10; i++) void below['isPrototypeOf'];
}

/** Object.prototype, Array.prototype and those of all typed arrays. */
function prototypesOfArrays(): Set<object> {
  const found = new Set<object>();
  for (const array of [
    [],
    ...[
      Int8Array,
      Uint8Array,
      Uint8ClampedArray,
      Int16Array,
      Uint16Array,
      Int32Array,
      Uint32Array,
      Float32Array,
      Float64Array,
      BigInt64Array,
      BigUint64Array,
    ].map((type) => new type(0)),
  ])
    for (
      let o: object | null = Object.getPrototypeOf(array) as object;
      o;
      o = Object.getPrototypeOf(o) as object | null
    )
      found.add(o);
  return found;
}

/** @param allowed names of the global object that stay what they are */
export function harden(global: Record<PropertyKey, unknown>, allowed: Iterable<string>): void {
  const names = [...allowed].filter((name) => Reflect.getOwnPropertyDescriptor(global, name) !== undefined);
  for (const [list, of] of OVERRIDABLE)
    for (const owner of of()) for (const name of list.split(' ')) overridable(owner, name);
  const all = reachable(
    [...names.map((name) => global[name]), ...nameless()],
    new Set<unknown>([global, global['Math'], global['console'], global['__mayfly']]),
  );
  const chains = prototypesOfArrays();
  for (const o of all) {
    if (chains.has(o)) freezeBelowArrays(o);
    else if (o !== Error) Object.freeze(o);
    // The program and rank/call-site.ts choose how many frames a stack has.
    else lock(o, ['stackTraceLimit']);
  }
  for (const name of names) lockProperty(global, name);
}

const CLOSED = /not extensible|read[- ]only|cannot be replaced here|Cannot (redefine|delete) property/;

/** What to add to the message of an error that came from a closed object; else nothing. */
export const aboutClosed = (message: string): string =>
  CLOSED.test(message) && !message.includes(WHY) ? ` (${WHY})` : '';
