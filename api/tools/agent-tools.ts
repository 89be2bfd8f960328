/** Attaches the `llm.tools` of an agent. Tools attach themselves, so the list is a set of changes to Tools, none to the agent. */
import type { Agent, Tool, ToolSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/draft.ts';
import type { SecretWriter } from '../codec/secrets.ts';
import { ApiError, requireNoIssues, ValidationError, type FieldConflict } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { sameJson } from '../../platform/json.ts';
import type { KindContext } from '../kinds/context.ts';
import { isObjectName, newSuffix, readableName, suffixOf } from '../resources/names.ts';
import type { WriteMode } from '../resources/resource-writer.ts';
import { requireFree } from '../resources/unique-names.ts';
import { together, type ResultOf, type Step } from '../resources/write-steps.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { functionNameOf, toolBringsSecrets, toolFromRest, type InlineTool } from './fields.ts';
import { functionNameClaims } from './function-names.ts';
import { isAttachedTo, isLastAgent, TOOL_NAME_RULE, ToolWriter, withAgent } from './tool-writer.ts';

const at: Loc = ['body', 'llm', 'tools'];

/** A tool of the list, with all that the agent needs to have it as its item says. */
interface Attachment {
  readonly index: number;
  readonly name: string;
  readonly item: InlineTool;
  readonly functionName: string | undefined;
  /** Set for a tool that doesn't exist yet. */
  readonly made?: { readonly spec: Draft<ToolSpec>; readonly secrets: SecretWriter };
}

export interface ToolSteps {
  /** Makes, changes and attaches the tools of the list, and returns them in its order. */
  readonly attach: Step<readonly Stored<Tool>[]>;
  readonly detach: Step;
  /** Makes the agent the owner of the tools that were made before it. @param agent the step that makes the agent */
  adopt(agent: Step<Stored<Agent>>): Step;
}

export interface AgentWrite extends Pick<WriteMode, 'force'> {
  readonly caller: Caller;
  readonly agentName: string;
  /** Undefined while the agent doesn't exist yet. */
  readonly agent: Stored<Agent> | undefined;
}

export class AgentTools {
  readonly #context: KindContext;
  readonly #writer: ToolWriter;

  constructor(context: KindContext) {
    this.#context = context;
    this.#writer = new ToolWriter(context);
  }

  /** Returns the attached tools in the order of their creation. */
  async attachedTo(org: string, agentName: string): Promise<readonly Stored<Tool>[]> {
    const tools = await this.#context.views.tools.find('agent', `${org}/${agentName}`);
    return tools.toSorted((a, b) => (creationOrder(a) < creationOrder(b) ? -1 : 1));
  }

  /** @returns steps after which exactly `items` are attached, where anything has to change, and the issues that prevent them */
  async plan(
    write: AgentWrite,
    items: readonly InlineTool[],
  ): Promise<{ readonly steps: ToolSteps | undefined; readonly issues: readonly ValidationIssue[] }> {
    const attached = await this.attachedTo(write.caller.org, write.agentName);
    const named = new Set(items.map(({ tool_id: id }) => id));
    const unnamed = attached.filter(({ metadata }) => !named.has(metadata.name));
    // New tools have the same second of creation: suffixes in ascending order keep them in the order of the request.
    const suffixes = items.map(() => newSuffix()).toSorted();
    const planned = await Promise.all(
      items.map(async (item, index) => {
        const namesake = unnamed.find(({ spec }) => spec.custom?.function.name === item.function_tool?.name);
        const id = item.tool_id ?? namesake?.metadata.name;
        const newName = readableName('tool', item.function_tool?.name, suffixes[index]);
        return this.#planItem(write, { item, index, id, newName, named });
      }),
    );
    const attachments = planned.flatMap(({ attachment }) => attachment ?? []);
    const kept = new Set(attachments.map(({ name }) => name));
    const detached = attached.map(({ metadata }) => metadata.name).filter((name) => !kept.has(name));
    return {
      steps: attachments.length + detached.length > 0 ? this.#stepsOf(write, attachments, detached) : undefined,
      issues: [...planned.flatMap((each) => each.issues), ...sameFunctionIssues(attachments)],
    };
  }

  #stepsOf(write: AgentWrite, attachments: readonly Attachment[], detached: readonly string[]): ToolSteps {
    const { agentName, agent, force, caller } = write;
    const { org } = caller;
    const attaching = attachments.map((attachment) => ({
      run: (_: ResultOf, dryRun: boolean) => translateToolErrors(attachment, this.#attach(write, attachment, { dryRun, force })),
      // A tool of an existing agent may have been attached before, so this isn't undone.
      ...(agent === undefined && {
        undo: () => this.#writer.detach(org, attachment.name, agentName, { dryRun: false, force: false }),
      }),
    }));
    const detaching = detached.map((name) => ({
      run: (_: ResultOf, dryRun: boolean) => translateToolErrors({ name }, this.#writer.detach(org, name, agentName, { dryRun, force })),
    }));
    const adopting = (object: Step<Stored<Agent>>) =>
      attachments
        .filter(({ made }) => made !== undefined)
        .map(({ name }) => ({
          run: async (resultOf: ResultOf, dryRun: boolean) => dryRun || this.#writer.adopt(org, name, resultOf(object)),
        }));
    return { attach: together(attaching), detach: together(detaching), adopt: (object) => together(adopting(object)) };
  }

  /** Keeps tools that others use as well from going with the agent; comes before the agent's deletion. */
  async beforeDeletion(org: string, agentName: string): Promise<void> {
    const attached = await this.attachedTo(org, agentName);
    await Promise.all(attached.filter((tool) => !isLastAgent(tool, agentName)).map((tool) => this.#writer.disown(tool)));
  }

  /** Detaches the tools that this facade attached to the deleted agent. */
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

  /** @param planned.named the tools that the request names, which change along with this one */
  async #planItem(
    write: AgentWrite,
    { item, index, id, newName, named }: PlannedItem,
  ): Promise<{ readonly attachment?: Attachment; readonly issues: readonly ValidationIssue[] }> {
    const { caller, agentName } = write;
    if (id === undefined) return this.#planCreation(write, newName, item, index);
    const isName = isObjectName(id);
    const tool = isName ? await this.#writer.find(caller.org, id) : undefined;
    if (tool === undefined && isName && isDefined(item)) return this.#planCreation(write, id, item, index);
    if (tool === undefined) {
      const absent = `there is no tool ${JSON.stringify(id)}: give function_tool and additional_tool_info to make it`;
      return { issues: [issues.value([...at, index, 'tool_id'], isDefined(item) ? TOOL_NAME_RULE : absent)] };
    }
    const { spec, secrets, issues: found } = await this.#change(write, tool, item, index);
    if (found.length === 0) {
      const changes = (secrets?.pending.size ?? 0) > 0 || !sameJson(spec, withAgent(tool.spec, agentName));
      if (changes && !isAttachedTo(tool, agentName)) throw notOwn(id);
      if (functionNameOf(spec) !== functionNameOf(tool.spec)) {
        const others = (tool.spec.agentRefs ?? []).map((ref) => ref.name).filter((other) => other !== agentName);
        await requireFree(functionNameClaims(this.#context, caller.org, others, functionNameOf(spec), named));
      }
    }
    const functionName = item.function_tool?.name ?? functionNameOf(tool.spec);
    return { attachment: { index, name: id, item, functionName }, issues: found };
  }

  async #planCreation({ caller, agentName }: AgentWrite, name: string, item: InlineTool, index: number) {
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = toolFromRest(item, undefined, { secrets, loc: [...at, index], found });
    const made = { spec: { ...spec, agentRefs: [{ name: agentName }] }, secrets };
    return {
      attachment: { index, name, item, functionName: functionNameOf(spec), made },
      issues: [...found, ...this.#issuesOf(spec, undefined, index)],
    };
  }

  /** Returns the tool as the item wants it: attached, and with the item's definition. */
  async #change(
    { caller, agentName }: AgentWrite,
    tool: Stored<Tool>,
    item: InlineTool,
    index: number,
  ): Promise<{ readonly spec: Draft<ToolSpec>; readonly secrets?: SecretWriter; readonly issues: readonly ValidationIssue[] }> {
    const spec = withAgent(tool.spec, agentName);
    const brings = Object.entries(item).some(([name, value]) => name !== 'tool_id' && value !== undefined);
    if (!brings) return { spec, issues: [] };
    const found: ValidationIssue[] = [];
    const isBuiltin = tool.spec.type !== 'Custom';
    if (isBuiltin) {
      for (const part of ['function_tool', 'additional_tool_info'] as const)
        if ((item[part] ?? undefined) !== undefined)
          found.push(issues.value([...at, index, part], `${JSON.stringify(tool.metadata.name)} is a built-in tool: it has its own route`));
    }
    const secrets = await this.#writer.secretWriter(caller, tool.metadata.name, toolBringsSecrets(item) ? tool : undefined);
    const changed = toolFromRest(item, spec, { secrets, loc: [...at, index], found });
    // A field that a built-in tool can't have is refused once.
    if (!isBuiltin || found.length === 0) found.push(...this.#issuesOf(changed, tool.spec, index));
    return { spec: changed, ...(!isBuiltin && { secrets }), issues: found };
  }

  #issuesOf(spec: Draft<ToolSpec>, previous: ToolSpec | undefined, index: number): readonly ValidationIssue[] {
    return this.#writer.issuesOf(spec, previous).map(({ type, loc, msg }) => ({ type, loc: inList(loc, index), msg }));
  }

  async #attach(write: AgentWrite, attachment: Attachment, mode: WriteMode): Promise<Stored<Tool>> {
    const { caller, agentName } = write;
    const made = await this.#make(write, attachment, mode);
    if (made !== undefined) return made;
    const change = async (stored: Stored<Tool>) => {
      // Another request has made a tool of this name meanwhile.
      if (attachment.made !== undefined && !isAttachedTo(stored, agentName)) throw notOwn(attachment.name);
      // The tool may have changed since the plan was made, and have a secret that must not move.
      const { spec, secrets, issues: found } = await this.#change(write, stored, attachment.item, attachment.index);
      requireNoIssues(found);
      return { spec, ...(secrets && { companions: { Secret: secrets } }) };
    };
    const written = await this.#writer.update(caller.org, attachment.name, change, mode);
    if (written === undefined)
      throw new ValidationError([
        issues.value([...at, attachment.index, 'tool_id'], `there is no tool ${JSON.stringify(attachment.name)}`),
      ]);
    // The tool was made with one agent's body, and no longer goes with that agent.
    if (!mode.dryRun && !isLastAgent(written.object, agentName)) await this.#writer.disown(written.object);
    return written.object;
  }

  /** @returns undefined where a tool of the name exists already */
  async #make(
    { caller, agentName, agent }: AgentWrite,
    { name, item, made }: Attachment,
    mode: WriteMode,
  ): Promise<Stored<Tool> | undefined> {
    if (made === undefined) return undefined;
    const make = async (onlyNew: boolean) =>
      (await this.#writer.make({ name, ...made, caller, madeWith: { agentName, agent } }, { dryRun: mode.dryRun, onlyNew })).object;
    if (item.tool_id !== name) return make(false);
    return this.#writer.exclusively(caller.org, name, async () =>
      (await this.#writer.find(caller.org, name)) === undefined ? make(true) : undefined,
    );
  }
}

interface PlannedItem extends Pick<Attachment, 'item' | 'index'> {
  /** Id of a tool that the request names, or that has the function's name. */
  readonly id: string | undefined;
  readonly newName: string;
  readonly named: ReadonlySet<string | null | undefined>;
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

function sameFunctionIssues(attachments: readonly Attachment[]): readonly ValidationIssue[] {
  const names = attachments.map(({ functionName }) => functionName);
  return attachments.flatMap(({ index, functionName: name }, position) => {
    if (name === undefined || names.indexOf(name) === position) return [];
    return [issues.value([...at, index], `two tools of an agent can't have one function name, and ${JSON.stringify(name)} is there twice`)];
  });
}

/** Translates refusals and conflicts of one tool into those of a part of the agent's body. */
async function translateToolErrors<R>({ name, index }: { readonly name: string; readonly index?: number }, work: Promise<R>): Promise<R> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ValidationError && index !== undefined)
      throw new ValidationError(
        error.issues.map(({ type, loc, msg }) => ({ type, loc: loc[1] === 'llm' ? loc : inList(loc, index), msg })),
      );
    if (!(error instanceof ApiError) || error.conflicts === undefined) throw error;
    const conflicts: FieldConflict[] = error.conflicts.map(({ manager }) => ({ field: 'llm.tools', manager }));
    throw new ApiError('conflict', `llm.tools: tool ${name}: ${error.message}`, { conflicts, cause: error.cause });
  }
}
