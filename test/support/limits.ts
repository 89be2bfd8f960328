import type { Limits } from '../../api/dependencies.ts';
import { limitsOf } from '../../api/limits/limits-of.ts';
import { loadConfig } from '../../platform/config/config.ts';

/** Limits as shipped. */
export const defaultLimits: Limits = limitsOf(loadConfig({}));

/** Milliseconds that one request may take: a busy machine that takes long over it is no failure. */
export const patientRequestMs = 600_000;

/** Suites ask more of one key than a client may with these: everything is as shipped but the number of requests and the time for each. */
export const unlimited: Limits = { ...defaultLimits, classes: [], requestTimeoutMs: patientRequestMs };
