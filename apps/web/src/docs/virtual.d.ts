/** What the build makes of docs/ (markdown.ts). */
declare module 'virtual:documents' {
  export const documents: Record<string, () => Promise<import('./documents.ts').DocumentText>>;
}
declare module 'virtual:documents-index' {
  export const index: readonly import('./search.ts').Section[];
}
