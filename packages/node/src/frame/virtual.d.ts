/** Sources of the workers, bundled by build.mjs. */
declare module 'mayfly:comm-worker' {
  const source: string;
  export default source;
}
declare module 'mayfly:rank-worker' {
  const source: string;
  export default source;
}
