/** Writes single tools, with their secrets: makes and changes them, attaches them to agents and detaches them. */
import { toolKind, type Tool, type ToolSpec } from '../../crds/index.ts';
import { toolProblems } from '../../crds/limits.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { toolAddressProblems } from '../../calls/address-problems.ts';
import type { Draft } from '../codec/draft.ts';
import type { SecretWriter } from '../codec/secrets.ts';
import type { Caller } from '../http/caller.ts';
import { MANAGER } from '../partial/partial-update.ts';
import { field, ownersOf } from '../partial/path.ts';
import type { FindUsers } from '../references/users.ts';
import { orUndefined } from '../resources/companions.ts';
import type { KindContext } from '../kinds/context.ts';
import { specIssues } from '../resources/kube-failures.ts';
import { ResourceWriter, type CreationMode, type ResourceKind, type WriteMode, type Written } from '../resources/resource-writer.ts';
import { ownerReferenceTo, stageMarks, withoutMarks } from '../resources/staging.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import { toolFieldNames, toolSecretRefs } from './fields.ts';

/** Annotation with value `true`: the tool was made over REST, as a part of an agent; it goes when the last agent lets go of it. */
export const WITH_AGENT_ANNOTATION = 'parley.dev/made-with-agent';

export const TOOL_NAME_RULE =
  'a tool_id is a Kubernetes name: at most 253 lower-case letters, digits, "-" and ".", with a letter or digit at both ends';

export const toolResource: ResourceKind<Tool> = {
  definition: toolKind,
  fieldNames: toolFieldNames,
  companionRefs: (spec) => ({ Secret: toolSecretRefs(spec) }),
};

/** Finds tools that another field manager has attached to an agent; the others go with it or are detached by its deletion. */
export function toolsOfAgent(context: KindContext): FindUsers {
  const writer = new ToolWriter(context);
  return async (org, agent) =>
    (await context.views.tools.find('agent', `${org}/${agent}`))
      .filter((tool) => isAttachedByOthers(tool, agent))
      .map(({ metadata: { name } }) => ({ noun: 'tool', name, release: (mode) => writer.detach(org, name, agent, mode) }));
}

export interface NewTool {
  readonly name: string;
  readonly spec: Draft<ToolSpec>;
  readonly secrets: SecretWriter;
  readonly caller: Caller;
  /** The agent that the tool is a part of; absent while the agent itself doesn't exist yet: then the tool is marked as staged for it. */
  readonly madeWith: { readonly agentName: string; readonly agent?: Stored<KubeObject> | undefined };
}

export class ToolWriter extends ResourceWriter<Tool> {
  readonly #context: KindContext;

  constructor(context: KindContext) {
    super(context, toolResource, context.views.tools);
    this.#context = context;
  }

  /** Returns issues that only the whole spec shows. */
  issuesOf(spec: Draft<ToolSpec>, previous: ToolSpec | undefined): readonly ValidationIssue[] {
    const check = (tool: ToolSpec) => [...toolProblems(tool), ...toolAddressProblems(tool, this.#context.addresses)];
    return specIssues(toolResource, check, spec, previous);
  }

  /** Makes a tool as a part of an agent: see {@link NewTool.madeWith}. */
  make({ name, spec, secrets, caller, madeWith: { agent, agentName } }: NewTool, mode: CreationMode<Tool>): Promise<Written<Tool>> {
    const made = { [WITH_AGENT_ANNOTATION]: 'true' };
    const at = new Date(this.#context.clock.now()).toISOString();
    const marks = stageMarks({ for: { kind: 'Agent', name: agentName }, at, keys: [] });
    const metadata =
      agent === undefined
        ? { annotations: { ...made, ...marks.annotations }, labels: marks.labels }
        : { annotations: made, ownerReferences: [ownerReferenceTo(agent)] };
    return this.create(caller, name, { spec, metadata, companions: { Secret: secrets } }, mode);
  }

  /** Makes the agent for which the tool was made its owner, once the agent exists, and takes the marks off. */
  adopt(org: string, name: string, agent: Stored<KubeObject>): Promise<void> {
    return this.#patch(org, name, { ...withoutMarks, ownerReferences: [ownerReferenceTo(agent)] });
  }

  /** Removes the owner of a tool that several agents use, so that the garbage collector deletes it with none of them. */
  async disown({ metadata: { namespace = '', name, ownerReferences = [] } }: Stored<Tool>): Promise<void> {
    if (ownerReferences.length > 0) await orUndefined(this.#patch(namespace, name, { ownerReferences: null }));
  }

  /**
   * Takes `agentName` out of the tool's agents. A tool that was made with an agent goes with the last one that lets go of it, in one
   * write: a process that dies leaves no tool without agents behind.
   */
  async detach(org: string, name: string, agentName: string, mode: WriteMode): Promise<void> {
    const goes = (tool: Stored<Tool>): boolean =>
      tool.metadata.annotations?.[WITH_AGENT_ANNOTATION] === 'true' && isLastAgent(tool, agentName) && (mode.force || !heldByOthers(tool));
    if (!(await this.delete(org, name, mode, goes))) await this.removeAgent(org, name, agentName, mode);
  }

  /** Takes `agentName` out of the tool's agents while `decide` agrees. @returns undefined where it wasn't one, or stays one */
  async removeAgent(
    org: string,
    name: string,
    agentName: string,
    mode: WriteMode,
    decide: (stored: Stored<Tool>) => boolean = () => true,
  ): Promise<Stored<Tool> | undefined> {
    const change = async (stored: Stored<Tool>) =>
      decide(stored) && isAttachedTo(stored, agentName) ? { spec: withoutAgent(stored.spec, agentName) } : undefined;
    const left = (await this.update(org, name, change, mode))?.object;
    if (left !== undefined && !mode.dryRun) await this.disown(left);
    return left;
  }

  async #patch(namespace: string, name: string, metadata: object): Promise<void> {
    const { tools } = this.#context.views;
    tools.wrote(await tools.client.patch({ namespace, name }, { metadata }));
  }
}

export function isAttachedTo({ spec }: Stored<Tool>, agentName: string): boolean {
  return (spec.agentRefs ?? []).some(({ name }) => name === agentName);
}

export function isLastAgent({ spec }: Stored<Tool>, agentName: string): boolean {
  return (spec.agentRefs ?? []).every(({ name }) => name === agentName);
}

/** Returns whether another manager decides which agents have the tool: then that manager detaches it. */
function heldByOthers(tool: Stored<Tool>): boolean {
  return ownersOf(tool, [field('spec'), field('agentRefs')], MANAGER).length > 0;
}

export function isAttachedByOthers(tool: Stored<Tool>, agentName: string): boolean {
  return ownersOf(tool, [field('spec'), field('agentRefs'), { type: 'key', key: { name: agentName } }], MANAGER).length > 0;
}

export function withAgent(spec: ToolSpec, agentName: string): ToolSpec {
  const refs = spec.agentRefs ?? [];
  return refs.some(({ name }) => name === agentName) ? spec : { ...spec, agentRefs: [...refs, { name: agentName }] };
}

function withoutAgent(spec: ToolSpec, agentName: string): Draft<ToolSpec> {
  const { agentRefs = [], ...rest } = spec;
  const left = agentRefs.filter(({ name }) => name !== agentName);
  return left.length === 0 ? rest : { ...rest, agentRefs: left };
}
