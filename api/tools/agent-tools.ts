/** `llm.tools` of an agent: tools attach themselves, so that this list is a set of changes to Tools and never touches the agent. */
import type { Tool, ToolSpec } from '../../crds/index.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import { companionName, masked, SecretWriter } from '../codec/secrets.ts';
import { ApiError, ValidationError, type FieldConflict } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { sameJson } from '../../platform/json.ts';
import type { KindContext } from '../kinds/context.ts';
import { isObjectName, newSuffix, randomId, readableName, suffixOf } from '../resources/names.ts';
import type { Parts, WriteMode } from '../resources/resource-writer.ts';
import { requireFree } from '../resources/unique-names.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { attachedToolToRest, functionNameOf, toolBringsSecrets, toolFromRest, type InlineTool } from './fields.ts';
import { functionNameClaims } from './function-names.ts';
import { TOOL_NAME_RULE, ToolWriter, withAgent } from './tool-writer.ts';

const at: Loc = ['body', 'llm', 'tools'];

type Step =
  | {
      readonly type: 'create';
      readonly index: number;
      readonly name: string;
      readonly item: InlineTool;
      readonly spec: Draft<ToolSpec>;
      readonly secrets: SecretWriter;
    }
  | { readonly type: 'attach'; readonly index: number; readonly name: string; readonly item: InlineTool; readonly found: Stored<Tool> }
  | { readonly type: 'detach'; readonly name: string };

export interface ToolPlan {
  readonly agentName: string;
  readonly steps: readonly Step[];
}

export class AgentTools {
  readonly #context: KindContext;
  readonly #writer: ToolWriter;

  constructor(context: KindContext) {
    this.#context = context;
    this.#writer = new ToolWriter(context);
  }

  /** In the order of their creation. */
  async attachedTo(org: string, agentName: string): Promise<readonly Stored<Tool>[]> {
    const tools = await this.#context.views.tools.find('agent', `${org}/${agentName}`);
    return tools.toSorted((a, b) => (creationOrder(a) < creationOrder(b) ? -1 : 1));
  }

