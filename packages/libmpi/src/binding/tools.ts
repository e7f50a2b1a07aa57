/**
 * The tool information interface (MPI 4.1 chapter 15.3) of an implementation without variables, which the standard allows: all numbers are 0, no name is known. Answers are
 * codes; no error handler is called.
 */
import { ERR } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';

const code = (name: string): number => constant(`MPI_T_ERR_${name}`);
const NOT_INITIALIZED = code('NOT_INITIALIZED');

export function tools(core: Core): Implementations {
  const { heap } = core;
  const guarded = (f: () => number): number => (core.state.toolUsers > 0 ? f() : NOT_INITIALIZED);
  const none = (at: number): number => guarded(() => (heap.setInt(at, 0, 'num'), ERR.SUCCESS));
  const answer = (name: string) => (): number => guarded(() => code(name));
  const out: Implementations = {
    T_init_thread: (_required: number, provided: number) => {
      heap.setInt(provided, constant('MPI_THREAD_SERIALIZED'), 'provided');
      core.state.toolUsers++;
      return ERR.SUCCESS;
    },
    T_finalize: () => guarded(() => (core.state.toolUsers--, ERR.SUCCESS)),
    T_cvar_get_num: none,
    T_pvar_get_num: none,
    T_category_get_num: none,
    T_event_get_num: none,
    T_source_get_num: none,
    T_category_changed: none,
    // "The session … is a handle": there is nothing to start in it, but it can be made and freed.
    T_pvar_session_create: (at: number) => guarded(() => (heap.setInt(at, 1, 'session'), ERR.SUCCESS)),
    T_pvar_session_free: (at: number) => guarded(() => (heap.setInt(at, 0, 'session'), ERR.SUCCESS)),
  };
  for (const kind of ['cvar', 'pvar', 'category', 'event']) out[`T_${kind}_get_index`] = answer('INVALID_NAME');
  for (const f of ['cvar_get_info', 'cvar_handle_alloc', 'pvar_get_info', 'pvar_handle_alloc', 'category_get_info', 'category_get_cvars', 'category_get_pvars', 'category_get_events', 'category_get_categories', 'category_get_num_events', 'event_get_info', 'event_handle_alloc', 'source_get_info', 'source_get_timestamp', 'enum_get_info', 'enum_get_item'])
    out[`T_${f}`] = answer('INVALID_INDEX');
  for (const f of ['cvar_handle_free', 'cvar_read', 'cvar_write', 'pvar_handle_free', 'pvar_read', 'pvar_readreset', 'pvar_reset', 'pvar_start', 'pvar_stop', 'pvar_write', 'event_handle_free', 'event_handle_get_info', 'event_handle_set_info', 'event_callback_get_info', 'event_callback_set_info', 'event_register_callback', 'event_set_dropped_handler', 'event_read', 'event_copy', 'event_get_source', 'event_get_timestamp'])
    out[`T_${f}`] = answer('INVALID_HANDLE');
  return out;
}
