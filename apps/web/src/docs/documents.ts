/**
 * The documents of docs/, all of which have a page here, by whom they are for, in the order in which one would read
 * them. The build asks for the names, so nothing is imported.
 */
export interface DocumentEntry {
  /** docs/<name>.md, /docs/<name>. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
}

/** What the build makes of a document. */
export interface DocumentText {
  readonly title: string;
  readonly html: string;
  /** Headings of the second level. */
  readonly sections: readonly { readonly id: string; readonly text: string }[];
}

export const GROUPS: readonly { readonly title: string; readonly documents: readonly DocumentEntry[] }[] = [
  {
    title: 'Writing programs',
    documents: [
      {
        name: 'programs',
        title: 'Programs in TypeScript',
        about: 'how to write, run and stop one; checkpoints; files',
      },
      {
        name: 'typescript-reference',
        title: 'The module mayfly',
        about: 'every function and class that a TypeScript program has',
      },
      {
        name: 'typescript-coverage',
        title: 'MPI in TypeScript, by function',
        about: 'every function of the standard, and how the module mayfly spells it',
      },
      {
        name: 'c-programs',
        title: 'Programs in C and C++',
        about: 'compilers, Makefiles, files, what a rank has and has not',
      },
      {
        name: 'mpi-coverage',
        title: 'MPI functions',
        about: 'every function of the standard, and whether it is there',
      },
      {
        name: 'mpi-ckpt',
        title: 'Checkpoints that a program asks for',
        about: 'a program names its data, and the places where checkpoints fit together',
      },
      {
        name: 'ulfm',
        title: 'Programs that recover themselves',
        about: 'the calls of ULFM: go on with fewer ranks after a loss, or start others',
      },
      {
        name: 'ft-mpi',
        title: "FT-MPI's modes",
        about: 'what becomes of communicators and messages when ranks are lost',
      },
      { name: 'porting', title: 'Programs by others', about: 'public codes and test suites, and what each needed' },
    ],
  },
  {
    title: 'Running jobs',
    documents: [
      {
        name: 'protocols',
        title: 'Which protocol should I choose?',
        about: 'what is kept while a job runs, what happens when a rank is lost, and what it costs',
      },
      { name: 'pages', title: 'The pages', about: 'what each shows, for volunteers and for owners of jobs' },
      {
        name: 'python',
        title: 'Python client',
        about: 'submit jobs and read their results from scripts and notebooks',
      },
      { name: 'teams', title: 'Teams', about: 'ranks of one node exchange messages in its memory: when, and how' },
      { name: 'errors', title: 'Errors', about: 'what each code means, and what to do' },
      { name: 'trust', title: 'Trust', about: 'what a volunteer could falsify, and what you can do about it' },
    ],
  },
  {
    title: 'Volunteering',
    documents: [
      {
        name: 'sandbox',
        title: 'What a program can do to a volunteer',
        about: 'the sealed frame, and what it keeps from your files, accounts and network',
      },
      { name: 'widget', title: 'The widget', about: 'volunteering on another site, and the headers that it needs' },
    ],
  },
  {
    title: 'Running a server',
    documents: [
      { name: 'deploy', title: 'A server for others', about: 'HTTPS, classrooms, proxies, backups, damage' },
      { name: 'login', title: 'Signing in', about: 'through an OpenID Connect issuer, beside tokens' },
      { name: 'server', title: 'The server', about: 'options, limits, roles and tokens, the data directory, REST' },
      { name: 'privacy', title: 'What is kept of whom', about: 'names, addresses, jobs: how long, and how to erase' },
    ],
  },
  {
    title: 'How it works',
    documents: [
      { name: 'architecture', title: 'Architecture', about: 'the parts, and the path of a message' },
      { name: 'pessimistic', title: 'Message logging', about: 'why a lost rank reaches the same state again' },
      {
        name: 'coordinated',
        title: 'Coordinated checkpointing',
        about: 'how all ranks go back together, and when output is final',
      },
      { name: 'clusters', title: 'Clusters', about: 'groups of ranks that take checkpoints on their own (hc3i)' },
      {
        name: 'codes',
        title: 'Codes of checkpoints',
        about: 'checksums on other nodes from which lost checkpoints are made again',
      },
      {
        name: 'incarnations',
        title: 'Losses and recoveries',
        about: 'what each event does to a rank, and how long it takes',
      },
      { name: 'wire', title: 'The wire', about: 'what a node and the server send each other' },
      { name: 'glossary', title: 'Glossary', about: 'one word per concept' },
    ],
  },
  {
    title: 'How it is tested and measured',
    documents: [
      { name: 'benchmarks', title: 'Benchmarks', about: 'how fast it is, beside others, and how to measure it again' },
      { name: 'papers', title: 'Figures of papers', about: 'measurements of papers, repeated here' },
      { name: 'simulator', title: 'The simulator', about: 'millions of orders of faults, in virtual time' },
      { name: 'faults', title: 'Faults on real processes', about: 'every way to lose a tab, a node or the server' },
      { name: 'mutation', title: 'Mutation testing', about: 'whether the tests would notice a mistake' },
    ],
  },
];

export const DOCUMENTS: readonly DocumentEntry[] = GROUPS.flatMap((g) => g.documents);
