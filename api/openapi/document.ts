/** Builds the OpenAPI 3.1 document from the descriptions of the routes. Pure. */
import type { z } from 'zod';

import { takesIdempotencyKey } from '../http/idempotency.ts';
import type { AnswerDescription, RouteDescription, StreamedBody } from '../http/route.ts';
import { warningsAnswer } from '../http/warnings.ts';
import { failureRefs, failureResponses } from './failures.ts';
import { addPropertyExamples } from './property-examples.ts';
import { SchemaCollection, type OpenApiObject } from './schemas.ts';

/** Version of the interface, as its clients know it; the program has its own. */
const INTERFACE_VERSION = '1.0.0';

const tags = [
  { name: 'AI agents', description: 'What an agent says, hears and may do.' },
  { name: 'Tools', description: 'What agents can do in a call: HTTP APIs of yours, and built-ins.' },
  { name: 'Phone numbers', description: 'Numbers, and the agents that answer and use them.' },
  { name: 'Agent tests', description: 'Conversations with agents, and what is expected of them.' },
  { name: 'Knowledge bases', description: 'Files and web pages, and what is found in them.' },
  { name: 'Webhooks', description: 'Where events are sent, and what became of them.' },
  { name: 'Calls', description: 'Conversations with agents: begun, looked up, listened to.' },
  { name: 'People', description: 'What is known of one person, and its erasure.' },
  { name: 'Test runs', description: 'Tests of agents, run in the cluster, and their results.' },
  { name: 'Explanations', description: 'Why an object is not in use, and what to do.' },
  { name: 'API keys', description: 'Who may use this interface, and for what.' },
  { name: 'Operations', description: 'For those who run the service. No key is needed.' },
];

const headers = {
  'X-Trace-Id': {
    description: 'Leads to the line in the log. The trace of `traceparent` where the request has one.',
    schema: { type: 'string' },
  },
  ETag: {
    description: 'The state of what is answered: of an object for `If-Match`, of the document for `If-None-Match`.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'The scheme to use: `Bearer`.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds.', schema: { type: 'string' } },
  'RateLimit-Limit': { description: 'Requests at once, of the limit that will be reached first.', schema: { type: 'string' } },
  'RateLimit-Remaining': { description: 'Requests that are left of it.', schema: { type: 'string' } },
  'RateLimit-Reset': { description: 'Seconds until all of it is back.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'Every limit that the request counts for: `120;w=2;comment="key"`.', schema: { type: 'string' } },
  'Content-Range': { description: 'How long the whole is: `bytes */48213`.', schema: { type: 'string' } },
  Warning: {
    description: 'Only where the request has fields that nothing reads: one header for each, `299 - "unknown field \\"llm.modelname\\""`.',
    schema: { type: 'string' },
  },
  Age: {
    description: 'Only while the Kubernetes API is unavailable: seconds since the answer was last known to be up to date.',
    schema: { type: 'string' },
  },
};

const ifMatchParameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'Write only if the object is in this state: an `ETag` as it was answered, quotes included, or `*`.',
  schema: { type: 'string' },
  examples: { any: { summary: 'Whatever state it is in', value: '*' }, state: { summary: 'As it was read', value: '"1234"' } },
};

const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'What you call this request, a random UUID for example: sent again with the same key and body within 24 hours, it is answered as the first time, with `Idempotency-Replayed: true`, and makes nothing twice.',
  schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
};

export interface DocumentOptions {
  /** Passed on to {@link SchemaCollection}. */
  readonly closed?: boolean;
}

