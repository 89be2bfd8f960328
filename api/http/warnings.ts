/** Names the unread parts of a request in the answer: in the header `Warning` and, where the answer is an object, in `warnings`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { isObject, sameJson } from '../../platform/json.ts';
import { volatile, type AnsweredField } from '../validation/unknown-fields.ts';
import { readOnlyWarning, warningHeader } from '../validation/warning.ts';
import { requestState } from './request-state.ts';

/** Fields that are added to a good answer. */
export const warningsAnswer = z.object({
  warnings: volatile(
    z
      .array(z.string())
      .optional()
      .describe(
        'Only in the answer to a request with something that may not be meant so: a field that nothing reads, or one that has no effect or may lack a value. The header `Warning` has the same.',
      ),
  ),
});

/** Returns whether a sent field that only answers have differs from the stored value, and so was meant to change it. */
function differs({ path, value, isVolatile }: AnsweredField, answer: unknown): boolean {
  if (isVolatile) return false;
  const stored = path.reduce<unknown>((at, step) => (at as Readonly<Record<string | number, unknown>> | null | undefined)?.[step], answer);
  return !sameJson(value ?? null, stored ?? null);
}

export function registerWarnings(app: FastifyInstance): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const { warnings, answered } = requestState(request);
    const takesThem = isObject(payload) && reply.statusCode < 400;
    if (takesThem) warnings.push(...answered.filter((field) => differs(field, payload)).map(({ path }) => readOnlyWarning(path)));
    return warnings.length > 0 && takesThem ? { ...payload, warnings } : payload;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { warnings } = requestState(request);
    if (warnings.length > 0) void reply.header('warning', warnings.map(warningHeader));
    return payload;
  });
}
