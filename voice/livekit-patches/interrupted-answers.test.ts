import type { voice } from '@livekit/agents';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

// As the patch does.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';
import { keepInterruptedAnswersQuiet, resumeAnswer } from './interrupted-answers.ts';

beforeAll(() => keepInterruptedAnswersQuiet());

const resumesAfter = vi.fn<(ms: number) => void>();

beforeEach(() => resumesAfter.mockClear());

/** Paused by speech of the user. */
function pausedAnswer() {
  const activity: Record<string, unknown> & { onEndOfSpeech(event: { readonly speechDuration: number }): void } = Object.assign(
    Object.create(AgentActivity.prototype) as never,
    {
      pausedSpeech: { timeout: 100, handle: { interrupted: false, allowInterruptions: true } },
      startFalseInterruptionTimer: resumesAfter,
      userSilenceEvent: { set: () => undefined },
      agentSession: {
        _updateUserState: () => undefined,
        sessionOptions: { turnHandling: { interruption: { minDuration: 500, falseInterruptionTimeout: 2_000 } } },
      },
    },
  );
  return { activity, session: { _activity: activity } as unknown as voice.AgentSession };
}

describe('a paused answer', () => {
  it('waits for words once the user is silent, but not after a noise', () => {
    const { activity } = pausedAnswer();
    activity.onEndOfSpeech({ speechDuration: 400 });
    activity.onEndOfSpeech({ speechDuration: 600 });
    expect(resumesAfter.mock.calls).toEqual([[100], [2_000]]);
  });

  it('goes on at once when the words that are known by then do not count', () => {
    const { activity, session } = pausedAnswer();
    resumeAnswer(session);
    expect(resumesAfter).not.toHaveBeenCalled();
    activity.onEndOfSpeech({ speechDuration: 600 });
    expect(resumesAfter.mock.calls).toEqual([[0]]);
  });

  it('goes on when words that do not count are known later', () => {
    const { activity, session } = pausedAnswer();
    activity.onEndOfSpeech({ speechDuration: 600 });
    activity['falseInterruptionTimer'] = 1;
    resumeAnswer(session);
    expect(resumesAfter.mock.calls).toEqual([[2_000], [0]]);
  });
});

it('an answer that is not paused stays as it is', () => {
  resumeAnswer({ _activity: {} } as unknown as voice.AgentSession);
  resumeAnswer({} as unknown as voice.AgentSession);
  expect(resumesAfter).not.toHaveBeenCalled();
});
