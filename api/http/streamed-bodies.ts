/** Reads bodies of many entries as they arrive: they are never whole in memory. */
import type { Readable } from 'node:stream';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { encodedBody, isEncoded } from './content-encoding.ts';

/** Content types of bodies with many entries. */
export const STREAMED_TYPES = ['application/x-ndjson', 'application/zip'] as const;
export type StreamedType = (typeof STREAMED_TYPES)[number];

/** Lets routes take such bodies that have `streamed` in their description, and no others. */
export function registerStreamedBodies(app: FastifyInstance): void {
  for (const type of STREAMED_TYPES) app.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers } = request;
    const type = streamedType(request);
    const takesThem = request.routeOptions.config.description?.streamed !== undefined;
    if (takesThem && type === undefined)
      done(new ApiError('unsupported_media_type', `send the body as ${STREAMED_TYPES.join(' or ')}, with this Content-Type`));
    else if (!takesThem && type !== undefined) done(new ApiError('unsupported_media_type', 'send the body as application/json'));
    else if (type !== undefined && isEncoded(headers)) done(encodedBody());
    else done(null, payload);
  });
}

export function streamedType({ headers }: Pick<FastifyRequest, 'headers'>): StreamedType | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return STREAMED_TYPES.find((each) => each === type.trim().toLowerCase());
}

/** Returns the body of a request whose route has `streamed`. */
export function streamedBody({ body }: FastifyRequest): Readable {
  return body as Readable;
}
