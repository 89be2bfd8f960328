import { UserError } from '../../platform/user-error.ts';

/** Returns the organisation of `orgOption`, or else the shell's. @throws UserError when neither names one */
export function organizationNamed(given: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const org = given ?? env['PARLEY_ORG'];
  if (org !== undefined && org !== '') return org;
  throw new UserError('no organisation is named', { cure: 'give -n <name>, or set PARLEY_ORG' });
}
