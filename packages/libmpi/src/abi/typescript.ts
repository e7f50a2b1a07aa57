/**
 * The text of docs/typescript-coverage.md: for every function of the standard its spelling in the module 'mayfly', or why there is none. The spellings are read from the comments of mayfly.d.ts, which
 * name functions in brackets. test/abi/typescript.test.ts keeps it current and whole.
 */
import { FUNCTIONS } from './functions.ts';

/** Why a function has no spelling, by the first pattern that fits its name without MPI_. `needed` false: what it is for is there in another way, or means nothing here. */
const REASONS: readonly { of: RegExp; needed: boolean; why: string }[] = [
  { of: /^(Attr_|Keyval_|Address$|Errhandler_(create|get|set)$|Type_(extent|hindexed|hvector|lb|struct|ub)$)/, needed: false, why: 'removed from the standard; its successor is there' },
  { of: /_c$/, needed: false, why: 'numbers hold all counts' },
  { of: /_(fromint|toint|c2f|f2c)$|^Abi_|^Status_(c2f08|f082|f2)|^Type_(match_size|get_value_index|create_f90.*)$/, needed: false, why: 'for other languages' },
  { of: /^I?[rb]send(_init)?$/i, needed: false, why: '`send`: every send is buffered, and may be ready' },
  { of: /(^Buffer_|_i?flush_buffer$|_attach_buffer$|_detach_buffer$)/, needed: false, why: 'the Channel Memory is the buffer' },
  { of: /^Type_commit$/, needed: false, why: 'a datatype is ready when it is made' },
  { of: /^(Get_address|Aint_.*)$/, needed: false, why: 'there are no addresses: offsets in arrays' },
  { of: /^Info_/, needed: false, why: 'an `Info` is a plain object' },
  { of: /^Status_get_/, needed: false, why: 'a field of `Status`' },
  { of: /^(Status_set_.*|Grequest_.*)$/, needed: false, why: 'for generalized requests: a rank has one thread, nothing could complete them meanwhile' },
  { of: /^(Alloc_mem|Free_mem)$/, needed: false, why: '`new Float64Array(n)`' },
  { of: /^(Init|Init_thread|Query_thread|Is_thread_main)$/, needed: false, why: 'done before the program begins; a rank has one thread' },
  { of: /^(Cart_map|Graph_map)$/, needed: false, why: 'ranks are never reordered: all places are alike' },
  { of: /^Topo_test$/, needed: false, why: '`Comm` has one interface for each topology' },
  { of: /^Request_get_status_/, needed: false, why: '`getStatus` of each' },
  { of: /^(Rput|Raccumulate)$/, needed: false, why: '`put`, `accumulate`: they are complete at their origin when they return' },
  { of: /^Win_allocate$/, needed: false, why: '`Win.create(new Float64Array(n))`' },
  { of: /^(Win_allocate_shared|Win_shared_query)$/, needed: false, why: 'no two ranks share memory' },
  { of: /^(Win_create_dynamic|Win_attach|Win_detach)$/, needed: false, why: 'arrays have no addresses that others could know: one window per array' },
  { of: /^File_(read|write)_.*_(begin|end)$/, needed: false, why: '`readAll`, `writeAll` and their kin' },
  { of: /^File_(get_view|get_type_extent)$/, needed: false, why: 'the program has set the view itself' },
  { of: /^(File|Session)_.*errhandler$/, needed: false, why: 'errors of files and sessions are thrown' },
  { of: /^Register_datarep$/, needed: false, why: '`Datatype.packExternal` converts; a program of JavaScript has no other representations' },
  { of: /^(Add|Remove)_error_/, needed: false, why: 'a program throws errors of classes of its own' },
  { of: /^(Pcontrol|Comm_join)$/, needed: false, why: 'means nothing here (it answers nothing in C)' },
  { of: /^(Get_library_version|Get_hw_resource_info)$/, needed: false, why: 'says nothing that the page of the job does not' },
  { of: /^T_(init_thread|finalize|enum_.*|event_.*|source_.*|category_(changed|get_categories|get_events|get_num_events|get_index)|.*_handle_free|pvar_session_free|pvar_stop|pvar_readreset|pvar_write|[cp]var_get_index|cvar_handle_alloc|cvar_write)$/, needed: false, why: 'variables go by name, limits are constants, there are no events' },
  { of: /^(Op_commutative|Group_rank|Group_size)$/, needed: false, why: '`Op.commutative`, `Group.rank`, `Group.size`' },
  { of: /^Reduce_local$/, needed: true, why: 'not yet; a loop' },
  { of: /^File_i(read|write)_(at_)?all$/, needed: true, why: 'not yet; `iread`, `ireadAt` and their kin, or the blocking forms' },
  { of: /^Comm_spawn_multiple$/, needed: true, why: 'several spawns of the one program' },
  { of: /^Intercomm_create_from_groups$/, needed: true, why: '`createFromGroup` of both groups, and `split`, or a port' },
  { of: /^(Type|Win)_(create_keyval|free_keyval|.*_attr)$/, needed: true, why: 'attributes are for communicators' },
  { of: /^(Win|File)_(get|set)_info$/, needed: true, why: 'no hint would change anything' },
  { of: /^Win_(create_errhandler|get_errhandler|call_errhandler)$/, needed: true, why: '`ErrorHandler.create`, and `Win.setErrhandler`' },
];

