import type { Limits } from '../../api/dependencies.ts';
import { limitsOf } from '../../api/limits/limit-class.ts';
import { loadConfig } from '../../platform/config/config.ts';

/** As shipped. */
export const defaultLimits: Limits = limitsOf(loadConfig({}));

/** For suites that ask more of one key than a client may: everything as shipped but the number of requests. */
export const unlimited: Limits = { ...defaultLimits, classes: [] };
