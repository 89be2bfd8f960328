/** Creates the tools of the model in one call. */
import { fillTemplate, type DynamicData } from '../../crds/template.ts';
import type { AgentRevisionConfig, RevisionTool } from '../../crds/agent-revision.ts';
import { functionNames } from '../../crds/mcp-tools.ts';
import type { Search } from '../../knowledge/search/search.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { OAuthTokens } from '../../calls/mcp-client/oauth-tokens.ts';
import type { ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { createBookCalendar } from './builtin/book-calendar.ts';
import { createCheckAvailability } from './builtin/check-calendar-availability.ts';
import { createEndCall } from './builtin/end-call.ts';
import { createCollectDigits, createSendDigits, type ToolKeypad } from './builtin/keypad.ts';
import { createHandOver, handOverFunction } from './builtin/hand-over.ts';
import { createSearchKnowledgeBase, SEARCH_FUNCTION } from './builtin/search-knowledge-base.ts';
import { createSendEmail } from './builtin/send-email.ts';
import { createTransferCall } from './builtin/transfer-call.ts';
import type { Calendar } from './calendar/calendar.ts';
import { createCustomTool } from './custom/custom-tool.ts';
import type { Mailer } from './mail/mailer.ts';
import { createMcpTools } from './mcp/create-mcp-tools.ts';
import { SensitiveKeys } from './sensitive-keys.ts';
import type { ToolHost } from './tool-host.ts';
import type { ToolMocks } from './tool-mocks.ts';
import { NO_MESSAGES, type ToolDefinition } from './tool-result.ts';

export { SEARCH_FUNCTION };

interface WithHandoffs {
  readonly agent?: Pick<AgentRevisionConfig['agent'], 'handoffs'>;
}

export interface CreateToolsOptions {
  readonly org: string;
  readonly agent: Pick<AgentRevisionConfig, 'tools' | 'knowledgeBase'> & WithHandoffs;
  /** Names that people see of the agents that may take over, by their names. */
  readonly displayNames?: ReadonlyMap<string, string> | undefined;
  readonly data: DynamicData;
  readonly host: ToolHost;
  /** Keypad of a phone call. */
  readonly keypad?: ToolKeypad | undefined;
  readonly egress: Egress;
  readonly keys: Pick<ProviderKeyReader, 'read'>;
  readonly search: Pick<Search, 'search'>;
  readonly mailer: Mailer;
  readonly calendar: Calendar;
  readonly tokens: OAuthTokens;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly over: AbortSignal;
  /** Aborts when nothing of the call may run any more: some time after `over`. */
  readonly stop: AbortSignal;
  /** Called when keys are about to be pressed for a sensitive tool. @returns is called when no more are */
  readonly onSensitiveKeys?: (() => () => void) | undefined;
  /** Answers in place of tools, in a test. */
  readonly mocks?: ToolMocks | undefined;
}

/**
 * Creates the tools. Their names are unique: a built-in gives way to a tool that the owner named. What a server names has given way before
 * ({@link toolsOf}).
 */
export function createTools(options: CreateToolsOptions): readonly ToolDefinition[] {
  const { org, agent, data, displayNames, host, keypad, search, over, mocks, onSensitiveKeys = () => () => undefined } = options;
  const keys = new SensitiveKeys();
  const isSensitive = new Set<ToolDefinition>();
  const definitions: ToolDefinition[] = [];
  for (const tool of byPrecedence(agent.tools)) {
    const defined = definitionsOf(tool, options);
    definitions.push(...defined);
    if (tool.spec.sensitive === true) for (const definition of defined) isSensitive.add(definition);
  }
  const sensitive = definitions.filter((definition) => isSensitive.has(definition)).map(({ name }) => name);
  const hidden = sensitive.length === 0 ? undefined : { tools: sensitive, keys, onCollect: onSensitiveKeys };
  if (agent.knowledgeBase !== null) {
    definitions.push(createSearchKnowledgeBase({ org, knowledgeBase: agent.knowledgeBase, search, host }));
  }
  for (const handoff of agent.agent?.handoffs ?? [])
    definitions.push(createHandOver({ handoff, displayName: displayNames?.get(handoff.agentRef.name), data, host }));
  if (keypad !== undefined) definitions.push(createCollectDigits(keypad, hidden), createSendDigits(keypad));
  definitions.push(createEndCall(host));
  const names = functionNames(definitions.map(({ name }) => name));
  const renamed = (definition: ToolDefinition, index: number): ToolDefinition => ({
    ...definition,
    name: names[index] ?? definition.name,
    ...(isSensitive.has(definition) && { sensitive: true }),
  });
  return definitions
    .map(renamed)
    .map((definition) => mocks?.inPlaceOf(definition, over) ?? definition)
    .map((definition) => (definition.sensitive === true ? keys.protect(definition) : definition));
}

/** Returns the names by which the model calls the tools of {@link createTools}. @param keypad of a phone call */
export function functionNamesOf(
  { tools, knowledgeBase, agent }: CreateToolsOptions['agent'],
  { keypad }: { readonly keypad: boolean },
): readonly string[] {
  return functionNames([
    ...byPrecedence(tools).flatMap(({ functionName, mcp }) =>
      mcp === undefined ? [functionName] : mcp.tools.map((tool) => tool.functionName),
    ),
    ...(knowledgeBase === null ? [] : [SEARCH_FUNCTION]),
    ...(agent?.handoffs ?? []).map(({ agentRef }) => handOverFunction(agentRef.name)),
    ...(keypad ? ['collect_digits', 'send_digits'] : []),
    'end_call',
  ]);
}

/** Orders tools: owners name the others, to which those of MCP servers give way. */
function byPrecedence(tools: readonly RevisionTool[]): readonly RevisionTool[] {
  return [...tools.filter(({ mcp }) => mcp === undefined), ...tools.filter(({ mcp }) => mcp !== undefined)];
}

function definitionsOf(tool: RevisionTool, options: CreateToolsOptions): readonly ToolDefinition[] {
  const { mcp: pinned, spec } = tool;
  if (spec.mcp === undefined || pinned === undefined) return [defineTool(tool, options) ?? []].flat();
  const { org, data, egress, keys, tokens, logger, over, stop, mocks } = options;
  return createMcpTools({
    org,
    mcp: spec.mcp,
    pinned,
    messages: spec.messages ?? NO_MESSAGES,
    data,
    egress,
    tokens,
    readSecret: (ref) => keys.read(org, ref),
    logger,
    over,
    stop,
    // A test may mock all of them.
    warm: mocks === undefined,
  });
}

/** Returns the definition of a tool; undefined for a type that this version doesn't know. */
function defineTool({ functionName, spec }: RevisionTool, options: CreateToolsOptions): ToolDefinition | undefined {
  const { org, data, host, egress, keys, mailer, calendar, clock } = options;
  const readSecret = (ref: { readonly name: string; readonly key: string }) => keys.read(org, ref);
  const messages = spec.messages ?? NO_MESSAGES;
  const description = spec.description === undefined ? undefined : fillTemplate(spec.description, data);
  const common = { name: functionName, description, messages, data, readSecret, clock };
  if (spec.custom !== undefined)
    return createCustomTool({ custom: spec.custom, messages, note: spec.description, data, egress, readSecret });
  if (spec.transferCall !== undefined) return createTransferCall({ ...common, spec: spec.transferCall, host });
  if (spec.sendEmail !== undefined) return createSendEmail({ ...common, spec: spec.sendEmail, mailer });
  if (spec.bookCalendar !== undefined) return createBookCalendar({ ...common, spec: spec.bookCalendar, calendar });
  if (spec.checkCalendarAvailability !== undefined) {
    return createCheckAvailability({ ...common, spec: spec.checkCalendarAvailability, calendar });
  }
  return undefined;
}