/** Spellings by function: members with their interface, as `Comm.send`. */
export function spellings(declarations: string): Map<string, string[]> {
  const out = new Map<string, string[]>();
  const known = new Set(FUNCTIONS.map((f) => f.name));
  let owner = '';
  let comment = '';
  let inside = false;
  for (const line of declarations.split('\n')) {
    const top = /^export (?:declare )?(?:interface|abstract class|const) (\w+)\b/.exec(line);
    if (top) owner = top[1]!;
    if (/^\s*\/\*\*/.test(line)) {
      comment = '';
      inside = true;
    }
    if (inside) {
      comment += ` ${line}`;
      if (line.includes('*/')) inside = false;
      continue;
    }
    const name = /^(\s*)(?:export )?(?:declare )?(?:interface |abstract class |type |const |function |readonly )*(\w+)/.exec(line);
    if (!name || comment === '') continue;
    const spelling = name[1] === '' ? name[2]! : `${owner}.${name[2]!}`;
    for (const bracket of comment.match(/\[[^\]]*MPI_[^\]]*\]/g) ?? [])
      for (const f of bracket.match(/MPI_\w+/g) ?? []) if (known.has(f)) out.set(f, [...new Set([...(out.get(f) ?? []), spelling])]);
    comment = '';
  }
  return out;
}

export interface Spelled {
  name: string;
  chapter: string;
  spelling: readonly string[];
  reason: { needed: boolean; why: string } | undefined;
}

export function spelled(declarations: string): Spelled[] {
  const found = spellings(declarations);
  return FUNCTIONS.filter((f) => f.largeOf === undefined).map((f) => ({ name: f.name, chapter: f.chapter, spelling: found.get(f.name) ?? [], reason: REASONS.find((r) => r.of.test(f.name.slice(4))) }));
}

export function typescriptCoverageText(declarations: string): string {
  const list = spelled(declarations);
  const there = list.filter((f) => f.spelling.length > 0);
  const otherwise = list.filter((f) => f.spelling.length === 0 && !f.reason!.needed);
  const out = [`# The functions of MPI in TypeScript

Generated from [\`mayfly.d.ts\`](../packages/mpi/types/mayfly.d.ts) (\`npx vitest run packages/libmpi/test/abi/typescript.test.ts -u\`): for each function of the standard its spelling in
[the module \`mayfly\`](typescript-reference.md), or why there is none.

Of ${list.length} functions ${there.length} have a spelling, ${otherwise.length} need none, ${list.length - there.length - otherwise.length} are missing. Large forms (\`_c\`) need none: numbers hold all counts.
`];
  let chapter = '';
  for (const f of list) {
    if (f.chapter !== chapter) out.push(`\n## ${(chapter = f.chapter)}\n\n| function | in TypeScript |\n| --- | --- |\n`);
    out.push(`| ${f.name} | ${f.spelling.length > 0 ? f.spelling.map((s) => `\`${s}\``).join(', ') : f.reason!.needed ? `no: ${f.reason!.why}` : `not needed: ${f.reason!.why}`} |\n`);
  }
  return out.join('');
}
