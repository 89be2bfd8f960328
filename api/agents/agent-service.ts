/** Creating, changing and deleting agents: what a request means, carried out so that a crash leaves nothing half. */
import { agentKind, API_VERSION, wellKnown, type Agent, type AgentSpec } from '../../crds/index.ts';
import { agentProblems } from '../../crds/limits.ts';
import { KubeError } from '../../kube/error.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import { companionName, SecretWriter, type KeyRef } from '../codec/secrets.ts';
import { ValidationFailed } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { restLoc, restName } from '../partial/field-names.ts';
import { sameJson } from '../partial/json.ts';
import { updatePartially } from '../partial/partial-update.ts';
import { shapeOf } from '../partial/shape.ts';
import { companionWrites, type CompanionKind, type NewValues, type StagedValues } from '../resources/companions.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import { release, Users } from '../references/users.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords, schemaIssues } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import { deleted, discardOnFailure, inTrace, isUncertain } from '../resources/resource-writer.ts';
import { retryStale } from '../resources/retry.ts';
import { AgentTools, type ToolPlan } from '../tools/agent-tools.ts';
import { requireCallable } from '../validation/address-issues.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { AgentReader, type AgentAnswerBody } from './agent-reader.ts';
import { agentFromRest, agentSecretRefs, maxInlinePrompt } from './codec.ts';
import { agentFieldNames } from './field-names.ts';
import type { AgentUpdate } from './schema.ts';

const shape = shapeOf(agentKind.spec);

/** How often a write is tried on what this process knows before the server is asked. */
const guesses = 2;

export interface AgentAnswer {
  readonly view: AgentAnswerBody;
  readonly resourceVersion: string;
}

export interface WriteOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState: (resourceVersion: string) => void;
}

/** A request, read against what is stored. */
interface Intent {
  readonly desired: Draft<AgentSpec>;
  readonly secrets: ReadonlyMap<string, string>;
  readonly prompts: ReadonlyMap<string, string>;
  /** Where secrets and long prompts go. */
  readonly names: Readonly<Record<CompanionKind, string>>;
  readonly tools: ToolPlan | undefined;
}

export class AgentService {
  readonly #foundation: Foundation;
  readonly #tools: AgentTools;
  readonly #users: Users;
  readonly reader: AgentReader;

  constructor(foundation: Foundation) {
    this.#foundation = foundation;
    this.#tools = new AgentTools(foundation);
    this.#users = new Users(foundation);
    this.reader = new AgentReader(foundation, this.#tools);
  }

  async create(caller: Caller, body: AgentUpdate, options: Pick<WriteOptions, 'dryRun' | 'force'>): Promise<AgentAnswer> {
    const { org } = caller;
    const { clients, views } = this.#foundation;
    const name = `agent-${randomId()}`;
    const intent = await this.#read(caller, name, body, undefined);
    const annotations = caller.userId === null ? undefined : { [wellKnown.createdBy]: caller.userId };
    const object = {
      apiVersion: API_VERSION,
      kind: 'Agent',
      metadata: { namespace: org, name, ...(annotations && { annotations }) },
      spec: intent.desired,
    } as unknown as Agent;
    const values = this.#newValues(org, name, intent, undefined);
    return inRestWords(agentFieldNames, async () => {
      if (options.dryRun || values.length > 0 || intent.tools !== undefined) {
        const rehearsed = await clients.agents.apply(object, { dryRun: true });
        const tools = await this.#rehearseParts(caller, values, intent.tools, options.force);
        if (options.dryRun) return this.#answer(caller, rehearsed, { ...(tools && { tools }), ...promptOf(intent) });
      }
      const staged = await this.#stage(values);
      const agent = await discardOnFailure(staged, async () => {
        if (intent.tools === undefined) return clients.agents.apply(inTrace(object));
        return this.#afterTools(org, intent.tools, caller, options.force, () => clients.agents.apply(inTrace(object)));
      });
      views.agents.wrote(agent);
      await Promise.all(staged.map((each) => each.commit(agent)));
      if (intent.tools !== undefined) await this.#tools.settle(org, intent.tools, agent);
      return this.#answer(caller, agent, promptOf(intent));
    });
  }

  /** @returns undefined when there is no such agent */
  async update(caller: Caller, name: string, body: AgentUpdate, options: WriteOptions): Promise<AgentAnswer | undefined> {
    if (!isObjectName(name)) return undefined;
    const run = async (): Promise<AgentAnswer | undefined> => {
      const guess = await this.#tryFromCache(caller, name, body, options);
      if (guess?.written) return guess.answer;
      return retryStale(this.#foundation, async () => {
        const stored = await this.reader.stored(caller.org, name);
        if (stored === undefined) return undefined;
        // Nothing was to be written, and the state that said so is the server's.
        if (guess?.answer.resourceVersion === stored.metadata.resourceVersion) return guess.answer;
        return this.#updateOnce(caller, name, body, options, stored);
      });
    };
    return inRestWords(agentFieldNames, () => this.#foundation.mutex.run(`Agent/${caller.org}/${name}`, run));
  }

  /**
   * @returns false when there is no such agent
   * @throws ApiError `conflict` while something uses it, unless forced
   */
  async delete(caller: Caller, name: string, options: WriteOptions): Promise<boolean> {
    const { org } = caller;
    if (!isObjectName(name)) return false;
    const remove = async (): Promise<boolean> => {
      const stored = await this.reader.stored(org, name);
      if (stored === undefined) return false;
      const { uid, resourceVersion } = stored.metadata;
      options.requireState(resourceVersion);
      await release(await this.#users.ofAgent(org, name), 'the AI agent', caller, options);
      if (!options.dryRun) await this.#tools.beforeDeletion(org, name);
      const gone = !(await deleted(
        this.#foundation.clients.agents.delete(
          { namespace: org, name },
          { uid, resourceVersion, dryRun: options.dryRun, propagationPolicy: 'Background' },
        ),
      ));
      if (gone) return false;
      if (options.dryRun) return true;
      this.#foundation.views.agents.deleted(stored);
      await this.#tools.release(org, name);
      return true;
    };
    return this.#foundation.mutex.run(`Agent/${org}/${name}`, () => retryStale(this.#foundation, remove));
  }

  /**
   * Spares the reading where this process knows the newest state, as it does mostly. The apply carries that state's
   * resourceVersion, so that a success is as good as one after reading; anything else is found out from the server.
   */
  async #tryFromCache(
    caller: Caller,
    name: string,
    body: AgentUpdate,
    options: WriteOptions,
  ): Promise<{ readonly answer: AgentAnswer; readonly written: boolean } | undefined> {
    // Writes of several objects are not begun on a guess.
    if (options.dryRun || options.force || touchesOthers(body)) return undefined;
    let tried: string | undefined;
    for (let round = 0; round < guesses; round += 1) {
      const known = this.#foundation.views.agents.newest(caller.org, name);
      if (known === undefined || known.metadata.deletionTimestamp !== undefined || known.metadata.resourceVersion === tried)
        return undefined;
      tried = known.metadata.resourceVersion;
      try {
        const answer = await this.#updateOnce(caller, name, body, options, known);
        // Where nothing was written, only the server knows whether its state is still this one.
        return { answer, written: answer.resourceVersion !== tried };
      } catch (error) {
        if (isUncertain(error)) throw error;
        // What came in between, a status mostly, is known here by now more often than not.
        if (!(error instanceof KubeError && error.staleConflict)) return undefined;
      }
    }
    return undefined;
  }

