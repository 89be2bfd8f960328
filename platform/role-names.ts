/** The roles of an installation, in the order in which lists show them. */
export const ROLE_NAMES = ['operator', 'api', 'worker', 'dispatcher', 'voice'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];
