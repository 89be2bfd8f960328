/** Reads forms with a file in them (`multipart/form-data`) part by part as they arrive: a file is never whole in memory. */
import type { Readable } from 'node:stream';

import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { encodedBody, isEncoded } from './content-encoding.ts';

/** Most parts of a form: more than any form here has, as a browser may add fields of its own. */
const PART_LIMIT = 32;
const FILE_LIMIT = 4;
/** Longest value of a field that is kept, in bytes: beyond every field's own limit, so that a longer value is refused anyway. */
const FIELD_BYTES = 64 * 1024;

export type FormPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: FieldValue }
  | {
      readonly kind: 'file';
      readonly name: string;
      /** Name as it was sent, folders and all. */
      readonly filename: string;
      /** The caller reads it to its end, or destroys it, before the next part comes. Ends early, one byte after `fileBytes`. */
      readonly content: Readable;
      /** Returns the failure to answer where reading the content failed because the form broke off. */
      readonly fault: () => ApiError | undefined;
    };

/** The value of a field; `json` where its own Content-Type said so. */
export type FieldValue = { readonly text: string; readonly truncated: boolean } | { readonly json: unknown };

export class BrokenJsonFieldError extends Error {
  override readonly name = 'BrokenJsonFieldError';
}

/** Lets routes take forms that have a `form` in their description, and no others. */
export function registerForms(app: FastifyInstance): void {
  void app.register(multipart, {
    // A name is judged as it was sent; the parser would cut folders off.
    preservePath: true,
    isPartAFile: (_field, _type, filename) => filename !== undefined,
    throwFileSizeLimit: false,
    limits: { parts: PART_LIMIT, files: FILE_LIMIT, fields: PART_LIMIT, fieldSize: FIELD_BYTES, headerPairs: 32 },
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers } = request;
    const type = headers['content-type'];
    const takesForms = request.routeOptions.config.description?.form !== undefined;
    const isForm = /^multipart\/form-data *(;|$)/i.test(type ?? '');
    const hasBody = type !== undefined || headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (takesForms && hasBody && !isForm) done(new ApiError('unsupported_media_type', 'send the file as multipart/form-data'));
    else if (isForm && !takesForms && request.routeOptions.config.description?.streamed === undefined)
      done(new ApiError('unsupported_media_type', 'send the body as application/json'));
    else if (isForm && isEncoded(headers)) done(encodedBody());
    else done(null, payload);
  });
}

/**
 * Yields the parts of a form in the order in which they come; none where there is no body.
 * @param fileBytes a file is read one byte further than this at most
 * @throws ApiError `bad_request` when the form can't be read to its end
 * @throws BrokenJsonFieldError at the end of the form
 */
export async function* readForm(request: FastifyRequest, { fileBytes }: { readonly fileBytes: number }): AsyncGenerator<FormPart> {
  if (!request.isMultipart()) return;
  try {
    for await (const part of request.parts({ limits: { fileSize: fileBytes + 1 } })) {
      const { fieldname: name } = part;
      if (part.type === 'file') {
        const { file: content, filename } = part;
        const fault = (): ApiError | undefined => (content.errored === null ? undefined : malformed(content.errored));
        yield { kind: 'file', name, filename, content, fault };
      } else if (typeof part.value === 'string') yield { kind: 'field', name, value: { text: part.value, truncated: part.valueTruncated } };
      else yield { kind: 'field', name, value: { json: part.value } };
    }
  } catch (error) {
    throw asFormError(error);
  }
}

function asFormError(error: unknown): unknown {
  const code = (error as { readonly code?: unknown }).code;
  if (code === 'FST_INVALID_JSON_FIELD_ERROR') return new BrokenJsonFieldError('a field is not the JSON that its Content-Type says it is');
  if (code === 'FST_PARTS_LIMIT' || code === 'FST_FIELDS_LIMIT' || code === 'FST_FILES_LIMIT')
    return new ApiError('bad_request', `the form has too many parts: at most ${PART_LIMIT}, and ${FILE_LIMIT} files among them, are read`);
  return malformed(error);
}

function malformed(cause: unknown): ApiError {
  return new ApiError('bad_request', 'the form breaks off or is not well formed: send it as multipart/form-data with a boundary', {
    cause,
  });
}
