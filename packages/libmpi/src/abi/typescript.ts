/**
 * The text of docs/typescript-coverage.md: for every function of the standard its spelling in the module 'mayfly', or
 * why there is none. The spellings are read from the comments of mayfly.d.ts, which name functions in brackets.
 * test/abi/typescript.test.ts keeps it current and whole.
 */
import { FUNCTIONS } from './functions.ts';

/**
 * Why a function needs no spelling, by the first pattern that fits its name without MPI_: what it is for is there in
 * another way, or means nothing here.
 */
const REASONS: readonly { of: RegExp; why: string }[] = [
  {
    of: /^(Attr_|Keyval_|Address$|Errhandler_(create|get|set)$|Type_(extent|hindexed|hvector|lb|struct|ub)$)/,
    why: 'removed from the standard; its successor is there',
  },
  { of: /_c$/, why: 'numbers hold all counts' },
  {
    of: /_(fromint|toint|c2f|f2c)$|^Abi_|^Status_(c2f08|f082|f2)|^Type_(match_size|get_value_index|create_f90.*)$/,
    why: 'for other languages',
  },
  { of: /^I?[rb]send(_init)?$/i, why: '`send`: every send is buffered, and may be ready' },
  { of: /(^Buffer_|_i?flush_buffer$|_attach_buffer$|_detach_buffer$)/, why: 'the Channel Memory is the buffer' },
  { of: /^Type_commit$/, why: 'a datatype is ready when it is made' },
  { of: /^(Get_address|Aint_.*)$/, why: 'there are no addresses: offsets in arrays' },
  { of: /^Info_/, why: 'an `Info` is a plain object' },
  { of: /^Status_get_/, why: 'a field of `Status`' },
  {
    of: /^(Status_set_.*|Grequest_.*)$/,
    why: 'for generalized requests: a rank has one thread, nothing could complete them meanwhile',
  },
  { of: /^(Alloc_mem|Free_mem)$/, why: '`new Float64Array(n)`' },
  {
    of: /^(Init|Init_thread|Query_thread|Is_thread_main)$/,
    why: 'done before the program begins; a rank has one thread',
  },
  { of: /^(Cart_map|Graph_map)$/, why: 'ranks are never reordered: all places are alike' },
  { of: /^Topo_test$/, why: '`Comm` has one interface for each topology' },
  { of: /^Request_get_status_/, why: '`getStatus` of each' },
  { of: /^(Rput|Raccumulate)$/, why: '`put`, `accumulate`: they are complete at their origin when they return' },
  { of: /^Win_allocate$/, why: '`Win.create(new Float64Array(n))`' },
  { of: /^(Win_allocate_shared|Win_shared_query)$/, why: 'no two ranks share memory' },
  {
    of: /^(Win_create_dynamic|Win_attach|Win_detach)$/,
    why: 'arrays have no addresses that others could know: one window per array',
  },
  { of: /^File_(read|write)_.*_(begin|end)$/, why: '`readAll`, `writeAll` and their kin' },
  { of: /^File_(get_view|get_type_extent)$/, why: 'the program has set the view itself' },
  { of: /^(File|Session)_.*errhandler$/, why: 'errors of files and sessions are thrown' },
  {
    of: /^Register_datarep$/,
    why: '`Datatype.packExternal` converts; a program of JavaScript has no other representations',
  },
  { of: /^(Add|Remove)_error_/, why: 'a program throws errors of classes of its own' },
  { of: /^(Pcontrol|Comm_join)$/, why: 'means nothing here (it answers nothing in C)' },
  { of: /^(Get_library_version|Get_hw_resource_info)$/, why: 'says nothing that a program could use' },
  {
    of: /^T_(init_thread|finalize|enum_.*|event_.*|source_.*|category_(changed|get_categories|get_events|get_num_events|get_index)|.*_handle_free|pvar_session_free|pvar_stop|pvar_readreset|pvar_write|[cp]var_get_index|cvar_handle_alloc|cvar_write)$/,
    why: 'variables go by name, limits are constants, there are no events',
  },
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
    const name =
      /^(\s*)(?:export )?(?:declare )?(?:interface |abstract class |type |const |function |readonly )*(\w+)/.exec(line);
    if (!name || comment === '') continue;
    const spelling = name[1] === '' ? name[2]! : `${owner}.${name[2]!}`;
    for (const bracket of comment.match(/\[[^\]]*MPI_[^\]]*\]/g) ?? [])
      for (const f of bracket.match(/MPI_\w+/g) ?? [])
        if (known.has(f)) out.set(f, [...new Set([...(out.get(f) ?? []), spelling])]);
    comment = '';
  }
  return out;
}

export interface Spelled {
  name: string;
  chapter: string;
  spelling: readonly string[];
  reason: { why: string } | undefined;
}

export function spelled(declarations: string): Spelled[] {
  const found = spellings(declarations);
  return FUNCTIONS.filter((f) => f.largeOf === undefined).map((f) => ({
    name: f.name,
    chapter: f.chapter,
    spelling: found.get(f.name) ?? [],
    reason: REASONS.find((r) => r.of.test(f.name.slice(4))),
  }));
}

export function typescriptCoverageText(declarations: string): string {
  const list = spelled(declarations);
  const there = list.filter((f) => f.spelling.length > 0);
  const out = [
    `# The functions of MPI in TypeScript

Generated from [\`mayfly.d.ts\`](../packages/mpi/types/mayfly.d.ts) (\`npx vitest run packages/libmpi/test/abi/typescript.test.ts -u\`): for each function of the standard its spelling in
[the module \`mayfly\`](typescript-reference.md), or why there is none.

Of ${list.length} functions ${there.length} have a spelling, ${list.length - there.length} need none. Large forms (\`_c\`) need none: numbers hold all counts.
`,
  ];
  let chapter = '';
  for (const f of list) {
    if (f.chapter !== chapter)
      out.push(`\n## ${(chapter = f.chapter)}\n\n| function | in TypeScript |\n| --- | --- |\n`);
    out.push(
      `| ${f.name} | ` +
        `${f.spelling.length > 0 ? f.spelling.map((s) => `\`${s}\``).join(', ') : `not needed: ${f.reason!.why}`} ` +
        `|\n`,
    );
  }
  return out.join('');
}
