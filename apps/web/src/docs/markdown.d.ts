declare module '*.md' {
  export const title: string;
  export const html: string;
  export const sections: readonly { readonly id: string; readonly text: string }[];
}
