import type { TestResultRecord, TestRunRecord } from '../../store/index.ts';
import type { AttemptAnswer, TestRunAnswer, TestRunSummaryAnswer } from './answers.ts';

/** An attempt in the runner's stored result (agent-tests/result.ts). */
interface StoredAttempt extends Omit<AttemptAnswer, 'finish_reason' | 'duration_ms' | 'call_id' | 'transcript'> {
  readonly finishReason?: string;
  readonly durationMs: number;
  readonly callId?: string;
  readonly transcript: readonly (Omit<AttemptAnswer['transcript'][number], 'at_ms'> & { readonly atMs: number })[];
}

interface StoredResult extends Pick<TestRunAnswer['results'][number], 'usage'> {
  readonly attempts?: readonly StoredAttempt[];
}

const restOf = (result: StoredResult | null) => ({
  ...(result?.usage !== undefined && { usage: result.usage }),
  attempts: (result?.attempts ?? []).map(attemptToRest),
});

const present = <T>(value: T | null): T | undefined => value ?? undefined;
const timeOf = (date: Date | null): string | undefined => date?.toISOString();

export function testRunSummaryToRest(run: TestRunRecord): TestRunSummaryAnswer {
  return {
    _id: run.id,
    ai_agent_id: run.agentName,
    revision: run.revision,
    trigger: run.trigger,
    state: run.state,
    verdict: present(run.verdict),
    requested_by: present(run.requestedBy),
    created_at: run.createdAt.toISOString(),
    started_at: timeOf(run.startedAt),
    finished_at: timeOf(run.finishedAt),
  };
}

export function testRunToRest(run: TestRunRecord & { readonly results: readonly TestResultRecord[] }): TestRunAnswer {
  return {
    ...testRunSummaryToRest(run),
    results: run.results.map(({ testName, required, mode, verdict, passed, failed, flaky, message, finishedAt, result }) => ({
      test: testName,
      required,
      mode,
      verdict: present(verdict),
      passed: present(passed),
      failed: present(failed),
      flaky: present(flaky),
      message: present(message),
      finished_at: timeOf(finishedAt),
      ...restOf(result as StoredResult | null),
    })),
  };
}

function attemptToRest({ verdict, checks, transcript, finishReason, durationMs, callId, error }: StoredAttempt): AttemptAnswer {
  return {
    verdict,
    checks,
    transcript: transcript.map(({ atMs, ...line }) => ({ ...line, at_ms: atMs })),
    ...(finishReason !== undefined && { finish_reason: finishReason }),
    duration_ms: durationMs,
    ...(callId !== undefined && { call_id: callId }),
    ...(error !== undefined && { error }),
  };
}
