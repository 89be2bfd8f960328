/** The permissions of API keys. */

export const permissionResources = [
  'agents',
  'tools',
  'phone_numbers',
  'knowledge_bases',
  'calls',
  'recordings',
  'webhooks',
  'api_keys',
  'secrets',
] as const;

type PermissionResource = (typeof permissionResources)[number];

/**
 * `*` is everything, also what later versions add. `write` implies `read` of the same resource. `calls:create` makes web calls and sees
 * only those that the same key has made: `calls:write` implies it. Nothing but `*` implies `calls:control` (speak in a call that goes on, or steer
 * its agent), `calls:listen` (hear it) and `people:erase`.
 */
export type Permission =
  | '*'
  | 'calls:create'
  | 'calls:control'
  | 'calls:listen'
  | 'people:erase'
  | `${PermissionResource}:${'read' | 'write'}`;

/** The whole vocabulary, for schemas and help texts. */
export const permissions: readonly Permission[] = [
  '*',
  ...permissionResources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  'calls:create',
  'calls:control',
  'calls:listen',
  'people:erase',
];

const vocabulary: ReadonlySet<string> = new Set(permissions);

export function isPermission(value: unknown): value is Permission {
  return typeof value === 'string' && vocabulary.has(value);
}

/**
 * Tells whether a holder of `holder` may do everything in `wanted`. It is also the rule for granting: a key grants only what it holds.
 * Words outside the vocabulary (a key made by a newer version) give nothing.
 */
export function covers(holder: readonly string[], wanted: Permission | readonly Permission[]): boolean {
  if (holder.includes('*')) return true;
  const all = typeof wanted === 'string' ? [wanted] : wanted;
  return all.every((permission) => holder.includes(permission) || holder.includes(permission.replace(/:(read|create)$/, ':write')));
}
