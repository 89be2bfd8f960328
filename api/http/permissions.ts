import { covers, type Permission } from '../../store/index.ts';

/** What a route asks of a key, as its description says it; `public` needs no key, `any` a key with whatever permissions. HEAD asks what GET asks. */
export type Requirement = Exclude<Permission, '*'> | 'any' | 'public';

/** Whether who holds `held` meets a requirement. */
export function meets(held: readonly string[], requirement: Exclude<Requirement, 'public'>): boolean {
  return requirement === 'any' || covers(held, requirement);
}
