/**
 * The tool information interface (MPI 4.1 §15.3) over the variables of packages/mpi; there are no events, sources and
 * enumerations. Answers are codes of its own: no error handler is called, whatever is wrong.
 */
import { ERR, MPIError, toolVariables } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';
import type { ToolHandle } from './state.ts';

const { CATEGORIES, CONTROL, PERFORMANCE } = toolVariables;
const KINDS = {
  counter: constant('MPI_T_PVAR_CLASS_COUNTER'),
  aggregate: constant('MPI_T_PVAR_CLASS_AGGREGATE'),
  level: constant('MPI_T_PVAR_CLASS_LEVEL'),
} as const;

const code = (name: string): number => constant(`MPI_T_ERR_${name}`);
const INVALID_INDEX = code('INVALID_INDEX');
const INVALID_HANDLE = code('INVALID_HANDLE');
const INVALID_SESSION = code('INVALID_SESSION');
const INVALID_NAME = code('INVALID_NAME');
/** MPI_T_PVAR_ALL_HANDLES; own handles begin behind it. */
const ALL = 1;
const CLASSES = [constant('MPI_T_PVAR_CLASS_STATE'), constant('MPI_T_PVAR_CLASS_GENERIC')] as const;

/** The code that a call answers, thrown from where it is found out. */
class Answer extends Error {
  constructor(readonly code: number) {
    super();
  }
}
const answer = (value: number): never => {
  throw new Answer(value);
};

