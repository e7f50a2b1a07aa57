/**
 * Whether the server has other pages than the ones that run here. The name of a page's script has a hash of it, so the
 * document tells.
 */

const SCRIPT = /<script\b[^>]*\btype="module"[^>]*\bsrc="([^"]+)"/;

/** `html`: the document as the server has it now; `own`: the script that runs here. */
export function hasOtherScript(html: string, own: string | undefined): boolean {
  const theirs = SCRIPT.exec(html)?.[1];
  return theirs !== undefined && own !== undefined && theirs !== own;
}

export async function isUpgraded(): Promise<boolean> {
  const own = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? undefined;
  const answer = await fetch('/', { cache: 'no-store' });
  return answer.ok && hasOtherScript(await answer.text(), own);
}
