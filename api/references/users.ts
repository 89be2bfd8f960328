/** Finds the objects that use an object which is to be deleted, and has them give the reference up. */
import { covers, type Permission } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Specified } from '../partial/partial-update.ts';
import type { ResourceWriter, WriteMode } from '../resources/resource-writer.ts';
import type { Stored } from '../../kube/types.ts';

/** One object that names another one. */
export interface User {
  /** Noun in `phone number pn-…`. */
  readonly noun: string;
  readonly name: string;
  /** Permission that a key needs to change it; absent where it needs none beyond the deletion itself. */
  readonly permission?: Permission;
  /** Takes the reference out, from other field managers too. */
  readonly release: (mode: Pick<WriteMode, 'dryRun' | 'force'>) => Promise<unknown>;
}

/** Finds the objects of one kind that name the object `name`. */
export type FindUsers = (org: string, name: string) => Promise<readonly User[]>;

export interface UsersAmong<T extends Specified> extends Required<Pick<User, 'noun' | 'permission'>> {
  readonly find: (org: string, name: string) => Promise<readonly Stored<T>[]>;
  readonly without: (spec: T['spec'], name: string) => unknown;
}

/** Finds users that give a reference up by a change of their spec. */
export function usersAmong<T extends Specified>(writer: ResourceWriter<T>, { noun, permission, find, without }: UsersAmong<T>): FindUsers {
  return async (org, name) =>
    (await find(org, name)).map(({ metadata }) => ({
      noun,
      permission,
      name: metadata.name,
      release: (mode) => writer.update(org, metadata.name, async ({ spec }) => ({ spec: without(spec, name) }), mode),
    }));
}

const NAMES_SHOWN = 10;

/**
 * Makes sure, before a deletion, that nothing uses the object, or that every user gives its reference up.
 *
 * @param what the subject in `the AI agent is in use`
 * @throws ApiError `conflict` naming the users unless forced, `forbidden` where the key may not change one of them
 */
export async function releaseFrom(
  finders: readonly FindUsers[],
  { what, name }: { readonly what: string; readonly name: string },
  { org, permissions }: Pick<Caller, 'org' | 'permissions'>,
  { dryRun, force }: Pick<WriteMode, 'dryRun' | 'force'>,
): Promise<void> {
  const users = (await Promise.all(finders.map((find) => find(org, name)))).flat();
  if (users.length === 0) return;
  if (!force)
    throw new ApiError(
      'conflict',
      `${what} is in use by ${listed(users)}: take it out there, or delete it with ?force=true, which takes it out of them`,
    );
  const beyond = users.find(({ permission }) => permission !== undefined && !covers(permissions, permission));
  if (beyond !== undefined)
    throw new ApiError(
      'forbidden',
      `${beyond.noun} ${beyond.name} would have to change, and this API key lacks the permission ${beyond.permission}`,
    );
  for (const user of users) await user.release({ dryRun, force });
}

function listed(users: readonly User[]): string {
  const shown = users.slice(0, NAMES_SHOWN).map(({ noun, name }) => `${noun} ${name}`);
  return users.length > shown.length ? `${shown.join(', ')} and ${users.length - shown.length} more` : shown.join(', ');
}