export function tools(core: Core): Implementations {
  const { heap, layer } = core;
  const guarded =
    (f: (...args: number[]) => void) =>
    (...args: number[]): number => {
      if (core.state.toolUsers === 0) return code('NOT_INITIALIZED');
      try {
        f(...args);
        return ERR.SUCCESS;
      } catch (e) {
        if (e instanceof Answer) return e.code;
        if (e instanceof MPIError) return code('INVALID');
        throw e;
      }
    };
  /** "If any OUT parameter … is a NULL pointer, the implementation will ignore the parameter" (§15.3.6). */
  const put = (at: number, value: number): void => void (at !== 0 && heap.setInt(at, value, 'an argument'));
  /** A text and its room, both ways: afterwards the length is that of the whole text with its end. */
  const putText = (at: number, room: number, value: string): void => {
    if (room === 0) return;
    const n = heap.int(room, 'the length');
    if (at !== 0 && n > 0) heap.setString(at, value, n, 'the text');
    heap.setInt(room, value.length + 1, 'the length');
  };
  const named = (list: readonly { name: string }[], at: number, fits: (i: number) => boolean = () => true): number => {
    const name = heap.string(at, 'name');
    const i = list.findIndex((v, k) => v.name === name && fits(k));
    return i < 0 ? answer(INVALID_NAME) : i;
  };
  const at = <T>(list: readonly T[], i: number): T => list[i] ?? answer(INVALID_INDEX);

  const session = (n: number): number => (core.state.tool.sessions.includes(n) ? n : answer(INVALID_SESSION));
  const handle = (s: number, h: number): ToolHandle => {
    session(s);
    const found = core.state.tool.handles.get(h);
    return found?.session === s ? found : answer(INVALID_HANDLE);
  };
  const variable = (h: ToolHandle): toolVariables.PerformanceVariable => PERFORMANCE[h.index]!;
  const now = (h: ToolHandle): number => variable(h).read(layer, core.state.images);
  const value = (h: ToolHandle): number =>
    variable(h).counts ? h.counted + (h.running ? now(h) - h.since : 0) : now(h);
  const set = (h: ToolHandle, to: number): void => {
    h.counted = to;
    h.since = now(h);
  };
  /** One handle, or all of a session that the operation is for. */
  const each = (s: number, h: number, refused: string, f: (h: ToolHandle) => void): void => {
    if (h === ALL) {
      session(s);
      for (const x of core.state.tool.handles.values()) if (x.session === s && variable(x).counts) f(x);
      return;
    }
    const one = handle(s, h);
    if (!variable(one).counts) answer(code(refused));
    f(one);
  };

  const out: Implementations = {
    T_init_thread: (_required: number, provided: number) => {
      heap.setInt(provided, constant('MPI_THREAD_MULTIPLE'), 'provided');
      core.state.toolUsers++;
      return ERR.SUCCESS;
    },
    T_finalize: guarded(() => {
      if (--core.state.toolUsers === 0)
        core.state.tool = { sessions: [], handles: new Map(), control: new Map(), next: 2 };
    }),

    T_cvar_get_num: guarded((to) => heap.setInt(to!, CONTROL.length, 'num_cvar')),
    T_cvar_get_index: guarded((name, to) => heap.setInt(to!, named(CONTROL, name!), 'cvar_index')),
    T_cvar_get_info: guarded((i, name, nameLength, verbosity, datatype, enumeration, text, textLength, bind, scope) => {
      const v = at(CONTROL, i!);
      putText(name!, nameLength!, v.name);
      putText(text!, textLength!, v.text);
      put(verbosity!, constant('MPI_T_VERBOSITY_TUNER_BASIC'));
      put(datatype!, constant('MPI_UNSIGNED_LONG_LONG'));
      put(enumeration!, 0);
      put(bind!, constant('MPI_T_BIND_NO_OBJECT'));
      put(scope!, constant('MPI_T_SCOPE_CONSTANT'));
    }),
    T_cvar_handle_alloc: guarded((i, _object, to, count) => {
      at(CONTROL, i!);
      const n = core.state.tool.next++;
      heap.setInt(to!, n, 'handle');
      put(count!, 1);
      core.state.tool.control.set(n, i!);
    }),
    T_cvar_handle_free: guarded((from) => {
      if (!core.state.tool.control.delete(heap.int(from!, 'handle'))) answer(INVALID_HANDLE);
      heap.setInt(from!, 0, 'handle');
    }),
    T_cvar_read: guarded((h, to) =>
      heap.setWide(to!, CONTROL[core.state.tool.control.get(h!) ?? answer(INVALID_HANDLE)]!.read(layer), 'buf'),
    ),
    T_cvar_write: guarded(
      (h) => void answer(core.state.tool.control.has(h!) ? code('CVAR_SET_NEVER') : INVALID_HANDLE),
    ),

    T_pvar_get_num: guarded((to) => heap.setInt(to!, PERFORMANCE.length, 'num_pvar')),
    T_pvar_get_index: guarded((name, kind, to) => {
      if (kind! < CLASSES[0] || kind! > CLASSES[1]) answer(code('INVALID'));
      heap.setInt(
        to!,
        named(PERFORMANCE, name!, (i) => KINDS[PERFORMANCE[i]!.kind] === kind),
        'pvar_index',
      );
    }),
    T_pvar_get_info: guarded(
      (
        i,
        name,
        nameLength,
        verbosity,
        kind,
        datatype,
        enumeration,
        text,
        textLength,
        bind,
        readonly,
        continuous,
        atomic,
      ) => {
        const v = at(PERFORMANCE, i!);
        putText(name!, nameLength!, v.name);
        putText(text!, textLength!, v.text);
        put(verbosity!, constant('MPI_T_VERBOSITY_USER_BASIC'));
        put(kind!, KINDS[v.kind]);
        put(datatype!, constant('MPI_UNSIGNED_LONG_LONG'));
        put(enumeration!, 0);
        put(bind!, constant('MPI_T_BIND_NO_OBJECT'));
        put(readonly!, v.counts ? 0 : 1);
        put(continuous!, v.counts ? 0 : 1);
        put(atomic!, v.counts ? 1 : 0);
      },
    ),
    T_pvar_session_create: guarded((to) => {
      const n = core.state.tool.next++;
      heap.setInt(to!, n, 'session');
      core.state.tool.sessions.push(n);
    }),
    T_pvar_session_free: guarded((from) => {
      const n = session(heap.int(from!, 'session'));
      const { tool: t } = core.state;
      t.sessions = t.sessions.filter((s) => s !== n);
      for (const [key, h] of t.handles) if (h.session === n) t.handles.delete(key);
      heap.setInt(from!, 0, 'session');
    }),
    T_pvar_handle_alloc: guarded((s, i, _object, to, count) => {
      session(s!);
      at(PERFORMANCE, i!);
      const n = core.state.tool.next++;
      heap.setInt(to!, n, 'handle');
      put(count!, 1);
      core.state.tool.handles.set(n, { session: s!, index: i!, running: false, counted: 0, since: 0 });
    }),
    T_pvar_handle_free: guarded((s, from) => {
      const n = heap.int(from!, 'handle');
      handle(s!, n);
      core.state.tool.handles.delete(n);
      heap.setInt(from!, 0, 'handle');
    }),
    T_pvar_start: guarded((s, h) =>
      each(s!, h!, 'PVAR_NO_STARTSTOP', (x) => {
        if (x.running) return;
        x.since = now(x);
        x.running = true;
      }),
    ),
    T_pvar_stop: guarded((s, h) =>
      each(s!, h!, 'PVAR_NO_STARTSTOP', (x) => {
        x.counted = value(x);
        x.running = false;
      }),
    ),
    T_pvar_read: guarded((s, h, to) => heap.setWide(to!, value(handle(s!, h!)), 'buf')),
    T_pvar_write: guarded((s, h, from) => {
      const x = handle(s!, h!);
      if (!variable(x).counts) answer(code('PVAR_NO_WRITE'));
      set(x, Number(heap.view.getBigUint64(heap.check(from!, 8, 'buf'), true)));
    }),
    T_pvar_reset: guarded((s, h) => each(s!, h!, 'PVAR_NO_WRITE', (x) => set(x, 0))),
    T_pvar_readreset: guarded((s, h, to) => {
      const x = handle(s!, h!);
      if (!variable(x).counts) answer(code('PVAR_NO_WRITE'));
      heap.setWide(to!, value(x), 'buf');
      set(x, 0);
    }),

    T_category_get_num: guarded((to) => heap.setInt(to!, CATEGORIES.length, 'num_cat')),
    T_category_get_index: guarded((name, to) => heap.setInt(to!, named(CATEGORIES, name!), 'cat_index')),
    T_category_get_info: guarded((i, name, nameLength, text, textLength, control, performance, categories) => {
      const c = at(CATEGORIES, i!);
      putText(name!, nameLength!, c.name);
      putText(text!, textLength!, c.text);
      put(control!, c.control.length);
      put(performance!, c.performance.length);
      put(categories!, 0);
    }),
    T_category_get_num_events: guarded((i, to) => (at(CATEGORIES, i!), heap.setInt(to!, 0, 'num_events'))),
    T_category_get_cvars: guarded((i, n, to) => members(to!, n!, CONTROL, at(CATEGORIES, i!).control)),
    T_category_get_pvars: guarded((i, n, to) => members(to!, n!, PERFORMANCE, at(CATEGORIES, i!).performance)),
    T_category_get_categories: guarded((i) => void at(CATEGORIES, i!)),
    T_category_get_events: guarded((i) => void at(CATEGORIES, i!)),
    T_category_changed: guarded((to) => heap.setInt(to!, 0, 'update_number')),
    T_event_get_num: guarded((to) => heap.setInt(to!, 0, 'num_events')),
    T_source_get_num: guarded((to) => heap.setInt(to!, 0, 'num_sources')),
    T_event_get_index: guarded((name) => (heap.string(name!, 'name'), void answer(INVALID_NAME))),
  };
  function members(to: number, room: number, list: readonly { name: string }[], names: readonly string[]): void {
    heap.setInts(to, names.map((n) => list.findIndex((v) => v.name === n)).slice(0, Math.max(room, 0)), 'indices');
  }
  for (const f of [
    'event_get_info',
    'event_handle_alloc',
    'source_get_info',
    'source_get_timestamp',
    'enum_get_info',
    'enum_get_item',
  ])
    out[`T_${f}`] = guarded(() => void answer(INVALID_INDEX));
  for (const f of [
    'event_handle_free',
    'event_handle_get_info',
    'event_handle_set_info',
    'event_callback_get_info',
    'event_callback_set_info',
    'event_register_callback',
    'event_set_dropped_handler',
    'event_read',
    'event_copy',
    'event_get_source',
    'event_get_timestamp',
  ])
    out[`T_${f}`] = guarded(() => void answer(INVALID_HANDLE));
  return out;
}