  /** What has to be done so that exactly `items` are attached; failures of the request are added to `failures`. */
  async plan(caller: Caller, agentName: string, items: readonly InlineTool[], failures: ValidationIssue[]): Promise<ToolPlan> {
    const { org } = caller;
    const attached = await this.attachedTo(org, agentName);
    const named = new Set(items.map(({ tool_id: id }) => id));
    // New tools are born in the same second: suffixes in ascending order keep them in the order of the request.
    const suffixes = items.map(() => newSuffix()).toSorted();
    const newNames = items.map((item, index) => readableName('tool', item.function_tool?.name, suffixes[index]));
    const foundByItem = items.map((): ValidationIssue[] => []);
    const steps = await Promise.all(
      items.map(async (item, index): Promise<Step | undefined> => {
        const found = foundByItem[index] ?? [];
        const namesake = item.tool_id
          ? undefined
          : attached.find((tool) => tool.spec.custom?.function.name === item.function_tool?.name && !named.has(tool.metadata.name));
        const id = item.tool_id ?? namesake?.metadata.name;
        if (id === undefined) return this.#planCreation(caller, newNames[index] ?? '', agentName, item, index, found);
        const isName = isObjectName(id);
        const tool = isName ? await this.#writer.find(org, id) : undefined;
        if (tool === undefined && isName && isDefined(item)) return this.#planCreation(caller, id, agentName, item, index, found);
        if (tool === undefined) {
          const message = isDefined(item)
            ? TOOL_NAME_RULE
            : `there is no tool ${JSON.stringify(id)}: give function_tool and additional_tool_info to make it`;
          found.push(issues.value([...at, index, 'tool_id'], message));
          return undefined;
        }
        const { spec, secrets } = await this.#change(caller, agentName, tool, item, index, found);
        if (
          !isOwn(tool, agentName) &&
          found.length === 0 &&
          ((secrets?.pending.size ?? 0) > 0 || !sameJson(spec, withAgent(tool.spec, agentName)))
        )
          throw notOwn(id);
        if (found.length === 0 && functionNameOf(spec) !== functionNameOf(tool.spec)) {
          const others = (tool.spec.agentRefs ?? []).map((ref) => ref.name).filter((other) => other !== agentName);
          await requireFree(functionNameClaims(this.#context, org, others, functionNameOf(spec), named));
        }
        return { type: 'attach', index, name: id, item, found: tool };
      }),
    );
    failures.push(...foundByItem.flat());
    const kept = steps.filter((step) => step !== undefined);
    requireDistinctFunctions(kept, failures);
    const detached = attached.filter(({ metadata }) => !kept.some((step) => step.name === metadata.name));
    return { agentName, steps: [...kept, ...detached.map(({ metadata }) => ({ type: 'detach', name: metadata.name }) as const)] };
  }

  /** @param onDryRun gets the tools as they would be listed */
  partsOf(caller: Caller, plan: ToolPlan, force: boolean, onDryRun: (tools: readonly unknown[]) => void): Parts {
    const { org } = caller;
    return {
      dryRun: async () => onDryRun(await this.#run(plan, caller, { dryRun: true, force }, undefined)),
      write: async (agent) => void (await this.#run(plan, caller, { dryRun: false, force }, agent)),
      settle: async (agent) => {
        const made = plan.steps.filter(({ type }) => type === 'create');
        await Promise.all(made.map(({ name }) => this.#writer.settle(org, name, agent)));
      },
      takeBack: async () => {
        const mode = { dryRun: false, force: false };
        await Promise.allSettled(plan.steps.map((step) => this.#writer.detach(org, step.name, plan.agentName, mode)));
      },
    };
  }

  /** To be called before the agent is deleted: tools that others use as well don't go with it. */
  async beforeDeletion(org: string, agentName: string): Promise<void> {
    const attached = await this.attachedTo(org, agentName);
    await Promise.all(attached.map((tool) => this.#writer.beforeDeletionOf(agentName, tool)));
  }

  /** The agent is gone: nothing refers to it any more that this facade attached. */
  async release(org: string, agentName: string): Promise<void> {
    const attached = await this.attachedTo(org, agentName);
    const results = await Promise.allSettled(
      attached.map(({ metadata }) => this.#writer.detach(org, metadata.name, agentName, { dryRun: false, force: false })),
    );
    for (const result of results) {
      if (result.status === 'rejected')
        this.#context.logger.info({ err: result.reason as unknown, org, agentName }, 'a tool keeps its reference to a deleted agent');
    }
  }

  #planCreation(caller: Caller, name: string, agentName: string, item: InlineTool, index: number, found: ValidationIssue[]): Step {
    const secrets = new SecretWriter({
      name: companionName('Tool', name),
      mayMove: mayReadSecrets(caller),
      randomId: () => randomId(8),
    });
    const spec = toolFromRest(item, undefined, { secrets, loc: [...at, index], found });
    found.push(...this.#issuesOf(spec, undefined, index));
    return { type: 'create', index, name, item, spec: { ...spec, agentRefs: [{ name: agentName }] }, secrets };
  }

  /** The tool as the item wants it: attached, and with the definition it brings. */
  async #change(
    caller: Caller,
    agentName: string,
    tool: Stored<Tool>,
    item: InlineTool,
    index: number,
    found: ValidationIssue[],
  ): Promise<{ readonly spec: Draft<ToolSpec>; readonly secrets?: SecretWriter }> {
    const spec = withAgent(tool.spec, agentName);
    const brings = Object.entries(item).some(([name, value]) => name !== 'tool_id' && value !== undefined);
    if (!brings) return { spec };
    const isBuiltin = tool.spec.custom === undefined;
    if (isBuiltin) {
      for (const part of ['function_tool', 'additional_tool_info'] as const)
        if ((item[part] ?? undefined) !== undefined)
          found.push(issues.value([...at, index, part], `${JSON.stringify(tool.metadata.name)} is a built-in tool: it has its own route`));
    }
    const secrets = await this.#writer.secretWriter(caller, tool.metadata.name, toolBringsSecrets(item) ? tool : undefined);
    const changed = toolFromRest(item, spec, { secrets, loc: [...at, index], found });
    // What a built-in tool can't have is refused once.
    if (!isBuiltin || found.length === 0) found.push(...this.#issuesOf(changed, tool.spec, index));
    return isBuiltin ? { spec: changed } : { spec: changed, secrets };
  }

  #issuesOf(spec: Draft<ToolSpec>, previous: ToolSpec | undefined, index: number): readonly ValidationIssue[] {
    return this.#writer.issuesOf(spec, previous).map(({ type, loc, msg }) => ({ type, loc: inList(loc, index), msg }));
  }

  async #run(
    { agentName, steps }: ToolPlan,
    caller: Caller,
    mode: WriteMode,
    agent: Stored<KubeObject> | undefined,
  ): Promise<readonly unknown[]> {
    const runAll = (some: readonly Step[]): Promise<readonly (readonly unknown[])[]> =>
      Promise.all(
        some.map(async (step) => {
          try {
            const tool = await this.#runStep(agentName, step, caller, mode, agent);
            return tool === undefined ? [] : [attachedToolToRest(tool, masked)];
          } catch (error) {
            throw inAgentsWords(error, step);
          }
        }),
      );
    // What comes before what goes: a process that dies in between leaves the agent with a tool too many, never with one too few.
    const listed = await runAll(steps.filter(({ type }) => type !== 'detach'));
    await runAll(steps.filter(({ type }) => type === 'detach'));
    return listed.flat();
  }

  async #runStep(
    agentName: string,
    step: Step,
    caller: Caller,
    mode: WriteMode,
    agent: Stored<KubeObject> | undefined,
  ): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    if (step.type === 'create') {
      const made = await this.#make(agentName, step, caller, mode, agent);
      if (made !== undefined) return made;
    }
    if (step.type === 'detach') {
      await this.#writer.detach(org, step.name, agentName, mode);
      return undefined;
    }
    const tool = await this.#writer.update(
      org,
      step.name,
      async (stored) => {
        // Another request has made a tool of this name meanwhile.
        if (step.type === 'create' && !isOwn(stored, agentName)) throw notOwn(step.name);
        // The tool may have another state than the plan was made for, with a secret that must not move.
        const found: ValidationIssue[] = [];
        const { spec, secrets } = await this.#change(caller, agentName, stored, step.item, step.index, found);
        if (found.length > 0) throw new ValidationError(found);
        return { spec, ...(secrets && { companions: { Secret: secrets } }) };
      },
      mode,
    );
    if (tool === undefined)
      throw new ValidationError([issues.value([...at, step.index, 'tool_id'], `there is no tool ${JSON.stringify(step.name)}`)]);
    if (!mode.dryRun) await this.#writer.attached(tool);
    return tool;
  }

  /** @returns undefined where there is a tool of the chosen name by now */
  #make(
    agentName: string,
    { name, spec, secrets, item }: Extract<Step, { readonly type: 'create' }>,
    caller: Caller,
    mode: WriteMode,
    agent: Stored<KubeObject> | undefined,
  ): Promise<Stored<Tool> | undefined> {
    const make = (onlyNew: boolean) =>
      this.#writer.make({ name, spec, secrets, caller, madeWith: { agentName, agent } }, { ...mode, onlyNew });
    if (item.tool_id !== name) return make(false);
    return this.#writer.exclusively(caller.org, name, async () =>
      (await this.#writer.find(caller.org, name)) === undefined ? make(true) : undefined,
    );
  }
}

function isOwn({ spec }: Stored<Tool>, agentName: string): boolean {
  return (spec.agentRefs ?? []).some(({ name }) => name === agentName);
}

function isDefined({ function_tool: fn, additional_tool_info: info }: InlineTool): boolean {
  return (fn ?? undefined) !== undefined && (info ?? undefined) !== undefined;
}

function notOwn(id: string): ApiError {
  return new ApiError(
    'conflict',
    `llm.tools: the agent doesn't have the tool ${JSON.stringify(id)}, and so can't change it: give its tool_id alone to attach it as it is, or another tool_id to make a new one`,
  );
}

function creationOrder({ metadata }: Stored<Tool>): string {
  return `${metadata.creationTimestamp} ${suffixOf(metadata.name)} ${metadata.name}`;
}

function inList(loc: Loc | undefined, index: number): Loc {
  return [...at, index, ...(loc?.slice(1) ?? [])];
}

function requireDistinctFunctions(steps: readonly Step[], found: ValidationIssue[]): void {
  const seen = new Set<string>();
  for (const step of steps) {
    if (step.type === 'detach') continue;
    const own = step.type === 'create' ? functionNameOf(step.spec) : (step.item.function_tool?.name ?? functionNameOf(step.found.spec));
    if (own === undefined) continue;
    if (seen.has(own))
      found.push(
        issues.value([...at, step.index], `two tools of an agent can't have one function name, and ${JSON.stringify(own)} is there twice`),
      );
    seen.add(own);
  }
}

/** A conflict or refusal of one tool, as a part of the agent's body. */
function inAgentsWords(error: unknown, step: Step): unknown {
  if (error instanceof ValidationError && step.type !== 'detach') {
    const nested = error.issues.map(({ type, loc, msg }) => ({ type, loc: loc[1] === 'llm' ? loc : inList(loc, step.index), msg }));
    return new ValidationError(nested);
  }
  if (!(error instanceof ApiError) || error.conflicts === undefined) return error;
  const conflicts: FieldConflict[] = error.conflicts.map(({ manager }) => ({ field: 'llm.tools', manager }));
  return new ApiError('conflict', `llm.tools: tool ${step.name}: ${error.message}`, { conflicts, cause: error.cause });
}
