/** Creates, changes and deletes agents. A crash in the middle of a request leaves nothing half done. */
import { agentKind, MAX_INLINE_PROMPT, type Agent, type AgentSpec } from '../../crds/index.ts';
import { agentRemarks, toolDataRemarks } from '../../crds/agent-consistency.ts';
import { agentProblems, type SpecProblem } from '../../crds/limits.ts';
import type { Stored } from '../../kube/types.ts';
import { companionAddressProblems, providerAddressProblems } from '../../calls/address-problems.ts';
import type { Draft } from '../codec/draft.ts';
import { companionName, masked, type KeyRef } from '../codec/secrets.ts';
import { requireNoIssues } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import { releaseFrom, usersAmong, type FindUsers } from '../references/users.ts';
import type { KindContext } from '../kinds/context.ts';
import { specIssues } from '../resources/kube-failures.ts';
import { randomId, readableName } from '../resources/names.ts';
import { warnOf } from '../resources/remarks.ts';
import { ResourceWriter, type ResourceChange, type ResourceKind, type WriteMode, type Written } from '../resources/resource-writer.ts';
import type { Step } from '../resources/write-steps.ts';
import { AgentTools, type ToolSteps } from '../tools/agent-tools.ts';
import { attachedToolToRest, toolFieldNames } from '../tools/fields.ts';
import type { Store } from '../../store/index.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import { AgentReader } from './agent-reader.ts';
import {
  agentBringsSecrets,
  agentFieldNames,
  agentFromRest,
  agentSecretRefs,
  unusedChoices,
  type AgentUpdate,
  type AgentView,
} from './fields.ts';
import { withWholePin } from './pinned-revision.ts';

export const agentResource: ResourceKind<Agent> = {
  definition: agentKind,
  fieldNames: agentFieldNames,
  companionRefs: (spec) => ({ Secret: agentSecretRefs(spec), ConfigMap: promptRefs(spec) }),
};

export function agentsOfKnowledgeBase(context: KindContext): FindUsers {
  const { agents } = context.views;
  return usersAmong(new ResourceWriter(context, agentResource, agents), {
    noun: 'AI agent',
    permission: 'agents:write',
    find: async (org, base) => (await agents.list(org)).filter(({ spec }) => spec.knowledgeBaseRef?.name === base),
    without: ({ knowledgeBaseRef, ...rest }, base) => (knowledgeBaseRef?.name === base ? rest : { knowledgeBaseRef, ...rest }),
  });
}

/** Finds the agents that hand calls over to an agent. */
export function agentsHandingOver(context: KindContext): FindUsers {
  const { agents } = context.views;
  return usersAmong(new ResourceWriter(context, agentResource, agents), {
    noun: 'AI agent',
    permission: 'agents:write',
    find: async (org, agent) =>
      (await agents.list(org)).filter(({ spec }) => (spec.handoffs ?? []).some(({ agentRef }) => agentRef.name === agent)),
    without: ({ handoffs = [], ...rest }, agent) => ({ ...rest, handoffs: handoffs.filter(({ agentRef }) => agentRef.name !== agent) }),
  });
}

export interface AgentAnswer {
  readonly view: AgentView;
  readonly resourceVersion: string;
}

interface AgentChange extends ResourceChange {
  readonly longPrompt: string | undefined;
  /** Absent where the request changes no tools. */
  readonly tools: ToolSteps | undefined;
  /** Remarks on fields of the request that are not stored. */
  readonly remarks: readonly SpecProblem[];
}

interface WrittenAgent extends Written<Agent> {
  readonly change: AgentChange;
  readonly previous?: Stored<Agent>;
}

export class AgentService {
  readonly #context: KindContext;
  readonly #tools: AgentTools;
  readonly #users: readonly FindUsers[];
  readonly #releases: Store['agentReleases'];
  readonly #writer: ResourceWriter<Agent>;
  readonly reader: AgentReader;

