/** What calls that may be wrong say: their errors' texts in order, or 'no error'. */
export function attempts(): { said: string[]; attempt: (f: () => unknown) => void } {
  const said: string[] = [];
  const attempt = (f: () => unknown): void => {
    try {
      f();
      said.push('no error');
    } catch (e) {
      said.push((e as Error).message);
    }
  };
  return { said, attempt };
}
