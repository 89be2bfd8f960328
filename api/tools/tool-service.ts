/** Serves the tools of one agent to their own routes. A crash in the middle of a request leaves nothing half done. */
import { toolDataRemarks } from '../../crds/agent-consistency.ts';
import type { Agent, Tool, ToolSpec } from '../../crds/index.ts';
import type { SpecProblem } from '../../crds/limits.ts';
import { toolRemarks } from '../../crds/tool-consistency.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/draft.ts';
import type { SecretWriter } from '../codec/secrets.ts';
import { ApiError, requireNoIssues, ValidationError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { sameJson } from '../../platform/json.ts';
import type { KindContext } from '../kinds/context.ts';
import { isObjectName, readableName } from '../resources/names.ts';
import { warnOf } from '../resources/remarks.ts';
import type { WriteMode, Written } from '../resources/resource-writer.ts';
import { requireFirst, requireFree, updateNamed, type NameClaim } from '../resources/unique-names.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import {
  functionNameOf,
  MAX_TOOLS,
  toolBringsSecrets,
  toolFieldNames,
  toolFromRest,
  toolSecretRefs,
  toolToRest,
  type BuiltinToolCreate,
  type BuiltinToolUpdate,
  type CustomTool,
  type CustomToolUpdate,
  type McpTool,
  type McpToolUpdate,
} from './fields.ts';
import { functionNameClaims } from './function-names.ts';
import { isAttachedTo, isLastAgent, TOOL_NAME_RULE, ToolWriter } from './tool-writer.ts';

type ToolCreate = CustomTool | BuiltinToolCreate | McpTool;
type ToolUpdate = CustomToolUpdate | BuiltinToolUpdate | McpToolUpdate;

export class ToolService {
  readonly #context: KindContext;
  readonly #writer: ToolWriter;
  readonly #includes: (spec: ToolSpec) => boolean;

  /** @param includes selects the tools of one family */
  constructor(context: KindContext, includes: (spec: ToolSpec) => boolean) {
    this.#context = context;
    this.#writer = new ToolWriter(context);
    this.#includes = includes;
  }

