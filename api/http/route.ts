/** How the facade's routes are declared: one description each, from which come registration, permission, validation and the OpenAPI document. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import type { ReadRequest } from '../validation/request.ts';
import type { ErrorCode } from './api-error.ts';
import type { Caller } from './caller.ts';
import type { Requirement } from './permissions.ts';
import { readRequest } from './read-request.ts';
import { callerOf, requestState } from './request-state.ts';
import type { StreamedType } from './streamed-bodies.ts';

/** How a route is offered to assistants as an MCP tool. Names, arguments, answers and most hints follow from the rest of the description. */
export interface ToolAnnotation {
  /** It changes nothing, though it is no GET. */
  readonly reads?: true;
  /** What it does reaches further than Parley's own objects. */
  readonly openWorld?: true;
  /** Lists of the answer that may be long. What doesn't fit is cut, and read on from with `offset`. */
  readonly longLists?: readonly string[];
  /** The object can be read as a resource, too: `agents` for `parley://agents/{ai_agent_id}`. */
  readonly resource?: string;
}

/** A good answer; an empty one without `schema` and `contentType`. */
export interface AnswerDescription {
  readonly description: string;
  /** Of a JSON answer. What is answered is compared with it by the tests. */
  readonly schema?: z.ZodType;
  /** `Content-Type` of any other answer, without parameters. */
  readonly contentType?: string;
  readonly example?: unknown;
  /** What else is answered where the header `Accept` asks for it, by `Content-Type`. */
  readonly alternatives?: Readonly<Record<string, { readonly schema: z.ZodType; readonly example: unknown }>>;
  /** Names from the table of documented headers, in addition to those that every answer has. */
  readonly headers?: readonly ('ETag' | 'Age')[];
  /** Which field of the answer is which path parameter of other routes: `{agent_id: 'ai_agent_id'}`. */
  readonly identifies?: Readonly<Record<string, string>>;
}

export interface StreamedBody {
  /** Of one entry in a body of lines; of the whole body else. */
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
}

export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters, in the documented form; the form with or without a slash at the end works as well. */
  readonly path: string;
  /** Unique; becomes the name of a function in generated clients. */
  readonly operationId: string;
  /** The group it is listed under: one of `tags` in the OpenAPI document. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What a key needs. */
  readonly permission: Requirement;
  /** Enough for what the key itself has made: `handle` sees to it that it is nothing else. */
  readonly permissionForOwn?: Exclude<Requirement, 'public' | 'any'>;
  /** What each path parameter is, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body is a form (`multipart/form-data`) that `handle` reads as it arrives, with a file in it. Its fields, for the document. */
  readonly form?: z.ZodObject;
  /** The body holds many entries, which `handle` reads as they arrive; for the document, by `Content-Type`. */
  readonly streamed?: Readonly<Record<StreamedType, StreamedBody>>;
  /**
   * `query` and `body` are for the document: what is stored decides how the request is read, and `handle` reads it, when it knows
   * (`readRequest`).
   */
  readonly readsLater?: true;
  /** Bodies that work, by what they show. */
  readonly bodyExamples?: Readonly<Record<string, unknown>>;
  /** The route heeds `If-Match`. */
  readonly ifMatch?: true;
  /** Longest body, in bytes; 1 MiB where absent. */
  readonly bodyLimit?: number;
  /** Not for clients of REST: it is no part of the OpenAPI document. */
  readonly undocumented?: true;
  /** Assistants get it as a tool. */
  readonly mcp?: ToolAnnotation;
  /** `handle` counts the request against the limits (`requestState(…).countRequest`), once it knows what it is. */
  readonly countsLater?: true;
  /** Browsers may send requests from the pages of this server, and of the own machine, and no others. */
  readonly ownOriginsOnly?: true;
  /** Failures are answered as errors of JSON-RPC, which clients show to people. */
  readonly jsonRpc?: true;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Failures in addition to those that follow from the rest of the description (see `failuresOf`). */
  readonly errors?: readonly ErrorCode[];
}

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** A request whose parts are read and sound. */
export type RouteContext<D extends RouteDescription> = (D extends { readonly readsLater: true } ? unknown : ReadRequest<D>) & {
  readonly params: Readonly<Record<ParamNames<D['path']>, string>>;
  readonly caller: D['permission'] extends 'public' ? undefined : Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Runs `work` and adds its time to the phase `name` of the request's log line. */
  readonly timed: <T>(name: string, work: () => Promise<T>) => Promise<T>;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly description?: RouteDescription;
  }
  interface FastifyInstance {
    /** Every route, in the order of registration. */
    readonly descriptions: readonly RouteDescription[];
  }
}

/** Describes the routes of a group: `tag` is what the OpenAPI document lists them under. Gives the compiler the exact type of a description. */
export const routesOf =
  <const T extends string>(tag: T) =>
  <const D extends Omit<RouteDescription, 'tag'>>(description: D): D & { readonly tag: T } => ({ tag, ...description });

/**
 * From here on the server takes routes with a description only, and keeps the descriptions.
 * HEAD routes are Fastify's own, one for each GET, and share its description.
 */
export function requireDescriptions(app: FastifyInstance): void {
  const descriptions: RouteDescription[] = [];
  app.decorate('descriptions', descriptions);
  app.addHook('onRoute', (route) => {
    const description = route.config?.description;
    if (description === undefined) throw new Error(`${[route.method].flat().join()} ${route.url} has no description: add it with addRoute`);
    if (route.method !== 'HEAD') descriptions.push(description);
  });
}

/** Registers a route. Its parts are read before `handle` runs: a request that can't be used never gets there. */
export function addRoute<D extends RouteDescription>(
  app: FastifyInstance,
  description: D,
  handle: (call: RouteContext<D>) => Promise<unknown>,
): void {
  app.route({
    method: description.method,
    url: description.path,
    config: { description },
    ...(description.bodyLimit !== undefined && { bodyLimit: description.bodyLimit }),
    handler: async (request, reply) => {
      const parts = description.readsLater ? {} : readRequest(request, description);
      return handle({
        ...parts,
        params: request.params,
        caller: description.permission === 'public' ? undefined : callerOf(request),
        request,
        reply,
        timed: (name: string, work: () => Promise<unknown>) => requestState(request).timed(name, work),
      } as RouteContext<D>);
    },
  });
}
