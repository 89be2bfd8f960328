/** Answers name what nothing read in the request: in the header `Warning` and, where the answer is an object, in `warnings`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { isObject } from '../../platform/json.ts';
import { warningHeader } from '../validation/warning.ts';
import { requestState } from './request-state.ts';

/** What is added to a good answer. */
export const warningsAnswer = z.object({
  warnings: z
    .array(z.string())
    .optional()
    .describe('Only in the answer to a request with fields that nothing reads: which ones they are. The header `Warning` has the same.'),
});

export function registerWarnings(app: FastifyInstance): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const { warnings } = requestState(request);
    const takesThem = isObject(payload) && reply.statusCode < 400;
    return warnings.length > 0 && takesThem ? { ...payload, warnings } : payload;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { warnings } = requestState(request);
    if (warnings.length > 0) void reply.header('warning', warnings.map(warningHeader));
    return payload;
  });
}
