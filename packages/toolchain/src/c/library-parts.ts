/**
 * Parts of the C++ library that every program with <iostream> links and hardly one uses: formats of money and time,
 * wide streams. Any of their virtual calls might reach an MPI call of the program (a stream buffer of its own that
 * sends), so Asyncify would take them in, and they are most of what it takes in. A part stays out when no object of the
 * program names it: then nothing of the program can be below it on the stack.
 *
 * Invariant: whatever function of the program's own a pattern could match has one of the part's marks in its symbol.
 */
interface Part {
  /** Of function names as the linker writes them, `*` for anything; brackets must be paired. */
  readonly functions: readonly string[];
  /** Of mangled symbols. None: nothing of the program is ever called. */
  readonly marks: readonly string[];
}

const PARTS: readonly Part[] = [
  // The demangler's nodes and the type information call themselves only.
  { functions: ['*itanium_demangle*', '__cxxabiv1::*', '__dynamic_cast'], marks: [] },
  {
    functions: [
      '*char_traits<wchar_t>*',
      '*ctype<wchar_t>*',
      '*punct*wchar_t*',
      '*_byname*wchar_t*',
      '*__time_get_*<wchar_t>*',
      '*__num_*<wchar_t>*',
      '*__money_*<wchar_t>*',
    ].map((p) => `std::__2::${p}`),
    marks: [
      'char_traitsIw',
      'ctypeIw',
      'punct',
      '_byname',
      '__time_get_',
      '__num_',
      '__money_',
      '4wcinE',
      '5wcoutE',
      '5wcerrE',
      '5wclogE',
    ],
  },
  { functions: ['std::__2::*money_get*', 'std::__2::*money_put*', 'std::__2::*moneypunct*'], marks: ['money'] },
  { functions: ['std::__2::*time_get*', 'std::__2::*time_put*'], marks: ['time_get', 'time_put'] },
  {
    functions: ['std::__2::*num_get*'],
    marks: [
      'num_get',
      'basic_istream',
      'basic_iostream',
      'basic_ifstream',
      'basic_fstream',
      'stringstream',
      'streambuf',
      'basic_filebuf',
      '3cinE',
    ],
  },
];

/** @param objects the program's own objects and archives, the library's not among them */
export function untouchedParts(objects: readonly Uint8Array[]): string[] {
  const texts = objects.map((o) => Buffer.from(o.buffer, o.byteOffset, o.byteLength));
  return PARTS.filter(({ marks }) => !marks.some((mark) => texts.some((t) => t.includes(mark)))).flatMap(
    (p) => p.functions,
  );
}
