/** Why signing in came to nothing, for people, by the word that the server leaves in the address. */
const PROBLEMS: Readonly<Record<string, string>> = {
  unavailable: 'The sign-in server does not answer. Try again in a moment, or use a token.',
  expired: 'Signing in took too long, or was finished in another browser. Try again.',
  refused: 'The sign-in server did not let you pass. Try again, and agree there.',
  failed: 'Signing in failed. The log of this server has the reason.',
  'not-allowed': 'You signed in, but may not use this server. Ask its owner to allow you.',
  none: 'This server has no sign-in. Use a token.',
};

/** A word that this page does not know has a sentence, too: anybody can write one into a link. */
export const loginProblem = (code: string): string =>
  Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code]! : 'Signing in did not work. Try again.';
