/** Custom tools: REST ↔ ToolSpec. Pure. */
import { builtinFunctionNames, toolVariants, type Tool, type ToolSpec } from '../../crds/index.ts';
import { headersFromRest, headersToRest } from '../codec/headers.ts';
import { headerUses, movedSecrets, type SecretUse } from '../codec/secret-origins.ts';
import type { KeyRef, SecretValues, SecretWriter } from '../codec/secrets.ts';
import { present, type Draft } from '../codec/present.ts';
import type { Loc, ValidationIssue } from '../validation/issue.ts';
import type { CustomTool, CustomToolUpdate, InlineTool } from './schema.ts';

type Custom = NonNullable<ToolSpec['custom']>;
type Params = NonNullable<Custom['http']['runtimeParams']>;

/** The four texts that every tool has. */
export function messagesToRest(
  spec: ToolSpec,
): Readonly<Record<`tool_${'start' | 'delayed' | 'complete' | 'failed'}_message`, string | undefined>> {
  return {
    tool_start_message: spec.messages?.start,
    tool_delayed_message: spec.messages?.delayed,
    tool_complete_message: spec.messages?.complete,
    tool_failed_message: spec.messages?.failed,
  };
}

export function customToolToRest(spec: ToolSpec & { readonly custom: Custom }, secrets: SecretValues): Readonly<Record<string, unknown>> {
  const { function: fn, http } = spec.custom;
  return {
    function_tool: { name: fn.name, description: fn.description, parameters: fn.parameters ?? {} },
    additional_tool_info: {
      tool_type: 'custom',
      api: {
        endpoint: http.url,
        headers: headersToRest(http.headers, secrets),
        method: http.method,
        parameters: { fixed_params: paramsToRest(http.fixedParams), runtime_params: paramsToRest(http.runtimeParams) },
      },
    },
    ...messagesToRest(spec),
  };
}

function paramsToRest(params: Params | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(params ?? {}).map(([name, { description, value, type, required }]) => [name, { description, value, type, required }]),
  );
}

export interface ToolEncoding {
  readonly secrets: SecretWriter;
  /** Where the tool stands in the request. */
  readonly loc: Loc;
  readonly found: ValidationIssue[];
}

/**
 * @param previous the stored spec, of which everything that the request doesn't name is kept
 * @returns the whole spec as it should be; failures are added to `encoding.found`
 */
export function customToolFromRest(
  tool: CustomTool | CustomToolUpdate | InlineTool,
  previous: ToolSpec | undefined,
  encoding: ToolEncoding,
): Draft<ToolSpec> {
  const { function_tool: fn, additional_tool_info: info } = tool;
  const stored = previous?.custom;
  const api = info?.api;
  const desired = {
    ...previous,
    messages: messagesFromRest(tool, previous?.messages),
    custom: {
      ...stored,
      function: present({
        name: fn?.name ?? stored?.function.name,
        description:
          fn === undefined || fn === null || fn.description === undefined ? stored?.function.description : (fn.description ?? undefined),
        parameters:
          fn?.parameters === undefined ? stored?.function.parameters : unlessEmptyBefore(fn.parameters, stored?.function.parameters),
      }),
      http: present({
        ...stored?.http,
        ...(api !== undefined && {
          url: api.endpoint ?? stored?.http.url,
          method: api.method === undefined ? stored?.http.method : (api.method ?? undefined),
          headers: api.headers === undefined ? stored?.http.headers : headersOf(api.headers ?? {}, stored?.http.headers, encoding),
          fixedParams: paramsOf(api.parameters === null ? null : api.parameters?.fixed_params, stored?.http.fixedParams),
          runtimeParams: paramsOf(api.parameters === null ? null : api.parameters?.runtime_params, stored?.http.runtimeParams),
        }),
      }),
    },
  } as Draft<ToolSpec>;
  if (previous !== undefined)
    encoding.found.push(...movedSecrets(headerUsesOf(previous, encoding), headerUsesOf(desired, encoding), encoding.secrets));
  return desired;
}

/** Where the tool sends which secret. */
function headerUsesOf({ custom }: Draft<ToolSpec>, { loc }: ToolEncoding): readonly SecretUse[] {
  const { headers, url } = custom?.http ?? {};
  return headerUses(headers, { url, field: 'endpoint', loc: [...loc, 'additional_tool_info', 'api', 'headers'] });
}

