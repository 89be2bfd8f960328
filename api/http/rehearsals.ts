/** Answers the dry run of a creation: the object is not there, and would have another id. */
import type { FastifyInstance } from 'fastify';

import { isObject, type JsonObject } from '../../platform/json.ts';
import { requestState } from './request-state.ts';

const NOT_MADE = {
  ready: false,
  reason: 'DryRun',
  message: 'nothing was made: this is what the request would make, under an id of its own',
};

/**
 * @param ids fields that identify the object: emptied, unless the client has chosen the value
 * @param sent the body of the request
 */
export function rehearsed(answer: JsonObject, ids: readonly string[], sent: Uint8Array): JsonObject {
  const isChosen = (id: unknown): boolean => Buffer.from(sent).includes(JSON.stringify(id));
  return {
    ...answer,
    ...Object.fromEntries(ids.filter((name) => !isChosen(answer[name])).map((name) => [name, ''])),
    ...('state' in answer && { state: NOT_MADE }),
  };
}

export function registerRehearsals(app: FastifyInstance): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const { description } = request.routeOptions.config;
    const ids = Object.values(description?.answers[201]?.identifies ?? {});
    if (!requestState(request).isDryRun || reply.statusCode !== 201 || !isObject(payload)) return payload;
    return rehearsed(payload, ids, (request.body as Uint8Array | undefined) ?? new Uint8Array());
  });
}
