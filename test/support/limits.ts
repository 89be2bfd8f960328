import type { Limits } from '../../api/dependencies.ts';
import { limitsOf } from '../../api/limits/limit-class.ts';
import { loadConfig } from '../../platform/config/config.ts';

/** As shipped. */
export const defaultLimits: Limits = limitsOf(loadConfig({}));

/** Of one request, in milliseconds: that a busy machine takes long over it is no failure. */
export const patientRequestMs = 600_000;

/** For suites that ask more of one key than a client may: everything as shipped but the number of requests and the time for each. */
export const unlimited: Limits = { ...defaultLimits, classes: [], requestTimeoutMs: patientRequestMs };
