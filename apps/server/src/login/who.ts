/**
 * Who a person is here, by the claims of the issuer: the name that their jobs have, and the role. Pure.
 *
 *  L1  The name of the first token is nobody's, and an address that the issuer has not verified names nobody.
 *  L2  A person gets in as an administrator, by the domain of their verified address, by a group, or because all are
 *      allowed; else not at all.
 */
import { RESERVED_NAMES, type Role } from '@mayfly/wire';

export interface OidcRules {
  /** Claim that names the owner of jobs. Default 'email'. */
  nameClaim?: string;
  /** Claim with the groups of a person. Default 'groups'. */
  groupsClaim?: string;
  /** Names, and groups, of those who get the role owner. */
  admins?: string[];
  adminGroups?: string[];
  /** Who may sign in besides: domains of e-mail addresses, groups, or everybody whom the issuer knows. */
  allowDomains?: string[];
  allowGroups?: string[];
  allowAll?: boolean;
  /** Role of those who are no administrators. Default 'submitter'. */
  role?: Exclude<Role, 'owner'>;
}

export type Claims = Readonly<Record<string, unknown>>;
/** `problem`: a sentence for the log. */
export type Who = { name: string; role: Role } | { problem: string; name?: string };

/** One line without blanks at its ends, as the name of a token, but longer. */
const NAME = /^[^\s\p{C}](?:[^\p{C}]{0,198}[^\s\p{C}])?$/u;

export function whoIs(rules: OidcRules, claims: Claims): Who {
  const { nameClaim = 'email', groupsClaim = 'groups' } = rules;
  const name = claims[nameClaim];
  if (typeof name !== 'string' || !NAME.test(name)) return { problem: `the claim ${nameClaim} is not a name` };
  const verified = claims['email_verified'] === true;
  if (nameClaim === 'email' && !verified) return { problem: 'the issuer has not verified the e-mail address', name };
  if (RESERVED_NAMES.includes(name)) return { problem: `the name “${name}” is reserved`, name };
  const value = claims[groupsClaim];
  const groups = [value].flat().filter((g) => typeof g === 'string');
  const among = (list: readonly string[] = []): boolean => groups.some((g) => list.includes(g));
  if (rules.admins?.includes(name) || among(rules.adminGroups)) return { name, role: 'owner' };
  const { email } = claims;
  const domain = verified && typeof email === 'string' ? email.slice(email.lastIndexOf('@') + 1).toLowerCase() : '';
  const allowed =
    rules.allowAll === true ||
    (domain !== '' && (rules.allowDomains ?? []).some((d) => d.toLowerCase() === domain)) ||
    among(rules.allowGroups);
  return allowed ? { name, role: rules.role ?? 'submitter' } : { problem: 'not among those who may sign in', name };
}

/** The claims that decide; what the ID token lacks of them is asked of the issuer. */
export const neededClaims = (rules: OidcRules): string[] => [
  rules.nameClaim ?? 'email',
  ...((rules.nameClaim ?? 'email') === 'email' || rules.allowDomains?.length ? ['email', 'email_verified'] : []),
  ...(rules.adminGroups?.length || rules.allowGroups?.length ? [rules.groupsClaim ?? 'groups'] : []),
];
