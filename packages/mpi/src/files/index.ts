/** MPI-IO (MPI 4.1 chapter 14). state.ts says what a file is, steps.ts what travels. */
export { access, checkAccess, type How } from './access.ts';
export {
  Amode,
  DISPLACEMENT_CURRENT,
  FILE_NULL,
  Seek,
  busy,
  close,
  fileOf,
  jobFileName,
  open,
  positionShared,
  remove,
  resize,
  seek,
  seekShared,
  setAtomicity,
  setView,
  size,
  sync,
  type View,
} from './manage.ts';
export { answerTo, ask, ignore, type Answer, type Question } from './by-name.ts';
export type { FileRecord } from './state.ts';
export { byteOffset } from './view.ts';
