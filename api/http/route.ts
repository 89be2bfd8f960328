/** Declares the facade's routes by one description each; registration, permission, validation and the OpenAPI document come from it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import type { ReadRequest } from '../validation/request.ts';
import type { ErrorCode } from './api-error.ts';
import type { Caller } from './caller.ts';
import type { Requirement } from './permissions.ts';
import { readRequest } from './read-request.ts';
import { callerOf, requestState } from './request-state.ts';
import type { StreamedType } from './streamed-bodies.ts';

/** Offers a route to assistants as an MCP tool. Names, arguments, answers and most hints follow from the rest of the description. */
export interface ToolAnnotation {
  /** Set where the route changes nothing, though it is no GET. */
  readonly reads?: true;
  /** Set where the route's effect reaches further than Parley's own objects. */
  readonly openWorld?: true;
  /** Lists of the answer that may be long. They are cut to fit, and read on from with `offset`. */
  readonly longLists?: readonly string[];
  /** Set where the object can be read as a resource, too: `agents` for `parley://agents/{ai_agent_id}`. */
  readonly resource?: string;
}

/** Describes a good answer; an empty one has neither `schema` nor `contentType`. */
export interface AnswerDescription {
  readonly description: string;
  /** Schema of a JSON answer. The tests compare answers with it. */
  readonly schema?: z.ZodType;
  /** `Content-Type` of any other answer, without parameters. */
  readonly contentType?: string;
  readonly example?: unknown;
  /** Other answers, by the `Content-Type` that the header `Accept` asks for. */
  readonly alternatives?: Readonly<Record<string, { readonly schema: z.ZodType; readonly example: unknown }>>;
  /** Names from the table of documented headers, in addition to those that every answer has. */
  readonly headers?: readonly ('ETag' | 'Age')[];
  /** Maps path parameters of other routes to the fields of the answer that give them: `{agent_id: 'ai_agent_id'}`. */
  readonly identifies?: Readonly<Record<string, string>>;
}

export interface StreamedBody {
  /** Schema of one entry in a body of lines, and of the whole body otherwise. */
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
}

export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the documented form, with `:name` for parameters; the form with or without a slash at the end works as well. */
  readonly path: string;
  /** A unique id, which becomes the name of a function in generated clients. */
  readonly operationId: string;
  /** The route's group: one of `tags` in the OpenAPI document. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly permission: Requirement;
  /** A permission that is enough for objects that the key itself has made: `handle` makes sure that it is no other. */
  readonly permissionForOwn?: Exclude<Requirement, 'public' | 'any'>;
  /** Descriptions of the path parameters, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Fields of a form (`multipart/form-data`) with a file in it, for the document; `handle` reads the form as it arrives. */
  readonly form?: z.ZodObject;
  /** Bodies with many entries for the document, by `Content-Type`. `handle` reads the entries as they arrive. */
  readonly streamed?: Readonly<Record<StreamedType, StreamedBody>>;
  /**
   * Leaves `query` and `body` to the document: the stored object decides how the request is read, so `handle` reads it once it knows
   * (`readRequest`).
   */
  readonly readsLater?: true;
  /** Bodies that work, by a description of what each shows. */
  readonly bodyExamples?: Readonly<Record<string, unknown>>;
  /** Set where the route checks `If-Match`. */
  readonly ifMatch?: true;
  /** Longest body, in bytes; 1 MiB where absent. */
  readonly bodyLimit?: number;
  /** Leaves the route out of the OpenAPI document: it isn't for clients of REST. */
  readonly undocumented?: true;
  /** Offers the route to assistants as a tool. */
  readonly mcp?: ToolAnnotation;
  /** `handle` counts the request against the limits (`requestState(…).countRequest`), once it knows what it is. */
  readonly countsLater?: true;
  /** Lets browsers send requests only from the pages of this server and of the own machine. */
  readonly ownOriginsOnly?: true;
  /** Answers with events for as long as they come (`text/event-stream`): neither the deadline nor the histogram of durations counts it. */
  readonly streamsEvents?: true;
  /** Answers failures as errors of JSON-RPC, which clients show to people. */
  readonly jsonRpc?: true;
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Failures in addition to those that follow from the rest of the description (see `failuresOf`). */
  readonly errors?: readonly ErrorCode[];
}

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** A request whose parts have been read and are sound. */
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

/** Describes the routes of a group: `tag` is its name in the OpenAPI document. Gives the compiler the exact type of a description. */
export const routesOf =
  <const T extends string>(tag: T) =>
  <const D extends Omit<RouteDescription, 'tag'>>(description: D): D & { readonly tag: T } => ({ tag, ...description });

/**
 * Makes the server take only routes with a description from here on, and keeps the descriptions. HEAD routes are Fastify's own, one for
 * each GET, and share its description.
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

/** Registers a route. Its parts are read before `handle` runs: a request with unusable parts never gets there. */
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