  constructor(context: KindContext, users: readonly FindUsers[], releases: Store['agentReleases']) {
    this.#context = context;
    this.#tools = new AgentTools(context);
    this.#users = users;
    this.#releases = releases;
    this.#writer = new ResourceWriter(context, agentResource, context.views.agents);
    this.reader = new AgentReader(context, this.#tools);
  }

  async create(caller: Caller, body: AgentUpdate, mode: Omit<WriteMode, 'requireState'>): Promise<AgentAnswer> {
    const name = readableName('agent', body.agent_name);
    const change = await this.#change(caller, name, body, undefined, mode);
    const { tools } = change;
    // The tools come first: an agent that exists has its tools.
    const before = tools && [tools.attach];
    const after = (agent: Step<Stored<Agent>>) => (tools === undefined ? [] : [tools.adopt(agent)]);
    const written = await this.#writer.create(caller, name, { ...change, before, after }, mode);
    return this.#answer(caller, { ...written, change }, mode);
  }

  async update(caller: Caller, name: string, body: AgentUpdate, mode: WriteMode): Promise<AgentAnswer | undefined> {
    const change = (stored: Stored<Agent>) => this.#change(caller, name, body, stored, mode);
    // A write of several objects doesn't begin on cached state, which may be stale.
    const tryCached = !mode.dryRun && !mode.force && !touchesOthers(body);
    const written = await this.#writer.update(caller.org, name, change, mode, { tryCached });
    return written && this.#answer(caller, written, mode);
  }

  /**
   * @returns false when there is no such agent
   * @throws ApiError `conflict` while something uses it, unless forced
   */
  async delete(caller: Caller, name: string, mode: WriteMode): Promise<boolean> {
    const { org } = caller;
    const decide = async (): Promise<boolean> => {
      await releaseFrom(this.#users, { what: 'the AI agent', name }, caller, mode);
      if (!mode.dryRun) await this.#tools.beforeDeletion(org, name);
      return true;
    };
    const done = await this.#writer.delete(org, name, mode, decide);
    if (done && !mode.dryRun) await this.#tools.release(org, name);
    return done;
  }

  /** @throws ValidationError with everything that only shows against the stored state */
  async #change(
    caller: Caller,
    name: string,
    body: AgentUpdate,
    stored: Stored<Agent> | undefined,
    { force }: Pick<WriteMode, 'force'>,
  ): Promise<AgentChange> {
    const { org } = caller;
    const { companions } = this.#context;
    const previous = stored?.spec;
    const found: ValidationIssue[] = [];
    const bringsPrompt = (body.llm?.system_prompt?.length ?? 0) > MAX_INLINE_PROMPT;
    const promptFrom = typeof body.llm?.system_prompt === 'string' ? previous?.llm.systemPromptFrom : undefined;
    const [storedLongPrompt, secrets, promptName] = await Promise.all([
      promptFrom === undefined ? null : companions.readText(org, promptFrom.configMapKeyRef),
      this.#writer.secretWriter(caller, name, agentBringsSecrets(body) ? stored : undefined),
      stored !== undefined && bringsPrompt ? companions.nameFor('ConfigMap', stored) : companionName('Agent', name),
    ]);
    const prompts = new Map<string, string>();
    const promptRef = (text: string): KeyRef => {
      const key = `system-prompt-${randomId(8)}`;
      prompts.set(key, text);
      return { name: promptName, key };
    };
    const whole = await withWholePin(body, { org, agentName: name }, this.#releases, found);
    const desired = agentFromRest(whole, previous, { secrets, loc: ['body'], found, objectName: name, promptRef, storedLongPrompt });
    const { addresses } = this.#context;
    const check = (agent: AgentSpec) => [
      ...agentProblems(agent),
      ...providerAddressProblems(agent, addresses),
      ...companionAddressProblems(agent, addresses),
    ];
    found.push(...specIssues(agentResource, check, desired, previous));
    const base = { loc: ['body', 'knowledge_base_id'], id: body.knowledge_base_id, before: [previous?.knowledgeBaseRef?.name] };
    const handoffs = (body.handoffs ?? []).map(({ ai_agent_id: id }, index) => ({
      loc: ['body', 'handoffs', index, 'ai_agent_id'],
      id,
      before: (previous?.handoffs ?? []).map(({ agentRef }) => agentRef.name),
    }));
    const unknown = await Promise.all([
      unknownReferences(this.#context.views.knowledgeBases, org, 'knowledge base', [base]),
      unknownReferences(this.#context.views.agents, org, 'AI agent', handoffs),
    ]);
    found.push(...unknown.flat());
    const items = body.llm?.tools;
    const wantsTools = items !== undefined && (previous !== undefined || (items ?? []).length > 0);
    const write = { caller, agentName: name, agent: stored, force };
    const { steps: tools, issues = [] } = wantsTools ? await this.#tools.plan(write, items ?? []) : {};
    requireNoIssues([...found, ...issues]);
    return {
      spec: desired,
      companions: { Secret: secrets, ConfigMap: { name: promptName, pending: prompts } },
      // Attaching comes before detaching: a process that dies in between leaves the agent with a tool too many, never with one too few.
      ...(tools && { after: [tools.attach, tools.detach] }),
      longPrompt: prompts.values().next().value,
      tools,
      remarks: unusedChoices(body),
    };
  }

  /** Warns of problems that the request has brought. */
  async #warn(
    org: string,
    { metadata: { name }, spec }: Stored<Agent>,
    previous: AgentSpec | undefined,
    longPrompt: string | undefined,
  ): Promise<void> {
    warnOf(agentFieldNames, agentRemarks(spec, longPrompt), previous && agentRemarks(previous));
    for (const tool of await this.#tools.attachedTo(org, name)) {
      const before = previous && toolDataRemarks(tool.spec, previous);
      warnOf(toolFieldNames, toolDataRemarks(tool.spec, spec), before, `llm.tools: ${tool.metadata.name}: `);
    }
  }

  async #answer(
    caller: Caller,
    { object: agent, previous, change: { longPrompt, tools, remarks }, resultOf }: WrittenAgent,
    { dryRun }: Pick<WriteMode, 'dryRun'>,
  ): Promise<AgentAnswer> {
    await this.#warn(caller.org, agent, previous?.spec, longPrompt);
    warnOf(agentFieldNames, remarks);
    const unwritten = {
      ...(longPrompt !== undefined && { longPrompt }),
      ...(dryRun && tools && { tools: resultOf(tools.attach).map((tool) => attachedToolToRest(tool, masked)) }),
    };
    return { view: await this.reader.view(caller, agent, unwritten), resourceVersion: agent.metadata.resourceVersion };
  }
}

/** Returns whether the request may concern more than the Agent itself. */
function touchesOthers({ llm, dynamic_data_config: lookups }: AgentUpdate): boolean {
  return llm?.tools !== undefined || llm?.api_key !== undefined || llm?.system_prompt !== undefined || lookups !== undefined;
}

function promptRefs(spec: Draft<AgentSpec>): readonly KeyRef[] {
  return [spec.llm?.systemPromptFrom?.configMapKeyRef].filter((ref) => ref !== undefined) as readonly KeyRef[];
}
