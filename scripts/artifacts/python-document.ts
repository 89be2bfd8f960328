/** Turns the OpenAPI document into one that openapi-python-client can read. Pure. */

interface Media {
  readonly schema: object;
}
interface Response {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}
export interface ClientDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const FILE = { schema: { type: 'string', format: 'binary' } };
const GENERATED = new Set(['application/json', 'multipart/form-data', 'text/plain', 'text/html']);

/**
 * Reduces each operation to its successful answers, for the client raises everything else. What is neither JSON, form nor text becomes a
 * file; a body of several kinds becomes a file of the first, whose kind the caller may say.
 */
export function documentForPython<T extends ClientDocument>(document: T): T {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, operationForPython(operation)])),
  ]);
  return { ...document, paths: Object.fromEntries(paths) as T['paths'] };
}

function operationForPython(operation: Operation): Operation {
  const { requestBody, responses } = operation;
  const successes = Object.entries(responses).filter(([status]) => /^2\d\d$/.test(status) && status !== '206');
  return {
    ...operation,
    ...(requestBody && { requestBody: { ...requestBody, content: oneContent(requestBody.content) } }),
    responses: Object.fromEntries(
      successes.map(([status, answer]) => [status, answer.content ? { ...answer, content: oneContent(answer.content) } : answer]),
    ),
  };
}

function oneContent(content: Readonly<Record<string, Media>>): Readonly<Record<string, Media>> {
  const [[type, media] = ['application/json', FILE] as const] = Object.entries(content);
  return { [type]: GENERATED.has(type) ? media : FILE };
}
