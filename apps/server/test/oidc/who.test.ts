/** Names and roles by claims (L1, L2). */
import { expect, it } from 'vitest';
import { neededClaims, whoIs, type OidcRules } from '../../src/login/who.ts';

const problem = (rules: OidcRules, claims: object): string | undefined => {
  const who = whoIs(rules, claims as Record<string, unknown>);
  return 'problem' in who ? who.problem : undefined;
};

it('L1: only a claim that is a name, and of an address only one that the issuer has verified', () => {
  const all = { allowAll: true };
  expect(whoIs(all, { email: 'ada@x.org', email_verified: true })).toEqual({ name: 'ada@x.org', role: 'submitter' });
  for (const email_verified of [undefined, false, 'true', 1])
    expect(problem(all, { email: 'ada@x.org', email_verified })).toMatch(/not verified/);
  for (const name of [undefined, '', 7, ' x', 'a\nb', ['a'], 'x'.repeat(201)])
    expect(problem({ ...all, nameClaim: 'sub' }, { sub: name }), JSON.stringify(name)).toMatch(/is not a name/);
  expect(problem({ ...all, nameClaim: 'nick' }, { nick: 'owner' })).toMatch(/is reserved/);
});

it('L2: administrators by name or group, others by domain or group; what is not verified has no domain', () => {
  const rules: OidcRules = {
    nameClaim: 'sub',
    groupsClaim: 'roles',
    admins: ['root'],
    adminGroups: ['ops'],
    allowDomains: ['X.org'],
    allowGroups: ['users'],
    role: 'viewer',
  };
  const role = (claims: object): string => {
    const who = whoIs(rules, { sub: 'u', ...claims });
    return 'problem' in who ? 'none' : who.role;
  };
  expect(role({ sub: 'root' })).toBe('owner');
  expect(role({ roles: ['ops'] })).toBe('owner');
  expect(role({ roles: 'users' })).toBe('viewer');
  expect(role({ email: 'u@x.ORG', email_verified: true })).toBe('viewer');
  expect(role({ email: 'u@x.org' })).toBe('none');
  expect(role({ email: 'u@x.org@evil.net', email_verified: true })).toBe('none');
  expect(role({ groups: ['users'], roles: [7] })).toBe('none');
  expect(neededClaims(rules)).toEqual(['sub', 'email', 'email_verified', 'roles']);
});
