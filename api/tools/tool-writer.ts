/** Writes of single tools, with their secrets: made, changed, attached to an agent and detached from it. */
import { API_VERSION, toolKind, wellKnown, type Tool, type ToolSpec } from '../../crds/index.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import type { Caller } from '../http/caller.ts';
import { manager } from '../partial/partial-update.ts';
import { field, ownersOf } from '../partial/path.ts';
import { shapeOf } from '../partial/shape.ts';
import { orUndefined } from '../resources/companions.ts';
import type { Foundation } from '../resources/foundation.ts';
import { mergePatch } from '../resources/merge-patch.ts';
import { ResourceWriter, type WriteMode } from '../resources/resource-writer.ts';
import { ownerReferenceTo, stageMarks, withoutMarks } from '../resources/staging.ts';
import { toolSecretRefs } from './codec.ts';
import { toolFieldNames } from './field-names.ts';

/** Annotation, value `true`: made over REST, as a part of an agent; it goes when the last agent lets go of it. */
export const withAgentAnnotation = 'parley.dev/made-with-agent';

/** What a `tool_id` that becomes a name has to look like. */
export const toolNameRule =
  'a tool_id is a Kubernetes name: at most 253 lower-case letters, digits, "-" and ".", with a letter or digit at both ends';

const shape = shapeOf(toolKind.spec);

export interface NewTool {
  readonly org: string;
  readonly name: string;
  readonly spec: Draft<ToolSpec>;
  /** Values for its Secret, by key. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly caller: Caller;
  /** The agent it is a part of; absent while the agent itself isn't there yet: then the tool is marked as staged for it. */
  readonly madeWith: { readonly agentName: string; readonly agent?: Stored<KubeObject> };
}

export class ToolWriter extends ResourceWriter<Tool> {
  readonly #foundation: Foundation;

  constructor(foundation: Foundation) {
    super({
      foundation,
      kind: 'Tool',
      client: foundation.clients.tools,
      view: foundation.views.tools,
      shape,
      fieldNames: toolFieldNames,
      secretRefs: toolSecretRefs,
    });
    this.#foundation = foundation;
  }

  /** Makes a tool as a part of an agent: see {@link NewTool.madeWith}. */
  async make({ org, name, spec, secrets, caller, madeWith: { agent, agentName } }: NewTool, mode: WriteMode): Promise<Stored<Tool>> {
    const marks =
      agent === undefined
        ? stageMarks({ for: { kind: 'Agent', name: agentName }, at: new Date(this.#foundation.clock.now()).toISOString(), keys: [] })
        : undefined;
    const annotations = {
      ...(caller.userId !== null && { [wellKnown.createdBy]: caller.userId }),
      [withAgentAnnotation]: 'true',
      ...marks?.annotations,
    };
    const metadata = {
      namespace: org,
      name,
      annotations,
      ...(marks && { labels: marks.labels }),
      ...(agent && { ownerReferences: [ownerReferenceTo(agent)] }),
    };
    return this.create({ apiVersion: API_VERSION, kind: 'Tool', metadata, spec } as unknown as Tool, secrets, mode);
  }

  /** The agent for which the tool was made is there: takes the marks off. */
  async settle(org: string, name: string, agent: Stored<KubeObject>): Promise<void> {
    const { transport, clients, views } = this.#foundation;
    const tool = await mergePatch<Tool>(
      transport,
      { descriptor: clients.tools.descriptor, namespace: org, name },
      { metadata: { ...withoutMarks, ownerReferences: [ownerReferenceTo(agent)] } },
    );
    views.tools.wrote(tool);
  }

  /** To be called when an agent was added: a tool made with the body of one agent doesn't go with it any more. */
  async attached(tool: Stored<Tool>): Promise<void> {
    if ((tool.spec.agentRefs ?? []).length > 1) await this.#disown(tool);
  }

  /** To be called before an agent goes: what others use as well stays, whoever attached it to them. */
  async beforeDeletionOf(agentName: string, tool: Stored<Tool>): Promise<void> {
    if (!isLastAgent(tool, agentName)) await this.#disown(tool);
  }

  /**
   * Takes `agentName` out of the tool's agents. A tool that was made with an agent goes with the last one that lets go of it, in one
   * write: a process that dies leaves no tool without agents behind.
   */
  async detach(org: string, name: string, agentName: string, mode: WriteMode): Promise<void> {
    const goes = (tool: Stored<Tool>): boolean =>
      tool.metadata.annotations?.[withAgentAnnotation] === 'true' && isLastAgent(tool, agentName) && (mode.force || !heldByOthers(tool));
    if (!(await this.delete(org, name, goes, mode))) await this.letGo(org, name, agentName, mode);
  }

  /** Takes `agentName` out of the tool's agents while `decide` says so. @returns undefined where there is no such tool */
  async letGo(
    org: string,
    name: string,
    agentName: string,
    mode: WriteMode,
    decide: (stored: Stored<Tool>) => boolean = () => true,
  ): Promise<Stored<Tool> | undefined> {
    const change = async (stored: Stored<Tool>) => ({ spec: decide(stored) ? withoutAgent(stored.spec, agentName) : stored.spec });
    const left = await this.update(org, name, change, mode);
    if (left !== undefined && !mode.dryRun) await this.#disown(left);
    return left;
  }

  /** The garbage collector takes it away with no agent any more. */
  async #disown({ metadata: { namespace = '', name, ownerReferences = [] } }: Stored<Tool>): Promise<void> {
    if (ownerReferences.length === 0) return;
    const { transport, clients, views } = this.#foundation;
    const target = { descriptor: clients.tools.descriptor, namespace, name };
    const tool = await orUndefined(mergePatch<Tool>(transport, target, { metadata: { ownerReferences: null } }));
    if (tool !== undefined) views.tools.wrote(tool);
  }
}

/** Whether no other agent has the tool. */
export function isLastAgent({ spec }: Stored<Tool>, agentName: string): boolean {
  return (spec.agentRefs ?? []).every(({ name }) => name === agentName);
}

/** Somebody else has a say in which agents have the tool: then it is theirs to let go of. */
function heldByOthers(tool: Stored<Tool>): boolean {
  return ownersOf(tool, [field('spec'), field('agentRefs')], manager).length > 0;
}

/** Another field manager has attached it to this agent. */
export function isAttachedByOthers(tool: Stored<Tool>, agentName: string): boolean {
  return ownersOf(tool, [field('spec'), field('agentRefs'), { type: 'key', key: { name: agentName } }], manager).length > 0;
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
