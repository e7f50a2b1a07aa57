/** What an address that is no good for other devices needs; nothing for one that is. */
import { reachOf } from './address.ts';

export function Unreachable({ base }: { base: string }) {
  const reach = reachOf(base);
  if (reach === 'everywhere') return null;
  return (
    <p className="small wrong" data-testid="unreachable">
      {reach === 'here'
        ? 'This address works on this machine only. '
        : 'Tabs on other devices open this address but cannot compute: browsers want HTTPS for that. '}
      Start the server with <code>--host 0.0.0.0 --tls-self-signed</code>, or behind HTTPS with{' '}
      <code>--public-url</code>.
    </p>
  );
}
