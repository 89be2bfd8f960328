/** Requests test runs over REST by writing a row, which a worker finds. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTest } from '../../crds/agent-test.ts';
import type { Agent } from '../../crds/index.ts';
import { findCondition } from '../../crds/kind.ts';
import { configHashOf, requestedTest } from '../../crds/requested-test.ts';
import type { Stored } from '../../kube/types.ts';
import { StoreError, type Store, type TestResultRecord, type TestRunRecord } from '../../store/index.ts';
import { ApiError, ValidationError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import type { KindContext } from '../kinds/context.ts';
import { issues } from '../validation/issue.ts';
import type { TestRunCreate } from './schema.ts';

export type WholeTestRun = TestRunRecord & { readonly results: readonly TestResultRecord[] };

const RUN_ID = /^run_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface TestRunServiceOptions {
  readonly views: Pick<KindContext['views'], 'agents' | 'agentTests'>;
  readonly store: Pick<Store, 'testRuns' | 'agentRevisions'>;
}

export class TestRunService {
  readonly #options: TestRunServiceOptions;

  constructor(options: TestRunServiceOptions) {
    this.#options = options;
  }

  /** @throws ApiError `not_found`, `conflict` for a revision that was never stored and for too many runs; ValidationError for tests that don't select the agent */
  async request({ org, userId }: Caller, agentName: string, body: TestRunCreate): Promise<WholeTestRun> {
    const { views, store } = this.#options;
    const agent = await views.agents.get(org, agentName);
    if (agent === undefined) throw notFound('AI agent');
    const tests = await this.#testsOf(org, agentName, body.tests ?? undefined);
    const revision = wantedRevision(agent, body.revision);
    const stored = await store.agentRevisions.get({ org, agentName, revision });
    if (stored === undefined) throw notStored(agent, body.revision);
    const run = await store.testRuns
      .request(
        {
          org,
          agentName,
          revision,
          configHash: configHashOf(stored.config as AgentRevisionConfig),
          trigger: 'request',
          requestedBy: userId ?? undefined,
        },
        tests.map(requestedTest),
      )
      .catch((error: unknown) => {
        if (error instanceof StoreError && error.kind === 'not_found') throw notStored(agent, body.revision);
        if (error instanceof StoreError && error.kind === 'conflict') throw new ApiError('conflict', error.message, { cause: error });
        throw error;
      });
    return this.get(org, run?.id ?? '');
  }

  /** Reads a run; no run has a malformed id. @throws ApiError `not_found` */
  async get(org: string, id: string): Promise<WholeTestRun> {
    const run = RUN_ID.test(id) ? await this.#options.store.testRuns.get({ org, id }) : undefined;
    if (run === undefined) throw notFound('Test run');
    return run;
  }

  async #testsOf(org: string, agentName: string, wanted: readonly string[] | undefined): Promise<readonly Stored<AgentTest>[]> {
    const all = await this.#options.views.agentTests.find('agent', `${org}/${agentName}`);
    if (wanted === undefined) {
      const active = all.filter(({ spec }) => spec.suspend !== true);
      if (active.length === 0)
        throw new ApiError('conflict', 'no agent test names the AI agent: create one with it in ai_agent_ids, or resume a suspended one');
      return active;
    }
    const byName = new Map(all.map((test) => [test.metadata.name, test]));
    const known = [...byName.keys()].toSorted().join(', ') || 'none';
    const problems = wanted.flatMap((name, index) =>
      byName.has(name) ? [] : [issues.value(['body', 'tests', index], `no AgentTest "${name}" selects the AI agent; there are: ${known}`)],
    );
    if (problems.length > 0) throw new ValidationError(problems);
    return [...new Set(wanted)].flatMap((name) => byName.get(name) ?? []);
  }
}

function wantedRevision(agent: Stored<Agent>, wanted: string): string {
  if (wanted !== 'desired' && wanted !== 'serving') return wanted;
  const { desiredRevision, servingRevision } = agent.status ?? {};
  const revision = wanted === 'desired' ? desiredRevision : servingRevision;
  if (revision === undefined) throw notStored(agent, wanted);
  return revision;
}

function notStored(agent: Stored<Agent>, wanted: string): ApiError {
  const ready = findCondition(agent, 'Ready');
  const why = ready === undefined || ready.status === 'True' ? '' : `: ${ready.message}`;
  const what = wanted === 'desired' || wanted === 'serving' ? `${wanted} revision` : `revision ${wanted}`;
  return new ApiError('conflict', `the AI agent has no ${what} that can be tested${why}`);
}
