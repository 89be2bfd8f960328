import type { Permission } from '../../store/index.ts';

/** What a route asks of a key, as its description says it; `public` needs no key. HEAD asks what GET asks. */
export type Requirement = Exclude<Permission, '*'> | 'public';