export function openApiDocument(all: readonly RouteDescription[], options: DocumentOptions = {}): OpenApiObject {
  const routes = all.filter(({ undocumented }) => undocumented !== true);
  const schemas = new SchemaCollection(options);
  const paths: Record<string, OpenApiObject> = {};
  for (const route of routes) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, routes, schemas) };
  }
  const responses = failureResponses(routes, schemas);
  const components = schemas.components;
  addPropertyExamples({ paths, responses }, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version: INTERFACE_VERSION,
      description: INTRODUCTION,
      contact: { name: 'Parley' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: tags.filter(({ name }) => routes.some(({ tag }) => tag === name)),
    paths: Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer pk_…`' } },
      headers,
      responses,
      schemas: components,
    },
  };
}

/** Turns `:id` into `{id}`, and drops the slash that every address may have at its end. */
export function documentedPath(pattern: string): string {
  return pattern.replaceAll(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '');
}

function operation(route: RouteDescription, all: readonly RouteDescription[], schemas: SchemaCollection): OpenApiObject {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route.query, schemas),
    ...(route.ifMatch ? [ifMatchParameter] : []),
    ...(takesIdempotencyKey(route) ? [idempotencyKeyParameter] : []),
  ];
  const forOwn = route.permissionForOwn === undefined ? '' : `; for what the key itself has made, \`${route.permissionForOwn}\` is enough`;
  const permission = route.permission === 'public' ? 'Needs no key.' : `Needs the permission \`${route.permission}\`${forOwn}.`;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: route.description === undefined ? permission : `${route.description}\n\n${permission}`,
    ...(route.permission === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: requestBody('application/json', route.body, route.bodyExamples ?? {}, schemas) }),
    ...(route.form !== undefined && { requestBody: requestBody('multipart/form-data', route.form, route.bodyExamples ?? {}, schemas) }),
    ...(route.streamed !== undefined && { requestBody: streamedRequestBody(route.streamed, schemas) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, response(route, answer, linksFrom(route, answer, all), schemas)]),
      ),
      ...failureRefs(route),
    },
  };
}

function paramNames({ path }: RouteDescription): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

/** Links an answer to every operation whose path it supplies, wholly or together with the path that it was asked at. */
function linksFrom(from: RouteDescription, { identifies }: AnswerDescription, all: readonly RouteDescription[]): OpenApiObject {
  if (identifies === undefined) return {};
  const own = paramNames(from);
  const linked = all.filter((route) => {
    const names = paramNames(route);
    return names.some((name) => name in identifies) && names.every((name) => name in identifies || own.includes(name));
  });
  return Object.fromEntries(
    linked.map((route) => [
      route.operationId,
      {
        operationId: route.operationId,
        parameters: Object.fromEntries(
          paramNames(route).map((name) => [name, name in identifies ? `$response.body#/${identifies[name]}` : `$request.path.${name}`]),
        ),
      },
    ]),
  );
}

/** @throws Error when a parameter in the path has no description, or a description has no parameter */
function pathParameters(route: RouteDescription): readonly OpenApiObject[] {
  const names = paramNames(route);
  const described = Object.keys(route.params ?? {});
  if (names.toSorted().join() !== described.toSorted().join()) {
    throw new Error(
      `${route.operationId}: the path has the parameters ${names.join(', ') || 'none'}, and described are ${described.join(', ') || 'none'}`,
    );
  }
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: route.params?.[name],
    // An empty parameter would make another address.
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters(query: z.ZodObject | undefined, schemas: SchemaCollection): readonly OpenApiObject[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.schemaOf(query, { io: 'input' }) as {
    readonly properties?: Readonly<Record<string, OpenApiObject>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const { description } = schema;
    delete schema['description'];
    return { name, in: 'query', required: required.includes(name), description, schema };
  });
}

function requestBody(
  type: 'application/json' | 'multipart/form-data',
  body: z.ZodType,
  examples: Readonly<Record<string, unknown>>,
  schemas: SchemaCollection,
): OpenApiObject {
  return { required: body._zod.optin === undefined, content: { [type]: mediaType({ schema: body, examples }, schemas) } };
}

function streamedRequestBody(streamed: NonNullable<RouteDescription['streamed']>, schemas: SchemaCollection): OpenApiObject {
  const content = Object.entries(streamed).map(([type, body]) => [type, mediaType(body, schemas)]);
  return { required: true, content: Object.fromEntries(content) as OpenApiObject };
}

