import type { FastifyInstance } from 'fastify';

import { ValidationError } from '../../http/api-error.ts';
import { requestState } from '../../http/request-state.ts';
import { addRoute } from '../../http/route.ts';
import { streamedBody, streamedType } from '../../http/streamed-bodies.ts';
import { issues } from '../../validation/issue.ts';
import { submitDocuments } from './bulk-descriptions.ts';
import type { BulkService } from './bulk-service.ts';
import { resultFormat } from './result-stream.ts';

export function registerBulkUpload(app: FastifyInstance, bulk: BulkService): void {
  addRoute(app, submitDocuments, async ({ params, caller, request, reply }) => {
    const type = streamedType(request);
    if (type === undefined) throw new ValidationError([issues.missing(['body'])]);
    const format = resultFormat(request.headers.accept);
    const contentLength = Number(request.headers['content-length'] ?? 0);
    const state = requestState(request);
    const results = await bulk.submit(caller, params.kb_id, { type, body: streamedBody(request), contentLength, format, state });
    return reply.code(202).type(format).send(results);
  });
  app.addHook('onClose', () => bulk.close());
}
