/** Compares what the facade answers with what its OpenAPI document says. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import { describedRoutes } from '../../api/openapi/described-routes.ts';
import { openApiDocument } from '../../api/openapi/document.ts';

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}

export interface AnswerToCheck {
  readonly method: string;
  /** Path with or without a query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  /** Body of a JSON answer. */
  readonly body: unknown;
}

export type AnswerCheck = (answer: AnswerToCheck) => void;

/**
 * Compiles the document of all routes, in which answers have no other fields. @returns a function that throws for an answer that differs
 */
export function documentedAnswers(): AnswerCheck {
  const document = openApiDocument(describedRoutes(), { closed: true }) as unknown as Document;
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { date: true, 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ },
  });
  ajv.addSchema(document, 'openapi');
  const paths = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }));
  const validators = new Map<string, ValidateFunction>();

  return ({ method, path, status, contentType, body }) => {
    const [bare = ''] = path.split('?');
    const known = paths.find(({ pattern }) => pattern.test(bare));
    if (known === undefined) return;
    const operations = document.paths[known.path] ?? {};
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase();
    const asked = `${method} ${known.path} answered ${status}`;
    if (operations[name] === undefined) {
      if (status !== 405) throw new Error(`${asked}: the document has no such operation, so it should be 405`);
      return;
    }
    const response = operations[name].responses[String(status)];
    if (response === undefined) throw new Error(`${asked}, which the document doesn't know: ${JSON.stringify(body)}`);
    const reference = response.$ref?.split('/').at(-1);
    const { content = {} } = reference === undefined ? response : (document.components.responses[reference] ?? {});
    const sent = contentType?.split(';')[0];
    const types = Object.keys(content);
    const type = types.find((each) => each === sent) ?? types[0];
    if (type !== '*/*' && type !== sent) throw new Error(`${asked} as ${sent}, and the document says ${type}`);
    if (type !== 'application/json' || method === 'HEAD') return;
    const pointer =
      reference === undefined ? ['paths', known.path, name, 'responses', String(status)] : ['components', 'responses', reference];
    const uri = `openapi#/${[...pointer, 'content', type, 'schema'].map(escaped).join('/')}`;
    const validate = validators.get(uri) ?? ajv.compile({ $ref: uri });
    validators.set(uri, validate);
    if (!validate(body)) throw new Error(`${asked} against its schema: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`);
  };
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => (segment.startsWith('{') ? '[^/]+' : segment.replaceAll(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/').replace(/\/$/, '')}/?$`);
}

/** Escapes a part of a JSON pointer in a URI. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