  async #updateOnce(caller: Caller, name: string, body: AgentUpdate, options: WriteOptions, stored: Stored<Agent>): Promise<AgentAnswer> {
    const { org } = caller;
    const { clients, views } = this.#foundation;
    options.requireState(stored.metadata.resourceVersion);
    const intent = await this.#read(caller, name, body, stored);
    const values = this.#newValues(org, name, intent, stored);
    const apply = (dryRun: boolean): Promise<Stored<Agent>> =>
      updatePartially({
        client: clients.agents,
        stored,
        desired: intent.desired,
        shape,
        force: options.force,
        dryRun,
        nameOf: (path) => restName(agentFieldNames, path),
      });

    if (options.dryRun || values.length > 0 || intent.tools !== undefined) {
      const rehearsed = await apply(true);
      const tools = await this.#rehearseParts(caller, values, intent.tools, options.force);
      if (options.dryRun) return this.#answer(caller, rehearsed, { ...(tools && { tools }), ...promptOf(intent) });
    }
    const staged = await this.#stage(values);
    const agent = await discardOnFailure(staged, () => apply(false));
    if (agent !== stored) views.agents.wrote(agent);
    await Promise.all(staged.map((each) => each.commit(agent)));
    if (intent.tools !== undefined) await this.#tools.carryOut(org, intent.tools, caller, options.force, agent);
    return this.#answer(caller, agent, promptOf(intent));
  }

  /** @throws ValidationFailed with everything that only shows against what is stored */
  async #read(caller: Caller, name: string, body: AgentUpdate, stored: Stored<Agent> | undefined): Promise<Intent> {
    const { org } = caller;
    const { companions } = this.#foundation;
    const previous = stored?.spec;
    const found: ValidationIssue[] = [];
    const bringsSecrets = typeof body.llm?.api_key === 'string' || (body.dynamic_data_config ?? []).some((item) => item.headers);
    const bringsPrompt = (body.llm?.system_prompt?.length ?? 0) > maxInlinePrompt;
    const promptFrom = typeof body.llm?.system_prompt === 'string' ? previous?.llm.systemPromptFrom : undefined;
    const nameFor = (kind: CompanionKind, needed: boolean): Promise<string> | string =>
      stored !== undefined && needed ? companions.nameFor(kind, stored) : companionName('Agent', name);
    const [storedSecrets, storedLongPrompt, secretName, promptName] = await Promise.all([
      previous !== undefined && bringsSecrets ? companions.readSecrets(org, agentSecretRefs(previous)) : new Map<string, string>(),
      promptFrom === undefined ? null : companions.readText(org, promptFrom.configMapKeyRef),
      nameFor('Secret', bringsSecrets),
      nameFor('ConfigMap', bringsPrompt),
    ]);
    const secrets = new SecretWriter({
      name: secretName,
      stored: storedSecrets,
      mayMove: mayReadSecrets(caller),
      randomId: () => randomId(8),
    });
    const prompts = new Map<string, string>();
    const promptRef = (text: string): KeyRef => {
      const key = `system-prompt-${randomId(8)}`;
      prompts.set(key, text);
      return { name: promptName, key };
    };
    const desired = agentFromRest(body, previous, { name, secrets, promptRef, storedLongPrompt, found });
    found.push(...problemsOf(desired, previous));
    const webhook = { loc: ['body', 'webhook_url'], value: desired.webhookURL, before: previous?.webhookURL };
    requireCallable({ ...webhook, check: this.#foundation.addresses.web }, found);
    const base = { loc: ['body', 'knowledge_base_id'], id: body.knowledge_base_id, before: [previous?.knowledgeBaseRef?.name] };
    found.push(...(await unknownReferences(this.#foundation.views.knowledgeBases, org, 'knowledge base', [base])));
    const items = body.llm?.tools;
    const wantsTools = items !== undefined && (previous !== undefined || (items ?? []).length > 0);
    const tools = wantsTools ? await this.#tools.plan(caller, name, items ?? [], found) : undefined;
    if (found.length > 0) throw new ValidationFailed(found);
    return {
      desired,
      secrets: secrets.pending,
      prompts,
      names: { Secret: secretName, ConfigMap: promptName },
      tools: tools !== undefined && tools.steps.length > 0 ? tools : undefined,
    };
  }

  #newValues(
    org: string,
    name: string,
    { secrets, prompts, names, desired }: Intent,
    owner: Stored<Agent> | undefined,
  ): readonly NewValues[] {
    const common = { namespace: org, for: { kind: 'Agent', name }, owner } as const;
    const write = (kind: CompanionKind, values: ReadonlyMap<string, string>, refs: (spec: Draft<AgentSpec>) => readonly KeyRef[]) =>
      companionWrites({
        ...common,
        kind,
        name: names[kind],
        values,
        before: owner === undefined ? [] : refs(owner.spec),
        after: refs(desired),
      });
    return [...write('Secret', secrets, agentSecretRefs), ...write('ConfigMap', prompts, promptRefs)];
  }

  async #rehearseParts(
    caller: Caller,
    values: readonly NewValues[],
    tools: ToolPlan | undefined,
    force: boolean,
  ): Promise<readonly unknown[] | undefined> {
    await Promise.all(values.map((each) => this.#foundation.companions.rehearse(each)));
    return tools === undefined ? undefined : this.#tools.rehearse(caller.org, tools, caller, force);
  }

  async #stage(values: readonly NewValues[]): Promise<readonly StagedValues[]> {
    const staged: StagedValues[] = [];
    for (const each of values) staged.push(await discardOnFailure(staged, () => this.#foundation.companions.stage(each)));
    return staged;
  }

  /** Tools first: an agent that is there has its tools. */
  async #afterTools<T>(org: string, plan: ToolPlan, caller: Caller, force: boolean, write: () => Promise<T>): Promise<T> {
    try {
      await this.#tools.carryOut(org, plan, caller, force, undefined);
      return await write();
    } catch (error) {
      if (!isUncertain(error)) await this.#tools.takeBack(org, plan);
      throw error;
    }
  }

  async #answer(caller: Caller, agent: Stored<Agent>, known: Parameters<AgentReader['view']>[2]): Promise<AgentAnswer> {
    return { view: await this.reader.view(caller, agent, known), resourceVersion: agent.metadata.resourceVersion };
  }
}

/** Whether the request may concern more than the Agent itself. */
function touchesOthers({ llm, dynamic_data_config: lookups }: AgentUpdate): boolean {
  return llm?.tools !== undefined || llm?.api_key !== undefined || llm?.system_prompt !== undefined || lookups !== undefined;
}

/** Pure checks that the request's schema can't say. Problems that were there before are not this request's. */
function problemsOf(desired: Draft<AgentSpec>, previous: AgentSpec | undefined): readonly ValidationIssue[] {
  const parsed = agentKind.spec.safeParse(desired);
  if (!parsed.success) return schemaIssues(parsed.error, agentFieldNames);
  const problems = agentProblems(parsed.data);
  const known = previous === undefined || problems.length === 0 ? [] : agentProblems(previous);
  return problems
    .filter((problem) => !known.some((other) => sameJson(other, problem)))
    .map(({ path, message }) => issues.value(restLoc(agentFieldNames, path) ?? ['body'], message));
}

function promptRefs(spec: Draft<AgentSpec>): readonly KeyRef[] {
  return [spec.llm?.systemPromptFrom?.configMapKeyRef].filter((ref) => ref !== undefined) as readonly KeyRef[];
}

function promptOf({ prompts }: Intent): { readonly longPrompt?: string } {
  const [text] = prompts.values();
  return text === undefined ? {} : { longPrompt: text };
}