function mediaType({ schema, examples }: StreamedBody, schemas: SchemaCollection): OpenApiObject {
  const named = Object.entries(examples).map(([summary, value]) => [summary.replaceAll(/\W+/g, '-'), { summary, value }]);
  return {
    schema: schemas.schemaOf(schema, { io: 'input' }),
    ...(named.length > 0 && { examples: Object.fromEntries(named) as OpenApiObject }),
  };
}

function warningProperties(schemas: SchemaCollection): OpenApiObject {
  return schemas.schemaOf(warningsAnswer, { io: 'output' })['properties'] as OpenApiObject;
}

function answerHeaders(route: RouteDescription, answer: AnswerDescription): readonly (keyof typeof headers)[] {
  const limits = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'] as const;
  const always = route.permission === 'public' ? (['X-Trace-Id'] as const) : (['X-Trace-Id', ...limits] as const);
  return [...always, ...(answer.headers ?? []), ...(hasBody(route) ? (['Warning'] as const) : [])];
}

function hasBody({ body, form }: RouteDescription): boolean {
  return body !== undefined || form !== undefined;
}

function response(route: RouteDescription, answer: AnswerDescription, links: OpenApiObject, schemas: SchemaCollection): OpenApiObject {
  const { description, schema, contentType, example, alternatives = {} } = answer;
  const isEmpty = schema === undefined && contentType === undefined;
  const type = contentType ?? 'application/json';
  const answered = schema === undefined ? { type: 'string' } : schemas.schemaOf(schema, { io: 'output' });
  return {
    description,
    headers: Object.fromEntries(answerHeaders(route, answer).map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(!isEmpty && {
      content: {
        [type]: {
          schema: hasBody(route) ? schemas.addProperties(answered, warningProperties(schemas)) : answered,
          ...(example !== undefined && { example }),
        },
        ...Object.fromEntries(
          Object.entries(alternatives).map(([other, each]) => [
            other,
            { schema: schemas.schemaOf(each.schema, { io: 'output' }), example: each.example },
          ]),
        ),
      },
    }),
    ...(Object.keys(links).length > 0 && { links }),
  };
}

/** Stands above the routes in `/docs`, in Markdown, and tells a person how to begin. */
const INTRODUCTION = `Voice agents and what belongs to them. Every object is a Kubernetes resource in the namespace of its organisation: what is made here can be read and changed with kubectl, and the other way round. Every address also works with the slash at its end left out or added.

## Begin

1. Make an API key, on a machine with the \`parley\` command: \`parley keys create --org acme --name first\`. With the local stack there is one already: \`eval "$(parley env)"\` sets \`PARLEY_API_KEY\`.
2. On this page: press **Authorize**, paste the key, open \`GET /v2/ai-agents\` and press **Try it out**, then **Execute**.
3. In a terminal, list the agents:

\`\`\`sh
curl -s -H "Authorization: Bearer $PARLEY_API_KEY" "$PARLEY_URL/v2/ai-agents"
\`\`\`

4. Make an agent. Its answer has the \`ai_agent_id\`, and in \`state\` whether the agent takes calls or what is missing:

\`\`\`sh
curl -s -X POST "$PARLEY_URL/v2/ai-agents" -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' -d '{
  "agent_name": "Receptionist",
  "llm": {"model_provider": "openai", "model_name": "gpt-4o-mini", "system_prompt": "You answer the phone of a bicycle workshop."},
  "stt": {"provider": "deepgram"},
  "tts": {"provider": "deepgram"}
}'
\`\`\`

5. Talk to it: \`parley call <ai_agent_id>\`, or the page \`/call\` of this server.

A request that can't be used is answered with 422 and everything that is wrong with it; 429 says in \`Retry-After\` when to try again. An update of an agent keeps what its body does not name; \`null\` brings back the default. Answers may get new fields, and their choices (\`x-extensible-enum\`) new values.`;
