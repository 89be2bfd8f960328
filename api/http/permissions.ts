import { covers, type Permission } from '../../store/index.ts';

/** The permission that a route requires of a key; `public` needs no key, `any` any key. HEAD needs the permission of GET. */
export type Requirement = Exclude<Permission, '*'> | 'any' | 'public';

export function meets(held: readonly string[], requirement: Exclude<Requirement, 'public'>): boolean {
  return requirement === 'any' || covers(held, requirement);
}