function headersOf(
  sent: Readonly<Record<string, string>>,
  previous: Custom['http']['headers'],
  { secrets, loc, found }: ToolEncoding,
): unknown {
  const list = headersFromRest(sent, {
    previous,
    secrets,
    purpose: 'header',
    loc: [...loc, 'additional_tool_info', 'api', 'headers'],
    found,
  });
  return list.length === 0 && previous === undefined ? undefined : list;
}

interface SentParam {
  readonly description?: string | null | undefined;
  readonly value?: unknown;
  readonly type?: Params[string]['type'] | null;
  readonly required?: boolean | null | undefined;
}

function paramsOf(sent: Readonly<Record<string, SentParam>> | null | undefined, previous: Params | undefined): unknown {
  if (sent === undefined) return previous;
  if (sent === null) return undefined;
  const result = Object.fromEntries(
    Object.entries(sent).map(([name, { description, value, type, required }]) => [
      name,
      present({
        description: description ?? undefined,
        value: value === null && previous?.[name]?.value !== null ? undefined : value,
        type: type ?? undefined,
        required: required ?? undefined,
      }),
    ]),
  );
  return unlessEmptyBefore(result, previous);
}

/** An empty map where there was none stays none: both read the same. */
function unlessEmptyBefore<T extends object>(value: T | null | undefined, previous: unknown): T | undefined {
  if (value === null || value === undefined) return undefined;
  return Object.keys(value).length === 0 && previous === undefined ? undefined : value;
}

function picked(sent: string | null | undefined, stored: string | undefined): string | undefined {
  return sent === undefined ? stored : (sent ?? undefined);
}

type Messages = ToolSpec['messages'];

export function messagesFromRest(
  tool: Pick<InlineTool, 'tool_start_message' | 'tool_delayed_message' | 'tool_complete_message' | 'tool_failed_message'>,
  previous: Messages,
): unknown {
  const result = present({
    start: picked(tool.tool_start_message, previous?.start),
    delayed: picked(tool.tool_delayed_message, previous?.delayed),
    complete: picked(tool.tool_complete_message, previous?.complete),
    failed: picked(tool.tool_failed_message, previous?.failed),
  });
  return Object.keys(result).length === 0 && previous === undefined ? undefined : result;
}

/** A tool as `llm.tools` of an agent lists it: what identifies it, and for a custom one its definition. */
export function attachedToolToRest(tool: Tool, secrets: SecretValues): Readonly<Record<string, unknown>> {
  const { spec, metadata } = tool;
  if (spec.custom !== undefined) return { tool_id: metadata.name, ...customToolToRest({ ...spec, custom: spec.custom }, secrets) };
  const variant = toolVariants.find((name) => name !== 'custom' && spec[name] !== undefined);
  return {
    tool_id: metadata.name,
    tool_name: variant === undefined || variant === 'custom' ? undefined : builtinFunctionNames[variant],
    tool_description: spec.description,
    ...messagesToRest(spec),
  };
}

/** What an item of `llm.tools` says of a built-in tool, as {@link attachedToolToRest} shows it. */
export function shownOfBuiltin(item: InlineTool, previous: ToolSpec): Draft<ToolSpec> {
  return present({
    ...previous,
    description: picked(item.tool_description, previous.description),
    messages: messagesFromRest(item, previous.messages),
  }) as Draft<ToolSpec>;
}

/** The name by which the model calls a tool. */
export function functionNameOf(spec: Draft<ToolSpec>): string | undefined {
  if (spec.custom !== undefined) return spec.custom.function?.name;
  const variant = toolVariants.find((name) => name !== 'custom' && spec[name] !== undefined);
  return variant === undefined || variant === 'custom' ? undefined : builtinFunctionNames[variant];
}

/** Every Secret key that a tool refers to. */
export function toolSecretRefs(spec: Draft<ToolSpec>): readonly KeyRef[] {
  const headers = (spec.custom?.http?.headers ?? []).flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]));
  const others = [spec.sendEmail?.passwordSecretRef, spec.bookCalendar?.apiKeySecretRef, spec.checkCalendarAvailability?.apiKeySecretRef];
  return [...headers, ...others.filter((ref) => ref !== undefined)] as readonly KeyRef[];
}