  async list(org: string, agentName: string): Promise<readonly Stored<Tool>[] | undefined> {
    const { agents, tools } = this.#context.views;
    if ((await agents.get(org, agentName)) === undefined) return undefined;
    const attached = await tools.find('agent', `${org}/${agentName}`);
    return attached.filter(({ spec }) => this.#includes(spec));
  }

  find(org: string, agentName: string, name: string): Promise<Stored<Tool> | undefined> {
    return this.#find(org, agentName, name, 'get');
  }

  /**
   * @returns undefined when there is no such agent
   * @throws ApiError `conflict` when the name or the function name is taken, or the agent has as many tools as it may have
   */
  async create(caller: Caller, agentName: string, body: ToolCreate, mode: WriteMode): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    const { agents, tools } = this.#context.views;
    const agent = await agents.stored(org, agentName);
    if (agent === undefined) return undefined;
    if ((await tools.find('agent', `${org}/${agentName}`)).length >= MAX_TOOLS) throw tooManyTools();
    const wanted = body.tool_id ?? undefined;
    if (wanted !== undefined && !isObjectName(wanted)) throw new ValidationError([issues.value(['body', 'tool_id'], TOOL_NAME_RULE)]);
    const name = wanted ?? readableName('tool', suggestedName(body));
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const spec = { ...this.#encode(body, undefined, secrets), agentRefs: [{ name: agentName }] };
    const claims = functionNameClaims(this.#context, org, [agentName], functionNameOf(spec), new Set());
    await requireFree(claims);
    const confirm = ({ object }: Written<Tool>): Promise<void> => requireFirst(object, claims);
    return this.#writer.exclusively(org, name, async () => {
      if (wanted !== undefined && (await this.#writer.find(org, name)) !== undefined) throw toolNameTaken(name);
      const { object: made } = await this.#writer.make(
        { name, spec, secrets, caller, madeWith: { agentName, agent } },
        { ...mode, confirm, onlyNew: wanted !== undefined },
      );
      warnOf(toolFieldNames, remarksOn(made.spec, agent));
      return made;
    });
  }

  /**
   * Changes a tool that {@link find} found.
   * @returns undefined when it is gone meanwhile, or is no longer the agent's
   */
  async update(caller: Caller, agentName: string, name: string, body: ToolUpdate, options: WriteMode): Promise<Stored<Tool> | undefined> {
    const functionName = 'function_tool' in body ? body.function_tool?.name : undefined;
    return updateNamed(
      {
        writer: this.#writer,
        org: caller.org,
        name,
        to: functionName,
        nameOf: ({ spec }) => functionNameOf(spec),
        withName: withFunctionName,
        claims: (to, stored) => this.#claimsOf(caller.org, stored, to),
        update: (mode) => this.#updateOnce(caller, agentName, name, body, mode),
      },
      options,
    );
  }

  async #updateOnce(
    caller: Caller,
    agentName: string,
    name: string,
    body: ToolUpdate,
    { requireState, ...mode }: WriteMode,
  ): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    const change = async (stored: Stored<Tool>) => {
      if (!this.#belongs(stored, agentName)) return undefined;
      requireState?.(stored.metadata.resourceVersion);
      const secrets = await this.#writer.secretWriter(caller, name, toolBringsSecrets(body) ? stored : undefined);
      const spec = this.#encode(body, stored.spec, secrets);
      if (functionNameOf(spec) !== functionNameOf(stored.spec)) await requireFree(this.#claimsOf(org, stored, functionNameOf(spec)));
      return { spec, companions: { Secret: secrets } };
    };
    const updated = await this.#writer.update(org, name, change, mode);
    if (updated === undefined) return undefined;
    const agent = await this.#context.views.agents.get(org, agentName);
    warnOf(toolFieldNames, remarksOn(updated.object.spec, agent), remarksOn(updated.previous.spec, agent));
    return updated.object;
  }

  /**
   * Takes the tool from this agent, and deletes it when no other agent uses it.
   * @returns false when there is no such tool of no such agent
   */
  async delete(org: string, agentName: string, name: string, { requireState, ...mode }: WriteMode): Promise<boolean> {
    if ((await this.#find(org, agentName, name, 'stored')) === undefined) return false;
    const mine = (tool: Stored<Tool>): boolean => {
      if (!this.#belongs(tool, agentName)) return false;
      requireState?.(tool.metadata.resourceVersion);
      return true;
    };
    const goes = (tool: Stored<Tool>): boolean => mine(tool) && isLastAgent(tool, agentName);
    if (await this.#writer.delete(org, name, mode, goes)) return true;
    return (await this.#writer.removeAgent(org, name, agentName, mode, mine)) !== undefined;
  }

  /** @param agentName the agent from whose view the answer is */
  async view(caller: Caller, agentName: string, tool: Stored<Tool>): Promise<Readonly<Record<string, unknown>>> {
    const secrets = await this.#context.companions.secretsToShow(caller, toolSecretRefs(tool.spec));
    return toolToRest(tool, { secrets, state: await this.#context.states.tool(tool, agentName) });
  }

  #belongs(tool: Stored<Tool>, agentName: string): boolean {
    return this.#includes(tool.spec) && isAttachedTo(tool, agentName);
  }

  async #find(org: string, agentName: string, name: string, from: 'get' | 'stored'): Promise<Stored<Tool> | undefined> {
    const { agents, tools } = this.#context.views;
    const [agent, tool] = await Promise.all([agents[from](org, agentName), tools[from](org, name)]);
    return agent !== undefined && tool !== undefined && this.#belongs(tool, agentName) ? tool : undefined;
  }

  /** @throws ValidationError with everything that only shows against the stored state */
  #encode(body: ToolCreate | ToolUpdate, previous: ToolSpec | undefined, secrets: SecretWriter): Draft<ToolSpec> {
    const found: ValidationIssue[] = [];
    const spec = toolFromRest(body, previous, { secrets, loc: ['body'], found });
    // A field that is missing because it was refused is reported once.
    const problems = this.#writer.issuesOf(spec, previous);
    requireNoIssues([...found, ...problems.filter(({ loc }) => !found.some((other) => sameJson(other.loc, loc)))]);
    return spec;
  }

  #claimsOf(org: string, { metadata, spec }: Stored<Tool>, functionName: string | undefined): readonly NameClaim<Tool>[] {
    const agents = (spec.agentRefs ?? []).map(({ name }) => name);
    return functionNameClaims(this.#context, org, agents, functionName, new Set([metadata.name]));
  }
}

function remarksOn(spec: ToolSpec, agent: Stored<Agent> | undefined): readonly SpecProblem[] {
  return [...toolRemarks(spec), ...(agent === undefined ? [] : toolDataRemarks(spec, agent.spec))];
}

function suggestedName(body: ToolCreate): string {
  if ('tool_name' in body) return body.tool_name;
  return 'function_tool' in body ? body.function_tool.name : (URL.parse(body.server_url)?.hostname ?? '');
}

function withFunctionName(spec: ToolSpec, name: string): ToolSpec {
  return spec.custom === undefined ? spec : { ...spec, custom: { ...spec.custom, function: { ...spec.custom.function, name } } };
}

function toolNameTaken(name: string): ApiError {
  return new ApiError(
    'conflict',
    `there is a tool ${JSON.stringify(name)} already: leave tool_id out or use another one; to attach that tool, list it in the agent's llm.tools`,
  );
}

function tooManyTools(): ApiError {
  return new ApiError('conflict', `the agent has ${MAX_TOOLS} tools, the most it may have: delete one of them first`);
}
