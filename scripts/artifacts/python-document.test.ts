import { expect, it } from 'vitest';

import { documentForPython } from './python-document.ts';

const media = (schema: object) => ({ schema });

it('an operation answers its successes alone, and files are files', () => {
  const operation = {
    operationId: 'upload',
    requestBody: { required: true, content: { 'application/x-ndjson': media({ $ref: '#/x' }), 'application/zip': media({}) } },
    responses: {
      200: { description: 'The file.', content: { 'audio/ogg': media({ type: 'string' }) } },
      206: { description: 'A part.', content: { 'audio/ogg': media({ type: 'string' }) } },
      202: { description: 'Taken.', content: { 'application/json': media({ type: 'object' }), 'application/x-ndjson': media({}) } },
      204: { description: 'Nothing.' },
      304: { description: 'As it was.' },
      422: { description: 'Wrong.', content: { 'application/json': media({}) } },
    },
  };
  const file = { type: 'string', format: 'binary' };
  expect(documentForPython({ openapi: '3.1.0', paths: { '/x': { post: operation } } })).toEqual({
    openapi: '3.1.0',
    paths: {
      '/x': {
        post: {
          operationId: 'upload',
          requestBody: { required: true, content: { 'application/x-ndjson': { schema: file } } },
          responses: {
            200: { description: 'The file.', content: { 'audio/ogg': { schema: file } } },
            202: { description: 'Taken.', content: { 'application/json': { schema: { type: 'object' } } } },
            204: { description: 'Nothing.' },
          },
        },
      },
    },
  });
});
