/** Programs of jobs: what is submitted, and what nodes run. */
import { Type, type Static } from 'typebox';
import { FILE_PATH, FILE_PATH_CHARS } from './file-path.ts';

/** {@link isFilePath}, as a schema. */
export const FilePath = Type.String({ pattern: FILE_PATH, maxLength: FILE_PATH_CHARS });

/** Source files by path. */
const Sources = Type.Record(FilePath, Type.String({ maxLength: 4_000_000 }));

/** What runs, by kind. The server makes of it the one blob that nodes fetch: a script, or a checkpointable module. */
export const ProgramSubmission = Type.Union([
  Type.Object(
    { language: Type.Literal('typescript'), entry: FilePath, sources: Sources },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      language: Type.Union([Type.Literal('c'), Type.Literal('c++')]),
      sources: Sources,
      /**
       * Files to compile, each for itself, in the order of the link; default: all with a suffix of C or C++. The others
       * are there to be included.
       */
      units: Type.Optional(Type.Array(FilePath, { minItems: 1, maxItems: 2000 })),
      /**
       * From an allow-list (docs/programs.md): -O…, -D…, -I of a folder of the submission, -std=…, -l…, -W…, -g,
       * -msimd128 …
       */
      flags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 200 })),
      /** Gives the program its name; default: the first file that is compiled. */
      entry: Type.Optional(FilePath),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { language: Type.Literal('wasm'), /** base64 */ module: Type.String(), entry: Type.Optional(FilePath) },
    { additionalProperties: false },
  ),
  /** zip, tar or tar.gz with a manifest `mayfly.json` ({@link ArchiveManifest}), base64. */
  Type.Object(
    { language: Type.Literal('archive'), archive: Type.String(), entry: Type.Optional(FilePath) },
    { additionalProperties: false },
  ),
]);
export type ProgramSubmission = Static<typeof ProgramSubmission>;

/**
 * What a rank executes: a script, or a module of WebAssembly that was built from the language (or submitted as such).
 */
export const ProgramLanguage = Type.Union([
  Type.Literal('typescript'),
  Type.Literal('c'),
  Type.Literal('c++'),
  Type.Literal('wasm'),
]);
export type ProgramLanguage = Static<typeof ProgramLanguage>;

/**
 * What a node has to run for a program: a module of WebAssembly, which reaches only its imports, or a script, which is
 * only as well confined as the engine's globals are. A node announces the kinds that it runs (Hello.runs).
 */
export const PROGRAM_KINDS = ['wasm', 'typescript'] as const;
export const ProgramKind = Type.Union([Type.Literal('wasm'), Type.Literal('typescript')]);
export type ProgramKind = Static<typeof ProgramKind>;

export const kindOf = (language: ProgramLanguage): ProgramKind => (language === 'typescript' ? 'typescript' : 'wasm');

/** `mayfly.json` of a folder or an archive. Paths are relative to where it lies. */
export const ArchiveManifest = Type.Object(
  {
    language: ProgramLanguage,
    /** TypeScript: the file that runs first (default main.ts). wasm: the module. C, C++: gives the name. */
    entry: Type.Optional(FilePath),
    /** C, C++: the files to compile, in this order; default: every one with a suffix of C or C++. */
    sources: Type.Optional(Type.Array(FilePath, { minItems: 1, maxItems: 2000 })),
    /** C, C++: folders with headers. */
    include: Type.Optional(
      Type.Array(Type.String({ pattern: '^(?:\\.|(?!.*(?:^|/)\\.)[A-Za-z0-9_][A-Za-z0-9_.@+/-]*)$', maxLength: 200 }), {
        maxItems: 100,
      }),
    ),
    flags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 200 })),
  },
  { additionalProperties: false },
);
export type ArchiveManifest = Static<typeof ArchiveManifest>;
