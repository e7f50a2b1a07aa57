/** Why a server cannot listen where it should, in a sentence for the terminal. */
export function listenError(error: unknown, { port, host }: { port: number; host: string }): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use on ${host}; choose another one, or 0 for any`);
  if (code === 'EADDRNOTAVAIL') return new Error(`this machine has no address ${host}`);
  if (code === 'EACCES') return new Error(`this user may not listen on port ${port}; choose a port above 1023`);
  return error as Error;
}
