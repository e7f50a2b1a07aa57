/**
 * What a file of a program is, by its name. Beside the rules of project.ts, so that a command that only asks this loads
 * no schema.
 */
export const MANIFEST = 'mayfly.json';

const UNIT = /\.(c|cc|cpp|cxx|C|c\+\+)$/;
/** What may be included; other files of a folder (results, objects, pictures) are no part of the program. */
const INCLUDED = /\.(h|hh|hpp|hxx|h\+\+|H|inc|inl|ipp|tpp|tcc|def|x|c|cc|cpp|cxx|C|c\+\+)$/;

/** A file that is compiled for itself. */
export const isUnit = (path: string): boolean => UNIT.test(path);

/** A file that a program of C or C++ may consist of. */
export const isNativeSource = (path: string): boolean => INCLUDED.test(path);
